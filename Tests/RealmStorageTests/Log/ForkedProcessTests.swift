import Foundation
import Synchronization
import Testing

@Suite("A forked child")
struct ForkedProcessTests {
    /// The threads of this process that do not wait.
    private static var runningThreadCount: Int {
        let folder = "/proc/self/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return threads.count { thread in
            let stat = (try? String(contentsOfFile: "\(folder)/\(thread)/stat", encoding: .utf8)) ?? ""
            return stat.contains(") R ")
        }
    }

    @Test("Its threads wait for each other, as those of any process do")
    func contention() throws {
        let child = try ForkedProcess { _ in
            let mutex = Mutex(0)
            let isBegun = Atomic<Bool>(false)
            let isDone = Atomic<Bool>(false)
            mutex.withLock { _ in
                Thread.detachNewThread {
                    isBegun.store(true, ordering: .releasing)
                    mutex.withLock { $0 += 1 }
                    isDone.store(true, ordering: .releasing)
                }
                while !isBegun.load(ordering: .acquiring) || Self.runningThreadCount > 1 { sched_yield() }
            }
            while !isDone.load(ordering: .acquiring) { sched_yield() }
            _exit(mutex.withLock { $0 } == 1 ? 0 : 2)
        }
        #expect(child.end() == 0)
    }
}
