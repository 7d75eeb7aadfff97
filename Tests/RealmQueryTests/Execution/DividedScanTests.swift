import Dispatch
import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmQuery

@Suite("Scans that threads share")
struct DividedScanTests {
    @Test("Divided or not, random queries give the same rows, in the same order", arguments: 1...2)
    func agreement(seed: UInt64) throws {
        let world = try QueryWorld(seed: seed, itemCount: 2_000)
        let table = try world.table("Item")
        var divided = 0
        func check(queries: Int) throws {
            let all = world.keys("Item")
            let evaluator = PlainEvaluator(world: world)
            for number in 0..<queries {
                let predicate = world.randomPredicate(depth: number % 3)
                let one = try CompiledQuery(predicate, table: table, division: .always(helpers: 0))
                let several = try CompiledQuery(predicate, table: table, division: .always(helpers: 3))
                let expected = try one.keys()
                let context = "seed \(seed): \(several.describe())"
                #expect(one.scanPieceCount == 1)
                try #require(try several.keys() == expected, "\(context)")
                #expect(try several.count() == expected.count, "\(context)")
                #expect(try several.keys(limit: 7) == Array(expected.prefix(7)), "\(context)")
                if number < 10 {
                    #expect(expected == all.filter { evaluator.matches(predicate, "Item", $0) }, "\(context)")
                }
                if try several.scanPieceCount > 1 && !several.usesIndex { divided += 1 }
            }
        }
        try check(queries: 30)
        try world.begin()
        try world.mutate()
        // What is being written is read by its writer alone.
        #expect(try CompiledQuery(.constant(true), table: table, division: .always(helpers: 3)).scanPieceCount == 1)
        try check(queries: 10)
        try world.commit()
        try check(queries: 30)
        #expect(divided > 10)
    }

    @Test("The ranges of a division hold each leaf once, whatever is deleted", arguments: 1...3)
    func ranges(seed: UInt64) throws {
        let world = try QueryWorld(seed: seed, itemCount: 2_000)
        try world.begin()
        let keys = world.keys("Item")
        let start = Int.random(in: 0..<1_500, using: &world.random)
        try world.delete("Item", Array(keys[start..<min(start + 900, keys.count)]))
        try world.commit()
        let table = try world.table("Item")
        let query = try CompiledQuery(.constant(true), table: table)
        for count in [1, 2, 3, 16, 64] {
            let ranges = try LeafRange.divide(table, into: count)
            var found: [Int64] = []
            for range in ranges {
                try query.scan(range, query.makeContext()) { leaf, _ in
                    found += (0..<leaf.rowCount).map { leaf.key(at: $0) }
                }
            }
            #expect(found == world.keys("Item"), "seed \(seed), \(count) pieces")
            #expect(ranges.count <= count)
        }
        #expect(try LeafRange.divide(table, into: 64).count > 2)
    }

    @Test("Numbers are scanned by one thread, texts of many rows by several")
    func measure() {
        let division = ScanDivision(
            leastCost: 10,
            leastTotalCost: 2_000_000,
            helpers: 1,
            leastRowCount: 4096,
            isLimited: true
        )
        #expect(division.pieceCount(cost: 0.3, rowCount: 100_000_000) == 1)
        #expect(division.pieceCount(cost: 12, rowCount: 100_000) == 1)
        #expect(division.pieceCount(cost: 12, rowCount: 200_000) == 16)
        #expect(division.pieceCount(cost: 500, rowCount: 5_000) == 1)
        #expect(division.pieceCount(cost: 500, rowCount: 9_000) == 2)
        #expect(ScanDivision.always(helpers: 0).pieceCount(cost: 50, rowCount: 1_000_000) == 1)
    }

    @Test("Each piece is done once, and all are done when the call returns")
    func pieces() async {
        await withTaskGroup(of: Void.self) { group in
            for caller in 0..<8 {
                group.addTask {
                    for round in 0..<200 {
                        let count = 1 + (round * 7 + caller) % 40
                        let done = Mutex(Array(repeating: 0, count: count))
                        SharedWork.run(pieceCount: count, helpers: round % 5, isLimited: round % 2 == 0) { piece in
                            done.withLock { $0[piece] += 1 }
                        }
                        let isComplete = done.withLock { $0 == Array(repeating: 1, count: count) }
                        #expect(isComplete)
                    }
                }
            }
        }
    }

    @Test("The caller waits for a piece that another thread has begun")
    func waiting() throws {
        let finished = Mutex(Set<Int>())
        let caller = Thread.current
        let watched = try WatchedThread()
        let hasDoneItsOwn = Atomic(false)
        let hasReturned = Atomic(false)
        let begun = DispatchSemaphore(value: 0)
        SharedWork.run(pieceCount: 2, helpers: 4, isLimited: false) { piece in
            if Thread.current === caller {
                // The other piece is another thread's from here on.
                #expect(begun.wait(timeout: .now() + 1_800) == .success)
                _ = finished.withLock { $0.insert(piece) }
                hasDoneItsOwn.store(true, ordering: .sequentiallyConsistent)
            } else {
                begun.signal()
                // Not before the caller waits for nothing but this, or has returned without.
                while !hasDoneItsOwn.load(ordering: .sequentiallyConsistent) { sched_yield() }
                while !watched.isAsleep, !hasReturned.load(ordering: .sequentiallyConsistent) { sched_yield() }
                _ = finished.withLock { $0.insert(piece) }
            }
        }
        let all = finished.withLock { $0 }
        hasReturned.store(true, ordering: .sequentiallyConsistent)
        #expect(all == [0, 1])
    }

    @Test("An error in one piece is that of the whole, whichever thread meets it")
    func failure() throws {
        struct Broken: Error {}
        let world = try QueryWorld(seed: 9, itemCount: 2_000)
        let query = try CompiledQuery(.constant(true), table: world.table("Item"), division: .always(helpers: 3))
        for broken in 0..<3 {
            let met = Atomic(0)
            #expect(throws: Broken.self) {
                try query.divided { _ in
                    if met.wrappingAdd(1, ordering: .relaxed).oldValue == broken { throw Broken() }
                }
            }
        }
    }
}
