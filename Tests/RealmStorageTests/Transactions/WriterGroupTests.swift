import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite("The pages of a group of transactions")
struct WriterGroupTests {
    @Test("A run counts as taken when all of its pages were, and only then", arguments: [1, 2, 3, 4, 5] as [UInt64])
    func taken(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let firstPageCount: UInt32 = 300
        let group = WriterGroup(number: 1, firstVersion: 7, firstPageCount: firstPageCount, pinned: [])
        var pages = Set<UInt32>()
        for _ in 0..<120 {
            let extent = random.extent(below: 500)
            guard (extent.page..<extent.end).allSatisfy({ !pages.contains($0) }) else { continue }
            group.take(extent)
            pages.formUnion(extent.page..<extent.end)
            for _ in 0..<20 {
                let run = random.extent(below: 520)
                let expected = (run.page..<run.end).allSatisfy { pages.contains($0) }
                #expect(group.hasTaken(run) == expected, "\(run) of seed \(seed)")
            }
        }
        #expect(!group.hasTaken(Extent(page: pages.min()!, pageCount: .max)), "the end of a run is beyond every page")
    }

    @Test("Whether runs were taken is known without a look at all that were", .timeLimit(.minutes(60)))
    func manyTaken() {
        let group = WriterGroup(number: 1, firstVersion: 7, firstPageCount: .max, pinned: [])
        let count: UInt32 = 200_000
        // In no order, and none of them touches another one.
        for index in 0..<count { group.take(Extent(page: 10 + (index &* 7_919 % count) * 2, pageCount: 1)) }
        var found = 0
        for index in 0..<count where group.hasTaken(Extent(page: 10 + index, pageCount: 1)) { found += 1 }
        #expect(found == Int(count) / 2)
    }
}

extension SplitMix64 {
    fileprivate mutating func extent(below end: UInt32) -> Extent {
        Extent(page: .random(in: 0..<end, using: &self), pageCount: .random(in: 1...7, using: &self))
    }
}
