import Dispatch
import Glibc
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm
@testable import RealmStorage

@Suite("Functions that are called later")
struct AlarmThreadTests {
    @Test("They are called in the order of their times, however they were asked for, and again after all were called")
    func order() async {
        let thread = AlarmThread()
        var rounds = 0
        while rounds < 3 {
            let (stream, continuation) = AsyncStream<Int>.makeStream()
            let start = ContinuousClock.now
            for number in [3, 1, 2] {
                thread.call(after: UInt64(number) * 20_000_000) { continuation.yield(number) }
            }
            let isInTime = ContinuousClock.now - start < .milliseconds(20)
            var seen: [Int] = []
            for await number in stream.prefix(3) { seen.append(number) }
            // Where the system lets this thread wait between two calls, their times have another order.
            guard isInTime else { continue }
            #expect(seen == [1, 2, 3])
            rounds += 1
        }
    }

    @Test("Where no thread was started, what was asked for is dropped, and the next call tries again")
    func noThread() async throws {
        let refusals = Mutex(1)
        let thread = AlarmThread { body in
            let isRefused = refusals.withLock { left in
                defer { left = max(0, left - 1) }
                return left > 0
            }
            if isRefused { throw StorageError(.limit, "No thread.") }
            try DedicatedThread.detach(name: "test-alarms", body)
        }
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        #expect(!thread.call(after: 0) { continuation.yield(1) })
        #expect(thread.call(after: 0) { continuation.yield(2) })
        for await number in stream.prefix(1) { #expect(number == 2) }
        #expect(refusals.withLock { $0 } == 0)
    }

    /// What a child is told whose parent's thread waits for an alarm when the child is made: 0 where its own alarm was called.
    private static func alarmOfChild() throws -> Int32 {
        let called = DispatchSemaphore(value: 0)
        AlarmThread.shared.call(after: 0) { called.signal() }
        called.wait()
        AlarmThread.shared.call(after: 3_600_000_000_000) {}
        return try ForkedChild.run {
            let called = DispatchSemaphore(value: 0)
            AlarmThread.shared.call(after: 1_000_000) { called.signal() }
            return called.wait(timeout: .now() + 1_800) == .success ? 0 : 1
        }
    }

    @Test("A forked child, which has none of its parent's threads, has alarms of its own", .secondProcess)
    func forked() async {
        // In a process of its own, so that the child copies few threads.
        await #expect(processExitsWith: .success) {
            if try AlarmThreadTests.alarmOfChild() != 0 { exit(1) }
        }
    }
}
