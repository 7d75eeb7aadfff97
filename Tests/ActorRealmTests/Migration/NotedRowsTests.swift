import RealmModel
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("Rows that a migration block has read or written") struct NotedRowsTests {
    @Test func `keys are found in whatever order they came`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<50 {
            var rows = NotedRows()
            var expected: Set<Int64> = []
            for _ in 0..<Int.random(in: 0...200, using: &random) {
                let first = Int64.random(in: 0...300, using: &random)
                for key in first...first + Int64.random(in: 0...3, using: &random) {
                    rows.insert(key)
                    expected.insert(key)
                }
            }
            #expect(rows.isEmpty == expected.isEmpty, "seed \(seed)")
            #expect((0...400).allSatisfy { rows.contains($0) == expected.contains($0) }, "seed \(seed)")
        }
    }

    @Test func `keys behind more gaps than there are runs are found`() {
        var rows = NotedRows()
        let keys = (0..<10_000).map { Int64($0) * 2 }
        for key in keys { rows.insert(key) }
        // The last run grows into a key that is kept as a bit.
        rows.insert(8_191)
        rows.insert(8_192)
        #expect((keys + [8_191]).allSatisfy { rows.contains($0) })
        #expect(!rows.contains(19_999) && !rows.contains(8_193) && !rows.contains(-1))
    }

    @Test func `only reads of what goes, and of what it may take the place of, are noted`() {
        let id = PropertySchema(name: "id", kind: .int)
        let name = PropertySchema(name: "name", kind: .string)
        let fax = PropertySchema(name: "fax", kind: .string)
        func schema(_ properties: [PropertySchema]) -> DatabaseSchema {
            DatabaseSchema(classes: [
                ClassSchema(name: "Person", properties: properties), ClassSchema(name: "City", properties: [id, name]),
            ])
        }
        let finder = LossFinder(from: schema([id, name, fax]), to: schema([id, name]))
        #expect(finder.followed.map { "\($0.className).\($0.property)" } == ["Person.name", "Person.fax"])
    }
}
