import Dispatch
import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Threads that wait for other work before they end.
@Suite("Spare threads", .timeLimit(.minutes(60)))
struct SpareThreadsTests {
    /// The system's number of the thread: its address is given to the next one.
    private static func here() -> String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? ""
    }

    /// Runs work and tells on which thread.
    private static func thread(of threads: SpareThreads) throws -> String {
        let done = DispatchSemaphore(value: 0)
        let found = LockedArray<String>()
        try threads.run {
            found.append(here())
            done.signal()
        }
        done.wait()
        return found.all[0]
    }

    @Test("Work runs on the thread whose work has ended")
    func again() throws {
        let threads = SpareThreads(name: "realm-test")
        // It waits for a second: where the next work comes later, as this thread had no processor, nothing is shown.
        var isShown = false
        for _ in 0..<100 where !isShown {
            let first = try Self.thread(of: threads)
            for _ in 0..<2_000 where threads.count == 0 { usleep(1_000) }
            isShown = try Self.thread(of: threads) == first
        }
        #expect(isShown)
    }

    @Test("A thread holds nothing of what it has done, and ends when nothing comes")
    func ends() throws {
        final class Held: Sendable {}
        let threads = SpareThreads(name: "realm-test")
        weak var reference: Held?
        do {
            let held = Held()
            reference = held
            try threads.run { withExtendedLifetime(held) {} }
        }
        while reference != nil || threads.count > 0 { usleep(1_000) }
    }

    @Test("Several works at once have a thread each, and no more than a few wait")
    func several() throws {
        let threads = SpareThreads(name: "realm-test")
        let (gate, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for _ in 0..<8 {
            try threads.run {
                gate.wait()
                done.signal()
            }
        }
        for _ in 0..<8 { gate.signal() }
        for _ in 0..<8 { done.wait() }
        for _ in 0..<50 {
            #expect(threads.count <= 4)
            usleep(1_000)
        }
    }
}
