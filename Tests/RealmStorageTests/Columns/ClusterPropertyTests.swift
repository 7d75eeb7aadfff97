import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ClusterPropertyTests {
    /// One random transaction on a table and its model.
    private func change(
        _ writer: ClusterWriter,
        _ model: inout ModelTable,
        operations: Int,
        longest: Int,
        appends: Int,
        using random: inout SplitMix64
    ) throws {
        for _ in 0..<operations {
            let choice = Int.random(in: 0..<100, using: &random)
            if choice < appends || model.rows.isEmpty {
                let gap = Int.random(in: 0..<50, using: &random) == 0 ? Int64.random(in: 0...70_000, using: &random) : 0
                let key = model.nextKey + gap
                try writer.append(key: key)
                var cells = model.columns.map { Cell.default(of: $0) }
                for column in model.columns.indices where Bool.random(using: &random) {
                    cells[column] = .random(of: model.columns[column], longest: longest, using: &random)
                    try writer.set(cells[column], key: key, column: column)
                }
                model.rows[key] = cells
                model.nextKey = key + 1
                continue
            }
            // Recent keys and old ones.
            let place = Int.random(in: 0..<model.rows.count, using: &random)
            let location = try #require(try writer.position(at: place))
            let key = location.leaf.key(at: location.row)
            if choice < 92 {
                let column = Int.random(in: 0..<model.columns.count, using: &random)
                let cell = Cell.random(of: model.columns[column], longest: longest, using: &random)
                try writer.set(cell, key: key, column: column)
                model.rows[key]![column] = cell
            } else {
                #expect(try writer.delete(key: key))
                #expect(try !writer.delete(key: key))
                model.rows[key] = nil
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `a table equals its model after every transaction and old versions stay as they were`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let fixture = try TableFixture(columns: everyLayout)
        var model = ModelTable(columns: everyLayout)
        var kept: [(snapshot: Snapshot, tree: ClusterTree, model: ModelTable)] = []
        for round in 0..<16 {
            let operations = [1, 10, 120, 500].randomElement(using: &random)!
            let appends = [10, 70, 90].randomElement(using: &random)!
            let comment = Comment(rawValue: "seed \(seed), round \(round)")
            let snapshot = try fixture.write(unspilledPageLimit: round % 4 == 1 ? 2 : 8192) { writer in
                try change(writer, &model, operations: operations, longest: 200, appends: appends, using: &random)
                #expect(writer.tree.rowCount == model.rows.count)
                if round % 3 == 0 {
                    try model.expectEqual(writer.leaves(), comment)
                    try model.expectFinds(
                        comment,
                        random: &random,
                        leaf: { try writer.leaf(containing: $0) },
                        position: { try writer.position(at: $0) },
                        index: { try writer.index(of: $0) }
                    )
                }
            }
            let tree = fixture.tree
            #expect(tree.nextKey == model.nextKey)
            try tree.verify(columns: everyLayout, in: snapshot.view)
            try model.expectEqual(tree.leaves(in: snapshot.view), comment)
            try model.expectFinds(
                comment,
                random: &random,
                leaf: { try tree.leaf(containing: $0, in: snapshot.view) },
                position: { try tree.position(at: $0, in: snapshot.view) },
                index: { try tree.index(of: $0, in: snapshot.view) }
            )
            if round % 5 == 0 { kept.append((snapshot, tree, model)) }
        }
        try fixture.audit(try fixture.file.beginRead())
        for old in kept {
            try old.model.expectEqual(
                old.tree.leaves(in: old.snapshot.view),
                "seed \(seed), version \(old.snapshot.version)"
            )
        }
    }

    /// Deletes many rows in one transaction, writes to others between, and reads single rows of clusters that have
    /// lost rows: nothing of it walks them.
    private func deleteMany(
        _ writer: ClusterWriter,
        _ model: inout ModelTable,
        share: Int,
        using random: inout SplitMix64
    ) throws {
        let keys = model.rows.keys.sorted()
        let stretch = Int.random(in: 0..<4, using: &random) == 0 ? 60..<300 : 0..<0
        for (place, key) in keys.enumerated().shuffled(using: &random) {
            if stretch.contains(place) || Int.random(in: 0..<100, using: &random) < share {
                #expect(try writer.delete(key: key))
                #expect(try writer.leaf(containing: key) == nil)
                #expect(try !writer.delete(key: key))
                model.rows[key] = nil
            } else if Int.random(in: 0..<10, using: &random) == 0 {
                let column = Int.random(in: 0..<model.columns.count, using: &random)
                let cell = Cell.random(of: model.columns[column], longest: 3000, using: &random)
                try writer.set(cell, key: key, column: column)
                model.rows[key]![column] = cell
            } else {
                let location = try #require(try writer.leaf(containing: key))
                #expect(location.leaf.key(at: location.row) == key)
                #expect(location.leaf.row(of: key) == location.row)
                let column = Int.random(in: 0..<model.columns.count, using: &random)
                let layout = model.columns[column]
                let view = try location.leaf.column(column, isNullable: layout.isNullable)
                #expect(try view.cell(location.row, layout: layout) == model.rows[key]![column])
            }
        }
    }

    @Test(arguments: [11, 12, 13, 14, 15, 16] as [UInt64])
    func `many deletions in one transaction leave what a model leaves, and older snapshots whole`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let fixture = try TableFixture(columns: everyLayout)
        var model = ModelTable(columns: everyLayout)
        var kept: [(snapshot: Snapshot, tree: ClusterTree, model: ModelTable)] = []
        for round in 0..<8 {
            let comment = Comment(rawValue: "seed \(seed), round \(round)")
            // Small bounds make the writer encode clusters before the end, write them, and open them again.
            let limit = [200_000, 24 << 20].randomElement(using: &random)!
            let spilled = [0, 5, 8192].randomElement(using: &random)!
            let snapshot = try fixture.write(openByteLimit: limit, unspilledPageLimit: spilled) { writer in
                try change(writer, &model, operations: 700, longest: 1500, appends: 97, using: &random)
                if round % 2 == 0 {
                    let share = [1, 10, 60, 99].randomElement(using: &random)!
                    try deleteMany(writer, &model, share: share, using: &random)
                }
                if round % 3 == 0 {
                    try change(writer, &model, operations: 50, longest: 100, appends: 60, using: &random)
                    try model.expectEqual(writer.leaves(), comment)
                }
                if round % 4 == 0 { try deleteMany(writer, &model, share: 20, using: &random) }
                #expect(writer.tree.rowCount == model.rows.count)
            }
            let tree = fixture.tree
            try tree.verify(columns: everyLayout, in: snapshot.view)
            try model.expectEqual(tree.leaves(in: snapshot.view), comment)
            kept.append((snapshot, tree, model))
        }
        try fixture.audit(try fixture.file.beginRead())
        for old in kept {
            try old.model.expectEqual(
                old.tree.leaves(in: old.snapshot.view),
                "seed \(seed), version \(old.snapshot.version)"
            )
        }
    }
}
