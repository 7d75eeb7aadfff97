import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@Suite("The frame and the size of a commit record")
struct CommitRecordTests {
    private static let place = CommitRecord.Place(log: LogIdentifier(low: 1, high: 2), offset: 4_096, previous: 77)
    private static let record = CommitRecord(
        kind: .changes,
        isLastOfVersion: true,
        position: 9,
        version: 8,
        durableOffset: 4_000,
        content: Array("content".utf8)
    )

    private func isFound(_ bytes: [UInt8], at place: CommitRecord.Place) throws -> Bool {
        let found = try bytes.withUnsafeBytes { try CommitRecord.read($0, at: place) }
        if case .record = found { return true }
        return false
    }

    @Test("A record fits in its own place, and in no other one")
    func place() throws {
        let (bytes, checksum) = try Self.record.encoded(at: Self.place)
        let found = try bytes.withUnsafeBytes { try CommitRecord.read($0, at: Self.place) }
        guard case .record(let record, checksum, let end) = found else {
            Issue.record("the record is not found")
            return
        }
        #expect(record == Self.record)
        #expect(end == 4_096 + UInt64(bytes.count))
        var others = Array(repeating: Self.place, count: 4)
        others[0].offset += 8
        others[1].previous += 1
        others[2].log = LogIdentifier(low: 2, high: 2)
        others[3].log = LogIdentifier(low: 1, high: 1)
        for other in others { #expect(try !isFound(bytes, at: other)) }
    }

    @Test("A record of which a bit is another one, or the end is missing, does not fit")
    func damage() throws {
        let (bytes, _) = try Self.record.encoded(at: Self.place)
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << UInt8(bit)
                #expect(try !isFound(damaged, at: Self.place), "bit \(bit) of byte \(index)")
            }
        }
        for count in bytes.indices { #expect(try !isFound(Array(bytes[..<count]), at: Self.place)) }
    }

    @Test("A record that would not be read is not written")
    func length() throws {
        var record = Self.record
        record.content = [UInt8](repeating: 7, count: CommitRecord.contentByteLimit)
        #expect(try isFound(record.encoded(at: Self.place).bytes, at: Self.place))
        record.content.append(7)
        let error = #expect(throws: StorageError.self) { try record.encoded(at: Self.place) }
        #expect(error?.code == .limit)
    }

    @Test("A benchmark's insert takes at most 400 bytes, one changed integer at most 100")
    func sizes() throws {
        let person = ClassSchema(
            name: "Person",
            properties: [
                PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                PropertySchema(name: "name", kind: .string),
                PropertySchema(name: "age", kind: .int),
                PropertySchema(name: "score", kind: .double),
                PropertySchema(name: "email", kind: .string, isUnique: true),
                PropertySchema(name: "createdAt", kind: .date),
            ]
        )
        let recorded = try RecordedDatabase([person])
        try recorded.write { model in
            let table = try #require(try model.table(named: "Person"))
            let key = try table.insert(intPrimaryKey: 999_999)
            try table.set("name", key, .string("name of 16 bytes"))
            try table.set("age", key, .int(33))
            try table.set("score", key, .double(0.123456789))
            try table.set("email", key, .string("person999999@example.org"))
            try table.set("createdAt", key, .date(760_000_000.25))
        }
        try recorded.write { model in
            let table = try #require(try model.table(named: "Person"))
            try table.set("age", 0, .int(34))
        }
        #expect(recorded.byteCounts[1] <= 400)
        #expect(recorded.byteCounts[2] <= 100)
        print("an insert takes \(recorded.byteCounts[1]) bytes, one changed integer \(recorded.byteCounts[2])")
    }

    @Test("One element appended to a list of 10,000 is told as such")
    func splices() throws {
        let bag = ClassSchema(
            name: "Bag",
            properties: [PropertySchema(name: "numbers", kind: .int, collection: .list)]
        )
        let recorded = try RecordedDatabase([bag])
        try recorded.write { model in
            let table = try #require(try model.table(named: "Bag"))
            let key = try table.insert()
            try table.listAssign(0, key: key, (0..<10_000).map { .int($0) })
        }
        try recorded.write { model in
            let table = try #require(try model.table(named: "Bag"))
            try table.listAppend(0, key: 0, .int(-1))
            try table.listRemove(0, key: 0, at: 5_000)
        }
        #expect(recorded.byteCounts[2] <= 120)
        try recorded.requireEqual("after the splices")
    }

    @Test("A short record cannot ask for any number of rows, also of a class without columns", .timeLimit(.minutes(60)))
    func rowsWithoutColumns() throws {
        let recorded = try RecordedDatabase([ClassSchema(name: "Empty", properties: [])])
        var content: [UInt8] = []
        try recorded.write { model in
            _ = try #require(try model.table(named: "Empty")).insert()
            content = try #require(try model.record(RecordHeading())).content
        }
        try recorded.requireEqual("after a row without columns")

        // Next row key, row count, nothing deleted, one run of inserted rows, nothing modified; the bits of its row.
        #expect(content.suffix(8) == [1, 1, 0, 1, 0, 1, 0, 0])
        let many: [UInt8] = [0x80, 0x80, 0x80, 0x80, 0x80, 0x20]
        content.replaceSubrange(content.count - 8..<content.count, with: many + many + [0, 1, 1] + many + [0, 0])
        let file = recorded.database.file
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try recorded.begin()
        defer { recorded.database.model.rollback() }
        #expect(throws: StorageError.self) {
            try content.withUnsafeBytes { _ = try recorded.database.model.replayChanges($0) }
        }
    }
}
