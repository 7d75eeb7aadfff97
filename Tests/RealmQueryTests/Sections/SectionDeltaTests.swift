import RealmTestSupport
import Testing

@testable import RealmQuery

@Suite struct SectionDeltaTests {
    /// The rows section by section, each as its number and an identity.
    private func nested(_ layout: SectionLayout, _ identities: [Int]) -> [[Int]] {
        layout.sections.indices.map { layout.rows(of: $0).map { identities[$0] } }
    }

    @Test func `sections stand in the order of first appearance, rows need not be together`() {
        let layout = SectionLayout([2, 0, 2, 1, 0])
        #expect(layout.sections == [2, 0, 1])
        #expect(Array(layout.rows(of: 0)) == [0, 2])
        #expect(Array(layout.rows(of: 1)) == [1, 4])
        #expect(layout.position(of: 4) == SectionPosition(section: 1, item: 1))
        #expect(layout.section(of: 1) == 2 && layout.section(of: 7) == nil)
        #expect(SectionLayout([]).sections.isEmpty)
    }

    @Test func `a row that changes its section is deleted and inserted`() {
        var rows = CollectionDelta()
        rows.setModifications(oldIndices: [0, 1])
        let delta = SectionDelta(from: SectionLayout([0, 0, 1]), to: SectionLayout([0, 1, 1]), rows: rows)
        #expect(delta.deletions == [SectionPosition(section: 0, item: 1)])
        #expect(delta.insertions == [SectionPosition(section: 1, item: 0)])
        #expect(delta.modifications == [SectionPosition(section: 0, item: 0)])
        #expect(delta.sectionsToDelete.isEmpty && delta.sectionsToInsert.isEmpty)
    }

    @Test func `the rows of a removed section are not listed, those of a new one are`() {
        var rows = CollectionDelta()
        rows.deletions = [0]
        rows.insertions = [1]
        let delta = SectionDelta(from: SectionLayout([0, 1]), to: SectionLayout([1, 2]), rows: rows)
        #expect(delta.deletions.isEmpty && delta.sectionsToDelete == [0])
        #expect(delta.insertions == [SectionPosition(section: 1, item: 0)] && delta.sectionsToInsert == [1])
    }

    @Test func `random changes lead exactly from the old sections to the new ones`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SplitMix64(seed: seed)
        for round in 0..<2_000 {
            let alphabet = Int.random(in: 1...6, using: &generator)
            var next = 100
            var identities = (0..<Int.random(in: 0...12, using: &generator)).map { $0 }
            let oldIdentities = identities
            var keys: [Int: Int] = [:]
            for identity in identities { keys[identity] = Int.random(in: 0..<alphabet, using: &generator) }
            let oldNumbers = identities.map { keys[$0]! }
            // Delete, insert and change keys; the rest keeps its order.
            let deleted = Set(identities.filter { _ in Int.random(in: 0..<5, using: &generator) == 0 })
            let modified = Set(
                identities.filter { !deleted.contains($0) && Int.random(in: 0..<4, using: &generator) == 0 }
            )
            identities.removeAll { deleted.contains($0) }
            for identity in modified { keys[identity] = Int.random(in: 0..<alphabet, using: &generator) }
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                keys[next] = Int.random(in: 0..<alphabet + 1, using: &generator)
                identities.insert(next, at: Int.random(in: 0...identities.count, using: &generator))
                next += 1
            }
            var rows = CollectionDelta()
            rows.deletions = oldIdentities.indices.filter { deleted.contains(oldIdentities[$0]) }
            rows.insertions = identities.indices.filter { identities[$0] >= 100 }
            rows.setModifications(oldIndices: oldIdentities.indices.filter { modified.contains(oldIdentities[$0]) })

            let old = SectionLayout(oldNumbers)
            let new = SectionLayout(identities.map { keys[$0]! })
            let delta = SectionDelta(from: old, to: new, rows: rows)

            var sections = nested(old, oldIdentities)
            let wanted = nested(new, identities)
            for position in delta.modifications {
                #expect(modified.contains(sections[position.section][position.item]), "seed \(seed) round \(round)")
            }
            for position in delta.deletions.reversed() { sections[position.section].remove(at: position.item) }
            for section in delta.sectionsToDelete.reversed() { sections.remove(at: section) }
            for section in delta.sectionsToInsert { sections.insert([], at: section) }
            for position in delta.insertions {
                sections[position.section].insert(wanted[position.section][position.item], at: position.item)
            }
            #expect(sections == wanted, "seed \(seed) round \(round)")
            #expect(
                !delta.deletions.contains { delta.sectionsToDelete.contains($0.section) },
                "seed \(seed) round \(round)"
            )
        }
    }
}
