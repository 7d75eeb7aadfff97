import ActorRealm
import Dispatch
import Foundation

/// Somewhere that code runs, and that a realm may belong to.
protocol Place: Sendable {
    /// What runs there.
    func run<Result: Sendable>(_ body: @Sendable @escaping () -> Result) async -> Result
    /// Opens the place's realm; the caller runs there.
    func open(_ configuration: Realm.Configuration) throws -> Realm
}

extension Place {
    func open(_ configuration: Realm.Configuration) throws -> Realm { try Realm(configuration: configuration) }
}

/// An actor with an executor of its own.
actor DefaultActor: Place {
    func run<Result: Sendable>(_ body: @Sendable @escaping () -> Result) -> Result { body() }
}

/// An actor on an executor that it shares with others.
actor GuestActor: Place {
    private let executor: QueueExecutor

    init(_ executor: QueueExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func run<Result: Sendable>(_ body: @Sendable @escaping () -> Result) -> Result { body() }
}

/// An executor of the program's own.
final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "misuse.executor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

@globalActor actor Overseer {
    static let shared = Overseer()
}

struct GlobalPlace: Place {
    func run<Result: Sendable>(_ body: @Sendable @escaping () -> Result) async -> Result {
        await Self.runThere(body)
    }

    @Overseer private static func runThere<Result: Sendable>(_ body: @Sendable () -> Result) -> Result { body() }
}

struct MainPlace: Place {
    func run<Result: Sendable>(_ body: @Sendable @escaping () -> Result) async -> Result {
        await MainActor.run { body() }
    }
}

/// The main queue, outside tasks: the main actor's place as well.
struct MainQueuePlace: Place {
    func run<Result: Sendable>(_ body: @Sendable @escaping () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume(returning: body()) }
        }
    }
}

final class QueuePlace: Place {
    private let queue = DispatchQueue(label: "misuse.queue")

    func run<Result: Sendable>(_ body: @Sendable @escaping () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }

    func open(_ configuration: Realm.Configuration) throws -> Realm {
        try Realm(configuration: configuration, queue: queue)
    }
}

/// A thread of the program's own.
final class ThreadPlace: Place, @unchecked Sendable {
    // Guarded by the condition.
    private var work: [@Sendable () -> Void] = []
    private let condition = NSCondition()

    init() {
        // The thread lasts as long as the process.
        Thread.detachNewThread { [self] in
            while true {
                condition.lock()
                while work.isEmpty { condition.wait() }
                let next = work.removeFirst()
                condition.unlock()
                next()
            }
        }
    }

    func run<Result: Sendable>(_ body: @Sendable @escaping () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            condition.lock()
            work.append { continuation.resume(returning: body()) }
            condition.signal()
            condition.unlock()
        }
    }
}

/// A task outside every actor: each run is another place.
struct PoolPlace: Place {
    func run<Result: Sendable>(_ body: @Sendable @escaping () -> Result) async -> Result {
        await Task.detached { body() }.value
    }
}

/// A block on one of the threads of the global queue; which one is not known.
struct WorkerPlace: Place {
    func run<Result: Sendable>(_ body: @Sendable @escaping () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: body()) }
        }
    }
}
