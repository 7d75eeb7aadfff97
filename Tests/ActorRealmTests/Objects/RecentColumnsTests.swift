import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("Columns of leaves that are read by turns", .timeLimit(.minutes(60)))
struct RecentColumnsTests {
    final class Cell: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var number: Int
        @Persisted var other: Int?
    }

    @Test(
        "A value is that of its row, whichever leaf was read before, beside writes, in transactions and in frozen copies"
    )
    func turns() throws {
        let realm = try memoryRealm([Cell.self])
        var seed = SplitMix64(seed: .random(in: 0..<(1 << 32)))
        let start = seed
        var numbers: [Int] = []
        try realm.write {
            for _ in 0..<20_000 {
                numbers.append(Int.random(in: .min ... .max, using: &seed))
                realm.create(Cell.self, value: ["number": numbers.last!, "other": numbers.count])
            }
        }
        // Some stay where they are, so that each has a leaf of its own.
        let cells = stride(from: 0, to: 20_000, by: 700).map { realm.objects(Cell.self)[$0] }
        func check(_ cells: [Cell], _ expected: [Int]) {
            for _ in 0..<200 {
                let place = Int.random(in: 0..<cells.count, using: &seed)
                let row = place * 700
                #expect(cells[place].number == expected[row], "\(start)")
                #expect(cells[place].other == row + 1, "\(start)")
            }
        }
        for _ in 0..<20 {
            check(cells, numbers)
            let (frozen, before) = (cells.map { $0.freeze() }, numbers)
            try realm.write {
                for _ in 0..<5 {
                    let place = Int.random(in: 0..<cells.count, using: &seed)
                    numbers[place * 700] = Int.random(in: 0..<3, using: &seed)
                    cells[place].number = numbers[place * 700]
                    check(cells, numbers)
                }
            }
            check(frozen, before)
        }
    }
}
