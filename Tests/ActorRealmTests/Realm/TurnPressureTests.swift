import RealmTestSupport
import Testing

@testable import ActorRealm

/// When a blocking writer passes one that was chosen and does not start.
@Suite(
    "Writers that block their threads press for their turns only when nobody else can go on",
    .serialized,
    .timeLimit(.minutes(30))
)
struct TurnPressureTests {
    /// What each of some looks says.
    private static func looks(_ chosen: [Int], isExhausted: Bool) -> [Bool] {
        var pressure = TurnPressure<Int>(isOnPool: false)
        defer { pressure.end() }
        return chosen.map { pressure.isDue(against: $0, isExhausted: isExhausted) }
    }

    @Test("While a thread of the pool is left, the chosen writer has a second to start")
    func patience() {
        let looks = Self.looks(Array(repeating: 7, count: 60), isExhausted: false)
        #expect(looks == (1...60).map { $0 >= 50 })
    }

    @Test("When every thread of the pool waits, it is passed at the second look")
    func exhausted() {
        #expect(Self.looks([7, 7, 7], isExhausted: true) == [false, true, true])
    }

    @Test("Another chosen writer has its own time")
    func anotherOne() {
        #expect(Self.looks([1, 2, 1, 3, 3], isExhausted: true) == [false, false, false, false, true])
    }

    @Test("The pool is exhausted when as many of its threads wait as there are processors, and only for those on it")
    func counting() {
        let pool = BlockedPool()
        var waits = (0..<3).map { _ in TurnPressure<Int>(isOnPool: true, processorCount: 3, pool: pool) }
        defer { for wait in waits { wait.end() } }
        var outside = TurnPressure<Int>(isOnPool: false, processorCount: 1, pool: pool)
        defer { outside.end() }
        let inside = [waits[0].isDue(against: 1), waits[0].isDue(against: 1)]
        #expect(inside == [false, true])
        let others = [outside.isDue(against: 1), outside.isDue(against: 1)]
        #expect(others == [false, false])
    }

    @Test("Once every thread of the pool is stuck behind a transaction that needs one of them, one of them gives up")
    func hopeless() {
        let pool = BlockedPool()
        var waits = (0..<3).map { _ in TurnPressure<Int>(isOnPool: true, processorCount: 3, pool: pool) }
        defer { for wait in waits { wait.end() } }
        var outside = TurnPressure<Int>(isOnPool: false, processorCount: 3, pool: pool)
        defer { outside.end() }
        func look(_ index: Int, _ count: Int, behind holder: Int?) -> [Bool] {
            (0..<count).map { _ in waits[index].isHopeless(behind: holder) }
        }
        // Two of three are stuck, the third waits for one that goes on by itself, or for another one each time.
        #expect(!(look(0, 60, behind: 1) + look(1, 60, behind: 2) + look(2, 60, behind: nil)).contains(true))
        #expect(!(0..<60).map { waits[2].isHopeless(behind: $0) }.contains(true))
        #expect(!(0..<60).map { _ in outside.isHopeless(behind: 1) }.contains(true))
        // The third is stuck, too: it gives up, and nobody else does for that.
        #expect(look(2, 50, behind: 3) == (1...50).map { $0 == 50 })
        waits[2].end()
        waits[2] = TurnPressure<Int>(isOnPool: true, processorCount: 3, pool: pool)
        #expect(!(look(0, 5, behind: 1) + look(1, 5, behind: 2)).contains(true))
        // Whose holder is another one is stuck no more.
        #expect(!(look(1, 1, behind: 4) + look(2, 60, behind: 3) + look(0, 1, behind: 1)).contains(true))
    }
}
