import RealmTestSupport
import Testing

@testable import RealmStorage

/// Long columns of clusters that are written one after the other lie beside each other.
@Suite("Where long columns lie")
struct ColumnStretchesTests {
    /// A number, a text of 60 bytes (a long column), and a short one.
    private let columns = [
        ColumnLayout(kind: .int), ColumnLayout(kind: .bytes), ColumnLayout(kind: .bytes),
    ]

    private func append(
        _ count: Int,
        to writer: ClusterWriter,
        of lengths: ClosedRange<Int> = 60...60,
        seed: UInt64 = 1
    ) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<count {
            let key = try writer.append()
            try writer.setInt(Int64(random.next() % 100), key: key, column: 0)
            let length = Int.random(in: lengths, using: &random)
            try writer.set(.bytes([UInt8](repeating: UInt8(random.next() % 256), count: length)), key: key, column: 1)
            try writer.set(.bytes(Array("\(random.next() % 1000)".utf8)), key: key, column: 2)
        }
    }

    /// The long runs of a table, in the order of its rows.
    private func longRuns(of fixture: TableFixture, in snapshot: Snapshot) throws -> [PageReference] {
        var runs: [PageReference] = []
        try fixture.tree.forEachPage(in: snapshot.view) { (reference) throws(StorageError) in
            if reference.pageCount >= ColumnStretches.leastRunPageCount { runs.append(reference) }
        }
        return runs
    }

    private func neighbourCount(_ runs: ArraySlice<PageReference>) -> Int {
        zip(runs, runs.dropFirst()).count { $0.page + $0.pageCount == $1.page }
    }

    @Test("Of a bulk insert most long columns lie behind that of the cluster before", arguments: [24 << 20, 1 << 20])
    func bulkInsert(openByteLimit: Int) throws {
        let fixture = try TableFixture(columns: columns)
        let snapshot = try fixture.write(openByteLimit: openByteLimit) { try append(100_000, to: $0) }
        let runs = try longRuns(of: fixture, in: snapshot)
        try #require(runs.count >= 100)
        // The first lie alone, and then stretches get longer.
        let last = runs.suffix(64)
        #expect(neighbourCount(last) > 48)
        try fixture.tree.verify(columns: columns, in: snapshot.view)
        try fixture.audit(snapshot)
    }

    /// The pages of the file that no table uses.
    private func unusedPageCount(of trees: [ClusterTree], in snapshot: Snapshot) throws -> (unused: Int, used: Int) {
        var used = 0
        for tree in trees {
            try tree.forEachPage(in: snapshot.view) { (reference) throws(StorageError) in
                used += Int(reference.pageCount)
            }
        }
        return (Int(snapshot.header.pageCount) - used, used)
    }

    @Test("What a table's stretches have left over is little, however its texts differ in length")
    func leftOver() throws {
        for (count, lengths) in [
            (4_000, 60...60), (9_000, 60...60), (17_000, 60...60), (40_000, 60...60), (100_000, 60...60),
            (60_000, 20...200), (60_000, 100...300),
        ] {
            let fixture = try TableFixture(columns: columns)
            let snapshot = try fixture.write { try append(count, to: $0, of: lengths) }
            let (unused, used) = try unusedPageCount(of: [fixture.tree], in: snapshot)
            // An eighth of the column at its end, and a thirty-second before.
            #expect(unused < 32 + used * 5 / 32, "\(count) rows of \(lengths): \(unused) pages of \(used)")
            try fixture.audit(snapshot)
        }
    }

    @Test(
        "At its end a table takes no more ahead than its last clusters need",
        // All clusters are written at the end, or a few.
        arguments: zip([512 << 20, 24 << 20], [24, 152])
    )
    func atTheEnd(openByteLimit: Int, greatest: Int) throws {
        for count in stride(from: 90_000, through: 100_000, by: 2_500) {
            let fixture = try TableFixture(columns: columns)
            let snapshot = try fixture.write(openByteLimit: openByteLimit) { writer in
                try append(count, to: writer)
                writer.leaveRooms()
            }
            let (unused, used) = try unusedPageCount(of: [fixture.tree], in: snapshot)
            #expect(unused < greatest, "\(count) rows: \(unused) pages of \(used)")
            try fixture.audit(snapshot)
        }
    }

    @Test("Two tables that are written in turn have stretches of their own")
    func twoTables() throws {
        let fixture = try TableFixture(columns: columns)
        let transaction = try fixture.file.beginWrite()
        let writers = (0..<2)
            .map { _ in
                ClusterWriter(tree: ClusterTree(), columns: columns, transaction: transaction, openByteLimit: 1 << 20)
            }
        for round in 0..<60 {
            try append(1_000, to: writers[0], of: 60...64, seed: UInt64(round))
            try append(1_000, to: writers[1], of: 20...24, seed: UInt64(round))
        }
        fixture.tree = try writers[0].seal()
        let other = try writers[1].seal()
        try fixture.file.publish([try transaction.prepareCommit()])
        let snapshot = try fixture.file.beginRead()
        let (unused, used) = try unusedPageCount(of: [fixture.tree, other], in: snapshot)
        #expect(unused < 32 + used * 5 / 32, "\(unused) pages of \(used)")
        #expect(neighbourCount(try longRuns(of: fixture, in: snapshot).suffix(32)) > 12)
    }

    @Test("Where much is free in pieces, no stretch makes the file longer")
    func scattered() {
        let pieces = (0..<40).map { Extent(page: 100 + 50 * $0, pageCount: 20) }
        var space = SpaceMap(pageCount: 4_000, free: pieces)
        #expect(space.allocateStretch(100) == nil)
        #expect(space.pageCount == 4_000)
        // There is one that is long enough.
        space.release([Extent(page: 3_000, pageCount: 150)])
        #expect(space.allocateStretch(100) == 3_000)
        // Little is free.
        var full = SpaceMap(pageCount: 40_000, free: pieces)
        #expect(full.allocateStretch(100) == 40_000)
    }

    @Test("Long columns take what their transaction has given back")
    func givenBack() throws {
        let fixture = try TableFixture(columns: columns)
        var ends: [UInt32] = []
        let transaction = try fixture.file.beginWrite()
        let writer = ClusterWriter(
            tree: ClusterTree(),
            columns: columns,
            transaction: transaction,
            openByteLimit: 1 << 20
        )
        for round in 0..<4 {
            try append(30_000, to: writer, seed: UInt64(round))
            ends.append(transaction.state.space.pageCount)
            try writer.deleteAll()
        }
        #expect(ends[3] < ends[0] + ends[0] / 3, "\(ends)")
        fixture.tree = try writer.seal()
        try fixture.file.publish([try transaction.prepareCommit()])
        try fixture.audit(fixture.file.beginRead())
    }

    @Test("What was taken ahead is free again behind a rollback")
    func rolledBack() throws {
        let fixture = try TableFixture(columns: columns)
        try fixture.write { try append(30_000, to: $0) }
        let before = try fixture.file.beginRead().header.pageCount
        let transaction = try fixture.file.beginWrite()
        let writer = ClusterWriter(
            tree: fixture.tree,
            columns: columns,
            transaction: transaction,
            openByteLimit: 1 << 20
        )
        try append(60_000, to: writer, seed: 3)
        #expect(!transaction.group.stretches.unused.isEmpty)
        transaction.rollback()
        let snapshot = try fixture.write { try append(1, to: $0, seed: 4) }
        #expect(snapshot.header.pageCount < before + 64)
        try fixture.audit(snapshot)
    }

    @Test("What was taken ahead for a table is for others once that is sealed")
    func sealed() throws {
        let fixture = try TableFixture(columns: columns)
        let first = try fixture.file.beginWrite()
        let writer = ClusterWriter(tree: ClusterTree(), columns: columns, transaction: first, openByteLimit: 1 << 20)
        try append(60_000, to: writer)
        #expect(!first.group.stretches.unused.isEmpty)
        fixture.tree = try writer.seal()
        let rest = try #require(first.group.stretches.unused.last)
        let run = first.seal(try first.allocate(pageCount: 1, kind: .overflow).reference)
        #expect(run.page == rest.page)
        first.free(run)
        try fixture.file.publish([try first.prepareCommit()])
        try fixture.audit(fixture.file.beginRead())
    }

    @Test("A column that is written again goes where there is room")
    func updated() throws {
        let fixture = try TableFixture(columns: columns)
        try fixture.write { try append(40_000, to: $0) }
        let end = try fixture.file.beginRead().header.pageCount
        let snapshot = try fixture.write { writer in
            for key in stride(from: Int64(0), to: 40_000, by: 900) { try writer.setInt(7, key: key, column: 0) }
        }
        // The nodes, and no long column.
        #expect(Int(snapshot.header.pageCount) - Int(end) < 200)
        try fixture.audit(snapshot)
    }

    @Test("A stretch is an eighth of what its column has, up to 128 pages, and holds whole runs")
    func lengths() {
        let owner = OpenMemory()
        let column = ColumnStretches.Column(owner: ObjectIdentifier(owner), index: 1)
        var stretches = ColumnStretches()
        var end: UInt32 = 0
        var taken: UInt32 = 0
        var lengths: [UInt32] = []
        for _ in 0..<400 {
            if stretches.take(6, of: column) == nil {
                if let length = stretches.pageCount(for: 6, of: column) {
                    #expect(length % 6 == 0 && length <= max(12, taken / 8))
                    lengths.append(length)
                    stretches.keep(Extent(page: end, pageCount: length), for: column)
                    end += length
                    #expect(stretches.take(6, of: column) != nil)
                } else {
                    stretches.note(6, of: column)
                    end += 6
                }
            }
            taken += 6
        }
        #expect(lengths.first == 12 && lengths.last == 126)
        #expect(lengths == lengths.sorted())
        #expect(stretches.pageCount(for: 70, of: column) == nil)
        let others = [
            ColumnStretches.Column(owner: ObjectIdentifier(owner), index: 2),
            ColumnStretches.Column(owner: ObjectIdentifier(OpenMemory.self), index: 1),
        ]
        for other in others {
            #expect(stretches.take(6, of: other) == nil)
            #expect(stretches.pageCount(for: 6, of: other) == nil)
        }
        // At the end of the table.
        while stretches.take(6, of: column) != nil {}
        stretches.noteLast(9, of: ObjectIdentifier(owner))
        #expect(stretches.pageCount(for: 6, of: column) == 54)
        stretches.note(6, of: column)
        #expect(stretches.pageCount(for: 6, of: column) == 48)
        stretches.keep(Extent(page: end, pageCount: 48), for: column)
        #expect(stretches.take(6, of: column) == end)
        stretches.leaveRooms(of: ObjectIdentifier(owner))
        #expect(stretches.pageCount(for: 6, of: column) == nil)
        #expect(stretches.unused == [Extent(page: end + 6, pageCount: 42)])
        let unused = stretches.unused
        stretches.end(of: ObjectIdentifier(OpenMemory.self))
        #expect(stretches.unused == unused)
        stretches.end(of: ObjectIdentifier(owner))
        #expect(stretches.unused == unused && stretches.take(6, of: column) == nil)
        #expect(stretches.end() == unused)
        #expect(stretches.end().isEmpty && stretches.unused.isEmpty)
    }

    @Test("What is too short for a run is given up for a new stretch as long as that is little of its column")
    func rests() {
        let column = ColumnStretches.Column(owner: ObjectIdentifier(OpenMemory.self), index: 0)
        var stretches = ColumnStretches()
        stretches.note(3_200, of: column)
        var count: UInt32 = 0
        while count < 100, stretches.pageCount(for: 8, of: column) != nil {
            // One of 127 has room for 15 runs.
            stretches.keep(Extent(page: 1_000 * count, pageCount: 127), for: column)
            if count > 0 { #expect(stretches.unused.contains(Extent(page: 1_000 * count - 880, pageCount: 7))) }
            while stretches.take(8, of: column) != nil {}
            count += 1
        }
        // 7 of 120, and a thirty-second of 3,200 before.
        #expect((30...32).contains(count))
        stretches.note(3_200, of: column)
        #expect(stretches.pageCount(for: 8, of: column) != nil)
        // The room stays for a shorter one, and what was given up is for any run.
        #expect(stretches.take(7, of: column) == 1_000 * (count - 1) + 120)
        #expect(stretches.takeRest(8) == nil)
        #expect(stretches.takeRest(3) == 1_000 * (count - 2) + 120)
        #expect(stretches.takeRest(4) == 1_000 * (count - 2) + 123)
        #expect(stretches.takeRest(1) == 1_000 * (count - 3) + 120)
    }

    @Test("A commit of three mebibytes makes the file no longer than it needs")
    func growth() throws {
        let directory = TemporaryDirectory()
        var options = StorageOptions()
        options.durability = .none
        let file = try StorageFile.open(path: directory.path("a.realm"), options: options)
        #expect(try file.tryLockForWriting())
        defer { file.unlockForWriting() }
        let first = try file.beginWrite()
        try PageArray.create(in: first)
        try PageArray.setBallast(6_000, in: first)
        try file.publish([try PageArray.commit(first)])
        let transaction = try file.beginWrite()
        let more = try transaction.allocate(pageCount: 768, kind: .overflow)
        _ = transaction.seal(more.reference)
        try file.publish([try PageArray.commit(transaction)])
        let needed = Int(file.state.withLock { $0.published.pageCount }) * pageByteCount
        #expect(file.byteCount >= needed && file.byteCount < needed + 65536)
    }
}
