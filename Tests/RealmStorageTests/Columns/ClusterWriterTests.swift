import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ClusterWriterTests {
    private let person: [ColumnLayout] = [
        ColumnLayout(kind: .int), ColumnLayout(kind: .bytes), ColumnLayout(kind: .int), ColumnLayout(kind: .double),
        ColumnLayout(kind: .bytes), ColumnLayout(kind: .double),
    ]

    private func appendPerson(_ writer: ClusterWriter, _ random: inout SplitMix64) throws {
        let key = try writer.append()
        try writer.setInt(key, key: key, column: 0)
        try writer.set(.bytes(Array("name \(random.next() % 1_000_000)".utf8)), key: key, column: 1)
        try writer.setInt(Int64(random.next() % 100), key: key, column: 2)
        try writer.setDouble(Double(random.next() % 1000) / 1000, key: key, column: 3)
        try writer.set(.bytes(Array("mail\(random.next() % 1_000_000)@example.com".utf8)), key: key, column: 4)
        try writer.setDouble(Double(key) + 700_000_000, key: key, column: 5)
    }

    private func runs(of fixture: TableFixture, in snapshot: Snapshot) throws -> [PageReference] {
        var runs: [PageReference] = []
        try fixture.tree.forEachPage(in: snapshot.view) { (reference) throws(StorageError) in runs.append(reference) }
        return runs
    }

    /// The pages of the table that the newest version wrote.
    private func fresh(_ fixture: TableFixture, in snapshot: Snapshot) throws -> [PageReference] {
        try runs(of: fixture, in: snapshot)
            .filter { reference in
                let page = try snapshot.view.pointer(to: reference)
                return page.little(UInt64.self, at: PageHeader.versionOffset) == snapshot.version
            }
    }

    @Test func `a new row holds the defaults of its columns`() throws {
        let fixture = try TableFixture(columns: everyLayout)
        var model = ModelTable(columns: everyLayout)
        let snapshot = try fixture.write { writer in
            #expect(try writer.append() == 0)
            try writer.append(key: 7)
            model.rows = [0: everyLayout.map { .default(of: $0) }, 7: everyLayout.map { .default(of: $0) }]
            try model.expectEqual(writer.leaves(), "open")
        }
        try model.expectEqual(fixture.tree.leaves(in: snapshot.view), "sealed")
        // Nothing but the node is stored for rows of defaults.
        #expect(try runs(of: fixture, in: snapshot).count == 1)
        #expect(fixture.tree.nextKey == 8)
    }

    @Test func `a bulk append fills clusters and costs little more than its values`() throws {
        let fixture = try TableFixture(columns: person)
        var random = SplitMix64(seed: 1)
        let snapshot = try fixture.write { writer in
            for _ in 0..<5000 { try appendPerson(writer, &random) }
        }
        try fixture.tree.verify(columns: person, in: snapshot.view)
        var leaves = fixture.tree.leaves(in: snapshot.view)
        var counts: [Int] = []
        while let leaf = try leaves.next() { counts.append(leaf.rowCount) }
        #expect(counts == [1000, 1000, 1000, 1000, 1000])
        let pages = try runs(of: fixture, in: snapshot).reduce(0) { $0 + Int($1.pageCount) }
        #expect(Double(pages * 4096) / 5000 < 75)
        try fixture.audit(snapshot)
    }

    @Test func `small commits rewrite few pages and still fill clusters`() throws {
        let fixture = try TableFixture(columns: person)
        var random = SplitMix64(seed: 2)
        var written = 0
        var snapshot = try fixture.write { try appendPerson($0, &random) }
        for _ in 1..<1200 {
            snapshot = try fixture.write { try appendPerson($0, &random) }
            written += try fresh(fixture, in: snapshot).reduce(0) { $0 + Int($1.pageCount) }
        }
        #expect(fixture.tree.rowCount == 1200)
        #expect(Double(written) / 1200 < 5)
        try fixture.tree.verify(columns: person, in: snapshot.view)
        var leaves = fixture.tree.leaves(in: snapshot.view)
        var clusters = 0
        while try leaves.next() != nil { clusters += 1 }
        #expect(clusters <= 4)
        try fixture.audit(snapshot)
    }

    @Test func `a narrow update rewrites the node and that column only`() throws {
        let columns = [ColumnLayout(kind: .int), ColumnLayout(kind: .int), ColumnLayout(kind: .fixed16)]
        let fixture = try TableFixture(columns: columns)
        try fixture.write { writer in
            for row in 0..<3000 {
                let key = try writer.append()
                try writer.setInt(Int64(row) << 20, key: key, column: 0)
                try writer.setInt(Int64(row) << 20, key: key, column: 1)
                try writer.set(.fixed((0..<16).map { UInt8(truncatingIfNeeded: $0 &* row) }), key: key, column: 2)
            }
        }
        let snapshot = try fixture.write { writer in
            for key in stride(from: Int64(5), to: 3000, by: 100) { try writer.setInt(-key, key: key, column: 1) }
        }
        // Per cluster a node and one run of 4 bytes a row or 8; one inner node.
        let fresh = try fresh(fixture, in: snapshot)
        #expect(fresh.count == 3 * 2 + 1)
        #expect(fresh.reduce(0) { $0 + Int($1.pageCount) } <= 3 * 3 + 1)
        try fixture.tree.verify(columns: columns, in: snapshot.view)
        try fixture.audit(snapshot)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `clusters beyond the memory bound are encoded early and can be changed again`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let fixture = try TableFixture(columns: person)
        var model = ModelTable(columns: person)
        for round in 0..<3 {
            let snapshot = try fixture.write(openByteLimit: 300_000) { writer in
                for _ in 0..<2500 {
                    let key = try writer.append()
                    let cells = person.map { Cell.random(of: $0, longest: 60, using: &random) }
                    for (column, cell) in cells.enumerated() { try writer.set(cell, key: key, column: column) }
                    model.rows[key] = cells
                }
                for _ in 0..<500 {
                    let place = Int.random(in: 0..<model.rows.count, using: &random)
                    let location = try #require(try writer.position(at: place))
                    let key = location.leaf.key(at: location.row)
                    if Int.random(in: 0..<4, using: &random) == 0 {
                        #expect(try writer.delete(key: key))
                        model.rows[key] = nil
                    } else {
                        let cell = Cell.random(of: person[1], longest: 100, using: &random)
                        try writer.set(cell, key: key, column: 1)
                        model.rows[key]![1] = cell
                    }
                }
                try model.expectEqual(writer.leaves(), "seed \(seed), open, round \(round)")
            }
            try model.expectEqual(fixture.tree.leaves(in: snapshot.view), "seed \(seed), round \(round)")
            try fixture.tree.verify(columns: person, in: snapshot.view)
            try fixture.audit(snapshot)
        }
    }

    @Test func `long values live in overflow runs that come and go with them`() throws {
        let columns = [ColumnLayout(kind: .bytes), ColumnLayout(kind: .bytes, isNullable: true)]
        let fixture = try TableFixture(columns: columns)
        var model = ModelTable(columns: columns)
        var random = SplitMix64(seed: 3)
        for round in 0..<12 {
            let snapshot = try fixture.write(openByteLimit: round % 2 == 0 ? 24 << 20 : 20_000) { writer in
                for _ in 0..<60 {
                    let choice = Int.random(in: 0..<10, using: &random)
                    let keys = model.rows.keys.sorted()
                    if choice < 4 || keys.isEmpty {
                        let key = try writer.append()
                        model.rows[key] = [.bytes([]), .null]
                        continue
                    }
                    let key = keys.randomElement(using: &random)!
                    if choice == 9 {
                        try writer.delete(key: key)
                        model.rows[key] = nil
                        continue
                    }
                    let column = Int.random(in: 0...1, using: &random)
                    let cell = Cell.random(of: columns[column], longest: 9000, using: &random)
                    try writer.set(cell, key: key, column: column)
                    model.rows[key]![column] = cell
                }
                try model.expectEqual(writer.leaves(), "round \(round), open")
            }
            try model.expectEqual(fixture.tree.leaves(in: snapshot.view), "round \(round)")
            try fixture.tree.verify(columns: columns, in: snapshot.view)
            try fixture.audit(snapshot)
        }
    }

    @Test func `a value may be set from the column that it replaces`() throws {
        let fixture = try TableFixture(columns: [ColumnLayout(kind: .bytes)])
        let snapshot = try fixture.write { writer in
            for length in [3, 900] {
                let key = try writer.append()
                try writer.set(.bytes(Array(repeating: UInt8(length & 0xFF), count: length)), key: key, column: 0)
            }
            for _ in 0..<50 {
                let source = try #require(try writer.leaf(containing: 1))
                try writer.setBytes(try source.leaf.column(0).bytes(source.row), key: try writer.append(), column: 0)
            }
        }
        let last = try #require(try fixture.tree.leaf(containing: 51, in: snapshot.view))
        #expect(try Array(last.leaf.column(0).bytes(last.row)) == Array(repeating: UInt8(900 & 0xFF), count: 900))
    }

    @Test func `a table may have more than a thousand columns`() throws {
        let columns = (0..<1200).map { ColumnLayout(kind: $0 % 3 == 0 ? .bytes : .int, isNullable: $0 % 2 == 0) }
        let fixture = try TableFixture(columns: columns)
        var model = ModelTable(columns: columns)
        var random = SplitMix64(seed: 4)
        for _ in 0..<4 {
            let snapshot = try fixture.write { writer in
                for _ in 0..<40 {
                    let key = try writer.append()
                    var cells = columns.map { Cell.default(of: $0) }
                    for _ in 0..<100 {
                        let column = Int.random(in: 0..<1200, using: &random)
                        cells[column] = .random(of: columns[column], longest: 20, using: &random)
                        try writer.set(cells[column], key: key, column: column)
                    }
                    model.rows[key] = cells
                }
            }
            try fixture.tree.verify(columns: columns, in: snapshot.view)
            try model.expectEqual(fixture.tree.leaves(in: snapshot.view), "wide")
            try fixture.audit(snapshot)
        }
    }

    @Test func `columns that were added later read as default until they are written`() throws {
        let fixture = try TableFixture(columns: [ColumnLayout(kind: .int)])
        var model = ModelTable(columns: everyLayout)
        model.columns.insert(ColumnLayout(kind: .int), at: 0)
        try fixture.write { writer in
            for _ in 0..<1500 {
                let key = try writer.append()
                try writer.setInt(key * 3, key: key, column: 0)
                model.rows[key] = [.int(key * 3)] + everyLayout.map { .default(of: $0) }
            }
        }
        fixture.columns = model.columns
        let unchanged = try fixture.file.beginRead()
        try model.expectEqual(fixture.tree.leaves(in: unchanged.view), "not written")
        try fixture.tree.verify(columns: model.columns, in: unchanged.view)
        let snapshot = try fixture.write { writer in
            for column in everyLayout.indices where everyLayout[column].kind == .bytes {
                try writer.set(.bytes([1, 2]), key: 700, column: column + 1)
                model.rows[700]![column + 1] = .bytes([1, 2])
            }
        }
        try model.expectEqual(fixture.tree.leaves(in: snapshot.view), "written")
    }

    @Test func `deleting most rows shrinks the table and the rest stays`() throws {
        let fixture = try TableFixture(columns: person)
        var random = SplitMix64(seed: 5)
        let full = try fixture.write { writer in
            for _ in 0..<10_000 { try appendPerson(writer, &random) }
        }
        let before = try runs(of: fixture, in: full).reduce(0) { $0 + Int($1.pageCount) }
        let kept = Set((0..<200).map { _ in Int64(random.next() % 10_000) })
        let snapshot = try fixture.write { writer in
            for key in Int64(0)..<10_000 where !kept.contains(key) { try writer.delete(key: key) }
        }
        #expect(fixture.tree.rowCount == kept.count)
        #expect(fixture.tree.nextKey == 10_000)
        try fixture.tree.verify(columns: person, in: snapshot.view)
        let after = try runs(of: fixture, in: snapshot).reduce(0) { $0 + Int($1.pageCount) }
        #expect(after * 20 < before)
        for key in kept {
            let location = try #require(try fixture.tree.leaf(containing: key, in: snapshot.view))
            #expect(try location.leaf.column(0).int(location.row) == key)
        }
        try fixture.audit(snapshot)
    }

    @Test func `a table can be emptied row by row, at once, and filled again`() throws {
        let fixture = try TableFixture(columns: person)
        var random = SplitMix64(seed: 6)
        try fixture.write { writer in
            for _ in 0..<2500 { try appendPerson(writer, &random) }
        }
        var snapshot = try fixture.write { writer in
            for key in Int64(0)..<2500 { try writer.delete(key: key) }
            #expect(try writer.position(at: 0) == nil)
        }
        #expect(fixture.tree.root.isNone && fixture.tree.rowCount == 0)
        try fixture.audit(snapshot)
        snapshot = try fixture.write { writer in
            for _ in 0..<2500 { try appendPerson(writer, &random) }
        }
        #expect(try fixture.tree.position(at: 0, in: snapshot.view)?.leaf.firstKey == 2500)
        snapshot = try fixture.write { writer in
            for _ in 0..<10 { try appendPerson(writer, &random) }
            try writer.deleteAll()
            #expect(try writer.append() == 5010)
        }
        #expect(fixture.tree.rowCount == 1)
        try fixture.audit(snapshot)
    }

    @Test func `a cursor goes on after writes between two steps`() throws {
        let fixture = try TableFixture(columns: person)
        var random = SplitMix64(seed: 7)
        try fixture.write { writer in
            for _ in 0..<5000 { try appendPerson(writer, &random) }
        }
        try fixture.write { writer in
            var leaves = writer.leaves(from: 1500)
            var seen: [Int64] = []
            while let leaf = try leaves.next() {
                let keys = (0..<leaf.rowCount).map { leaf.key(at: $0) }
                seen += keys
                for key in keys.dropFirst() { try writer.delete(key: key) }
                try writer.setInt(1, key: keys[0], column: 2)
            }
            #expect(seen == Array(1000..<5000))
            #expect(writer.tree.rowCount == 1004)
        }
    }

    @Test func `the generation tells when locations are stale`() throws {
        let fixture = try TableFixture(columns: person)
        var random = SplitMix64(seed: 8)
        try fixture.write { writer in
            for _ in 0..<10 { try appendPerson(writer, &random) }
        }
        let word = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        word.initialize(to: 100)
        defer { word.deallocate() }
        let writer = ClusterWriter(
            tree: fixture.tree,
            columns: person,
            transaction: try fixture.file.beginWrite(),
            generation: word
        )
        try writer.setInt(5, key: 3, column: 2)
        #expect(writer.generation > 0 && word.pointee == 100 + writer.generation)
        let opened = writer.generation
        let location = try #require(try writer.leaf(containing: 3))
        try writer.setInt(1 << 40, key: 3, column: 2)
        _ = try writer.append()
        #expect(writer.generation == opened)
        #expect(try location.leaf.column(2).int(location.row) == 1 << 40)
        try writer.delete(key: 0)
        #expect(writer.generation > opened)
    }

    @Test func `a tree survives the way through the catalog`() {
        let tree = ClusterTree(root: PageReference(page: 9, pageCount: 2, checksum: 77), rowCount: 5, nextKey: 1 << 50)
        withUnsafeTemporaryAllocation(byteCount: ClusterTree.byteCount, alignment: 8) { buffer in
            tree.store(to: buffer.baseAddress!)
            #expect(ClusterTree(load: buffer.baseAddress!) == tree)
        }
    }
}
