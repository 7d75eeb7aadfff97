import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

/// What no transaction can have left, and is refused in a record: of a stranger, or of a damaged log.
@Suite("Order and links in commit records")
struct RecordOrderTests {
    private static let classes = [
        ClassSchema(
            name: "Bag",
            properties: [
                PropertySchema(name: "numbers", kind: .int, collection: .set),
                PropertySchema(name: "names", kind: .bool, collection: .map),
                PropertySchema(name: "next", kind: .object, targetClass: "Bag"),
                PropertySchema(name: "others", kind: .object, collection: .list, targetClass: "Bag"),
                PropertySchema(name: "anything", kind: .any),
            ]
        ),
        ClassSchema(name: "Box", properties: [PropertySchema(name: "bag", kind: .object, targetClass: "Bag")]),
    ]

    private let recorded: RecordedDatabase
    private let bags: TableView

    init() throws {
        recorded = try RecordedDatabase(Self.classes)
        // Row 0 holds small collections, row 1 large ones: 0, 10, 20 and so on, and names of them with four digits.
        try recorded.write { model in
            let bags = try #require(try model.table(named: "Bag"))
            let boxes = try #require(try model.table(named: "Box"))
            for count in [2, 500] {
                let key = try bags.insert()
                try bags.setAssign(0, key: key, (0..<count).map { .int(Int64(10 * $0)) })
                try bags.mapAssign(1, key: key, (0..<count).map { StoredEntry(key: Self.name($0), value: .bool(true)) })
            }
            try boxes.set("bag", try boxes.insert(), .link(1))
        }
        bags = try recorded.database.table("Bag")
        #expect(try bags.list(0, key: 1).isLarge && bags.list(1, key: 1).isLarge)
    }

    private static func name(_ number: Int) -> String { String(String(100_000 + 10 * number).dropFirst()) }

    // MARK: Records

    /// Applies a record to the replica, requires that it verifies, and takes it back.
    private func apply(_ content: [UInt8]) throws {
        let file = recorded.replica
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        transaction.recording = .replay
        let model = try recorded.replicated()
        try model.begin(transaction)
        defer { model.rollback() }
        try content.withUnsafeBytes { _ = try model.replayChanges($0) }
        do { try ModelVerifier.verify(model) } catch { Issue.record("What was accepted is broken: \(error)") }
    }

    /// Requires that a record is refused as damaged, with the place of the value.
    private func requireRefused(_ content: [UInt8], at place: String, _ when: String) {
        let error = #expect(throws: StorageError.self, "\(when)") { try apply(content) }
        #expect(error?.code == .corrupt && error?.message.contains(place) == true, "\(when): \(error?.message ?? "")")
    }

    /// A record that adds rows to the bags and writes a value of one that is there.
    private func record(
        _ property: String? = nil,
        of key: Int64 = 0,
        adding rows: Int = 0,
        _ value: (inout RecordWriter) -> Void
    ) -> [UInt8] {
        var writer = RecordWriter()
        RecordHeading().write(to: &writer)
        writer.write(bags.model.schema.stamp)
        writer.write(1)
        writer.write(UInt64(bags.id))
        writer.write(2 + rows)
        writer.write(2 + rows)
        writer.write(RowKeys())
        writer.write(rows == 0 ? RowKeys() : RowKeys(Array(2..<2 + Int64(rows))))
        writer.write(property == nil ? 0 : 1)
        if let property {
            writer.write(Int(key))
            writer.write(1)
            writer.write(Int(bags.slots[bags.ordinal(property)].column))
        }
        value(&writer)
        return writer.bytes
    }

