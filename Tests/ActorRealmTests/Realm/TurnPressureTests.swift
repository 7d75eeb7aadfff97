import RealmTestSupport
import Testing

@testable import ActorRealm

/// When a blocking writer passes one that was chosen and does not start.
@Suite(
    "Writers that block their threads press for their turns only when nobody else can go on",
    .serialized,
    .timeLimit(.minutes(60))
)
struct TurnPressureTests {
    /// Stands for a file.
    private final class File: Sendable {}
    private static let first = File()
    private static let second = File()
    private static var file: ObjectIdentifier { ObjectIdentifier(first) }

    /// What each of some looks says.
    private static func looks(_ chosen: [Int], isExhausted: Bool) -> [Bool] {
        var pressure = TurnPressure<Int>(isOnPool: false, of: Self.file)
        defer { pressure.end() }
        return chosen.map { pressure.isDue(against: $0, isExhausted: isExhausted, wasPause: true) }
    }

    @Test("While a thread of the pool is left, the chosen writer has a second to start")
    func patience() {
        let looks = Self.looks(Array(repeating: 7, count: 60), isExhausted: false)
        #expect(looks == (1...60).map { $0 >= 50 })
    }

    @Test("When every thread of the pool waits, it is passed at the first look")
    func exhausted() {
        #expect(Self.looks([7, 7, 8], isExhausted: true) == [true, true, true])
    }

    @Test("Another chosen writer has its own time, and looks without a pause are none of it")
    func anotherOne() {
        let looks = Self.looks(Array(repeating: 1, count: 49) + Array(repeating: 2, count: 50), isExhausted: false)
        #expect(looks == (1...99).map { $0 == 99 })
        var pressure = TurnPressure<Int>(isOnPool: false, of: Self.file)
        defer { pressure.end() }
        #expect(!(0..<100).contains { _ in pressure.isDue(against: 1, isExhausted: false, wasPause: false) })
    }

    @Test("The pool is exhausted when as many of its threads wait as there are processors, and only for those on it")
    func counting() {
        let pool = BlockedPool(threadCount: 3)
        var waits = (0..<3).map { _ in TurnPressure<Int>(isOnPool: true, of: Self.file, pool: pool) }
        defer { for wait in waits { wait.end() } }
        var outside = TurnPressure<Int>(isOnPool: false, of: Self.file, pool: pool)
        defer { outside.end() }
        func isDue(_ pressure: inout TurnPressure<Int>, needsPool: Bool = true) -> Bool {
            pressure.isDue(against: 1, needsPool: needsPool, wasPause: false)
        }
        #expect(isDue(&waits[0]))
        #expect(!isDue(&waits[0], needsPool: false), "one that starts elsewhere has its time")
        #expect(!isDue(&outside))
        waits[2].end()
        #expect(!isDue(&waits[0]))
        // A thread that waits for its flush is none that could go on, either.
        pool.enter()
        #expect(isDue(&waits[0]))
        pool.leave()
        #expect(!isDue(&waits[0]))
        waits[2] = TurnPressure<Int>(isOnPool: true, of: Self.file, pool: pool)
    }

    @Test("When the last thread of the pool begins to wait, those that wait for other files look at once")
    func telling() {
        let pool = BlockedPool(threadCount: 2)
        let looks = Counter()
        let one = TurnPressure<Int>(isOnPool: true, of: Self.file, pool: pool) { looks.increment() }
        #expect(looks.value == 0)
        var other = TurnPressure<Int>(isOnPool: true, of: ObjectIdentifier(Self.second), pool: pool) {}
        #expect(looks.value == 1)
        other.end()
        pool.enter()
        #expect(looks.value == 2)
        pool.leave()
        one.end()
        other = TurnPressure<Int>(isOnPool: true, of: ObjectIdentifier(Self.second), pool: pool) {}
        #expect(looks.value == 2)
        other.end()
    }

    @Test("Once every thread of the pool is stuck behind a transaction that needs one of them, one of them gives up")
    func hopeless() {
        let pool = BlockedPool(threadCount: 3)
        var waits = (0..<3).map { _ in TurnPressure<Int>(isOnPool: true, of: Self.file, pool: pool) }
        defer { for wait in waits { wait.end() } }
        var outside = TurnPressure<Int>(isOnPool: false, of: Self.file, pool: pool)
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
        waits[2] = TurnPressure<Int>(isOnPool: true, of: Self.file, pool: pool)
        #expect(!(look(0, 5, behind: 1) + look(1, 5, behind: 2)).contains(true))
        // Whose holder is another one is stuck no more.
        #expect(!(look(1, 1, behind: 4) + look(2, 60, behind: 3) + look(0, 1, behind: 1)).contains(true))
    }
}
