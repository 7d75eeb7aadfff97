public import Dispatch
import RealmModel
import RealmQuery
import RealmStorage

extension ProjectedCollection {
    /// Calls a block with the values as they are, and then after each commit that changes the collection or the property.
    ///
    /// - Parameters:
    ///   - keyPaths: The properties whose writes are modifications; nil for the projected one.
    ///   - queue: A serial queue to be called on; nil for the isolation of the realm.
    ///   - file: Where the observer comes from, for the diagnostics.
    ///   - line: The line there.
    ///   - block: Gets the changes.
    /// - Returns: A token that keeps the observer; its deallocation ends it.
    /// - Precondition: It is managed and live, its realm is not in a write transaction, and there are such properties:
    ///   look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen``, ``Realm/isInWriteTransaction`` and
    ///   ``Realm/schema``.
    public func observe(
        keyPaths: [String]? = nil,
        on queue: DispatchQueue? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping (RealmCollectionChange<ProjectedCollection<Value>>) -> Void
    ) -> NotificationToken {
        let (observed, core) = source.observation(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line))
        var delivered: ProjectedCollection?
        return observed.observe(from: core, on: queue.map { .delivering(on: $0) }) { delivery in
            switch delivery {
            case .failure(let error, _): block(.error(error))
            case .change(let pending, let core):
                guard let change = observed.projectedChange(pending, in: core, after: delivered) else { return }
                delivered = change.collection
                block(change)
            }
        }
    }

    /// Calls a block on an actor with the values as they are, and then after each commit that changes the collection or the
    /// property.
    ///
    /// The block gets the actor, to be used synchronously, and the values of the actor's own realm. A task that was
    /// cancelled gets an inert token.
    ///
    /// - Precondition: It is managed and live, its realm is not in a write transaction, and there are such properties:
    ///   look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen``, ``Realm/isInWriteTransaction`` and
    ///   ``Realm/schema``.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil,
        on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @Sendable @escaping (isolated A, RealmCollectionChange<ProjectedCollection<Value>>) -> Void
    ) async -> NotificationToken {
        guard !Task.isCancelled else { return NotificationToken() }
        let (observed, core) = source.observation(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line))
        var delivered: ProjectedCollection?
        return observed.observe(from: core, on: RealmIsolation(actor)) { [weak actor] delivery in
            guard let actor else { return }
            switch delivery {
            case .failure(let error, _): actor.receive(.error(error), with: block)
            case .change(let pending, let core):
                guard let change = observed.projectedChange(pending, in: core, after: delivered) else { return }
                delivered = change.collection
                actor.receive(change, with: block)
            }
        }
    }

    /// The changes of the values.
    ///
    /// - Parameters:
    ///   - keyPaths: The properties whose writes are modifications; nil for the projected one.
    ///   - file: Where the observer comes from, for the diagnostics.
    ///   - line: The line there.
    /// - Returns: A sequence that may be sent anywhere.
    /// - Precondition: The collection is managed and live.
    ///   Look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/schema``.
    public func changes(
        keyPaths: [String]? = nil,
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> ProjectedChanges<Value> {
        ProjectedChanges(
            source: source.observation(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line)).0
        )
    }
}

/// The changes of a projected collection, as an asynchronous sequence; see ``CollectionChanges``.
public struct ProjectedChanges<Value: RealmCollectionValue>: ChangeSequence {
    /// One change.
    public typealias Element = RealmCollectionChange<ProjectedCollection<Value>>
    /// A failure is an element, the last one.
    public typealias Failure = Never

    let source: ObservationSource<CollectionSubject>

    /// Registers an observer: what is committed from now on is not missed.
    public func makeAsyncIterator() -> Iterator { Iterator(source) }

    /// Goes from change to change, and unregisters when it goes away.
    public struct Iterator: AsyncIteratorProtocol {
        private let iteration: ChangeIteration<CollectionSubject>
        private let source: ObservationSource<CollectionSubject>
        private var delivered: ProjectedCollection<Value>?

        init(_ source: ObservationSource<CollectionSubject>) {
            self.source = source
            iteration = source.makeIteration()
        }

        /// Waits for the next change, on the given actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            switch await iteration.next(isolation: actor) {
            case .change(let pending, let core):
                guard let change = source.projectedChange(pending, in: core, after: delivered) as Element? else {
                    return nil
                }
                delivered = change.collection?.keptWhileLive
                return change
            case .failure(let error): return .error(error)
            case .end: return nil
            }
        }

        /// Waits for the next change, on the caller's actor.
        public nonisolated(nonsending) mutating func next() async -> Element? {
            await next(isolation: #isolation)
        }
    }
}

@available(*, unavailable, message: "An iterator belongs to one task: send the sequence instead.")
extension ProjectedChanges.Iterator: Sendable {}

extension ObservationSource where Subject == CollectionSubject {
    /// The change that a delivery stands for, in the realm that it is delivered with.
    ///
    /// `delivered` is the collection delivered before.
    func projectedChange<Value: RealmCollectionValue>(
        _ pending: ChangeCursor<CollectionSubject>.Pending,
        in core: RealmCore,
        after delivered: ProjectedCollection<Value>?
    ) -> RealmCollectionChange<ProjectedCollection<Value>>? {
        guard let collection = resolved(pending, in: core, after: delivered) else { return nil }
        if case .keys(let observed) = pending.state, let order = observed.order {
            collection.source.adopt(order)
        }
        guard let delta = pending.delta else { return .initial(collection) }
        return .update(
            collection,
            deletions: delta.deletions,
            insertions: delta.insertions,
            modifications: delta.modifications
        )
    }
}
