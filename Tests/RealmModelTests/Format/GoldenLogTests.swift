import Foundation
import RealmTestSupport
import Testing

@testable import RealmModel
@testable import RealmStorage

/// Records and logs that `golden-log.py` wrote byte by byte as `Docs/FileFormat.md` says, without any code of the library.
@Suite struct GoldenLogTests {
    let directory = TemporaryDirectory()

    private static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: GoldenDatabase.folder.appendingPathComponent(name)))
    }

    /// Requires the same bytes, and says where the first other one stands.
    private func requireEqual(_ made: [UInt8], _ name: String) throws {
        let golden = try Self.bytes(name)
        let place = zip(made, golden).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        let what = "\(name): \(made.count) bytes for \(golden.count), another one at \(place ?? -1)"
        let isEqual = made == golden
        try #require(isEqual, "\(what)")
    }

    private static func place(_ offset: UInt64) -> CommitRecord.Place {
        CommitRecord.Place(log: GoldenRecords.log, offset: offset, previous: GoldenRecords.chain)
    }

    /// The record that a file holds, which fits at one offset.
    private func record(_ name: String, at offset: UInt64) throws -> CommitRecord {
        let bytes = try Self.bytes(name)
        let found = try bytes.withUnsafeBytes { try CommitRecord.read($0, at: Self.place(offset)) }
        guard case .record(let record, _, let end) = found else {
            throw StorageError(.corrupt, "\(name) holds no record")
        }
        #expect(end == offset + UInt64(bytes.count))
        #expect(record.isLastOfVersion && record.durableOffset == 0)
        return record
    }

    /// The records with files of their own: their places among those of the program, and in a log.
    static let records = [("1-changes.record", 0, 0), ("1-schema.record", 2, 4096)] as [(String, Int, UInt64)]

    @Test("A record with everything that one can say has the bytes that the page describes", arguments: records)
    func makesRecord(name: String, number: Int, offset: UInt64) throws {
        let entry = try #require(try GoldenRecords(count: number + 1).entries.last)
        let record = CommitRecord(
            kind: entry.kind,
            isLastOfVersion: entry.isLastOfVersion,
            position: entry.position,
            version: entry.version,
            content: entry.content
        )
        try requireEqual(record.encoded(at: Self.place(offset)).bytes, name)
    }

    @Test("A record that the page describes says what the program did", arguments: records)
    func readsRecord(name: String, number: Int, offset: UInt64) throws {
        let record = try record(name, at: offset)
        #expect(record.kind == (number == 0 ? .changes : .schema))
        #expect(record.version == GoldenRecords.version + 1 + UInt64(number))
        #expect(record.position == GoldenRecords.position + 1 + UInt64(number))
        let before = try GoldenRecords(count: number)
        try replay([record], on: before.database, equalling: GoldenRecords(count: number + 1).database, name)
        // The heading, which no row shows.
        let heading = try record.content.withUnsafeBytes { bytes in
            var reader = RecordReader(bytes)
            return try RecordHeading(from: &reader)
        }
        var expected = GoldenRecords.heading(number, number == 0 ? "every change" : "another schema")
        expected.schemaGeneration = number == 0 ? 1 : 2
        #expect(heading == expected)
    }

    @Test("A record of a version that is kept as pages is known by its kind, and has no place behind a checkpoint")
    func pagesRecord() throws {
        let record = try record("1-pages.record", at: 8192)
        #expect(record.kind == .pages && record.version == 7 && record.position == 6)
        let heading = try record.content.withUnsafeBytes { bytes in
            var reader = RecordReader(bytes)
            let heading = try RecordHeading(from: &reader)
            #expect(reader.isAtEnd)
            return heading
        }
        let identity = CommitIdentity(high: 0x0102_0304_0506_0708, low: 9)
        #expect(heading == RecordHeading(time: -1, identity: identity, schemaGeneration: 2))
        try requireEqual(record.encoded(at: Self.place(8192)).bytes, "1-pages.record")
        let database = try GoldenRecords.base()
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        let transaction = try database.file.beginWrite()
        defer { transaction.rollback() }
        transaction.recording = .replay
        let error = #expect(throws: StorageError.self) { try LogReplay.apply([record], in: transaction) }
        #expect(error?.code == .corrupt)
    }

    @Test("A note of how far a log is durable has the bytes that the page describes, and is no record of a version")
    func durableRecord() throws {
        let bytes = try Self.bytes("1-durable.record")
        let found = try bytes.withUnsafeBytes { try CommitRecord.read($0, at: Self.place(8192)) }
        guard case .record(let record, _, let end) = found else {
            throw StorageError(.corrupt, "The file holds no record")
        }
        #expect(record.kind == .durable && record.durableOffset == 8100)
        #expect(record.version == 7 && record.position == 6 && record.content.isEmpty)
        #expect(end == 8192 + UInt64(CommitRecord.headerByteCount))
        try requireEqual(record.encoded(at: Self.place(8192)).bytes, "1-durable.record")
        let database = try GoldenRecords.base()
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        let transaction = try database.file.beginWrite()
        defer { transaction.rollback() }
        transaction.recording = .replay
        let error = #expect(throws: StorageError.self) { try LogReplay.apply([record], in: transaction) }
        #expect(error?.code == .corrupt)
    }

    // MARK: Logs

    /// Appends five records, and returns the place behind the third one, from which on the ring is used again.
    private func append(_ entries: [CommitLog.Entry], to log: CommitLog) throws -> LogPoint {
        try log.append([entries[0]])
        try log.flush()
        try log.append([entries[1], entries[2]])
        let point = log.end
        try log.flush()
        try log.append([entries[3]])
        try log.append([entries[4]])
        return point
    }

    @Test("A log has the bytes that the page describes, also behind the end of its ring")
    func makesLog() throws {
        let entries = try GoldenRecords().entries
        let file = LogFile(besides: directory.path("made.realm"))
        let log = CommitLog(header: GoldenRecords.header, device: try file.create(GoldenRecords.header))
        let point = try append(entries, to: log)
        try requireEqual(Array(try Data(contentsOf: URL(fileURLWithPath: file.path))), "1.log")
        log.release(upTo: point)
        try log.flush()
        try log.append([entries[5]])
        try requireEqual(Array(try Data(contentsOf: URL(fileURLWithPath: file.path))), "1-reused.log")
    }

    /// A stored log, put beside a realm and read.
    private func reader(_ name: String) throws -> LogReader {
        let file = LogFile(besides: directory.path("stored.realm"))
        try Data(Self.bytes(name)).write(to: URL(fileURLWithPath: file.path))
        let device = try #require(try file.open(forReadingOnly: true))
        defer { withExtendedLifetime(device) {} }
        guard case .log(let reader) = try LogReader.read(device.descriptor, path: file.path) else {
            throw StorageError(.corrupt, "\(name) is no log")
        }
        return reader
    }

    private func entries(of records: [CommitRecord]) -> [CommitLog.Entry] {
        records.map {
            CommitLog.Entry(
                kind: $0.kind,
                isLastOfVersion: $0.isLastOfVersion,
                position: $0.position,
                version: $0.version,
                content: $0.content
            )
        }
    }

    @Test("A log that the page describes is read whole, and makes what the program made")
    func readsLog() throws {
        let reader = try reader("1.log")
        #expect(reader.header == GoldenRecords.header)
        #expect(!reader.isUnused)
        let tail = try reader.tail(from: reader.header.beginning, version: reader.header.version)
        let program = try GoldenRecords(count: 5)
        try #require(entries(of: tail.records) == program.entries)
        // The second and the third one share a flush, and the last two have been flushed by nobody.
        let durable = tail.records.map(\.durableOffset)
        #expect(durable[0] == 0 && durable[1] == durable[2] && durable[3] == durable[4])
        #expect(durable[1] > 0 && durable[1] < 4096 && durable[3] > 4096 && durable[3] < 8192)
        #expect(tail.end.offset > 8192 && tail.end.offset < 12_288)
        // It ends behind what anybody can know to be flushed.
        #expect(throws: StorageError.self) {
            try reader.tail(
                from: reader.header.beginning,
                version: reader.header.version,
                durable: tail.end.offset + 1
            )
        }
        let base = try GoldenRecords.base()
        try replay(tail.records, on: base, equalling: program.database, "1.log")
    }

    @Test("A log whose ring was used again is read from the checkpoint on, and not from its beginning")
    func readsReusedLog() throws {
        let whole = try reader("1.log")
        let all = try whole.tail(from: whole.header.beginning, version: whole.header.version).records
        try #require(all.count == 5)
        var checkpoint = whole.header.beginning
        for (number, record) in all[..<3].enumerated() {
            // Behind a flush a record begins a block; the third one was appended together with the second.
            let next = number == 2 ? checkpoint.aligned : checkpoint.atNewBlock
            let place = CommitRecord.Place(log: whole.header.log, offset: next.offset, previous: next.chain)
            let (bytes, checksum) = try record.encoded(at: place)
            checkpoint = LogPoint(offset: next.offset + UInt64(bytes.count), chain: checksum)
        }
        let reader = try reader("1-reused.log")
        let tail = try reader.tail(from: checkpoint, version: 6)
        let program = try GoldenRecords()
        try #require(entries(of: tail.records) == Array(program.entries[3...]))
        try replay(tail.records, on: GoldenRecords(count: 3).database, equalling: program.database, "1-reused.log")
        let error = #expect(throws: StorageError.self) {
            try reader.tail(from: reader.header.beginning, version: reader.header.version)
        }
        #expect(error?.code == .corrupt)
    }

    /// Applies records in one transaction, of the version of the last one, and compares what they leave.
    private func replay(
        _ records: [CommitRecord],
        on database: TestDatabase,
        equalling expected: TestDatabase,
        _ name: String
    ) throws {
        let file = database.file
        let version = try #require(records.last).version
        do {
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            // The stamp of a schema is the version that made it.
            while file.newestVersion + 1 < version { try file.publish([file.beginWrite().prepareCommit()]) }
            let transaction = try file.beginWrite()
            transaction.recording = .replay
            try file.publish([LogReplay.apply(records, in: transaction)])
        }
        let replayed = try ModelView(snapshot: file.beginRead())
        try DatabaseComparison.requireEqual(expected.model, replayed, name)
        try FileVerifier.verify(file.beginRead())
    }
}
