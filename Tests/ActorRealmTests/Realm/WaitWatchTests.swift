import Testing

@testable import ActorRealm

@Suite("When it is said that writers wait")
struct WaitWatchTests {
    private let second: UInt64 = 1_000_000_000

    @Test("One look is asked for at a time, and none while nobody waits")
    func looks() {
        var watch = WaitWatch()
        #expect(watch.waitBegan(at: 0) == 10 * second)
        #expect(watch.waitBegan(at: 3 * second) == nil)
        // The first one got its turn; the second is looked at in its time.
        #expect(watch.look(at: 10 * second, waits: [3 * second]) == WaitWatch.Answer(pause: 3 * second))
        #expect(watch.look(at: 13 * second, waits: []) == WaitWatch.Answer())
        #expect(watch.waitBegan(at: 20 * second) == 10 * second)
    }

    @Test("It is said after ten seconds and then every minute; a look that comes too early says nothing")
    func interval() {
        var watch = WaitWatch()
        _ = watch.waitBegan(at: 0)
        #expect(watch.look(at: 9 * second, waits: [0]) == WaitWatch.Answer())
        #expect(watch.look(at: 10 * second, waits: [0]) == WaitWatch.Answer(isDue: true, pause: 60 * second))
        #expect(watch.look(at: 70 * second, waits: [0]) == WaitWatch.Answer(isDue: true, pause: 60 * second))
    }

    @Test("A writer that comes after a line has ten seconds of its own, and one that got its turn is forgotten")
    func laterOnes() {
        var watch = WaitWatch()
        _ = watch.waitBegan(at: 0)
        _ = watch.look(at: 10 * second, waits: [0])
        #expect(watch.waitBegan(at: 30 * second) == 10 * second)
        #expect(watch.look(at: 40 * second, waits: [0, 30 * second]).isDue)
        // The alarm of the first line is stale: all were spoken of at 40.
        #expect(watch.look(at: 70 * second, waits: [0, 30 * second]) == WaitWatch.Answer())
        #expect(watch.look(at: 100 * second, waits: []) == WaitWatch.Answer())
        #expect(watch.waitBegan(at: 101 * second) == 10 * second)
        #expect(watch.look(at: 111 * second, waits: [101 * second]).isDue)
    }

    @Test("A look that never came is asked for again by the next writer that waits, and two that come are one")
    func lostLooks() {
        var watch = WaitWatch()
        #expect(watch.waitBegan(at: 0) == 10 * second)
        // Nobody looked at 10.
        #expect(watch.waitBegan(at: 12 * second) == 0)
        #expect(
            watch.look(at: 12 * second, waits: [0, 12 * second]) == WaitWatch.Answer(isDue: true, pause: 60 * second)
        )
        // The first one was only late.
        #expect(watch.look(at: 13 * second, waits: [0, 12 * second]) == WaitWatch.Answer())
        #expect(watch.waitBegan(at: 14 * second) == 10 * second)
    }
}
