import RealmTestSupport
import Testing

@testable import RealmStorage

/// Which page buffers have memory, against a set.
@Suite("Resident buffers")
struct ResidentBuffersTests {
    @Test("random runs and removals agree with a set of pages", arguments: [1, 2, 3] as [UInt64])
    func model(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var buffers = ResidentBuffers()
        var model: Set<Int> = []
        for _ in 0..<2_000 {
            if Int.random(in: 0..<50, using: &random) > 0 {
                let page = Int.random(in: 4..<3_000, using: &random)
                let count = Int.random(in: 1..<9, using: &random)
                buffers.insert(PreparedCommit.Run(page: UInt32(page), pageCount: UInt32(count), checksum: 0))
                model.formUnion(page..<page + count)
            } else {
                let used = Set((0..<20).map { _ in Int.random(in: 0..<3_000, using: &random) })
                let extents = buffers.removeAll(but: used.contains)
                let pages = extents.flatMap { Int($0.page)..<Int($0.end) }
                #expect(pages == model.subtracting(used).sorted())
                #expect(zip(extents, extents.dropFirst()).allSatisfy { $0.end < $1.page })
                model.formIntersection(used)
            }
            #expect(buffers.pageCount == model.count)
        }
    }
}
