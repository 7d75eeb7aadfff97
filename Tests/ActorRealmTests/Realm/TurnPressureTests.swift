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
        // Other suites block threads of the pool at the same time: that can only make it more exhausted.
        var waits = (0..<3).map { _ in TurnPressure<Int>(isOnPool: true, processorCount: 3) }
        defer { for wait in waits { wait.end() } }
        var outside = TurnPressure<Int>(isOnPool: false, processorCount: 1)
        defer { outside.end() }
        let inside = [waits[0].isDue(against: 1), waits[0].isDue(against: 1)]
        #expect(inside == [false, true])
        let others = [outside.isDue(against: 1), outside.isDue(against: 1)]
        #expect(others == [false, false])
    }
}
