import Logging
import RealmModel
import RealmStorage
import Synchronization

/// Delivers changes to a block in the isolation of a realm: what stands behind `observe`.
///
/// Nothing runs while there is nothing to tell: the hub calls when there is, and each delivery is handed to the isolation,
/// in order; the next one begins when it is done. It keeps neither the actor nor the token alive.
///
/// Unchecked because what it calls, and what is said to be the isolation's, is used there only.
final class ChangePump<Subject: ChangeSubject>: NotificationRegistration, RealmBlock, @unchecked Sendable {
    private static var patience: Int { 3 }

    /// What the block is called with.
    enum Delivery {
        /// A change, and the realm to deliver it with.
        case change(ChangeCursor<Subject>.Pending, RealmCore)
        /// What ends observing; without a realm where there is none whose classes fit the file.
        case failure(any Error, RealmCore?)
    }

    typealias Block = (Delivery) -> Void

    private let cursor: ChangeCursor<Subject>
    private let isolation: RealmIsolation
    private let configuration: Realm.Configuration
    /// Whether it is the block of a whole realm.
    private let isOfRealm: Bool
    let number: UInt64
    /// The isolation's: the last version for which `heldBack` was called.
    private var lastHeldBack: UInt64 = 0
    /// The isolation's: how often the realm moved on while a change was computed.
    private var attempts = 0
    private let life = Mutex(Life())

    /// What is let go of when the observer ends, which may be anywhere: a token may be kept for long.
    private struct Life {
        /// The realm that it delivers with.
        var home: Home?
        /// What was told last may hold a version; nil when the observer has ended.
        var calls: Calls?
    }

    /// Unchecked because they are called in the isolation only.
    private struct Calls: @unchecked Sendable {
        let block: Block
        /// What makes it the block of a whole realm.
        let heldBack: ((RealmCore) -> Void)?
        /// Notes what is observed as it is in the open transaction of a realm, given the first version that may still be asked for.
        let noteShown: ((RealmCore, UInt64?) -> Void)?
    }

    /// Unchecked because the core is used in its isolation only.
    private struct Home: @unchecked Sendable {
        let core: RealmCore
    }

    /// Registers, in the isolation of `origin`, which may be another one than `isolation`.
    ///
    /// `block` is called with the changes. With `heldBack` it is the block of a whole realm, called before a synchronous commit
    /// of that realm returns; `heldBack` is called for each version that the realm does not move to because `autorefresh` is
    /// off. `noteShown` is called in transactions whose commits are to be left out.
    init(
        _ subject: Subject,
        of origin: RealmCore,
        isolation: RealmIsolation,
        registeredAt place: ReaderOrigin?,
        heldBack: ((RealmCore) -> Void)? = nil,
        noteShown: ((RealmCore, UInt64?) -> Void)? = nil,
        block: @escaping Block
    ) throws {
        isOfRealm = heldBack != nil
        self.isolation = isolation
        configuration = origin.configuration
        number = origin.coordinator.observations.nextListener()
        cursor = try ChangeCursor(
            subject,
            coordinator: origin.coordinator,
            at: origin.model.snapshot,
            lagLimit: origin.configuration.maximumObserverLag.map { UInt64($0) },
            objectTypes: origin.configuration.objectTypes,
            origin: place
        )
        let calls = Calls(block: block, heldBack: heldBack, noteShown: noteShown)
        life.withLock { $0.calls = calls }
        if origin.isolation.isSame(as: isolation) { follow(origin) }
    }

    /// Begins to deliver.
    func start() {
        advance()
    }

    func cancel() -> Bool {
        let ended = endLife()
        defer { ended.letGo() }
        return cursor.cancel()
    }

    /// Ends of itself, on whatever thread and behind whatever locks: what the program's block was the last to hold ends elsewhere.
    private func endItself() {
        let ended = endLife()
        // Before the token can be let go of, which would be told of where the observer is not over.
        _ = cursor.cancel()
        if !ended.isEmpty { Task.detached { ended.letGo() } }
    }

    private func endLife() -> Ended {
        let ended = life.withLock { life in
            defer { life = Life() }
            return Ended(life)
        }
        ended.home?.core.signals.remove(cursor)
        return ended
    }

    /// What an observer held, which ends where it is let go of and nowhere else, whoever else has a reference.
    private final class Ended: Sendable {
        private let life: Mutex<Life>

        init(_ life: Life) { self.life = Mutex(life) }

        var home: Home? { life.withLock { $0.home } }

        var isEmpty: Bool { life.withLock { $0.home == nil && $0.calls == nil } }

        func letGo() {
            let before = life.withLock { life in
                defer { life = Life() }
                return life
            }
            withExtendedLifetime(before) {}
        }
    }

    func noteLetGo() {
        guard isOfRealm else { return }
        (configuration.logger ?? .shared)
            .warning(
                """
                A token of a block that observes a realm was let go of: the block is not called any more. Keep the token, and \
                call `token.invalidate()` when no more changes are wanted.
                """,
                metadata: [
                    "realm.path": "\(cursor.coordinator.path)",
                    "realm.observedAt": "\(cursor.origin.map { "\($0)" } ?? "?")",
                ]
            )
    }

    func noteLeavingOut(in core: RealmCore) {
        guard let noteShown = calls?.noteShown, isIsolated(as: core) else { return }
        noteShown(core, cursor.shownVersion)
    }

    func skip(_ commit: LeftOutCommit, standingOn version: UInt64) {
        cursor.skip(commit, standingOn: version)
    }

    func takeBackSkip(of commit: LeftOutCommit) {
        cursor.takeBackSkip(of: commit)
    }

