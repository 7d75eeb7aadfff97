import RealmModel
import RealmStorage
import Synchronization

/// Delivers changes to a block in the isolation of a realm: what stands behind `observe`.
///
/// One task waits and computes off the isolation; every delivery is handed to the isolation, in order, and the next one
/// begins when it is done. The task keeps neither the actor nor the token alive.
///
/// Unchecked because `block` and `core` are used in the isolation only.
final class ChangePump<Subject: ChangeSubject>: NotificationRegistration, @unchecked Sendable {
    private static var patience: Int { 3 }

    /// What a delivery asks for.
    private enum Outcome: Sendable {
        case done
        case retarget(Snapshot)
        case wait
        case ended
    }

    /// Called with each change and its realm, or with the failure that ends observing.
    typealias Block = (Result<ChangeCursor<Subject>.Pending, any Error>, RealmCore) -> Void

    private let cursor: ChangeCursor<Subject>
    private let isolation: RealmIsolation
    private let configuration: Realm.Configuration
    private let block: Block
    private let heldBack: ((RealmCore) -> Void)?
    private var core: RealmCore?
    private var lastHeldBack: UInt64 = 0

    /// Registers, in the isolation of `origin`, which may be another one than `isolation`.
    ///
    /// `heldBack` is called for each version that the realm does not move to because `autorefresh` is off, `block` with
    /// the changes.
    init(
        _ subject: Subject,
        origin: RealmCore,
        isolation: RealmIsolation,
        heldBack: ((RealmCore) -> Void)? = nil,
        block: @escaping Block
    ) throws {
        self.block = block
        self.heldBack = heldBack
        self.isolation = isolation
        configuration = origin.configuration
        cursor = try ChangeCursor(subject, coordinator: origin.coordinator, at: origin.model.snapshot)
        if origin.isolation.isSame(as: isolation) {
            core = origin
            origin.signals.add(cursor.signal, delivers: true)
        }
    }

    /// Begins to deliver.
    func start() {
        Task.detached { await self.run() }
    }

    func cancel() -> Bool {
        cursor.cancel()
    }

    func skip(_ version: UInt64) {
        cursor.skip(version)
    }

    func isIsolated(as other: RealmCore) -> Bool {
        other.coordinator === cursor.coordinator && isolation.isSame(as: other.isolation)
    }

    @concurrent
    private func run() async {
        do {
            pumping: while var pending = try await cursor.next() {
                var attempts = 0
                delivery: while true {
                    switch try await hand(pending, computesHere: attempts > Self.patience) {
                    case .done:
                        break delivery
                    case .ended:
                        break pumping
                    case .wait:
                        await cursor.signal.wait()
                        break delivery
                    case .retarget(let snapshot):
                        attempts += 1
                        guard let next = try await cursor.pending(to: snapshot, insteadOf: pending) else {
                            break delivery
                        }
                        pending = next
                    }
                }
                if cursor.isFinal { break }
            }
        } catch {
            await fail(Realm.Error.wrap(error, path: cursor.coordinator.path))
        }
        finish()
    }

    /// Delivers in the isolation, if the realm stands right.
    private func hand(_ pending: ChangeCursor<Subject>.Pending, computesHere: Bool) async throws -> Outcome {
        let result = await isolated { pump -> Result<Outcome, any Error> in
            Result { try pump.deliver(pending, computesHere: computesHere) }
        }
        return try result?.get() ?? .ended
    }

    private func deliver(_ pending: ChangeCursor<Subject>.Pending, computesHere: Bool) throws -> Outcome {
        guard !cursor.signal.isEnded else { return .ended }
        let core = try liveCore()
        switch try core.prepareDelivery(at: pending.target, after: cursor.toldVersion) {
        case .wait:
            if let heldBack, !core.autorefresh, !core.isInWriteTransaction, pending.target.version > lastHeldBack {
                lastHeldBack = pending.target.version
                heldBack(core)
            }
            return .wait
        case .ended: return .ended
        case .deliver:
            cursor.accept(pending)
            block(.success(pending), core)
        case .retarget(let snapshot):
            guard computesHere else { return .retarget(snapshot) }
            guard let pending = try cursor.pending(here: snapshot, insteadOf: pending) else { return .done }
            cursor.accept(pending)
            block(.success(pending), core)
        }
        return .done
    }

    /// The realm of the isolation; another one when it was invalidated.
    private func liveCore() throws -> RealmCore {
        if let core, core.lifecycle != .invalidated { return core }
        core?.signals.remove(cursor.signal)
        let core = try cursor.coordinator.core(for: isolation, configuration: configuration)
        core.signals.add(cursor.signal, delivers: true)
        self.core = core
        return core
    }

    private func fail(_ error: any Error) async {
        _ = await isolated { pump in
            guard !pump.cursor.signal.isEnded, let core = try? pump.liveCore() else { return }
            pump.block(.failure(error), core)
        }
    }

    private func finish() {
        core?.signals.remove(cursor.signal)
        cursor.cancel()
    }

    /// Runs work in the isolation, behind what was handed to it before.
    ///
    /// - Returns: nil when the isolation is gone.
    private func isolated<Value: Sendable>(_ work: @escaping @Sendable (ChangePump) -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            let reply = Reply(continuation)
            isolation.post { [self] in reply.give(work(self)) }
        }
    }

    /// Resumes a continuation once: with a value, or with nil when whoever was to give one forgot.
    private final class Reply<Value: Sendable>: Sendable {
        private let continuation: Mutex<CheckedContinuation<Value?, Never>?>

        init(_ continuation: CheckedContinuation<Value?, Never>) {
            self.continuation = Mutex(continuation)
        }

        func give(_ value: Value?) {
            continuation.withLock { continuation in
                defer { continuation = nil }
                return continuation
            }?
            .resume(returning: value)
        }

        deinit {
            give(nil)
        }
    }
}
