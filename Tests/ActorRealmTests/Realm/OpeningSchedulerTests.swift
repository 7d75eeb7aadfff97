import Foundation
import RealmStorage
import Synchronization
import Testing

@testable import ActorRealm

/// Openings whose threads the test runs itself.
@Suite("Openings of one path that wait for one another", .timeLimit(.minutes(60)))
struct OpeningSchedulerTests {
    /// What is to run on threads, and what was opened there.
    private final class Threads: Sendable {
        private let bodies = Mutex<[@Sendable () -> Void]>([])
        private let opened = Mutex<[String]>([])

        var count: Int { bodies.withLock { $0.count } }
        var openedPaths: [String] { opened.withLock { $0 } }

        func add(_ body: @escaping @Sendable () -> Void) { bodies.withLock { $0.append(body) } }
        func note(_ path: String) { opened.withLock { $0.append(path) } }

        func runAll() {
            let all = bodies.withLock { bodies in
                let all = bodies
                bodies = []
                return all
            }
            for body in all { body() }
        }
    }

    private struct Failure: Error {}

    private static func isFailure(_ outcome: OpeningScheduler.Outcome) -> Bool {
        guard case .ended(.failure(let error)) = outcome else { return false }
        return error is Failure
    }

    @Test("Many that fail are opened one after the other on one thread, and each has its own error")
    func failing() async {
        let threads = Threads()
        let scheduler = OpeningScheduler(
            prepare: { configuration, _ in
                threads.note(configuration.inMemoryIdentifier ?? "none")
                throw Failure()
            },
            start: { threads.add($0) }
        )
        let count = 20
        let openings = (0..<count)
            .map { number in
                Task.detached {
                    let configuration = Realm.Configuration(inMemoryIdentifier: "\(number)", objectTypes: [])
                    return await scheduler.open(configuration, at: "a", for: Opener())
                }
            }
        while scheduler.waitingCount(at: "a") < count - 1 { await Task.yield() }
        #expect(threads.count == 1)
        threads.runAll()
        for opening in openings { #expect(Self.isFailure(await opening.value)) }
        #expect(Set(threads.openedPaths).count == count)
        #expect(threads.openedPaths.count == count && threads.count == 0)
    }

    @Test("Those that wait for the file look again when it is open, and one that is cancelled goes at once")
    func looking() async throws {
        let threads = Threads()
        let file = TestFile()
        let scheduler = OpeningScheduler(
            prepare: { configuration, opener in
                let coordinator = try Realm.prepare(configuration, for: opener)
                threads.note("fitting")
                return coordinator
            },
            start: { threads.add($0) }
        )
        let configuration = file.fast
        func opening() -> Task<OpeningScheduler.Outcome, Never> {
            Task.detached { await scheduler.open(configuration, at: "a", for: Opener()) }
        }
        let first = opening()
        while threads.count == 0 { await Task.yield() }
        let (second, cancelled) = (opening(), opening())
        while scheduler.waitingCount(at: "a") < 2 { await Task.yield() }
        cancelled.cancel()
        if case .cancelled = await cancelled.value {} else { Issue.record("not cancelled") }
        #expect(threads.count == 1 && scheduler.waitingCount(at: "a") == 1)
        threads.runAll()
        if case .ended(.success) = await first.value {} else { Issue.record("not opened") }
        if case .look(let found) = await second.value {
            #expect(found?.path == configuration.fileURL?.path)
        } else {
            Issue.record("not told")
        }
        #expect(threads.openedPaths == ["fitting"] && scheduler.waitingCount(at: "a") == 0)
    }

    /// The scheduler whose threads are asked for.
    private final class Asked: Sendable {
        private let scheduler = Mutex<OpeningScheduler?>(nil)

        func set(_ new: OpeningScheduler?) { scheduler.withLock { $0 = new } }
        var waitingCount: Int { scheduler.withLock { $0 }?.waitingCount(at: "a") ?? 0 }
    }

    @Test("Where the system starts no thread, nobody waits for one")
    func noThread() async {
        let count = 20
        let calls = Counter()
        let asked = Asked()
        let scheduler = OpeningScheduler(
            prepare: { _, _ in throw Failure() },
            start: { _ in
                calls.increment()
                // The others come while the first one asks for a thread.
                while calls.value == 1, asked.waitingCount < count - 1 { usleep(1_000) }
                throw StorageError(.limit, "no thread")
            }
        )
        asked.set(scheduler)
        defer { asked.set(nil) }
        // It asks on the main thread, so that all of the pool's are there for the others.
        let first = Task { @MainActor in
            let configuration = Realm.Configuration(inMemoryIdentifier: "a", objectTypes: [])
            return await scheduler.open(configuration, at: "a", for: Opener())
        }
        while calls.value == 0 { await Task.yield() }
        let others = (1..<count)
            .map { _ in
                Task.detached {
                    let configuration = Realm.Configuration(inMemoryIdentifier: "a", objectTypes: [])
                    return await scheduler.open(configuration, at: "a", for: Opener())
                }
            }
        for opening in [first] + others {
            guard case .ended(.failure(let error as Realm.Error)) = await opening.value else {
                Issue.record("no error")
                continue
            }
            #expect(error.code == .limitExceeded)
        }
        #expect(calls.value == count)
        #expect(scheduler.waitingCount(at: "a") == 0)
    }
}
