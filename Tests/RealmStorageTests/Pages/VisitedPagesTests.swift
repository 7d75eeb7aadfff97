import RealmTestSupport
import Testing

@testable import RealmStorage

/// What a walk over trees knows of the pages that it has come to.
@Suite struct VisitedPagesTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `of runs of any place and length, the first page that was met before is found`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var visited = VisitedPages()
        var known: Set<Int> = []
        var metCount = 0
        // Runs about the borders of words and of the stretches that are kept apart.
        let borders = [0, 64, 32_768 - 130, 32_768, 65_536, 3 * 32_768 - 64, 10 * 32_768]
        for _ in 0..<400 {
            let start = borders.randomElement(using: &random)! + Int.random(in: 0..<300, using: &random)
            let run = start..<start + Int.random(in: 0...200, using: &random) / Int.random(in: 1...100, using: &random)
            let met = run.first { known.contains($0) }
            #expect(visited.insert(run) == met, "\(run)")
            if met != nil { metCount += 1 }
            known.formUnion(run.prefix { $0 != met })
        }
        #expect(metCount > 50)
        for page in known { #expect(visited.insert(page..<page + 1) == page) }
    }
}
