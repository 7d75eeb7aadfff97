import Testing

@testable import ActorRealm

/// How often the thread that waits for other processes' commits lets itself be woken.
@Suite("The pace of the watcher")
struct WatcherPaceTests {
    private static let microsecond: UInt64 = 1_000

    @Test("versions that come alone are never made to wait", arguments: [200, 1_000, 1_000_000] as [UInt64])
    func alone(distance: UInt64) {
        var pace = WatcherPace()
        for number in 0..<100 {
            #expect(pace.pause(afterVersionAt: 5 + UInt64(number) * distance * Self.microsecond) == nil)
        }
    }

    @Test("a stream has pauses after its first versions, until it ends")
    func stream() {
        var pace = WatcherPace()
        var now: UInt64 = 1_000_000_000
        for number in 0..<100 {
            let pause = pace.pause(afterVersionAt: now)
            #expect((pause != nil) == (number >= WatcherPace.streamHead), "version \(number)")
            // It wakes late, and there is a version already.
            now += (pause ?? 0) + 60 * Self.microsecond
        }
        now += 1_000 * Self.microsecond
        #expect(pace.pause(afterVersionAt: now) == nil)
    }

    @Test("however fast versions come, the watcher is woken some thousand times a second at most")
    func bounded() {
        var pace = WatcherPace()
        var now: UInt64 = 0
        var count = 0
        while now < 1_000_000 * Self.microsecond {
            now += pace.pause(afterVersionAt: now) ?? 0
            now += 10 * Self.microsecond
            count += 1
        }
        #expect(count < 4_100)
    }
}
