import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

/// Two strings that begin alike and have the same hash under the key of the file: found by search, since the key is known here.
@Suite("Long strings with the same hash are told apart by their rows")
struct HashCollisionTests {
    static let key = SipHash.Key(low: 0x0706_0504_0302_0100, high: 0x0F0E_0D0C_0B0A_0908)
    static let first = String(repeating: "p", count: 256) + "cdhhlllgglflfiml"
    static let second = String(repeating: "p", count: 256) + "gialhicepgdppemh"
    /// Begins like them, and has another hash.
    static let third = String(repeating: "p", count: 256) + "mmmmmmmmmmmmmmmm"

    let directory = TemporaryDirectory()

    /// A file whose strings are hashed under the key, with a schema.
    private func makeFile(_ classes: [ClassSchema]) throws -> StorageFile {
        let file = try StorageFile.open(path: directory.path("collision.realm"))
        try file.lockForWriting()
        let transaction = try file.beginWrite()
        var entry = DatabaseEntry()
        entry.indexKey = Self.key
        try entry.store(in: transaction)
        try file.publish([transaction.prepareCommit()])
        file.unlockForWriting()
        try TestDatabase.reconcile(DatabaseSchema(classes: classes), in: file)
        return file
    }

    private func write(_ file: StorageFile, _ body: (ModelView) throws -> Void) throws {
        let model = try ModelView(snapshot: file.beginRead())
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try model.begin(file.beginWrite())
        do {
            try body(model)
            try model.checkUniqueness()
            try file.publish([model.prepareCommit()])
        } catch {
            model.rollback()
            throw error
        }
    }

