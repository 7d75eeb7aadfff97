import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

/// The index of an int primary key, against a dictionary.
@Suite struct KeyRunTests {
    private static func classes(isOptional: Bool) -> [ClassSchema] {
        [
            ClassSchema(
                name: "Row",
                properties: [
                    PropertySchema(name: "id", kind: .int, isOptional: isOptional, isPrimaryKey: true),
                    PropertySchema(name: "name", kind: .string, isIndexed: true),
                ]
            )
        ]
    }

    /// Compares look-ups, ranges and counts.
    private func expectEqual(
        _ table: TableView,
        _ model: [Int64?: Int64],
        _ random: inout SplitMix64,
        _ comment: Comment
    ) throws {
        let sorted = model.compactMap { entry in entry.key.map { ($0, entry.value) } }.sorted { $0.0 < $1.0 }
        for (value, key) in sorted.shuffled(using: &random).prefix(100) {
            #expect(try table.findInt(value) == key, comment)
        }
        for _ in 0..<50 {
            let value = Int64(random.below(5_000)) - 100
            #expect(try table.findInt(value) == model[value], comment)
        }
        #expect(try table.find(primaryKey: .null) == model[nil as Int64?], comment)
        let null = model[nil as Int64?].map { [$0] } ?? []
        let all = try table.rangeKeys(property: 0, lower: .unbounded, upper: .unbounded)
        #expect(all == null + sorted.map(\.1), comment)
        for _ in 0..<20 {
            let low = Int64(random.below(5_000)) - 100
            let high = low + Int64(random.below(2_000)) - 50
            let expected = sorted.filter { $0.0 >= low && $0.0 < high }.map(\.1)
            let bounds = (IndexBound.including(.int(low)), IndexBound.excluding(.int(high)))
            #expect(try table.rangeKeys(property: 0, lower: bounds.0, upper: bounds.1) == expected, comment)
            #expect(try table.rangeCount(property: 0, lower: bounds.0, upper: bounds.1) == expected.count, comment)
            let first = try table.rangeKeys(property: 0, lower: bounds.0, upper: bounds.1, limit: 7)
            #expect(first == Array(expected.prefix(7)), comment)
            let beyond = sorted.filter { $0.0 > low }.map(\.1)
            #expect(
                try table.rangeKeys(property: 0, lower: .excluding(.int(low)), upper: .unbounded) == beyond,
                comment
            )
            let below = null + sorted.filter { $0.0 <= high }.map(\.1)
            #expect(
                try table.rangeKeys(property: 0, lower: .unbounded, upper: .including(.int(high))) == below,
                comment
            )
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func `an index of runs is what a dictionary says, whatever comes and goes`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let isOptional = seed % 2 == 0
        let database = try TestDatabase(Self.classes(isOptional: isOptional))
        var model: [Int64?: Int64] = [:]
        var kept: [(Snapshot, [Int64?: Int64])] = []
        for round in 0..<8 {
            let comment = Comment(rawValue: "seed \(seed), round \(round)")
            try database.write { _ in
                let table = try database.table("Row")
                table.pendingRowLimit = 128
                for _ in 0..<1 + random.below(6) {
                    let start = Int64(random.below(4_000))
                    let count = [1, 5, 400][random.below(3)]
                    let step = [1, 1, -1, 3][random.below(4)]
                    for index in 0..<count {
                        let value = start + Int64(step * index)
                        guard model[value] == nil else { continue }
                        let key = try table.insert(intPrimaryKey: value)
                        try table.set("name", key, .string("name \(random.below(40))"))
                        model[value] = key
                    }
                    if isOptional, random.chance(30), model[nil as Int64?] == nil {
                        model[nil as Int64?] = try table.insert(primaryKey: .null)
                    }
                    // Few, or so many that the tree is written anew.
                    let share = [1, 20, 60][random.below(3)]
                    for (value, key) in model.sorted(by: { $0.value < $1.value }) where random.chance(share) {
                        try table.delete(key: key)
                        model[value] = nil
                        if random.chance(2), let value { #expect(try table.findInt(value) == nil) }
                    }
                    if random.chance(30) { try expectEqual(table, model, &random, comment) }
                }
            }
            try expectEqual(try database.table("Row"), model, &random, comment)
            try ModelVerifier.verify(database.model)
            if round % 3 == 0 { kept.append((database.model.snapshot, model)) }
        }
        for (snapshot, model) in kept {
            let old = try ModelView(snapshot: snapshot)
            try expectEqual(try #require(try old.table(named: "Row")), model, &random, "seed \(seed), an old version")
        }
    }

    @Test func `a counter's index is one run, divided where rows went and the greatest key is known`() throws {
        let database = try TestDatabase(Self.classes(isOptional: false))
        try database.write { _ in
            let table = try database.table("Row")
            for id in 0..<5_000 { _ = try table.insert(intPrimaryKey: Int64(id)) }
        }
        let table = try database.table("Row")
        func runCount() throws -> Int { try table.tree(at: Int(table.slots[0].tree)).count(in: table.view) }
        #expect(try runCount() == 1)
        try database.write { _ in
            try table.delete(key: 0)
            try table.delete(key: 2_000)
            try table.delete(key: 2_001)
            try table.delete(key: 4_999)
        }
        #expect(try runCount() == 2)
        #expect(try table.keyRuns(0).maximum() == 4_998)
        try database.write { _ in _ = try table.insert(intPrimaryKey: 5_000) }
        try ModelVerifier.verify(database.model)
    }

    @Test func `malformed entries of a run are refused`() {
        func run(_ key: [UInt8], _ entry: [UInt8]) -> KeyRun? {
            key.withUnsafeBytes { key in entry.withUnsafeBytes { KeyRun(key: key, entry: $0) } }
        }
        let five: [UInt8] = [1, 0x80, 0, 0, 0, 0, 0, 0, 5]
        let greatest: [UInt8] = [1, 255, 255, 255, 255, 255, 255, 255, 255]
        let long: [UInt8] = [255, 255, 255, 255, 255, 255, 255, 255, 127]
        #expect(run(five, [7]) == KeyRun(value: 5, row: 7))
        #expect(run(five, [7, 3]) == KeyRun(value: 5, row: 7, count: 3))
        #expect(run([0], [7]) == KeyRun(value: nil, row: 7))
        #expect(run(greatest, [7]) == KeyRun(value: .max, row: 7))
        #expect(run(greatest, [7, 2]) == nil, "the values overflow")
        #expect(run(five, long + [2]) == nil, "the rows overflow")
        #expect(run(five, []) == nil)
        #expect(run(five, [0x80]) == nil)
        #expect(run(five, [7, 1]) == nil)
        #expect(run(five, [7, 0]) == nil)
        #expect(run(five, [7, 3, 0]) == nil)
        #expect(run(five, Array(repeating: 255, count: 12)) == nil)
        #expect(run([0], [7, 2]) == nil)
        #expect(run([2], [7]) == nil)
        #expect(run([1, 0], [7]) == nil)
    }
}
