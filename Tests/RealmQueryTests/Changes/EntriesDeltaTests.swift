import Testing

@testable import RealmQuery

@Suite("Changes of dictionaries that follow each other")
struct EntriesDeltaTests {
    // Two names, which Swift takes for the same text.
    private let one = "\u{E9}"
    private let other = "e\u{301}"

    private func bytes(_ names: [String]) -> [[UInt8]] { names.map { Array($0.utf8) } }

    private func expect(
        _ delta: EntriesDelta,
        deletions: [String] = [],
        insertions: [String] = [],
        modifications: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(bytes(delta.deletions) == bytes(deletions), sourceLocation: sourceLocation)
        #expect(bytes(delta.insertions) == bytes(insertions), sourceLocation: sourceLocation)
        #expect(bytes(delta.modifications) == bytes(modifications), sourceLocation: sourceLocation)
    }

    @Test("a name that goes and one that comes are two, though they are spellings of one text")
    func merging() {
        let gone = EntriesDelta(deletions: [one])
        expect(gone.merging(EntriesDelta(insertions: [other])), deletions: [one], insertions: [other])
        let added = EntriesDelta(insertions: [one])
        expect(added.merging(EntriesDelta(deletions: [other])), deletions: [other], insertions: [one])
        expect(added.merging(EntriesDelta(modifications: [other])), insertions: [one], modifications: [other])
        let changed = EntriesDelta(modifications: [one])
        expect(changed.merging(EntriesDelta(deletions: [other])), deletions: [other], modifications: [one])
        expect(changed.merging(EntriesDelta(modifications: [other])), modifications: [other, one])
        // And one that goes and comes again is one.
        expect(gone.merging(EntriesDelta(insertions: [one])), modifications: [one])
        expect(added.merging(EntriesDelta(deletions: [one])))
    }

    @Test("what is left out takes away the changes of its own names only")
    func leavingOut() {
        let left = EntriesDelta(deletions: [other], insertions: [other])
        let added = EntriesDelta(insertions: [one], modifications: [one])
        expect(added.leavingOut(left), insertions: [one], modifications: [one])
        expect(EntriesDelta(deletions: [one]).leavingOut(left), deletions: [one])
        expect(EntriesDelta(deletions: [other]).leavingOut(left))
    }

    @Test("the names ascend as bytes")
    func order() {
        // As text, the second one stands before `f`.
        let names = ["e\u{301}", "f", "z", "\u{E9}"]
        let added = EntriesDelta(insertions: ["f", one]).merging(EntriesDelta(insertions: [other, "z"]))
        expect(added, insertions: names)
        let gone = EntriesDelta(deletions: ["f", one]).merging(EntriesDelta(deletions: [other, "z"]))
        expect(gone, deletions: names)
        let changed = EntriesDelta(modifications: ["f", one]).merging(EntriesDelta(modifications: [other, "z"]))
        expect(changed, modifications: names)
    }
}
