import Synchronization

/// Tells the thread that opens a realm that the task which waits for it was cancelled.
final class OpeningCancellation: Sendable {
    private let flag = Atomic(false)

    var isCancelled: Bool { flag.load(ordering: .relaxed) }

    func cancel() { flag.store(true, ordering: .relaxed) }
}
