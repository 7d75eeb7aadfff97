import RealmTestSupport
import Testing

@testable import RealmQuery

@Suite("Differences of sequences")
struct SequenceDiffTests {
    @Test("equal sequences do not differ")
    func equal() {
        #expect(SequenceDiff.delta(from: [1, 2, 3], to: [1, 2, 3], pairsReplacements: true).isEmpty)
        #expect(SequenceDiff.delta(from: [Int](), to: [], pairsReplacements: true).isEmpty)
    }

    @Test("an element put in the place of another one is a modification, when asked for")
    func replacement() {
        let paired = SequenceDiff.delta(from: [1, 2, 3], to: [1, 9, 3], pairsReplacements: true)
        #expect(paired.modifications == [1])
        #expect(paired.deletions.isEmpty && paired.insertions.isEmpty)
        let plain = SequenceDiff.delta(from: [1, 2, 3], to: [1, 9, 3], pairsReplacements: false)
        #expect(plain.modifications.isEmpty)
        #expect(plain.deletions == [1])
        #expect(plain.insertions == [1])
    }

    @Test("removing two elements of a repetitive list costs two deletions")
    func minimal() {
        let delta = SequenceDiff.delta(from: [1, 0, 1, 0, 1, 0], to: [0, 1, 0, 1], pairsReplacements: true)
        #expect(delta.deletions == [0, 5])
        #expect(delta.insertions.isEmpty)
    }

    @Test("a moved element is one deletion and one insertion, however long the list")
    func move() {
        let old = Array(0..<10_000)
        var new = old
        new.insert(new.remove(at: 10), at: 9000)
        let delta = SequenceDiff.delta(from: old, to: new, pairsReplacements: true)
        #expect(delta.deletions == [10])
        #expect(delta.insertions == [9000])
    }

    @Test("a shuffled list keeps the longest run that stayed in order")
    func shuffled() {
        var generator = SplitMix64(seed: 7)
        let old = Array(0..<2000)
        let new = old.shuffled(using: &generator)
        let delta = SequenceDiff.delta(from: old, to: new, pairsReplacements: false)
        expectExact(delta, from: old, to: new, "shuffled")
        #expect(delta.deletions.count < 2000)
    }

    @Test("the difference of random sequences leads from one to the other", arguments: [true, false])
    func random(pairs: Bool) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SplitMix64(seed: seed)
        for _ in 0..<400 {
            let alphabet = Int.random(in: 1...300, using: &generator)
            let old = (0..<Int.random(in: 0...250, using: &generator))
                .map { _ in
                    Int.random(in: 0..<alphabet, using: &generator)
                }
            var new = old
            for _ in 0..<Int.random(in: 0...(Bool.random(using: &generator) ? 200 : 5), using: &generator) {
                if !new.isEmpty, Bool.random(using: &generator) {
                    new.remove(at: Int.random(in: new.indices, using: &generator))
                } else {
                    let value = Int.random(in: 0..<alphabet, using: &generator)
                    new.insert(value, at: Int.random(in: 0...new.count, using: &generator))
                }
            }
            let delta = SequenceDiff.delta(from: old, to: new, pairsReplacements: pairs)
            expectExact(delta, from: old, to: new, "seed \(seed)")
        }
    }
}
