import Foundation
import Testing

@testable import ActorRealm

/// In processes of their own: a child must not be forked from one whose other tests are at work.
@Suite("What a forked child has of its parent's threads", .timeLimit(.minutes(5)))
struct ForkedThreadsTests {
    /// Runs a function in a forked child, which ends after ten seconds by itself; returns the status that it ended with.
    private static func inChild(_ body: () -> Void) throws -> Int32 {
        // Swift hides `fork`, for good reasons: most of what a program has does not work in a child.
        let symbol = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork"))
        let child = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
        if child == 0 {
            alarm(10)
            body()
            while true { pause() }
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return status
    }

    @Test("Functions are called later in a child, though its parent waits to call some", .secondProcess)
    func alarms() async {
        await #expect(processExitsWith: .success) {
            AlarmThread.shared.call(after: .max) {}
            let status = try ForkedThreadsTests.inChild { AlarmThread.shared.call(after: 0) { _exit(0) } }
            #expect(status == 0)
        }
    }

    @Test("No thread of a child's pool blocks because one of its parent's does", .secondProcess)
    func pool() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<BlockedPool.swift.threadCount { BlockedPool.swift.enter() }
            #expect(BlockedPool.swift.isExhausted)
            let status = try ForkedThreadsTests.inChild { _exit(BlockedPool.swift.isExhausted ? 1 : 0) }
            #expect(status == 0)
        }
    }
}
