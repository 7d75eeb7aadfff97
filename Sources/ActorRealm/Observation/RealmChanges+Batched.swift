internal import AsyncAlgorithms

extension RealmChanges {
    /// The changes of each stretch of time merged into one, for consumers to whom every element costs something: a socket,
    /// an index, a log.
    ///
    /// ```swift
    /// for await change in realm.changes.batched(every: .milliseconds(100)) { send(change.classes.keys.sorted()) }
    /// ```
    ///
    /// Elements come at most once per interval, and only when something changed. They carry keys and are Sendable, and are
    /// not tied to the version of any realm.
    ///
    /// - Parameter interval: How long changes are gathered: a millisecond at least, and a hundred years at most.
    /// - Returns: A sequence that ends where the changes end.
    public func batched(every interval: Duration) -> some AsyncSequence<RealmChange, Never> & Sendable {
        let interval = WriteRequest.bounded(interval, atLeast: .milliseconds(1))
        return BatchedChanges(base: chunked(by: .repeating(every: interval)))
    }
}

/// Turns chunks of changes into one change each.
private struct BatchedChanges<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Base.Element == [RealmChange], Base.Failure == Never {
    typealias Element = RealmChange
    typealias Failure = Never

    let base: Base

    func makeAsyncIterator() -> Iterator {
        Iterator(base: base.makeAsyncIterator())
    }

    struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator

        mutating func next(isolation actor: isolated (any Actor)?) async -> RealmChange? {
            while let chunk = await base.next(isolation: actor) {
                if let change = RealmChange.merged(chunk) { return change }
            }
            return nil
        }

        nonisolated(nonsending) mutating func next() async -> RealmChange? {
            await next(isolation: #isolation)
        }
    }
}
