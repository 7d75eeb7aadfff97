/// Changes of something in a realm, as an asynchronous sequence that may be sent anywhere.
///
/// The elements belong to whoever iterates and may not be sent. What is to be merged, shared or debounced is read from them
/// first, with ``map(_:)``.
public protocol ChangeSequence: AsyncSequence, Sendable where Failure == Never {}

extension ChangeSequence {
    /// What is read from each change, as a sequence of values that may be sent anywhere.
    ///
    /// ```swift
    /// let names = realm.objects(Todo.self).changes().map { change in change.collection?.map(\.name) ?? [] }
    /// for await names in merge(names, others) { show(names) }
    /// ```
    ///
    /// Unlike that of the standard library this runs where the sequence is iterated: on an actor with live objects of its
    /// realm, and outside every actor, as in `merge`, with frozen ones.
    ///
    /// - Parameter transform: Reads a change.
    /// - Returns: a sequence that ends where the changes end.
    public func map<Value: Sendable>(_ transform: @escaping @Sendable (Element) -> Value) -> MappedChanges<Self, Value>
    {
        MappedChanges(base: self, transform: transform)
    }
}

/// What a program reads from each of the changes of something in a realm.
public struct MappedChanges<Base: ChangeSequence, Value: Sendable>: AsyncSequence, Sendable {
    /// What was read.
    public typealias Element = Value
    /// There are no failures.
    public typealias Failure = Never

    let base: Base
    let transform: @Sendable (Base.Element) -> Value

    /// Registers an observer: what is committed from now on is not missed.
    public func makeAsyncIterator() -> Iterator {
        Iterator(base: base.makeAsyncIterator(), transform: transform)
    }

    /// Goes from change to change, and unregisters when it goes away.
    public struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator
        let transform: @Sendable (Base.Element) -> Value

        /// Waits for the next change, on the given actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
            guard let change = await base.next(isolation: actor) else { return nil }
            return transform(change)
        }

        /// Waits for the next change, on the caller's actor.
        public nonisolated(nonsending) mutating func next() async -> Value? {
            await next(isolation: #isolation)
        }
    }
}

@available(*, unavailable, message: "An iterator belongs to one task: send the sequence instead.")
extension MappedChanges.Iterator: Sendable {}
