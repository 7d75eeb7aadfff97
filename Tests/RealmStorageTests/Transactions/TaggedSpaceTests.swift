import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct TaggedSpaceTests {
    @Test func `an extent across the new end is cut there, in the block where it is`() {
        var space = TaggedSpace()
        let extents = (0..<600).map { Extent(page: 4 + PageNumber($0) * 8, pageCount: 6) }
        let isAdded = space.add(extents.map { RetiredExtent(extent: $0, birth: 0, death: 0) })
        #expect(isAdded)
        for kept in [599, 400, 1] {
            space.cut(at: extents[kept].page + 2)
            #expect(space.extents.map(\.extent) == extents[..<kept] + [Extent(page: extents[kept].page, pageCount: 2)])
        }
    }

    @Test func `it holds what a plain set of pages does, and refuses a page that is there`() throws {
        let seed = UInt64.random(in: 0...9_999)
        var random = SplitMix64(seed: seed)
        var space = TaggedSpace()
        var pages: Set<UInt32> = []
        for step in 0..<6_000 {
            let extent = Extent(
                page: UInt32.random(in: 4..<20_000, using: &random),
                pageCount: UInt32.random(in: 1...6, using: &random)
            )
            let own = Set(extent.page..<extent.end)
            if step % 1_500 == 1_499 {
                space.cut(at: extent.page)
                pages = pages.filter { $0 < extent.page }
            } else if step % 3 == 2 {
                space.remove(extent)
                pages.subtract(own)
            } else {
                var copy = space
                let isNew = copy.add([RetiredExtent(extent: extent, birth: 0, death: 0)])
                #expect(isNew == pages.isDisjoint(with: own), "seed \(seed), step \(step)")
                if isNew {
                    space = copy
                    pages.formUnion(own)
                }
            }
            if step % 500 == 0 {
                let found = space.extents.flatMap { Array($0.extent.page..<$0.extent.end) }
                #expect(found == pages.sorted(), "seed \(seed), step \(step)")
            }
        }
    }
}
