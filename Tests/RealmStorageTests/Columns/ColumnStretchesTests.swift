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

    private func append(_ count: Int, to writer: ClusterWriter, seed: UInt64 = 1) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<count {
            let key = try writer.append()
            try writer.setInt(Int64(random.next() % 100), key: key, column: 0)
            try writer.set(.bytes((0..<60).map { _ in UInt8(random.next() % 256) }), key: key, column: 1)
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

    @Test("What a table's stretches have left over is little, and the next commits use it")
    func leftOver() throws {
        for count in [4_000, 9_000, 17_000, 40_000, 100_000] {
            let fixture = try TableFixture(columns: columns)
            let snapshot = try fixture.write { try append(count, to: $0) }
            var used = 0
            try fixture.tree.forEachPage(in: snapshot.view) { (reference) throws(StorageError) in
                used += Int(reference.pageCount)
            }
            let unused = Int(snapshot.header.pageCount) - used
            #expect(unused < max(64, used / 4), "\(count) rows")
            try fixture.audit(snapshot)
            let end = snapshot.header.pageCount
            // A cluster of texts is about 20 pages.
            let next = try fixture.write { try append(500, to: $0, seed: 2) }
            try fixture.audit(next)
            #expect(Int(next.header.pageCount) - Int(end) < 64, "\(count) rows")
        }
    }

    @Test("What was taken ahead is free again behind a rollback, and behind a seal that fails")
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
        #expect(!transaction.group.stretches.rooms.isEmpty)
        try transaction.group.checkInvariants()
        transaction.rollback()
        let snapshot = try fixture.write { try append(1, to: $0, seed: 4) }
        #expect(snapshot.header.pageCount < before + 64)
        try fixture.audit(snapshot)
    }

    @Test("A member of a group takes nothing ahead, and what the one before it took is to spare by then")
    func members() throws {
        let fixture = try TableFixture(columns: columns)
        let first = try fixture.file.beginWrite()
        let writer = ClusterWriter(tree: ClusterTree(), columns: columns, transaction: first, openByteLimit: 1 << 20)
        try append(60_000, to: writer)
        #expect(!first.group.stretches.rooms.isEmpty)
        fixture.tree = try writer.seal()
        #expect(first.group.stretches.rooms.isEmpty)
        #expect(!first.group.spare.isEmpty)
        let snapshot = try { () throws in
            try fixture.file.publish([try first.prepareCommit()])
            return try fixture.file.beginRead()
        }()
        try fixture.audit(snapshot)
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

    @Test("A stretch is a quarter of what its column has, up to 128 pages, and holds whole runs")
    func lengths() {
        var stretches = ColumnStretches()
        var end: UInt32 = 0
        var taken: UInt32 = 0
        var lengths: [UInt32] = []
        for _ in 0..<400 {
            if stretches.take(6, of: 1) == nil {
                if let length = stretches.pageCount(for: 6, of: 1) {
                    #expect(length % 6 == 0 && length <= max(12, taken / 4))
                    lengths.append(length)
                    #expect(stretches.keep(Extent(page: end, pageCount: length), for: 1) == nil)
                    end += length
                    #expect(stretches.take(6, of: 1) != nil)
                } else {
                    end += 6
                }
            }
            taken += 6
        }
        #expect(lengths.first == 12 && lengths.last == 126)
        #expect(lengths == lengths.sorted())
        #expect(stretches.take(6, of: 2) == nil)
        // What is too short for the next run is given back.
        _ = stretches.keep(Extent(page: end, pageCount: 12), for: 1)
        #expect(stretches.take(8, of: 1) == end)
        #expect(stretches.take(8, of: 1) == nil)
        #expect(stretches.keep(Extent(page: 5000, pageCount: 16), for: 1) == Extent(page: end + 8, pageCount: 4))
        #expect(stretches.end() == [Extent(page: 5000, pageCount: 16)])
        #expect(stretches.end().isEmpty && stretches.rooms.isEmpty)
    }

    @Test("A file gets room ahead for small commits, and just what it needs for a large one")
    func growth() throws {
        let mebibyte = 1 << 20
        #expect(StorageFile.grownByteCount(from: 40 * mebibyte, needed: 40 * mebibyte + 4096) == 48 * mebibyte)
        #expect(StorageFile.grownByteCount(from: 40 * mebibyte, needed: 42 * mebibyte) == 48 * mebibyte)
        let large = 42 * mebibyte + 4096
        #expect(StorageFile.grownByteCount(from: 40 * mebibyte, needed: large) == large)
        #expect(StorageFile.grownByteCount(from: 65536, needed: 131072) == 65536 + 131072)
        #expect(StorageFile.grownByteCount(from: 65536, needed: mebibyte) == mebibyte)

        let directory = TemporaryDirectory()
        var options = StorageOptions()
        options.durability = .none
        let file = try StorageFile.open(path: directory.path("a.realm"), options: options)
        #expect(try file.tryLockForWriting())
        defer { file.unlockForWriting() }
        // 3 MiB, which is less than what is written early and flushed by itself.
        let transaction = try file.beginWrite()
        try PageArray.setBallast(768, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        let needed = Int(file.state.withLock { $0.published.pageCount }) * pageByteCount
        #expect(file.byteCount >= needed && file.byteCount < needed + 65536)
    }
}
