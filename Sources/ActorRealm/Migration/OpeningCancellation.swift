import Synchronization

/// Tells the thread that opens a realm that whoever waits for it gave up: its migration stops at the next object, and so does
/// its wait for the turn to write.
final class OpeningCancellation: Sendable {
    private struct Wait {
        let scheduler: WriteScheduler
        let ticket: WriteScheduler.Ticket
    }

    private let flag = Atomic(false)
    private let wait = Mutex<Wait?>(nil)

    /// Whether ``cancel()`` was called; costs a load.
    var isCancelled: Bool { flag.load(ordering: .relaxed) }

    /// Gives the opening up, whatever it is doing.
    func cancel() {
        let wait = wait.withLock { wait in
            flag.store(true, ordering: .relaxed)
            return wait
        }
        if let wait { wait.scheduler.cancel(wait.ticket) }
    }

    /// Notes what is waited for, and ends that wait where the opening was given up before.
    func waits(for ticket: WriteScheduler.Ticket, of scheduler: WriteScheduler) {
        let isCancelled = wait.withLock { wait in
            wait = Wait(scheduler: scheduler, ticket: ticket)
            return flag.load(ordering: .relaxed)
        }
        if isCancelled { scheduler.cancel(ticket) }
    }

    /// Notes that nothing is waited for any more.
    func waitIsOver() {
        wait.withLock { $0 = nil }
    }
}
