import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite("Which bytes of a page are taken")
struct TakenBytesTests {
    /// Ranges one below the other, as pages are filled, one above the other, and anywhere, some of them over others.
    @Test("An entry that overlaps another one is found, in whatever order they come", arguments: 0..<300)
    func overlaps(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var taken = TakenBytes()
        var model = Set<Int>()
        var low = 2_048
        var high = 2_048
        let strayShare = [0, 4, 100].randomElement(using: &random) ?? 0
        for _ in 0..<60 {
            let length = Int.random(in: 0...40, using: &random)
            let range: Range<Int>
            if Int.random(in: 0..<100, using: &random) < strayShare {
                let start = Int.random(in: 0...4_096 - length, using: &random)
                range = start..<start + length
            } else if Bool.random(using: &random) {
                range = low - length..<low
                low -= length
            } else {
                range = high..<high + length
                high += length
            }
            let isFree = model.isDisjoint(with: range)
            #expect(taken.take(range) == isFree, "\(range)")
            // An entry that overlaps ends the validation.
            if !isFree { return }
            model.formUnion(range)
        }
    }
}
