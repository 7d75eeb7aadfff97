import RealmModel
import RealmStorage

/// The life of one iterator over changes, whatever they are changes of.
///
/// Changes are computed off the iterating actor. On the actor its realm is brought to the version of the change, so that
/// the loop's body finds exactly what the change says.
final class ChangeIteration<Subject: ChangeSubject> {
    /// What the iterator is to return.
    enum Step {
        /// A change, and the realm to deliver it with: live on an actor, frozen elsewhere.
        case change(ChangeCursor<Subject>.Pending, RealmCore)
        case failure(any Error)
        case end
    }

    /// After so many times that the realm moved on while the change was computed, it is computed on the actor.
    private static var patience: Int { 3 }

    private let coordinator: RealmCoordinator
    private let configuration: Realm.Configuration
    private let origin: ReaderOrigin?
    private var cursor: ChangeCursor<Subject>?
    private var registrationFailure: (any Error)?
    private var core: RealmCore?
    /// Where the iteration began: on an actor, or on none.
    private var place: Place?

    private struct Place {
        let actor: ObjectIdentifier?
        /// Keeps the actor's memory, so that no other one gets its identity, and not the actor.
        private unowned let memory: (any Actor)?
        let name: String
        /// Nil outside every actor; made once, and not for each change.
        let isolation: RealmIsolation?

        init(_ actor: isolated (any Actor)?) {
            self.actor = actor.map { ObjectIdentifier($0) }
            memory = actor
            name = Self.name(of: actor)
            isolation = actor.map { RealmIsolation($0) }
        }

        static func name(of actor: isolated (any Actor)?) -> String {
            actor.map { "the actor \(type(of: $0))" } ?? "no actor"
        }
    }

    init(
        _ subject: Subject,
        coordinator: RealmCoordinator,
        configuration: Realm.Configuration,
        origin: ReaderOrigin?,
        isEnded: Bool = false
    ) {
        self.coordinator = coordinator
        self.configuration = configuration
        self.origin = origin
        if isEnded { return }
        do {
            cursor = try ChangeCursor(
                subject,
                coordinator: coordinator,
                at: nil,
                lagLimit: configuration.maximumObserverLag.map { UInt64($0) },
                objectTypes: configuration.objectTypes,
                origin: origin
            )
        } catch {
            registrationFailure = error
        }
    }

    deinit {
        finish()
    }

    /// The version that the observer knows before its first change.
    var startVersion: UInt64 { cursor?.toldVersion ?? 0 }

    /// Waits for the next change.
    func next(isolation actor: isolated (any Actor)?) async -> Step {
        if let failure = registrationFailure {
            registrationFailure = nil
            return .failure(wrapped(failure))
        }
        guard let cursor else { return .end }
        if let failure = moved(to: actor) {
            finish()
            return .failure(failure)
        }
        if cursor.isFinal {
            finish()
            return .end
        }
        do {
            guard let (pending, core) = try await delivered(by: cursor, isolation: actor) else {
                let failure = cursor.failure
                if let failure { core?.noteFailure(failure) }
                finish()
                return failure.map { .failure(wrapped($0)) } ?? .end
            }
            return .change(pending, core)
        } catch {
            finish()
            return .failure(wrapped(error))
        }
    }

    // What waits for a change holds its frames: what is done between two waits is kept out of them.

    /// Notes where the iteration begins, and what to say when it goes on elsewhere: what it delivered belongs there.
    @inline(never)
    private func moved(to actor: isolated (any Actor)?) -> Realm.Error? {
        let place = place ?? Place(actor)
        self.place = place
        if place.actor == actor.map({ ObjectIdentifier($0) }) { return nil }
        return Realm.Error(
            .wrongIsolation,
            "An iteration over changes began on \(place.name) and was to go on on \(Place.name(of: actor)). An iterator stays where it "
                + "began: send the sequence, and iterate it anew there.",
            fileURL: configuration.fileURL
        )
    }

    private func delivered(
        by cursor: ChangeCursor<Subject>,
        isolation actor: isolated (any Actor)?
    ) async throws -> (ChangeCursor<Subject>.Pending, RealmCore)? {
        try follow(cursor)
        var attempts = 0
        while !Task.isCancelled {
            switch cursor.ask() {
            case .end: return nil
            case .compute: await cursor.compute()
            case .wait: await cursor.wait()
            case .fetch:
                switch try fetched(from: cursor) {
                case .delivery(let pending, let core): return (pending, core)
                case .ended: return nil
                case .later: break
                case .retarget(let snapshot, let pending):
                    attempts += 1
                    if attempts > Self.patience {
                        cursor.retargetHere(to: snapshot, insteadOf: pending)
                    } else {
                        await cursor.retarget(to: snapshot, insteadOf: pending)
                    }
                }
            }
        }
        return nil
    }

    /// What came of a change that was computed.
    private enum Fetched {
        case delivery(ChangeCursor<Subject>.Pending, RealmCore)
        case ended
        /// There is none, or it joins later ones.
        case later
        case retarget(Snapshot, ChangeCursor<Subject>.Pending)
    }

    /// Has the realm of the iterating actor keep its file open, and follow it, from the registration on.
    @inline(never)
    private func follow(_ cursor: ChangeCursor<Subject>) throws {
        if let isolation = place?.isolation { _ = try liveCore(of: isolation, cursor) }
    }

    /// Takes the change that was computed, and moves the realm there.
    @inline(never)
    private func fetched(from cursor: ChangeCursor<Subject>) throws -> Fetched {
        guard let pending = cursor.fetch() else { return .later }
        guard let isolation = place?.isolation else {
            cursor.accept(pending)
            return .delivery(pending, RealmCore.frozen(at: pending.target, coordinator, configuration))
        }
        let core = try liveCore(of: isolation, cursor)
        switch try core.prepareDelivery(at: pending.target, after: cursor.toldVersion) {
        case .deliver:
            cursor.accept(pending)
            return .delivery(pending, core)
        case .ended: return .ended
        case .wait:
            // Later changes join this one.
            core.signals.noteRefusal(of: cursor)
            cursor.refuse()
            return .later
        case .retarget(let snapshot): return .retarget(snapshot, pending)
        }
    }

    /// The realm of the iterating actor, which stays the same one; another realm when it was invalidated, and the same after it was
    /// closed.
    private func liveCore(of isolation: RealmIsolation, _ cursor: ChangeCursor<Subject>) throws -> RealmCore {
        if let core, core.lifecycle != .invalidated { return core }
        core?.signals.remove(cursor)
        let core = try coordinator.core(for: isolation, configuration: configuration, origin: origin)
        try core.requireClasses(cursor.subject.requiredClasses, of: configuration)
        core.signals.add(cursor)
        self.core = core
        return core
    }

    @inline(never)
    private func finish() {
        if let cursor {
            core?.signals.remove(cursor)
            cursor.cancel()
        }
        cursor = nil
        core = nil
    }

    @inline(never)
    private func wrapped(_ error: any Error) -> any Error {
        Realm.Error.wrap(error, path: coordinator.path)
    }
}

extension RealmCore {
    /// A frozen realm of a version that observers look at.
    static func frozen(
        at view: FixedView,
        _ coordinator: RealmCoordinator,
        _ configuration: Realm.Configuration
    ) -> RealmCore {
        RealmCore(
            configuration: configuration,
            coordinator: coordinator,
            isolation: .everywhere,
            model: view.model,
            isDelivery: true
        )
    }
}
