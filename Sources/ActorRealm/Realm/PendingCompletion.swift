import Logging
import RealmStorage

/// A commit on its way to the disk.
///
/// Unchecked because it is used only in the core's isolation.
final class PendingCompletion: @unchecked Sendable {
    let core: RealmCore
    let id: AsyncTransactionId
    /// Of observers that are not told of the commit.
    let tokens: [NotificationToken]
    let onComplete: (((any Error)?) -> Void)?
    /// Says whether the call of a write, whose block this was begun in, throws the failure.
    var thrownLoss: ThrownLoss?
    private let log: @Sendable ((any Error)?) -> Void

    init(
        _ core: RealmCore,
        id: AsyncTransactionId,
        withoutNotifying tokens: [NotificationToken],
        _ onComplete: (((any Error)?) -> Void)?
    ) {
        self.core = core
        self.id = id
        self.tokens = tokens
        self.onComplete = onComplete
        thrownLoss = core.callbackWrites.teller()
        log = core.logUnheardFailure
    }

    private var isThrown: Bool { thrownLoss?.isThrown ?? false }

    /// Ends the commit in the isolation of its realm, or counts it out where that is gone.
    func end(_ result: WriteScheduler.CommitResult, _ leftOut: LeftOutCommit?) {
        post(result) { self.run(result, leftOut) }
    }

    /// The same for one that may have been acknowledged without pages; waits for these where they have to be made first.
    func end(_ result: WriteScheduler.CommitResult, owing pages: BaseFlush) {
        guard case .success(nil) = result else { return end(result, nil) }
        post(result) {
            guard self.core.acknowledged(owing: pages) else { return self.finish(nil) }
            self.core.coordinator.writes.requestPages()
            pages.tell(
                .callback { made in
                    self.post(result) {
                        self.core.show(made)
                        self.finish(nil)
                    }
                }
            )
        }
    }

    private func post(_ result: WriteScheduler.CommitResult, _ body: @escaping @Sendable () -> Void) {
        core.isolation.post(
            body,
            orElse: {
                if !self.isThrown, case .failure(let error) = result { self.log(error) }
                self.isLost()
            }
        )
    }

    private func isLost() {
        core.coordinator.writes.countOut(id, of: core.callbackWrites, in: core.isolation)
    }

    private func run(_ result: WriteScheduler.CommitResult, _ leftOut: LeftOutCommit?) {
        if case .failure = result { core.takeBackSkip(of: leftOut, for: tokens) }
        var failure: (any Error)?
        do {
            try core.complete(result)
        } catch {
            failure = error
        }
        finish(failure)
    }

    func fail(_ error: any Error) {
        core.isolation.post(
            {
                self.core.refreshQuietly()
                self.finish(error)
            },
            orElse: {
                if !self.isThrown { self.log(error) }
                self.isLost()
            }
        )
    }

    private func finish(_ failure: (any Error)?) {
        let writes = core.callbackWrites
        var isHeard = isThrown
        if let onComplete, !writes.isCancelled(id) {
            onComplete(failure)
            isHeard = true
        }
        if let follower = writes.end(behind: id) { follower(failure, isHeard) } else if !isHeard { log(failure) }
        writes.end(id)
    }
}

extension WriteScheduler {
    /// Counts an asynchronous write out that cannot be ended in its isolation, and passes its turn on if it waits for one.
    ///
    /// On the thread of the file, because many may wait: a realm of an actor that is gone, and that was to be closed behind the write, is
    /// closed there.
    func countOut(
        _ id: AsyncTransactionId,
        of writes: CallbackWrites,
        in isolation: RealmIsolation,
        with ticket: Ticket? = nil
    ) {
        // What counting out touches is behind a lock of its own.
        nonisolated(unsafe) let writes = writes
        ioThread.perform { [self] in
            if let ticket { abandon(ticket) }
            guard isolation.isAlive else { return writes.end(id) }
            // A scheduler that is there may let go of work as well, and uses the count: it is counted out there, if it goes on.
            isolation.post { writes.end(id) }
        }
    }
}
