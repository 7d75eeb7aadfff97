import RealmQuery
import RealmStorage

/// The changes of a collection, as an asynchronous sequence.
///
/// The sequence may be sent anywhere. Iterated on an actor, its elements carry the collection of that actor's own realm,
/// which stands at exactly the version of the change while the loop's body runs without suspending. Iterated outside
/// every actor, they carry a frozen collection.
///
/// ```swift
/// for await change in realm.objects(Todo.self).where({ !$0.done }).changes() {
///     switch change {
///     case .initial(let todos): show(todos)
///     case .update(let todos, let deletions, let insertions, let modifications):
///         update(todos, deletions, insertions, modifications)
///     case .error(let error): report(error)
///     }
/// }
/// ```
///
/// The first element is `.initial`, every other one leads from the element before to it: there are no gaps. A loop that
/// is slower than the writers gets one element for many commits; nothing is buffered, and no writer waits. The sequence
/// ends when its task is cancelled, when the iterating actor's realm is closed, when the owner of a list is deleted, and
/// after `.error`.
///
/// - Note: `first(where:)`, `reduce` and the other methods of the standard library that run outside the actor get frozen
///   collections.
public struct CollectionChanges<Collection: RealmCollection>: ChangeSequence {
    /// One change.
    public typealias Element = RealmCollectionChange<Collection>
    /// A failure is an element, the last one.
    public typealias Failure = Never

    let source: ObservationSource<CollectionSubject>

    /// Registers an observer: what is committed from now on is not missed.
    public func makeAsyncIterator() -> Iterator {
        Iterator(source)
    }

    /// Goes from change to change, and unregisters when it goes away.
    public struct Iterator: AsyncIteratorProtocol {
        private let iteration: ChangeIteration<CollectionSubject>
        private let source: ObservationSource<CollectionSubject>
        private var delivered: Collection?

        init(_ source: ObservationSource<CollectionSubject>) {
            self.source = source
            iteration = source.makeIteration()
        }

        /// Waits for the next change, on the given actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            switch await iteration.next(isolation: actor) {
            case .change(let pending, let core):
                guard let change = source.change(pending, in: core, after: delivered) as Element? else { return nil }
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
extension CollectionChanges.Iterator: Sendable {}

extension ObservationSource where Subject == CollectionSubject {
    /// The change that a delivery stands for, in the realm that it is delivered with.
    ///
    /// `delivered` is the collection delivered before.
    func change<Collection: RealmCollection>(
        _ pending: ChangeCursor<CollectionSubject>.Pending,
        in core: RealmCore,
        after delivered: Collection?
    ) -> RealmCollectionChange<Collection>? {
        guard let collection = resolved(pending, in: core, after: delivered) else { return nil }
        if case .keys(let observed) = pending.state, let order = observed.order {
            collection._backing?.adopt(order)
        }
        collection._backing?.delivered = pending.delta
        guard let delta = pending.delta else { return .initial(collection) }
        return .update(
            collection,
            deletions: delta.deletions,
            insertions: delta.insertions,
            modifications: delta.modifications
        )
    }
}

extension RealmCollection {
    /// The changes of the collection.
    ///
    /// - Parameters:
    ///   - keyPaths: The properties of the elements whose writes are modifications, dotted across links; nil for
    ///     all of them and those of linked objects up to four links away, none for no modifications at all. Deletions and
    ///     insertions are always told.
    ///   - file: Where the observer comes from, for the diagnostics.
    ///   - line: The line there.
    /// - Returns: a sequence that may be sent anywhere.
    /// - Precondition: The collection is managed and live, and a key path names properties of its elements.
    ///   Look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/schema``.
    public func changes(
        keyPaths: [String]? = nil,
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> CollectionChanges<Self> {
        CollectionChanges(source: observationSource(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line)))
    }
}

extension RealmCollection where Element: ObjectBase {
    /// The changes of the collection, with the given properties of its elements.
    ///
    /// - Precondition: It is managed and live, and there are such properties: look at ``ThreadConfined/realm``,
    ///   ``ThreadConfined/isFrozen`` and ``Realm/schema``.
    public func changes(
        keyPaths: [PartialKeyPath<Element>],
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> CollectionChanges<Self> {
        changes(keyPaths: keyPaths.map { PathRecorder.name(of: $0) }, file: file, line: line)
    }
}
