public import Dispatch
import RealmStorage

extension RealmCollection {
    /// Calls a block with the collection as it is, and then after each commit that changes it.
    ///
    /// The block is called in the realm's isolation, or on the queue, with the collection of that isolation's realm, which
    /// stands at exactly the version of the change; never inside a write transaction, and in the order of the commits.
    ///
    /// - Parameters:
    ///   - keyPaths: The properties whose writes are modifications; see ``changes(keyPaths:file:line:)-([String]?,_,_)``.
    ///   - queue: A serial queue to be called on; nil for the isolation of the collection's own realm.
    ///   - file: Where the observer comes from, for the diagnostics.
    ///   - line: The line there.
    ///   - block: Gets the changes.
    /// - Returns: a token that keeps the observer; its deallocation ends it.
    /// - Precondition: The collection is managed and live, its realm is not in a write transaction nor read-only, and the
    ///   caller runs in its isolation.
    ///   Look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    public func observe(
        keyPaths: [String]? = nil,
        on queue: DispatchQueue? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        let source = observationSource(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line))
        var delivered: Self?
        return source.observe(from: _backing?.core, on: queue.map { .delivering(on: $0) }) { delivery in
            switch delivery {
            case .failure(let error, _): block(.error(error))
            case .change(let pending, let core):
                guard let change = source.change(pending, in: core, after: delivered) as RealmCollectionChange<Self>?
                else { return }
                delivered = change.collection
                block(change)
            }
        }
    }

    /// Calls a block on an actor with the collection as it is, and then after each commit that changes it.
    ///
    /// The block gets the actor, to be used synchronously, and the collection of the actor's own realm. A task that was
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
        _ block: @Sendable @escaping (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        guard !Task.isCancelled else { return NotificationToken() }
        let source = observationSource(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line))
        var delivered: Self?
        return source.observe(from: _backing?.core, on: RealmIsolation(actor)) { [weak actor] delivery in
            guard let actor else { return }
            switch delivery {
            case .failure(let error, _): actor.receive(.error(error), with: block)
            case .change(let pending, let core):
                guard let change = source.change(pending, in: core, after: delivered) as RealmCollectionChange<Self>?
                else { return }
                delivered = change.collection
                actor.receive(change, with: block)
            }
        }
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Calls a block with the collection as it is, and then after each commit that changes it or the given properties of
    /// its elements.
    ///
    /// - Precondition: It is managed and live, and its realm is not in a write transaction: look at
    ///   ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    public func observe(
        keyPaths: [PartialKeyPath<Element>],
        on queue: DispatchQueue? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { PathRecorder.name(of: $0) }, on: queue, file: file, line: line, block)
    }

    /// Calls a block on an actor with the collection as it is, and then after each commit that changes it or the given
    /// properties of its elements.
    ///
    /// - Precondition: It is managed and live, and its realm is not in a write transaction: look at
    ///   ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Element>],
        on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @Sendable @escaping (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
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

extension ObservationSource {
    /// Registers a block.
    ///
    /// `core` is the realm that is observed, in whose isolation the caller runs; `isolation` is where to deliver, nil
    /// for that of `core`.
    func observe(
        from core: RealmCore?,
        on isolation: RealmIsolation?,
        noteShown: ((RealmCore, UInt64?) -> Void)? = nil,
        _ block: @escaping ChangePump<Subject>.Block
    ) -> NotificationToken {
        guard let core else { return NotificationToken() }
        let isolation = isolation ?? core.isolation
        core.checkObservable(deliveringTo: isolation)
        if core.isClosed { return NotificationToken() }
        do {
            let pump = try ChangePump(
                subject,
                of: core,
                isolation: isolation,
                registeredAt: origin,
                noteShown: noteShown,
                block: block
            )
            pump.start()
            return NotificationToken(pump)
        } catch {
            misuse("Observing could not begin: \(error)")
        }
    }
}

extension Actor {
    /// Calls a block with a change, where the caller is known to run on this actor.
    nonisolated func receive<Change>(_ change: Change, with block: @Sendable (isolated Self, Change) -> Void) {
        // It stays on the actor: the caller runs there, and so does the block.
        nonisolated(unsafe) let change = change
        assumeIsolated { block($0, change) }
    }
}
