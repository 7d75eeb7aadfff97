import Dispatch
import RealmStorage
import Synchronization

/// Threads whose work has ended, and which wait a moment for more: starting one takes a tenth of an opening.
///
/// For work of this library alone: what a program runs may leave something with its thread.
final class SpareThreads: Sendable {
    /// Where a thread gets its next work.
    private final class Seat: Sendable {
        // Not a function itself: a lock wraps one anew each time that it is taken.
        private struct Work {
            let body: @Sendable () -> Void
        }

        private let work: Mutex<Work?>
        let isTaken = DispatchSemaphore(value: 0)

        init(_ body: (@Sendable () -> Void)? = nil) { work = Mutex(body.map { Work(body: $0) }) }

        func give(_ body: @escaping @Sendable () -> Void) {
            work.withLock { $0 = Work(body: body) }
            isTaken.signal()
        }

        /// Does the work, of which nothing is held behind it.
        func perform() { work.withLock { $0.take() }?.body() }
    }

    /// Those that watch for other processes' commits, this process's: a child has none of its parent's threads.
    static var watching: SpareThreads { processes.value }
    private static let processes = PerProcess { SpareThreads(name: "realm-watch") }
    /// How many wait, and how long each does.
    private static let greatestCount = 4
    private static let patience = DispatchTimeInterval.seconds(1)

    private let name: String
    private let seats = Mutex<[Seat]>([])

    init(name: String) { self.name = name }

    /// How many wait; for tests.
    var count: Int { seats.withLock { $0.count } }

    /// Runs work on a thread that waits, or on a new one.
    ///
    /// - Throws: `limit` when the system starts no thread; the work is not run then.
    func run(_ body: @escaping @Sendable () -> Void) throws(StorageError) {
        if let seat = seats.withLock({ $0.popLast() }) { return seat.give(body) }
        let first = Seat(body)
        try DedicatedThread.detach(name: name) { [self] in
            var seat: Seat? = first
            while let current = seat {
                current.perform()
                seat = next()
            }
        }
    }

    /// Waits for more work; nil where none comes, or enough others wait.
    private func next() -> Seat? {
        let seat = Seat()
        let waits = seats.withLock { seats in
            guard seats.count < Self.greatestCount else { return false }
            seats.append(seat)
            return true
        }
        guard waits else { return nil }
        if seat.isTaken.wait(timeout: .now() + Self.patience) == .timedOut {
            let isLeft = seats.withLock { seats in
                guard let place = seats.firstIndex(where: { $0 === seat }) else { return false }
                seats.remove(at: place)
                return true
            }
            if isLeft { return nil }
            // Whoever took the seat gives it work.
            seat.isTaken.wait()
        }
        return seat
    }
}
