import RealmModel
import RealmQuery
import RealmStorage

/// The changes of a map, as an asynchronous sequence.
///
/// It behaves as ``CollectionChanges`` does, with names in place of indices.
public struct MapChanges<Key: _MapKey, Value: RealmCollectionValue>: ChangeSequence {
    /// One change.
    public typealias Element = RealmMapChange<Map<Key, Value>>
    /// A failure is an element, the last one.
    public typealias Failure = Never

    let source: ObservationSource<MapSubject>

    /// Registers an observer: what is committed from now on is not missed.
    public func makeAsyncIterator() -> Iterator {
        Iterator(source)
    }

    /// Goes from change to change, and unregisters when it goes away.
    public struct Iterator: AsyncIteratorProtocol {
        private let iteration: ChangeIteration<MapSubject>
        private let source: ObservationSource<MapSubject>
        private var delivered: Map<Key, Value>?

        init(_ source: ObservationSource<MapSubject>) {
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
extension MapChanges.Iterator: Sendable {}

extension ObservationSource where Subject == MapSubject {
    /// The change that a delivery stands for, in the realm that it is delivered with.
    ///
    /// `delivered` is the map delivered before.
    func change<Key: _MapKey, Value: RealmCollectionValue>(
        _ pending: ChangeCursor<MapSubject>.Pending,
        in core: RealmCore,
        after delivered: Map<Key, Value>?
    ) -> RealmMapChange<Map<Key, Value>>? {
        guard let map = resolved(pending, in: core, after: delivered) else { return nil }
        guard let delta = pending.delta else { return .initial(map) }
        return .update(
            map,
            deletions: delta.deletions.map { Key._key(named: $0) },
            insertions: delta.insertions.map { Key._key(named: $0) },
            modifications: delta.modifications.map { Key._key(named: $0) }
        )
    }
}

extension Map {
    /// The map as something to observe.
    func observationSource(keyPaths: [String]?, origin: ReaderOrigin?) -> ObservationSource<MapSubject> {
        guard let backing = _backing else {
            misuse("Change notifications are only supported on managed collections. Add the owner to a Realm first.")
        }
        backing.core.checkObservable()
        let subject = MapSubject(
            source: backing.descriptor.source,
            className: backing.descriptor.className,
            keyPaths: keyPaths?.map { backing.columnName($0) },
            isDynamic: backing.descriptor.isDynamic
        )
        do {
            try subject.validate(in: backing.core.model)
        } catch {
            misuse("\(error)")
        }
        return ObservationSource(
            subject: subject,
            reference: _reference,
            coordinator: backing.core.coordinator,
            configuration: backing.core.configuration,
            origin: origin,
            isEnded: backing.core.isClosed
        )
    }

    /// The changes of the map.
    ///
    /// - Parameters:
    ///   - keyPaths: The properties of the objects whose writes are modifications; nil for all of them and those
    ///     of linked objects up to four links away.
    ///   - file: Where the observer comes from, for the diagnostics.
    ///   - line: The line there.
    /// - Returns: a sequence that may be sent anywhere.
    /// - Precondition: The map is managed and live, and a key path names properties of its objects.
    ///   Look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/schema``.
    public func changes(
        keyPaths: [String]? = nil,
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> MapChanges<Key, Value> {
        MapChanges(source: observationSource(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line)))
    }

    /// The changes of the map, with the given properties of its objects.
    ///
    /// - Precondition: It is managed and live, and there are such properties: look at ``ThreadConfined/realm``,
    ///   ``ThreadConfined/isFrozen`` and ``Realm/schema``.
    public func changes<Target: ObjectBase>(
        keyPaths: [PartialKeyPath<Target>],
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> MapChanges<Key, Value>
    where Value == Target? {
        changes(keyPaths: keyPaths.map { PathRecorder.name(of: $0) }, file: file, line: line)
    }
}
