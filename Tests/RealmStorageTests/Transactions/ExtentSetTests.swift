import RealmTestSupport
import Testing

@testable import RealmStorage

/// The set against one of single pages.
@Suite("Sets of extents")
struct ExtentSetTests {
    /// The stretches of a set of pages.
    private func stretches(of pages: [Bool]) -> [Extent] {
        var extents: [Extent] = []
        for (page, isIn) in pages.enumerated() where isIn {
            if let last = extents.last, last.end == UInt32(page) {
                extents[extents.count - 1].pageCount += 1
            } else {
                extents.append(Extent(page: UInt32(page), pageCount: 1))
            }
        }
        return extents
    }

    private func expectSame(_ set: ExtentSet, _ pages: [Bool], _ seed: UInt64) {
        let expected = stretches(of: pages)
        #expect(set.extents == expected, "seed \(seed)")
        #expect(set.count == expected.count, "seed \(seed)")
        #expect(set.pageCount == pages.count(where: { $0 }), "seed \(seed)")
        #expect(set.last == expected.last, "seed \(seed)")
        var walked: [Extent] = []
        var index = set.startIndex
        while let here = index {
            walked.append(set[here])
            index = set.index(after: here)
        }
        #expect(walked == expected, "seed \(seed)")
    }

    @Test("Random insertions, removals and searches agree with a set of pages", arguments: 1...6 as ClosedRange<UInt64>)
    func againstPages(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let domain = 16_384
        var pages = Array(repeating: false, count: domain)
        var set = ExtentSet()
        var greatestCount = 0
        for step in 0..<24_000 {
            // Filled at first, emptied at last: blocks are divided and joined.
            let isFilling = random.next() % 24_000 > UInt64(step)
            let page = UInt32(random.next() % UInt64(domain))
            if isFilling || set.count == 0 {
                var count: UInt32 = 0
                let most = UInt32(1 + random.next() % (step % 7 == 0 ? 12 : 2))
                while count < most, Int(page + count) < domain, !pages[Int(page + count)] { count += 1 }
                if count > 0 {
                    set.insert(Extent(page: page, pageCount: count))
                    for page in page..<page + count { pages[Int(page)] = true }
                }
            } else if let index = set.index(from: page) {
                let extent = set[index]
                #expect(extent.page >= page, "seed \(seed)")
                if random.next() % 2 == 0 {
                    #expect(set.remove(at: index) == extent)
                    for page in extent.page..<extent.end { pages[Int(page)] = false }
                } else {
                    let count = UInt32(1 + random.next() % UInt64(extent.pageCount))
                    #expect(set.takeFirst(count, ofExtentAt: index) == extent.page)
                    for page in extent.page..<extent.page + count { pages[Int(page)] = false }
                }
            }
            greatestCount = max(greatestCount, set.count)
            if step % 400 == 0 {
                expectSame(set, pages, seed)
                let all = stretches(of: pages)
                for length: UInt32 in [1, 2, 3, 5, 8, 13, 100] {
                    let found = set.index(ofExtentWith: length, from: page).map { set[$0] }
                    let expected =
                        all.first { $0.page >= page && $0.pageCount >= length } ?? all.first { $0.pageCount >= length }
                    #expect((found == nil) == (expected == nil), "seed \(seed)")
                    if let found { #expect(found.pageCount >= length, "seed \(seed)") }
                    if let expected, expected.page >= page { #expect(found == expected, "seed \(seed)") }
                    let lowest = set.lowestIndex(ofExtentWith: length, below: page).map { set[$0] }
                    let first = all.first { $0.pageCount >= length }
                    #expect(
                        lowest == first.flatMap { $0.page < page && length <= page - $0.page ? $0 : nil },
                        "seed \(seed)"
                    )
                }
            }
        }
        #expect(greatestCount > 1_024, "several blocks, seed \(seed)")
        expectSame(set, pages, seed)
        while let last = set.last {
            #expect(set.removeLast() == last)
            for page in last.page..<last.end { pages[Int(page)] = false }
        }
        expectSame(set, pages, seed)
    }
}
