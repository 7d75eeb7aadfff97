import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite("Where pages are taken from")
struct SpaceMapTests {
    /// Commits that each write six pages anew that the last one wrote, and one of many others; returns how many stretches of
    /// neighbouring pages the last ones wrote on average.
    private func stretchesPerCommit(tellingWhatLasts: Bool, seed: UInt64) -> Double {
        var random = SplitMix64(seed: seed)
        var space = SpaceMap(pageCount: 4)
        var lasting = (0..<400).map { _ in space.allocate(1) }
        space.endChunk()
        var path: [PageNumber] = []
        var waiting: [PageNumber] = []
        var used = Set(lasting)
        var stretches = 0
        for commit in 0..<8_000 {
            let index = Int(random.next() % UInt64(lasting.count))
            var written = (0..<3).map { _ in space.allocate(1) }
            let replaced = lasting[index]
            lasting[index] = space.allocate(1, isLasting: tellingWhatLasts)
            written += (0..<3).map { _ in space.allocate(1) }
            space.endCommit()
            let pages = (written + [lasting[index]]).sorted()
            for page in pages { #expect(used.insert(page).inserted, "page \(page) was in use, seed \(seed)") }
            if commit >= 6_000 { stretches += 1 + zip(pages, pages.dropFirst()).count { $1 != $0 + 1 } }
            for page in waiting { used.remove(page) }
            space.release(waiting.map { Extent(page: $0, pageCount: 1) })
            waiting = path + [replaced]
            path = written
        }
        #expect(space.freePageCount + used.count + 4 == Int(space.pageCount), "seed \(seed)")
        return Double(stretches) / 2_000
    }

    @Test("Behind the last page that there can be none is taken")
    func lastPage() {
        var space = SpaceMap(pageCount: .max - 2)
        #expect(space.allocate(4) == UInt32.max - 2)
        space.resetEnd(to: .max - 2)
        #expect(space.pageCount == UInt32.max - 2)
        #expect(space.freePageCount == 0)
    }

    @Test(
        "Pages that last go to holes, and the others of a commit stay together",
        arguments: 1...3 as ClosedRange<UInt64>
    )
    func lastingPages(seed: UInt64) {
        #expect(stretchesPerCommit(tellingWhatLasts: true, seed: seed) < 3)
        #expect(stretchesPerCommit(tellingWhatLasts: false, seed: seed) > 4)
    }

    /// Commits of a table whose index is hit at random: eight or nine pages that every commit writes anew, a leaf of many,
    /// the node above it of fewer, and now and then a page that stays.
    @Test(
        "Commits of changing size hardly make the file longer than what is in use",
        arguments: 1...3 as ClosedRange<UInt64>
    )
    func growth(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var space = SpaceMap(pageCount: 4)
        var leaves = (0..<4_000).map { _ in space.allocate(1) }
        var nodes = (0..<60).map { _ in space.allocate(1) }
        space.endCommit()
        var path: [PageNumber] = []
        var waiting: [PageNumber] = []
        for _ in 0..<20_000 {
            let leaf = Int(random.next() % UInt64(leaves.count))
            let node = Int(random.next() % UInt64(nodes.count))
            let given = path + [leaves[leaf], nodes[node]]
            path = (0..<3).map { _ in space.allocate(1) }
            leaves[leaf] = space.allocate(1, isLasting: true)
            nodes[node] = space.allocate(1, isLasting: true)
            if random.next() % 50 == 0 { leaves.append(space.allocate(1, isLasting: true)) }
            path += (0..<Int(5 + random.next() % 2)).map { _ in space.allocate(1) }
            space.endCommit()
            space.release(waiting.map { Extent(page: $0, pageCount: 1) })
            waiting = given
        }
        let used = leaves.count + nodes.count + path.count + waiting.count
        #expect(space.freePageCount + used + 4 == Int(space.pageCount), "seed \(seed)")
        #expect(Int(space.pageCount) < used + used / 10, "\(used) in use, seed \(seed)")
    }
}
