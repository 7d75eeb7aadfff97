import Foundation
import Synchronization

/// A thread that commits without pause, and without a flush, until it is stopped.
final class WriterThread<E: Engine>: Sendable {
    private let isStopped = Atomic(false)
    private let outcome = Mutex<Result<(rate: Double, count: Int), any Error>?>(nil)
    private let begun = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// Returns when the thread has made its first commit.
    init(path: String, first: Int) {
        let thread = Thread { [self] in
            let result = Result { try run(path, first) }
            outcome.withLock { $0 = result }
            begun.signal()
            ended.signal()
        }
        thread.start()
        begun.wait()
    }

    /// The commits in a second, and all of them with the first.
    func stop() throws -> (rate: Double, count: Int) {
        isStopped.store(true, ordering: .relaxed)
        ended.wait()
        return try outcome.withLock { $0 }?.get() ?? (0, 0)
    }

    private func run(_ path: String, _ first: Int) throws -> (rate: Double, count: Int) {
        let engine = try E(path: path, isDurable: false, isBrief: false, isolation: nil)
        try engine.insert(first..<first + 1)
        begun.signal()
        let start = ContinuousClock.now
        var count = 0
        while !isStopped.load(ordering: .relaxed) {
            count += 1
            try engine.insert(first + count..<first + count + 1)
        }
        return (Double(count) / ((ContinuousClock.now - start) / .seconds(1)), count + 1)
    }
}
