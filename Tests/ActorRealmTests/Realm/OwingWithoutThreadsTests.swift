import Dispatch
import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("Pages on demand, where the system starts no thread")
struct OwingWithoutThreadsTests {
    /// The address space of this process, in bytes.
    private static func addressSpace() throws -> UInt64 {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let pages = try #require(text.split(separator: " ").first.flatMap { UInt64($0) })
        return pages * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }

    @Test("Commits have their pages at once, and whoever reads waits for nobody")
    func noThread() async {
        await #expect(processExitsWith: .success) {
            let file = TestFile()
            var configuration = file.configuration
            configuration.keepLog()
            let adjust = configuration.adjustLog
            configuration.adjustLog = { log in
                adjust?(&log)
                log.pagesOnDemand = true
            }
            // The writes follow each other at once.
            let clock = HandClock()
            configuration.clock = clock.clock
            let isOver = DispatchSemaphore(value: 0)
            Thread.detachNewThread { if isOver.wait(timeout: .now() + 60) == .timedOut { _exit(3) } }
            try withNewRealm(configuration) { realm in
                defer { realm.close() }
                // Stacks that are kept of threads that have ended.
                for _ in 0..<16 { Thread.detachNewThread { sleep(60) } }
                var limit = rlimit()
                let resource = __rlimit_resource_t(RLIMIT_AS.rawValue)
                #expect(getrlimit(resource, &limit) == 0)
                // Less than a thread's stack.
                var low = limit
                low.rlim_cur = try rlim_t(Self.addressSpace() + (4 << 20))
                #expect(setrlimit(resource, &low) == 0)
                for name in ["a", "b", "c", "d", "e"] {
                    try realm.write { _ = realm.create(Tally.self, value: ["name": name]) }
                }
                let owes = realm.core.coordinator.writes.owesPages
                let names = realm.objects(Tally.self).map(\.name).sorted()
                #expect(setrlimit(resource, &limit) == 0)
                #expect(names == ["a", "b", "c", "d", "e"])
                #expect(!owes)
            }
            isOver.signal()
        }
    }
}
