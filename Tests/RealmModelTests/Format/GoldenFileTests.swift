import Foundation
import RealmTestSupport
import Testing

@testable import RealmModel
@testable import RealmStorage

/// Files that were made by the releases whose formats they have.
@Suite struct GoldenFileTests {
    let directory = TemporaryDirectory()

    @Test(.enabled(if: ProcessInfo.processInfo.environment["REALM_GOLDEN"] != nil))
    func `make the files of the present format`() throws {
        let folder = URL(fileURLWithPath: try #require(ProcessInfo.processInfo.environment["REALM_GOLDEN"]))
        let path = directory.path("golden.realm")
        var database: GoldenDatabase? = try GoldenDatabase(at: path)
        let version = try #require(database).model.snapshot.version
        // As a crash leaves it: nothing says that the newest version is durable.
        try Data(contentsOf: URL(fileURLWithPath: path))
            .write(to: folder.appendingPathComponent("\(FileHeader.formatVersion)-open.realm"))
        database = nil
        try Data(contentsOf: URL(fileURLWithPath: path))
            .write(to: folder.appendingPathComponent("\(FileHeader.formatVersion)-closed.realm"))
        print("version \(version)")
    }

    static let files = ["1-open.realm", "1-closed.realm", "2-open.realm", "2-closed.realm"]

    /// What the program makes today, to be compared with.
    private func present() throws -> ModelView { try GoldenDatabase(at: directory.path("present.realm")).model }

    private func write(_ file: StorageFile, _ body: (TableView) throws -> Void) throws {
        let model = try ModelView(snapshot: file.beginRead())
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try model.begin(file.beginWrite())
        do {
            try body(#require(try model.table(named: "Item")))
            try model.checkUniqueness()
            try file.publish([model.prepareCommit()])
        } catch {
            model.rollback()
            throw error
        }
    }

    @Test(
        "A file of each format is read, for writing and for reading only, and only reading does not change it",
        arguments: files
    )
    func reads(name: String) throws {
        let present = try present()
        let path = try GoldenDatabase.copy(name, to: directory)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        for isReadOnly in [true, false] {
            var options = StorageOptions()
            options.isReadOnly = isReadOnly
            let file = try StorageFile.open(path: path, options: options)
            let snapshot = try file.beginRead()
            #expect(snapshot.header.isFormer == name.hasPrefix("1"))
            if !isReadOnly || name.hasSuffix("closed.realm") { try FileVerifier.verify(snapshot) }
            try DatabaseComparison.requireEqual(ModelView(snapshot: snapshot), present, name)
            if isReadOnly { #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before) }
        }
    }

    @Test("A file of each format is written, and is one of the present format then", arguments: files)
    func writes(name: String) throws {
        let present = try present()
        let path = try GoldenDatabase.copy(name, to: directory)
        do {
            let file = try StorageFile.open(path: path)
            for round in 0..<3 {
                try write(file) { items in
                    let key = try #require(try items.find(primaryKey: .int(30)))
                    try items.set("weight", key, .double(Double(round)))
                    try items.set("name", key, .string(GoldenDatabase.longText(Int64(round))))
                }
                try FileVerifier.verify(file.beginRead())
            }
        }
        let file = try StorageFile.open(path: path)
        let snapshot = try file.beginRead()
        #expect(!snapshot.header.isFormer && snapshot.header.identifier.high != 0)
        try FileVerifier.verify(snapshot)
        let model = try ModelView(snapshot: snapshot)
        defer { withExtendedLifetime((model, present)) {} }
        let items = try #require(try model.table(named: "Item"))
        let others = try #require(try present.table(named: "Item"))
        #expect(items.count == others.count)
        #expect(try items.indexedKeys(property: 1, equalTo: .string(GoldenDatabase.longText(2))).count == 2)
    }

    @Test("The indexes of a file of each format find the same rows in the same order", arguments: files)
    func finds(name: String) throws {
        let path = try GoldenDatabase.copy(name, to: directory)
        let model = try ModelView(snapshot: StorageFile.open(path: path).beginRead())
        let present = try present()
        defer { withExtendedLifetime((model, present)) {} }
        let items = try #require(try model.table(named: "Item"))
        let others = try #require(try present.table(named: "Item"))
        let texts = ["", "long", "name 3", "renamed 11", "zzz"] + (-1..<4).map { GoldenDatabase.longText($0 * 20) }
        for text in texts {
            let value = StoredValue.string(text)
            #expect(
                try items.indexedKeys(property: 1, equalTo: value) == others.indexedKeys(property: 1, equalTo: value)
            )
            let found = try Array(text.utf8)
                .withUnsafeBytes { prefix in
                    (
                        try items.prefixKeys(property: 1, prefix: prefix),
                        try others.prefixKeys(property: 1, prefix: prefix)
                    )
                }
            #expect(found.0 == found.1)
            for bound in [IndexBound.including(value), .excluding(value)] {
                #expect(
                    try items.rangeKeys(property: 1, lower: bound, upper: .unbounded)
                        == others.rangeKeys(property: 1, lower: bound, upper: .unbounded)
                )
                #expect(
                    try items.rangeKeys(property: 1, lower: .unbounded, upper: bound)
                        == others.rangeKeys(property: 1, lower: .unbounded, upper: bound)
                )
            }
        }
    }

    @Test("In a file of the format before, unique strings are short until the schema of the class changes")
    func changesIndexes() throws {
        let path = try GoldenDatabase.copy("1-closed.realm", to: directory)
        let file = try StorageFile.open(path: path)
        let long = String(repeating: "code", count: 100)
        func set(_ id: Int64, _ code: String) throws {
            try write(file) { items in
                try items.set("code", try #require(try items.find(primaryKey: .int(id))), .string(code))
            }
        }
        #expect(throws: ModelError.keyTooLong(className: "Item", property: "code", byteCount: 400, limit: 256)) {
            try set(9, long)
        }
        var classes = GoldenDatabase.classes
        classes[0] = ClassSchema(
            name: "Item",
            properties: classes[0].properties + [PropertySchema(name: "more", kind: .int)],
            compoundIndexes: classes[0].compoundIndexes
        )
        try TestDatabase.reconcile(DatabaseSchema(classes: classes, version: 8), in: file)
        try FileVerifier.verify(file.beginRead())
        let model = try ModelView(snapshot: file.beginRead())
        defer { withExtendedLifetime(model) {} }
        let items = try #require(try model.table(named: "Item"))
        #expect(items.slots[1].hashesLongStrings)
        let name = StoredValue.string(GoldenDatabase.longText(42))
        #expect(try items.indexedKeys(property: 1, equalTo: name).count == 1)
        #expect(try items.indexedCount(property: 1, equalTo: name) == 1)
        try set(9, long)
        #expect(throws: ModelError.self) { try set(15, long) }
        try set(15, long + "s")
        try FileVerifier.verify(file.beginRead())
        #expect(try file.beginRead().header.numbers == CommitNumbers(position: 3, schemaGeneration: 1))
    }
}
