import Dispatch

extension Realm {
    /// Passes an object or a collection to a write transaction in the background.
    ///
    /// The block runs on a queue of its own with a realm of the same configuration and the value as it is there; nil when
    /// it has been deleted. Results are those of the query at that time.
    ///
    /// ```swift
    /// realm.writeAsync(readEmails) { realm, readEmails in
    ///     if let readEmails { realm.delete(readEmails) }
    /// }
    /// ```
    ///
    /// In asynchronous code an actor and `asyncWrite` do this better.
    ///
    /// - Parameters:
    ///   - passedObject: What is passed.
    ///   - errorHandler: Called in the background with what went wrong: `Realm.Error.closed`, and no write begins, where the realm was closed.
    ///   - block: Called inside the write transaction.
    /// - Precondition: The value is managed and has not been deleted: look at ``ThreadConfined/realm`` and
    ///   ``ThreadConfined/isInvalidated``.
    public func writeAsync<T: ThreadConfined>(
        _ passedObject: T,
        errorHandler: @escaping @Sendable (_ error: any Swift.Error) -> Void = { _ in },
        block: @escaping @Sendable (Realm, T?) -> Void
    ) {
        let reference = ThreadSafeReference(to: passedObject)
        let configuration = configuration
        let queue = DispatchQueue(label: "realm.writeAsync")
        let closed: Realm? = isClosed ? self : passedObject.realm.flatMap { $0.isClosed ? $0 : nil }
        if let error = closed?.core.closedError {
            queue.async { errorHandler(error) }
            return
        }
        queue.async {
            do {
                let realm = try Realm(configuration: configuration, queue: queue)
                try realm.write { block(realm, realm.resolve(reference)) }
            } catch {
                errorHandler(error)
            }
        }
    }
}
