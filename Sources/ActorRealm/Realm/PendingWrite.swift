import Logging
import RealmStorage

/// One asynchronous write.
///
/// Unchecked because its closures are called, and its core is used, only in the core's isolation.
final class PendingWrite: @unchecked Sendable {
    /// Keeps the realm open; it may be invalidated before the turn comes.
    let realm: Realm
    let isolation: RealmIsolation
    let coordinator: RealmCoordinator
    let writes: CallbackWrites
    let id: AsyncTransactionId
    let tokens: [NotificationToken]
    /// When it gives up waiting for its turn, be that one it was passed in.
    let deadline: ContinuousClock.Instant?
    let commits: Bool
    let block: () -> Void
    /// What the program gave to be told; nil where it gave nothing.
    let onComplete: (((any Error)?) -> Void)?
    private let log: @Sendable ((any Error)?) -> Void

    init(
        _ realm: Realm,
        id: AsyncTransactionId,
        _ request: WriteRequest,
        commits: Bool,
        _ block: @escaping () -> Void,
        _ onComplete: (((any Error)?) -> Void)?
    ) {
        self.realm = realm
        let core = realm.core
        isolation = core.isolation
        coordinator = core.coordinator
        writes = core.callbackWrites
        self.id = id
        tokens = request.tokens
        deadline = request.deadline(in: core.configuration)
        self.commits = commits
        self.block = block
        self.onComplete = onComplete
        log = core.logUnheardFailure
    }

    /// Tells the program, or the log.
    private func tell(_ failure: (any Error)?) {
        if let onComplete { onComplete(failure) } else { log(failure) }
    }

    func turnCame(_ ticket: WriteScheduler.Ticket, _ outcome: WriteScheduler.Outcome) {
        // When the actor is gone, its turn goes to the next.
        isolation.post(
            { self.run(ticket, outcome) },
            orElse: {
                if !self.writes.isCancelled(self.id) { self.log(self.failure(of: outcome) ?? self.goneError(outcome)) }
                self.isLost(with: ticket)
            }
        )
    }

    /// Why the turn did not come; nil where it did, or was not waited for any more.
    private func failure(of outcome: WriteScheduler.Outcome) -> Realm.Error? {
        switch outcome {
        case .granted, .cancelled: nil
        case .timedOut(let holder):
            Realm.Error(
                WriteScheduler.TurnTimeout(holder: coordinator.writes.describe(holder)),
                "writeAsync()",
                path: coordinator.path
            )
        case .failed(let error): Realm.Error(storage: error, path: coordinator.path)
        }
    }

    /// What is said of a write whose turn came when nobody could make it any more.
    private func goneError(_ outcome: WriteScheduler.Outcome) -> Realm.Error? {
        if case .cancelled = outcome { return nil }
        return Realm.Error(.closed, "The write was not made: the isolation of its realm, \(isolation), is gone.")
    }

    /// Counts the write out, whose actor is gone.
    private func isLost(with ticket: WriteScheduler.Ticket? = nil) {
        coordinator.writes.countOut(id, of: writes, in: isolation, with: ticket)
    }

    private func run(_ ticket: WriteScheduler.Ticket, _ outcome: WriteScheduler.Outcome) {
        if case .granted = outcome {
        } else {
            if let failure = failure(of: outcome), !writes.isCancelled(id) { tell(failure) }
            return writes.end(id)
        }
        guard coordinator.writes.begin(ticket, deadline: deadline, { self.turnCame($0, $1) }) else { return }
        if writes.isCancelled(id) {
            coordinator.writes.finish(ticket)
            return writes.end(id)
        }
        writes.waits(id, for: nil)
        let core = realm.core
        do {
            let joining = coordinator.leavesPages && tokens.isEmpty && !core.signals.hasDeliverers
            try core.beginTransaction(turn: ticket, joining: joining)
        } catch {
            tell(error)
            return writes.end(id)
        }
        writes.lastCommit = nil
        let before = core.beginBlock()
        core.whileSettlingLater(isGrouped: false, block)
        let hasLostTransaction = core.endBlock(before)
        if core.ticket == ticket {
            if commits {
                core.commitInBackground(withoutNotifying: tokens, onComplete)
            } else {
                core.cancelTransaction()
            }
        } else if commits {
            // What the block has begun itself, and left open.
            if core.isInWriteTransaction { core.commitInBackground(withoutNotifying: tokens, nil) }
            let base = core.takeBase()
            guard let own = writes.lastCommit else { return settle(core, hasLostTransaction, base, nil) }
            guard base != nil || hasLostTransaction else {
                writes.follow(own) { [onComplete, log] failure, isHeard in
                    if let onComplete { onComplete(failure) } else if !isHeard { log(failure) }
                }
                return writes.end(id)
            }
            return writes.follow(own, ending: id) {
                self.settle(core, hasLostTransaction, base, $0, isHeard: $1)
            }
        }
        // Nobody asks how a write ended whose block was to commit and did not.
        if !commits {
            if core.isInWriteTransaction { core.cancelTransaction() }
            _ = core.takeBase()
        }
        writes.end(id)
    }

    /// Ends a write whose block rolled a transaction back, when what that was built on is durable; `failure` is that of its commit, which
    /// may have been told already.
    private func settle(
        _ core: RealmCore,
        _ hasLostTransaction: Bool,
        _ base: BaseFlush?,
        _ failure: (any Error)?,
        isHeard: Bool = false
    ) {
        guard let base else { return finish(core, hasLostTransaction, nil, failure, isHeard) }
        // Used in its isolation only, where it is sent to here.
        nonisolated(unsafe) let core = core
        base.tell(
            .callback { result in
                self.isolation.post(
                    { self.finish(core, hasLostTransaction, result, failure, isHeard) },
                    orElse: {
                        if let failure {
                            if !isHeard { self.log(failure) }
                        } else if case .failure(let error) = result {
                            self.log(error)
                        }
                        self.isLost()
                    }
                )
            }
        )
    }

    private func finish(
        _ core: RealmCore,
        _ hasLostTransaction: Bool,
        _ base: WriteScheduler.CommitResult?,
        _ own: (any Error)?,
        _ isHeard: Bool
    ) {
        var failure = own
        do {
            if let base { try core.moved(behind: base) }
            if hasLostTransaction { throw core.endedInBlockError }
        } catch {
            failure = own ?? error
        }
        if onComplete != nil || own == nil || !isHeard { tell(failure) }
        writes.end(id)
    }
}