    func isIsolated(as other: RealmCore) -> Bool {
        other.coordinator === cursor.coordinator && isolation.isSame(as: other.isolation)
    }

    /// Does what is to be done next; called when that changed, from anywhere, one call at a time.
    private func advance() {
        perform(ask())
    }

    private func ask() -> ChangeFlow.Answer {
        cursor.ask(orCall: { [self] in advance() })
    }

    private func perform(_ answer: ChangeFlow.Answer) {
        switch answer {
        case .wait: break
        case .compute:
            Task.detached { [self] in
                cursor.computeHere()
                advance()
            }
        case .fetch: hand { try $0.deliver() }
        case .end: end()
        }
    }

    /// Ends, with a word about why if that is an error.
    private func end() {
        guard let failure = cursor.failure else { return endItself() }
        let error = Realm.Error.wrap(failure, path: cursor.coordinator.path)
        isolation.post(
            { [self] in
                // The token may have been let go of meanwhile.
                if let calls {
                    let core = (try? liveCore()) ?? home?.core
                    core?.noteFailure(failure)
                    calls.block(.failure(error, core))
                }
                _ = cancel()
            },
            // Where the isolation is gone there is nobody to tell, but a realm to let go of.
            orElse: { [self] in endItself() }
        )
    }

    /// Runs a part of the delivery in the isolation, behind what was handed to it before; ends when the isolation is gone, and asks
    /// again when it loses that.
    private func hand(_ work: @escaping @Sendable (ChangePump) throws -> Void) {
        let handover = Handover(self)
        isolation.post {
            guard let pump = handover.arrive() else { return }
            do {
                try work(pump)
            } catch {
                pump.cursor.fail(error)
                pump.end()
            }
        }
    }

    private func deliver() throws {
        guard let pending = cursor.fetch() else { return advance() }
        let core = try liveCore()
        switch try core.prepareDelivery(at: pending.target, after: cursor.toldVersion) {
        case .deliver where isOfRealm:
            attempts = 0
            // Together with the realm's other blocks, in order.
            core.tellBlocks()
            if !cursor.knows(pending.target.version) { refuse(in: core) }
            advance()
        case .deliver:
            attempts = 0
            cursor.accept(pending)
            core.blockCalls.during { calls?.block(.change(pending, core)) }
            if cursor.isFinal { _ = cancel() } else { advance() }
        case .ended:
            _ = cancel()
        case .wait:
            if let heldBack = calls?.heldBack, !core.autorefresh, !core.isInWriteTransaction,
                pending.target.version > lastHeldBack
            {
                lastHeldBack = pending.target.version
                heldBack(core)
            }
            refuse(in: core)
            advance()
        case .retarget(let snapshot):
            attempts += 1
            if attempts > Self.patience {
                cursor.retargetHere(to: snapshot, insteadOf: pending)
                // The next attempt follows at once, before the realm can move.
                let answer = ask()
                if answer == .fetch { try deliver() } else { perform(answer) }
            } else {
                Task.detached { [self] in
                    cursor.retargetHere(to: snapshot, insteadOf: pending)
                    advance()
                }
            }
        }
    }

    /// What was handed to the isolation was let go of on the way, on any thread.
    ///
    /// Where the isolation is there, which a scheduler is that loses some work, the next version or the next move of its realm is worth
    /// another try.
    private func wasLost() {
        guard isolation.isAlive, let signals = home?.core.signals else { return endItself() }
        if cursor.fetch() != nil {
            cursor.refuse()
            signals.noteRefusal(of: cursor)
        }
        advance()
    }

    private func refuse(in core: RealmCore) {
        core.signals.noteRefusal(of: cursor)
        cursor.refuse()
        // The block may have ended its observer.
        if calls == nil { core.signals.remove(cursor) }
    }

    // MARK: The block of a whole realm

    func tell(in core: RealmCore) {
        do {
            guard let pending = try cursor.tellHere(upTo: core.model.snapshot) else { return }
            // The token may have been let go of meanwhile.
            calls?.block(.change(pending, core))
        } catch {
            cursor.fail(error)
            end()
        }
    }

    func move(to next: RealmCore) {
        home?.core.signals.remove(cursor)
        follow(next)
    }

    // MARK: Its realm

    private var home: Home? { life.withLock { $0.home } }

    private var calls: Calls? { life.withLock { $0.calls } }

    /// The realm of the isolation; another one when it was invalidated.
    private func liveCore() throws -> RealmCore {
        if let core = home?.core {
            if core.lifecycle != .invalidated { return core }
            core.signals.remove(cursor)
        }
        let core = try cursor.coordinator.core(for: isolation, configuration: configuration, origin: cursor.origin)
        try core.requireClasses(cursor.subject.requiredClasses, of: configuration)
        follow(core)
        return core
    }

    private func follow(_ core: RealmCore) {
        let home = Home(core: core)
        // What was followed before ends outside the lock.
        let before = life.withLock { life in
            defer { if life.calls != nil { life.home = home } }
            return life.home
        }
        withExtendedLifetime(before) {}
        core.signals.add(cursor, delivers: true, block: isOfRealm ? self : nil)
        if calls == nil { core.signals.remove(cursor) }
    }

    /// Carries a pump to its isolation, and tells it when it is let go of on the way.
    private final class Handover: Sendable {
        private let pump: Mutex<ChangePump?>

        init(_ pump: ChangePump) {
            self.pump = Mutex(pump)
        }

        func arrive() -> ChangePump? {
            pump.withLock { pump in
                defer { pump = nil }
                return pump
            }
        }

        deinit {
            arrive()?.wasLost()
        }
    }
}
