import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

/// Observers that go in one step over what was written and over a change of the class that moves its properties.
@Suite("Observed collections whose class loses a property")
struct MovedPropertyChangesTests {
    private let directory = TemporaryDirectory()

    /// Brings the class into a form, and has it written to.
    private func write(
        _ file: StorageFile,
        _ properties: [PropertySchema],
        version: UInt64,
        _ block: (TableView) throws -> Void
    ) throws -> ModelView {
        let declared = DatabaseSchema(
            classes: [ClassSchema(name: "Thing", properties: properties)],
            version: version
        )
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let model = try ModelView(snapshot: file.beginRead())
        try model.begin(file.beginWrite())
        let plan = try SchemaReconciler.plan(stored: model.schema, declared: declared)
        if !plan.isEmpty { try model.changeSchema(plan) }
        let table = try model.table(named: "Thing")
        try block(try #require(table))
        try file.publish([try model.prepareCommit()])
        try model.endTransaction()
        return try ModelView(snapshot: file.beginRead())
    }

    /// What an observer of the one object is told when `word` was written and then `gone` removed; the properties stand in an order.
    private func delta(_ names: [String], keyPaths: [String]?, asked: [String]? = nil) throws -> CollectionDelta {
        var options = StorageOptions()
        options.durability = .none
        let file = try StorageFile.open(path: directory.path("\(names.joined()).realm"), options: options)
        let properties = names.map { PropertySchema(name: $0, kind: $0 == "word" ? .string : .int) }
        var key: Int64 = 0
        let first = try write(file, properties, version: 0) { key = try $0.insert() }
        _ = try write(file, properties, version: 0) { table in
            let word = try #require(table.schema.ordinal(of: "word"))
            try table.set(word, key: key, to: StoredValue.string("b"))
        }
        let last = try write(file, properties.filter { $0.name != "gone" }, version: 1) { _ in }
        let order = SortOrder([(path: "number", ascending: true)])
        let query = ObservedQuery(className: "Thing", steps: [.sort(order)])
        var keys = try ObservedKeys(query, keyPaths: keyPaths, asked: asked, in: first)
        let changes =
            try file.changes(after: first.snapshot.version, through: last.snapshot)
            ?? VersionComparison.changes(from: first, to: last)
        return try keys.advance(by: changes, from: first, to: last)
    }

    @Test("tell what was written under the number that a property had before")
    func renumbered() throws {
        #expect(try delta(["gone", "number", "word"], keyPaths: ["word"]).modifications == [0])
    }

    @Test("tell of no property that the key paths do not name")
    func unnamed() throws {
        #expect(try delta(["number", "gone", "word"], keyPaths: ["number"]).isEmpty)
    }

    @Test("say of which modifications nobody asked")
    func unasked() throws {
        let told = try delta(["number", "gone", "word"], keyPaths: nil, asked: ["number"])
        #expect(told.modifications == [0])
        #expect(told.unasked == [0])
    }
}