    private func table(_ model: ModelView) throws -> TableView { try #require(try model.table(named: "Row")) }

    private static func hash(_ text: String) -> UInt64 {
        Array(text.utf8).withUnsafeBytes { SipHash.hash($0, key: key) }
    }

    @Test func `the hashes of the two are the same`() {
        #expect(Self.first != Self.second && Self.hash(Self.first) == Self.hash(Self.second))
        #expect(Self.hash(Self.third) != Self.hash(Self.first))
    }

    @Test func `an index finds each by itself, in the order of the whole strings`() throws {
        let file = try makeFile([
            ClassSchema(
                name: "Row",
                properties: [
                    PropertySchema(name: "text", kind: .string, isIndexed: true), PropertySchema(name: "n", kind: .int),
                ],
                compoundIndexes: [CompoundIndexSchema(["text", "n"])]
            )
        ])
        let texts = [Self.second, Self.first, Self.third, Self.second, Self.first, "p", Self.second]
        try write(file) { model in
            let rows = try table(model)
            for (number, text) in texts.enumerated() {
                let key = try rows.insert()
                try rows.set("text", key, .string(text))
                try rows.set("n", key, .int(Int64(number % 2)))
            }
        }
        try FileVerifier.verify(file.beginRead())
        let model = try ModelView(snapshot: file.beginRead())
        defer { withExtendedLifetime(model) {} }
        let rows = try table(model)
        #expect(rows.slots[0].hashKey == Self.key)
        func expected(_ isIncluded: (String) -> Bool) -> [Int64] {
            texts.indices.filter { isIncluded(texts[$0]) }
                .sorted { (texts[$0], $0) < (texts[$1], $1) }
                .map(Int64.init)
        }
        for text in [Self.first, Self.second, Self.third] {
            let value = StoredValue.string(text)
            #expect(try rows.indexedKeys(property: 0, equalTo: value) == expected { $0 == text })
            #expect(try rows.firstKey(property: 0, equalTo: value) == expected { $0 == text }.first)
            #expect(try IndexReader(0, of: rows).firstKey(equalTo: value) == expected { $0 == text }.first)
            // Two look-ups: at least as many as there are.
            #expect(try rows.indexedCount(property: 0, equalTo: value) >= expected { $0 == text }.count)
            func range(_ lower: IndexBound, _ upper: IndexBound) throws -> [Int64] {
                try rows.rangeKeys(property: 0, lower: lower, upper: upper)
            }
            #expect(try range(.including(value), .unbounded) == expected { $0 >= text })
            #expect(try range(.excluding(value), .unbounded) == expected { $0 > text })
            #expect(try range(.unbounded, .including(value)) == expected { $0 <= text })
            #expect(try range(.unbounded, .excluding(value)) == expected { $0 < text })
            #expect(try range(.including(value), .including(value)) == expected { $0 == text })
            let found = try Array(text.utf8).withUnsafeBytes { try rows.prefixKeys(property: 0, prefix: $0) }
            #expect(found == expected { $0.hasPrefix(text) })
        }
        #expect(try rows.rangeKeys(property: 0, lower: .unbounded, upper: .unbounded) == expected { _ in true })
        // What is deleted, and what is changed, is that row's entry and not the other one's.
        try write(file) { model in
            let rows = try table(model)
            try rows.delete(key: 1)
            try rows.set("text", 0, .string(Self.first))
        }
        try FileVerifier.verify(file.beginRead())
        let after = try ModelView(snapshot: file.beginRead())
        defer { withExtendedLifetime(after) {} }
        let left = try table(after)
        #expect(try left.indexedKeys(property: 0, equalTo: .string(Self.first)) == [0, 4])
        #expect(try left.indexedKeys(property: 0, equalTo: .string(Self.second)) == [3, 6])
    }

    @Test func `they are two primary keys, and each is there once`() throws {
        let file = try makeFile([
            ClassSchema(name: "Row", properties: [PropertySchema(name: "id", kind: .string, isPrimaryKey: true)])
        ])
        try write(file) { model in
            let rows = try table(model)
            _ = try rows.insert(primaryKey: .string(Self.first))
            _ = try rows.insert(primaryKey: .string(Self.second))
            #expect(throws: (any Error).self) { try rows.insert(primaryKey: .string(Self.second)) }
        }
        try write(file) { model in
            #expect(throws: (any Error).self) { try table(model).insert(primaryKey: .string(Self.first)) }
        }
        try FileVerifier.verify(file.beginRead())
        let model = try ModelView(snapshot: file.beginRead())
        defer { withExtendedLifetime(model) {} }
        let rows = try table(model)
        #expect(try rows.find(primaryKey: .string(Self.first)) == 0)
        #expect(try rows.find(primaryKey: .string(Self.second)) == 1)
        #expect(try rows.find(primaryKey: .string(Self.third)) == nil)
    }

    private static func unique(_ isUnique: Bool) -> [ClassSchema] {
        [
            ClassSchema(
                name: "Row",
                properties: [
                    PropertySchema(name: "code", kind: .string, isUnique: isUnique),
                    PropertySchema(name: "n", kind: .int),
                ],
                compoundIndexes: isUnique ? [CompoundIndexSchema(["code", "n"], isUnique: true)] : []
            )
        ]
    }

    private func add(_ model: ModelView, _ code: String) throws {
        let rows = try table(model)
        try rows.set("code", rows.insert(), .string(code))
    }

    @Test func `they are different unique values, and each is taken once`() throws {
        let file = try makeFile(Self.unique(true))
        try write(file) { for code in [Self.first, Self.second] { try add($0, code) } }
        for code in [Self.first, Self.second] {
            // Beside one that is committed, and beside one of the same transaction.
            #expect(throws: ModelError.self) { try write(file) { try add($0, code) } }
        }
        try write(file) { try add($0, Self.third) }
        #expect(throws: ModelError.self) {
            try write(file) { model in for code in ["a", Self.third] { try add(model, code) } }
        }
        try FileVerifier.verify(file.beginRead())
        #expect(try table(ModelView(snapshot: file.beginRead())).count == 3)
    }

    @Test(arguments: [false, true])
    func `a property becomes unique when no string is there twice`(isTwice: Bool) throws {
        let file = try makeFile(Self.unique(false))
        let codes = [Self.first, Self.second, "x"] + (isTwice ? [Self.first] : [])
        try write(file) { for code in codes { try add($0, code) } }
        let schema = DatabaseSchema(classes: Self.unique(true), version: 1)
        if isTwice {
            #expect(throws: ModelError.self) { try TestDatabase.reconcile(schema, in: file) }
        } else {
            try TestDatabase.reconcile(schema, in: file)
            #expect(throws: ModelError.self) { try write(file) { try add($0, Self.second) } }
        }
        try FileVerifier.verify(file.beginRead())
    }
}
