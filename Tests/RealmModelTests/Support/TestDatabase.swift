import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// A realm file of its own with a schema, and one model view on it.
final class TestDatabase {
    let directory: TemporaryDirectory
    let file: StorageFile
    let model: ModelView

    init(
        _ classes: [ClassSchema],
        version: UInt64 = 1,
        failures: StepFailures? = nil,
        in directory: TemporaryDirectory = TemporaryDirectory()
    ) throws {
        self.directory = directory
        var options = StorageOptions()
        options.durability = .none
        options.failures = failures
        options.invariantWasBroken = { Issue.record("A structure is broken: \($0)") }
        options.invariantScope = .whole
        file = try StorageFile.open(path: directory.path("test.realm"), options: options)
        try Self.reconcile(DatabaseSchema(classes: classes, version: version), in: file)
        model = try ModelView(snapshot: file.beginRead())
    }

    /// Another model view on the file of a database.
    init(sharing other: TestDatabase) throws {
        directory = other.directory
        file = other.file
        model = try ModelView(snapshot: file.beginRead())
    }

    /// Brings a file to a schema in a transaction of its own.
    static func reconcile(_ schema: DatabaseSchema, in file: StorageFile) throws {
        let stored = try SchemaReconciler.storedSchema(of: file.beginRead())
        let plan = try SchemaReconciler.plan(stored: stored, declared: schema)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        do {
            try SchemaReconciler.apply(plan, in: transaction)
            try file.publish([transaction.prepareCommit()])
        } catch {
            transaction.rollback()
            throw error
        }
    }

    /// Brings the file to another schema and the view to the version after it.
    func reconcile(_ classes: [ClassSchema], version: UInt64) throws {
        try Self.reconcile(DatabaseSchema(classes: classes, version: version), in: file)
        try model.advance(to: file.beginRead())
    }

    func table(_ name: String) throws -> TableView {
        guard let table = try model.table(named: name) else { throw MissingClass(name: name) }
        return table
    }

    struct MissingClass: Error { let name: String }

    /// Runs a transaction and returns what it changed.
    @discardableResult
    func write(_ body: (ModelView) throws -> Void) throws -> ChangeSet {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try model.begin(file.beginWrite())
        do {
            try body(model)
            let changes = model.transaction!.changes
            let prepared = try model.prepareCommit()
            try file.publish([prepared])
            try model.endTransaction(advancingTo: file.beginRead())
            return changes
        } catch {
            model.rollback()
            throw error
        }
    }

    /// Runs a transaction and takes it back.
    func rollBack(_ body: (ModelView) throws -> Void) throws {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try model.begin(file.beginWrite())
        defer { model.rollback() }
        try body(model)
    }
}

extension TableView {
    /// The ordinal of a property that the test declared.
    func ordinal(_ name: String) -> Int { schema.ordinal(of: name)! }

    /// Writes a string, as a test spells it.
    func set(_ name: String, _ key: Int64, _ value: StoredValue) throws {
        try set(ordinal(name), key: key, to: value)
    }
}

extension ClassSchema {
    /// The class that tests of transactions, versions and pages have most of their rows in: a key, an indexed name, and `others`.
    static func item(_ others: [PropertySchema] = []) -> ClassSchema {
        ClassSchema(
            name: "Item",
            properties: [
                PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                PropertySchema(name: "name", kind: .string, isIndexed: true),
            ] + others
        )
    }
}
