import RealmTestSupport
import Testing

@testable import RealmQuery

@Suite("Edits of ordered keys")
struct KeyEditsTests {
    @Test("random edits of ascending keys are reported exactly")
    func ascending() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SplitMix64(seed: seed)
        for _ in 0..<500 {
            let universe = Int64.random(in: 1...200, using: &generator)
            let old = (0..<universe).filter { _ in Bool.random(using: &generator) }
            let removed = old.filter { _ in Int.random(in: 0..<5, using: &generator) == 0 }
            let added = (0..<universe + 20).filter { !old.contains($0) && Bool.random(using: &generator) }
            let modified = old.filter { !removed.contains($0) && Bool.random(using: &generator) }
            var order = KeyOrder(old, isAscending: true)
            let delta = AscendingKeys.apply(removed: removed, added: added, modified: modified, to: &order)
            let keys = order.array()
            #expect(keys == old.filter { !removed.contains($0) }.appending(added).sorted(), "seed \(seed)")
            expectExact(delta, from: old, to: keys, "seed \(seed)")
            #expect(delta.modifications.map { old[$0] } == modified, "seed \(seed)")
            #expect(delta.modificationsInNew.map { keys[$0] } == modified, "seed \(seed)")
        }
    }

    @Test("random edits of sorted keys are reported exactly, and complete")
    func sorted() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SplitMix64(seed: seed)
        for _ in 0..<500 {
            let universe = Int64.random(in: 1...120, using: &generator)
            var values: [Int64: Int] = [:]
            for key in 0..<universe + 20 { values[key] = Int.random(in: 0..<30, using: &generator) }
            let before = values
            func precedes(_ values: [Int64: Int]) -> (Int64, Int64) -> Bool {
                { (values[$0]!, $0) < (values[$1]!, $1) }
            }
            let old = (0..<universe).filter { _ in Bool.random(using: &generator) }.sorted(by: precedes(before))
            let removed = old.filter { _ in Int.random(in: 0..<6, using: &generator) == 0 }
            let staying = old.filter { !removed.contains($0) }
            let moved = staying.filter { _ in Int.random(in: 0..<6, using: &generator) == 0 }
            for key in moved { values[key]! += Int.random(in: -3...3, using: &generator) }
            let added = (0..<universe + 20)
                .filter { !old.contains($0) && Int.random(in: 0..<6, using: &generator) == 0 }
            let modified = Set(moved + staying.filter { _ in Int.random(in: 0..<6, using: &generator) == 0 }).sorted()
            var order = KeyOrder(old, isAscending: false)
            let places = SortedKeys.positions(of: old, in: order, precedes: precedes(before))
            let found = SortedKeys.positions(of: [old.first ?? 0], in: order, precedes: precedes(before))
            #expect(found == (old.isEmpty ? [:] : [old[0]: 0]), "seed \(seed)")
            let delta = SortedKeys.apply(
                removed: removed.map { places[$0]! },
                moved: moved.map { places[$0]! },
                added: added,
                modified: modified.map { places[$0]! },
                to: &order,
                precedes: precedes(values)
            )
            let keys = order.array()
            #expect(keys == (staying + added).sorted(by: precedes(values)), "seed \(seed)")
            expectExact(delta, from: old, to: keys, "seed \(seed)")
            let reported = Set(delta.modifications.map { old[$0] }).union(delta.deletions.map { old[$0] })
            #expect(reported.isSuperset(of: modified), "seed \(seed)")
            #expect(delta.modifications.map { old[$0] } == delta.modificationsInNew.map { keys[$0] }, "seed \(seed)")
        }
    }

    @Test("a row written without changing its place in the sort is a modification")
    func inPlace() {
        var keys = KeyOrder([1, 2, 3], isAscending: false)
        let delta = SortedKeys.apply(
            removed: [],
            moved: [1],
            added: [],
            modified: [1],
            to: &keys,
            precedes: <
        )
        #expect(delta.modifications == [1])
        #expect(delta.deletions.isEmpty && delta.insertions.isEmpty)
    }
}

extension Array {
    fileprivate func appending(_ other: [Element]) -> [Element] { self + other }
}
