import RealmTestSupport
import Testing

@testable import RealmStorage

/// Leaves that were found in one version and are asked for in later ones.
@Suite struct KnownNodeTests {
    /// Clusters of wide tables are small, so that a few rows make a tree of several levels.
    @Test(arguments: [(40, 1), (2_000, 2), (40_000, 3)])
    func `what was found below a node is there in every version that has the node`(
        rowCount: Int,
        seed: UInt64
    ) throws {
        let columns = Array(repeating: ColumnLayout(kind: .int), count: 500)
        let fixture = try TableFixture(columns: columns)
        var random = SplitMix64(seed: seed)
        var keys: [Int64] = []
        var snapshot = try fixture.write { writer in
            for _ in 0..<rowCount { keys.append(try writer.append()) }
        }
        let depth = try snapshot.view.pointer(to: fixture.tree.root)
            .loadUnaligned(fromByteOffset: PageHeader.levelOffset, as: UInt8.self)
        #expect(Int(depth) == [40: 0, 2_000: 1, 40_000: 2][rowCount])

        // Two dictionaries: without optimisation, Swift 6.3.1 can read a member of a trivial value with a pointer in it where
        // the dictionary has no value.
        var nodes: [Int64: UInt64] = [:]
        var bases: [Int64: UnsafeRawPointer] = [:]
        var kept = 0
        var found = 0
        for round in 0..<80 {
            snapshot = try fixture.write { writer in
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let key = Int64.random(in: 0..<Int64(rowCount + round), using: &random)
                    guard let index = keys.firstIndex(of: key) else { continue }
                    if Bool.random(using: &random) {
                        try writer.setInt(Int64(round), key: key, column: Int.random(in: 0..<500, using: &random))
                    } else {
                        try writer.delete(key: key)
                        keys.remove(at: index)
                    }
                }
                if Bool.random(using: &random) { keys.append(try writer.append()) }
            }
            for _ in 0..<200 {
                // Some again and again, some that are gone, some that were never there.
                let key = Int64.random(in: 0..<Int64(rowCount + 100), using: &random) & ~7
                let expected = try fixture.tree.leaf(containing: key, in: snapshot.view)
                var node = nodes[key] ?? 0
                if let leaf = try fixture.tree.leaf(for: key, unlessBelow: &node, in: snapshot.view) {
                    found += 1
                    #expect(leaf.row(of: key) == expected?.row)
                    #expect(expected == nil || expected?.leaf.base == leaf.base)
                    #expect(leaf.isInFile)
                    nodes[key] = node
                    bases[key] = leaf.base
                } else {
                    kept += 1
                    let base = try #require(bases[key])
                    #expect(LeafView(base: base, view: snapshot.view).row(of: key) == expected?.row)
                    #expect(expected == nil || expected?.leaf.base == base)
                }
            }
        }
        // A tree of one leaf has another one after each change.
        #expect(found > 200)
        #expect(kept > (depth == 0 ? 50 : 1_000))
    }

    @Test func `an empty table has no leaf, whatever was known of it`() throws {
        let fixture = try TableFixture(columns: [ColumnLayout(kind: .int)])
        var snapshot = try fixture.write { try $0.append(key: 3) }
        var node: UInt64 = 0
        let leaf = try fixture.tree.leaf(for: 3, unlessBelow: &node, in: snapshot.view)
        #expect(leaf != nil && node != 0)
        snapshot = try fixture.write { try $0.delete(key: 3) }
        #expect(try fixture.tree.leaf(for: 3, unlessBelow: &node, in: snapshot.view)?.row(of: 3) == nil)
        #expect(try fixture.tree.leaf(containing: 3, in: snapshot.view) == nil)
    }
}
