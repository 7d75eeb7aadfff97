import RealmModel
import RealmStorage
import RealmTestSupport

/// A file with people and dogs, written by one writer, and read at any version.
final class ObservedDatabase {
    static let person = 0
    // Ordinals of `Person`.
    static let name = 0
    static let age = 1
    static let boss = 2
    static let dogs = 3
    static let tags = 4
    // Ordinals of `Dog`.
    static let dogName = 0
    static let dogAge = 1

    let file: StorageFile
    let writer: ModelView
    private let directory = TemporaryDirectory()

    init() throws {
        var options = StorageOptions()
        options.durability = .none
        file = try StorageFile.open(path: directory.path("observed.realm"), options: options)
        let schema = DatabaseSchema(classes: [
            ClassSchema(
                name: "Person",
                properties: [
                    PropertySchema(name: "name", kind: .string),
                    PropertySchema(name: "age", kind: .int, isIndexed: true),
                    PropertySchema(name: "boss", kind: .object, targetClass: "Person"),
                    PropertySchema(name: "dogs", kind: .object, collection: .list, targetClass: "Dog"),
                    PropertySchema(name: "tags", kind: .int, collection: .list),
                    PropertySchema(
                        name: "staff",
                        kind: .linkingObjects,
                        targetClass: "Person",
                        originProperty: "boss"
                    ),
                ]
            ),
            ClassSchema(
                name: "Dog",
                properties: [
                    PropertySchema(name: "name", kind: .string),
                    PropertySchema(name: "age", kind: .int),
                    PropertySchema(
                        name: "owners",
                        kind: .linkingObjects,
                        targetClass: "Person",
                        originProperty: "dogs"
                    ),
                ]
            ),
        ])
        try file.lockForWriting()
        let transaction = try file.beginWrite()
        try SchemaReconciler.apply(try SchemaReconciler.plan(stored: nil, declared: schema), in: transaction)
        try file.publish([try transaction.prepareCommit()])
        file.unlockForWriting()
        writer = try ModelView(snapshot: file.beginRead())
    }

    var people: TableView {
        get throws { try writer.table(named: "Person")! }
    }

    var allDogs: TableView {
        get throws { try writer.table(named: "Dog")! }
    }

    /// Commits what the block does.
    func write(_ block: () throws -> Void) throws {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try writer.begin(file.beginWrite())
        try block()
        try file.publish([try writer.prepareCommit()])
        try writer.endTransaction(advancingTo: file.beginRead())
    }

    /// The newest version, to stay.
    func view() throws -> ModelView {
        try ModelView(snapshot: file.beginRead())
    }

    /// What changed between two versions.
    func changes(from old: ModelView, to new: ModelView) throws -> ChangeSet {
        try file.changes(after: old.snapshot.version, through: new.snapshot)!
    }

    @discardableResult
    func addPerson(_ name: String, age: Int64) throws -> Int64 {
        let key = try people.insert()
        try people.set(Self.name, key: key, to: StoredValue.string(name))
        try people.set(Self.age, key: key, to: StoredValue.int(age))
        return key
    }

    @discardableResult
    func addDog(_ name: String, age: Int64) throws -> Int64 {
        let key = try allDogs.insert()
        try allDogs.set(Self.dogName, key: key, to: StoredValue.string(name))
        try allDogs.set(Self.dogAge, key: key, to: StoredValue.int(age))
        return key
    }
}
