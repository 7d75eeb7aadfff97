public import Dispatch
import RealmStorage

extension Map {
    /// Calls a block with the map as it is, and then after each commit that changes it.
    ///
    /// See ``RealmCollection/observe(keyPaths:on:file:line:_:)-([String]?,_,_)``.
    ///
    /// - Precondition: It is managed and live, and its realm is not in a write transaction: look at
    ///   ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    public func observe(
        keyPaths: [String]? = nil,
        on queue: DispatchQueue? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken {
        let source = observationSource(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line))
        var delivered: Map?
        return source.observe(from: _backing?.core, on: queue.map { .delivering(on: $0) }) { delivery in
            switch delivery {
            case .failure(let error, _): block(.error(error))
            case .change(let pending, let core):
                guard let change = source.change(pending, in: core, after: delivered) as RealmMapChange<Map>? else {
                    return
                }
                delivered = change.collection
                block(change)
            }
        }
    }

    /// Calls a block with the map as it is, and then after each commit that changes it or the given properties of its
    /// objects.
    ///
    /// - Precondition: It is managed and live, and its realm is not in a write transaction: look at
    ///   ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    public func observe<Target: ObjectBase>(
        keyPaths: [PartialKeyPath<Target>],
        on queue: DispatchQueue? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken where Value == Target? {
        observe(keyPaths: keyPaths.map { PathRecorder.name(of: $0) }, on: queue, file: file, line: line, block)
    }

    /// Calls a block on an actor with the map as it is, and then after each commit that changes it.
    ///
    /// The block gets the actor, to be used synchronously, and the map of the actor's own realm. A task that was
    /// cancelled gets an inert token.
    ///
    /// - Precondition: It is managed and live, and its realm is not in a write transaction: look at
    ///   ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil,
        on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @Sendable @escaping (isolated A, RealmMapChange<Map>) -> Void
    ) async -> NotificationToken {
        guard !Task.isCancelled else { return NotificationToken() }
        let source = observationSource(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line))
        var delivered: Map?
        return source.observe(from: _backing?.core, on: RealmIsolation(actor)) { [weak actor] delivery in
            guard let actor else { return }
            switch delivery {
            case .failure(let error, _): actor.receive(.error(error), with: block)
            case .change(let pending, let core):
                guard let change = source.change(pending, in: core, after: delivered) as RealmMapChange<Map>? else {
                    return
                }
                delivered = change.collection
                actor.receive(change, with: block)
            }
        }
    }

    /// Calls a block on an actor with the map as it is, and then after each commit that changes it or the given
    /// properties of its objects.
    ///
    /// - Precondition: It is managed and live, and its realm is not in a write transaction: look at
    ///   ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    public func observe<A: Actor, Target: ObjectBase>(
        keyPaths: [PartialKeyPath<Target>],
        on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @Sendable @escaping (isolated A, RealmMapChange<Map>) -> Void
    ) async -> NotificationToken where Value == Target? {
        await observe(
            keyPaths: keyPaths.map { PathRecorder.name(of: $0) },
            on: actor,
            _isolation: _isolation,
            file: file,
            line: line,
            block
        )
    }
}
