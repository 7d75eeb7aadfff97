public import Dispatch
import RealmQuery

extension RealmSectionedResult {
    /// Calls a block with the sections as they are, and then after each commit that changes them.
    ///
    /// The block is called in the realm's isolation, or on the queue, with the sections of that isolation's realm, which
    /// stand at exactly the version of the change; never inside a write transaction, and in the order of the commits. A
    /// closure that finds the sections' keys runs there too. When the file cannot be read any more, or the realm is
    /// ``Realm/isOutdated``, observing ends.
    ///
    /// - Parameters:
    ///   - keyPaths: The properties whose writes are modifications; see
    ///     ``RealmCollection/changes(keyPaths:file:line:)-([String]?,_,_)``. A row that goes to another section is told whatever
    ///     property put it there.
    ///   - queue: A serial queue to be called on; nil for the isolation of the sections' own realm.
    ///   - file: Where the observer comes from, for the diagnostics.
    ///   - line: The line there.
    ///   - block: Gets the changes.
    /// - Returns: A token that keeps the observer; its deallocation ends it.
    /// - Precondition: The sections are live, their realm is not in a write transaction nor read-only, and the caller runs
    ///   in its isolation.
    ///   Look at ``ThreadConfined/isFrozen``, ``Realm/isInWriteTransaction`` and ``Realm/schema``.
    public func observe(
        keyPaths: [String]? = nil,
        on queue: DispatchQueue? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping (SectionedResultsChange<Self>) -> Void
    ) -> NotificationToken {
        let observation = _observation(keyPaths: keyPaths, file: file, line: line)
        let follow = observation.sections.follow()
        return observation.sections.source.observe(
            from: observation.core,
            on: queue.map { .delivering(on: $0) },
            noteShown: follow.note
        ) { delivery in
            guard case .change(let pending, let core) = delivery, let change = follow.change(pending, core) else {
                return
            }
            block(change)
        }
    }

    /// Calls a block on an actor with the sections as they are, and then after each commit that changes them.
    ///
    /// The block gets the actor, to be used synchronously, and the sections of the actor's own realm. A task that was
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
        _ block: @Sendable @escaping (isolated A, SectionedResultsChange<Self>) -> Void
    ) async -> NotificationToken {
        guard !Task.isCancelled else { return NotificationToken() }
        let observation = _observation(keyPaths: keyPaths, file: file, line: line)
        let follow = observation.sections.follow()
        return observation.sections.source.observe(
            from: observation.core,
            on: RealmIsolation(actor),
            noteShown: follow.note
        ) { [weak actor] delivery in
            guard let actor, case .change(let pending, let core) = delivery,
                let change = follow.change(pending, core)
            else { return }
            actor.receive(change, with: block)
        }
    }

    /// The changes of the sections, as an asynchronous sequence.
    ///
    /// - Parameters:
    ///   - keyPaths: The properties whose writes are modifications; nil for all of them.
    ///   - file: Where the observer comes from, for the diagnostics.
    ///   - line: The line there.
    /// - Returns: The changes, from `.initial` on; a sequence that may be sent anywhere, see ``SectionChanges``.
    /// - Precondition: It is managed and live, and there are such properties: look at ``ThreadConfined/realm``,
    ///   ``ThreadConfined/isFrozen`` and ``Realm/schema``.
    public func changes(
        keyPaths: [String]? = nil,
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> SectionChanges<Self> {
        SectionChanges(sections: _observation(keyPaths: keyPaths, file: file, line: line).sections)
    }
}

extension RealmSectionedResult where SectionElement: ObjectBase {
    /// Calls a block with the sections as they are, and then after each commit that changes them or the given properties
    /// of their elements.
    ///
    /// - Precondition: It is managed and live, its realm is not in a write transaction, and there are such properties:
    ///   look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen``, ``Realm/isInWriteTransaction`` and
    ///   ``Realm/schema``.
    public func observe(
        keyPaths: [PartialKeyPath<SectionElement>],
        on queue: DispatchQueue? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping (SectionedResultsChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { PathRecorder.name(of: $0) }, on: queue, file: file, line: line, block)
    }

    /// Calls a block on an actor with the sections as they are, and then after each commit that changes them or the given
    /// properties of their elements.
    ///
    /// - Precondition: It is managed and live, its realm is not in a write transaction, and there are such properties:
    ///   look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen``, ``Realm/isInWriteTransaction`` and
    ///   ``Realm/schema``.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<SectionElement>],
        on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @Sendable @escaping (isolated A, SectionedResultsChange<Self>) -> Void
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

    /// The changes of the sections, with the given properties of their elements.
    ///
    /// - Precondition: It is managed and live, and there are such properties: look at ``ThreadConfined/realm``,
    ///   ``ThreadConfined/isFrozen`` and ``Realm/schema``.
    public func changes(
        keyPaths: [PartialKeyPath<SectionElement>],
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> SectionChanges<Self> {
        changes(keyPaths: keyPaths.map { PathRecorder.name(of: $0) }, file: file, line: line)
    }
}

/// The changes of sectioned results or of one section, as an asynchronous sequence.
///
/// It works like ``CollectionChanges``: it may be sent anywhere; iterated on an actor it tells the sections of that actor's own
/// realm, and outside every actor frozen ones. When the file cannot be read any more, or its schema does not fit the sections' classes any
/// more (``Realm/isOutdated``), it ends.
///
/// The changes of sections made by a closure of ``RealmCollection/sectioned(by:sortDescriptors:)`` are to be iterated on the actor
/// of the realm that the sections belong to: the closure may hold what belongs there. Elsewhere they end the process with a
/// message. Those made by key paths, or by ``RealmCollection/sectioned(bySendable:sortDescriptors:)``, may be iterated anywhere.
public struct SectionChanges<Collection: RealmSectionedResult>: ChangeSequence {
    /// One change.
    public typealias Element = SectionedResultsChange<Collection>
    /// There are no failures.
    public typealias Failure = Never

    let sections: ObservedSections<Collection>

    /// Registers an observer: what is committed from now on is not missed.
    public func makeAsyncIterator() -> Iterator { Iterator(sections) }

    /// Goes from change to change, and unregisters when it goes away.
    public struct Iterator: AsyncIteratorProtocol {
        private let iteration: ChangeIteration<CollectionSubject>
        private let sections: ObservedSections<Collection>
        private var follower: ObservedSections<Collection>.Follower?

        init(_ sections: ObservedSections<Collection>) {
            self.sections = sections
            iteration = sections.source.makeIteration()
        }

        /// Waits for the next change, on the given actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            sections.checkIteration(on: actor)
            let follow = follower ?? sections.follow()
            follower = follow
            while case .change(let pending, let core) = await iteration.next(isolation: actor) {
                if let change = follow.change(pending, core) { return change }
            }
            return nil
        }

        /// Waits for the next change, on the caller's actor.
        public nonisolated(nonsending) mutating func next() async -> Element? {
            await next(isolation: #isolation)
        }
    }
}

@available(*, unavailable, message: "An iterator belongs to one task: send the sequence instead.")
extension SectionChanges.Iterator: Sendable {}