    private func bytes(of number: Int64) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }

    private func bytes(ofEntry name: String) -> [UInt8] { [UInt8(name.utf8.count), 0] + Array(name.utf8) + [1] }

    /// A record that gives a row a small collection.
    private func small(_ property: String, _ elements: [[UInt8]]) -> [UInt8] {
        let slot = bags.slots[bags.ordinal(property)].elements
        var list: [UInt8] = [ListFormat.smallForm, ListFormat.kindByte(slot), UInt8(elements.count), 0]
        if ListFormat.width(of: slot.kind) == 0 {
            var end = 0
            for element in elements {
                end += element.count
                list += [UInt8(end), 0]
            }
        }
        for element in elements { list += element }
        return record(property) { writer in
            writer.write(byte: RecordValue.bytes)
            list.withUnsafeBytes { writer.write(counted: $0) }
        }
    }

    /// A record that gives a row a large collection.
    private func large(_ property: String, _ elements: [[UInt8]]) -> [UInt8] {
        record(property) { writer in
            writer.write(byte: RecordValue.largeList)
            writer.write(elements.count)
            for element in elements { element.withUnsafeBytes { writer.write(counted: $0) } }
        }
    }

    /// A record that changes an element of a large collection.
    private func splice(_ property: String, at index: Int, removing count: Int, _ element: [UInt8]) -> [UInt8] {
        record(property, of: 1) { writer in
            writer.write(byte: RecordValue.splices)
            writer.write(1)
            writer.write(index)
            writer.write(count)
            writer.write(byte: 1)
            element.withUnsafeBytes { writer.write(counted: $0) }
        }
    }

    // MARK: Order

    @Test("A set's elements are in order, and each is there once")
    func sets() throws {
        for make in [small, large] {
            try apply(make("numbers", [1, 2, 300].map(bytes(of:))))
            for wrong: [Int64] in [[2, 1], [1, 1], [1, 3, 2]] {
                requireRefused(make("numbers", wrong.map(bytes(of:))), at: "'Bag.numbers' of row 0", "\(wrong)")
            }
        }
        // 0, 10, 20 and so on.
        for (index, count, number) in [(1, 0, 5), (1, 1, 12), (0, 0, -1), (500, 0, 5_000), (499, 1, 4_981)] {
            try apply(splice("numbers", at: index, removing: count, bytes(of: Int64(number))))
        }
        for (index, count, number) in [(1, 0, 0), (1, 0, 10), (1, 0, 11), (1, 1, 20), (0, 0, 0), (500, 0, 4_990)] {
            let content = splice("numbers", at: index, removing: count, bytes(of: Int64(number)))
            requireRefused(content, at: "'Bag.numbers' of row 1", "\(number) at \(index)")
        }
    }

    @Test("A dictionary's names are in order, and each is there once")
    func dictionaries() throws {
        for make in [small, large] {
            try apply(make("names", ["a", "b", "ba"].map(bytes(ofEntry:))))
            for wrong in [["b", "a"], ["a", "a"], ["a", "c", "b"]] {
                requireRefused(make("names", wrong.map(bytes(ofEntry:))), at: "'Bag.names' of row 0", "\(wrong)")
            }
        }
        for (index, count, name) in [(1, 0, "00005"), (1, 1, "00010"), (0, 0, ""), (500, 0, "1")] {
            try apply(splice("names", at: index, removing: count, bytes(ofEntry: name)))
        }
        for (index, count, name) in [(1, 0, "00000"), (1, 0, "00010"), (1, 1, "00020"), (0, 0, "1"), (500, 0, "")] {
            let content = splice("names", at: index, removing: count, bytes(ofEntry: name))
            requireRefused(content, at: "'Bag.names' of row 1", "\(name) at \(index)")
        }
    }

    // MARK: Links

    @Test("A row that a changed row links to is there, or comes with the record")
    func linksOfChangedRows() throws {
        func link(to target: Int64, adding rows: Int = 0) -> [UInt8] {
            record("next", adding: rows) { writer in
                RecordValue.write(.int(target), of: .int, to: &writer)
                for _ in 0..<rows { writer.write(byte: 0) }
            }
        }
        try apply(link(to: 1))
        try apply(link(to: 3, adding: 2))
        requireRefused(link(to: 2), at: "'Bag.next' of row 0", "a row that is not there")
        requireRefused(link(to: 4, adding: 2), at: "'Bag.next' of row 0", "a row that does not come")

        func list(_ targets: [Int64]) -> [UInt8] { small("others", targets.map(bytes(of:))) }
        try apply(list([1, 0, 1]))
        requireRefused(list([1, 7, 1]), at: "'Bag.others' of row 0", "a list")

        func anything(table: UInt32, _ key: Int64) -> [UInt8] {
            let value = MixedFormat.encode(.list([.int(1), .anyLink(table: table, key: key)]))
            return record("anything") { writer in
                writer.write(byte: RecordValue.bytes)
                value.withUnsafeBytes { writer.write(counted: $0) }
            }
        }
        try apply(anything(table: bags.id, 1))
        requireRefused(anything(table: bags.id, 2), at: "'Bag.anything' of row 0", "a value of any kind")
        requireRefused(anything(table: 77, 0), at: "'Bag.anything' of row 0", "a table that is not there")
    }

    @Test("A row that a new row links to is there, or comes with the record")
    func linksOfNewRows() throws {
        func rows(linkingTo targets: [Int64]) -> [UInt8] {
            let column = bags.slots[bags.ordinal("next")].column
            return record(adding: targets.count) { writer in
                for target in targets {
                    writer.write(byte: 1 << UInt8(column))
                    RecordValue.write(.int(target), of: .int, to: &writer)
                }
            }
        }
        try apply(rows(linkingTo: [3, 2, 4, 0]))
        requireRefused(rows(linkingTo: [3, 4]), at: "'Bag.next' of row 3", "a row that does not come")
    }

    @Test("A row may come and go in a large list within one transaction")
    func passingRow() throws {
        try recorded.write { model in
            let bags = try #require(try model.table(named: "Bag"))
            for _ in 0..<500 { try bags.listAppend(3, key: 0, .link(1)) }
        }
        try recorded.write { model in
            let bags = try #require(try model.table(named: "Bag"))
            let passing = try bags.insert()
            try bags.listInsert(3, key: 0, at: 250, .link(passing))
            try bags.delete(key: passing)
        }
        #expect(recorded.byteCounts[recorded.byteCounts.count - 1] < 200, "it is told of as splices")
        try recorded.requireEqual("after a row that came and went")
    }

    /// The record of a schema that tells of the bags anew, with rows that hold nothing, and leaves the boxes as they are.
    private func schemaRecord(rows: Int64, keepingBags: Bool = true) throws -> [UInt8] {
        let model = recorded.database.model
        let boxes = try recorded.database.table("Box")
        #expect(bags.id < boxes.id)
        var writer = RecordWriter()
        RecordHeading().write(to: &writer)
        writer.write(model.schema.stamp)
        for number in [UInt64(DatabaseEntry.layout), UInt64(boxes.id) + 1, 1, model.schema.stamp + 1, 0] {
            writer.write(number)
        }
        writer.write(keepingBags ? 2 : 1)
        if keepingBags {
            writer.write(UInt64(bags.id))
            writer.write(byte: 1)
            model.schema.storedBytes(of: bags.schema).withUnsafeBytes { writer.write(counted: $0) }
            writer.write(2)
            writer.write(Int(rows))
            writer.write(rows == 0 ? RowKeys() : RowKeys(Array(0..<rows)))
        }
        writer.write(UInt64(boxes.id))
        writer.write(byte: 0)
        for _ in 0..<rows { writer.write(byte: 0) }
        return writer.bytes
    }

    private func applySchema(_ content: [UInt8]) throws {
        let file = recorded.replica
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        transaction.recording = .replay
        defer { transaction.rollback() }
        try content.withUnsafeBytes { _ = try SchemaRecord.replay($0, in: transaction) }
        do { try ModelVerifier.verify(ModelView(transaction: transaction)) } catch {
            Issue.record("What was accepted is broken: \(error)")
        }
    }

    @Test("A row that is linked to by a table which a schema's record leaves as it is comes with it")
    func linksOfKeptTables() throws {
        try applySchema(schemaRecord(rows: 2))
        for rows: Int64 in 0...1 {
            let error = #expect(throws: StorageError.self) { try applySchema(schemaRecord(rows: rows)) }
            #expect(error?.message.contains("'Box.bag' of row 0") == true)
        }
        #expect(throws: StorageError.self) { try applySchema(schemaRecord(rows: 0, keepingBags: false)) }
    }
}
