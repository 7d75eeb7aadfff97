/// What a migration block works with: the objects as they were, and as they are to be.
///
/// ```swift
/// configuration.schemaVersion = 2
/// configuration.migrationBlock = { migration, oldSchemaVersion in
///     if oldSchemaVersion < 2 {
///         migration.enumerateObjects(ofType: "Person") { old, new in
///             new!["fullName"] = "\(old!["firstName"]!) \(old!["lastName"]!)"
///         }
///     }
/// }
/// ```
/// When the block begins, the file has the declared classes: new properties are at their defaults, those that only got or
/// lost optionality have kept their values, and those of another type start anew. Properties that the program no longer
/// declares are there in the old objects. All of it is one transaction, which is rolled back when anything fails.
///
/// What the calls here and the objects cannot do, such as writing a value of the wrong type, reading a property that is not
/// there or creating an object with an existing key, they keep as the migration's error: later calls do nothing, ``create(_:value:update:)``
/// returns an object that belongs to nothing, and opening the realm throws the first such error, with the file as it was.
public final class Migration {
    private let transaction: MigrationTransaction

    init(_ transaction: MigrationTransaction) {
        self.transaction = transaction
    }

    /// Throws the first mistake of the block, and when the opening was cancelled.
    func checkMistakes() throws {
        if isCancelled { throw CancellationError() }
        try transaction.new.checkWriteFailure()
    }

    /// The classes of the file before the migration, with the names that stand in it.
    public var oldSchema: Schema { Schema(transaction.stored) }

    /// The classes of the program.
    public var newSchema: Schema { Schema(transaction.new.registry.schema) }

    /// Calls a block with every object of a class, as it was and as it is to be.
    ///
    /// Of a class that is new, only the new objects are there; of one that the program no longer has, only the old ones.
    /// Objects that the block creates are not visited, and neither are those deleted before their turn. Only a few
    /// objects are in memory at a time. When the task that opens the realm is cancelled, the rest is left out and the
    /// migration rolled back.
    public func enumerateObjects(ofType typeName: String, _ block: MigrationObjectEnumerateBlock) {
        transaction.enumerate(typeName, progress: nil) { block($0, $1) }
    }

    /// Calls a block with every object of a class, and another one now and then with how far that is.
    ///
    /// ```swift
    /// configuration.migrationBlock = { migration, _ in
    ///     migration.enumerateObjects(ofType: "Person") { progress in
    ///         print("\(progress.visitedCount) of \(progress.totalCount)")
    ///     } _: { old, new in
    ///         new?["fullName"] = old?["name"]
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - typeName: The class.
    ///   - progress: Called after each thousandth object, and at the end.
    ///   - block: Receives the objects, as in the form without progress.
    public func enumerateObjects(
        ofType typeName: String,
        progress: (MigrationProgress) -> Void,
        _ block: MigrationObjectEnumerateBlock
    ) {
        withoutActuallyEscaping(progress) { progress in
            transaction.enumerate(typeName, progress: progress) { block($0, $1) }
        }
    }

    /// Calls a block that may throw with every object of a class; see the other form.
    ///
    /// - Throws: what the block throws, and `CancellationError` when the task that opens the realm was cancelled.
    @_disfavoredOverload
    public func enumerateObjects(
        ofType typeName: String,
        _ block: (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) throws -> Void
    ) throws {
        try transaction.enumerateThrowing(typeName, progress: nil, block)
    }

    /// Calls a block that may throw with every object of a class, and another one with how far that is; see the other forms.
    ///
    /// - Throws: what the block throws, and `CancellationError` when the task that opens the realm was cancelled.
    @_disfavoredOverload
    public func enumerateObjects(
        ofType typeName: String,
        progress: (MigrationProgress) -> Void,
        _ block: (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) throws -> Void
    ) throws {
        try withoutActuallyEscaping(progress) { progress in
            try transaction.enumerateThrowing(typeName, progress: progress, block)
        }
    }

    /// The new object with a primary key; nil when there is none.
    ///
    /// It finds objects by the keys that they have at the moment, also where the block has just written them.
    ///
    /// ```swift
    /// configuration.migrationBlock = { migration, _ in
    ///     let ada = migration.object(ofType: "Person", forPrimaryKey: "ada")
    ///     ada?["fullName"] = "Ada Lovelace"
    /// }
    /// ```
    ///
    /// - Complexity: O(log *n*) for *n* objects; where the migration makes the primary key or has written it, the first call looks
    ///   at all objects once.
    public func object(ofType typeName: String, forPrimaryKey key: Any) -> MigrationObject? {
        transaction.find(typeName, key)
    }

    /// The object with a primary key as it was before the migration; nil when there was none, or no such class.
    public func oldObject(ofType typeName: String, forPrimaryKey key: Any) -> MigrationObject? {
        transaction.findOld(typeName, key)
    }

    /// Creates an object of a class of the program from a dictionary by property name, an array in property order or
    /// another object; or updates the one with its primary key.
    ///
    /// ```swift
    /// configuration.migrationBlock = { migration, _ in
    ///     migration.enumerateObjects(ofType: "Note") { old, _ in
    ///         migration.create("Tag", value: ["name": old?["label"] ?? "none"], update: .modified)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - typeName: The class.
    ///   - value: What the properties are to hold; those that are not given have their defaults, or stay as they are.
    ///   - update: What to do when an object with the primary key exists.
    /// - Returns: The object; one that belongs to nothing after a mistake, which opening the realm throws.
    @discardableResult
    public func create(_ typeName: String, value: Any = [], update: Realm.UpdatePolicy = .error) -> MigrationObject {
        transaction.create(typeName, value: value, update: update)
    }

    /// Deletes a new object.
    public func delete(_ object: MigrationObject) {
        transaction.delete(object)
    }

    /// Deletes all objects of a class, and the class itself when the program no longer has it.
    ///
    /// - Returns: whether the file has the class.
    @discardableResult
    public func deleteData(forType typeName: String) -> Bool {
        transaction.deleteData(typeName)
    }

    /// Gives a property another name: its values, its index and its links stay.
    ///
    /// Call it outside of `enumerateObjects`. The values replace those of the property that has the new name. The old property
    /// must be in the file and no longer in the program's class, the new one in the class, and their types may differ in being
    /// optional only: all else is a mistake, which opening the realm throws.
    public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
        transaction.rename(typeName, from: oldName, to: newName)
    }

    /// Says that the values of a property of the file may go: it is removed or changes its type, and that is meant.
    ///
    /// Where the block reads the property of some objects only, the values of the others may go. Nothing happens where the file has no
    /// such property.
    ///
    /// ```swift
    /// configuration.migrationLossPolicy = .refuse
    /// configuration.migrationBlock = { migration, oldSchemaVersion in
    ///     if oldSchemaVersion < 3 { migration.discardValues(ofProperty: "faxNumber", onType: "Person") }
    /// }
    /// ```
    public func discardValues(ofProperty propertyName: String, onType typeName: String) {
        transaction.discard(typeName, propertyName)
    }

    /// Whether the task that opens the realm was cancelled: what the block does will be rolled back.
    public var isCancelled: Bool { transaction.isCancelled }
}

@available(*, unavailable, message: "A migration may be used only inside its block.")
extension Migration: Sendable {}

/// An object inside a migration, read and written by the names of its properties.
public typealias MigrationObject = DynamicObject

/// Receives an object as it was and as it is to be.
public typealias MigrationObjectEnumerateBlock = (
    _ oldObject: MigrationObject?, _ newObject: MigrationObject?
) -> Void

/// Brings the content of an older file into the shape of the classes, given the version that the file has.
public typealias MigrationBlock = @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) -> Void

/// A migration block that can fail: the file stays as it was then, and opening the realm throws the error.
public typealias ThrowingMigrationBlock =
    @Sendable (
        _ migration: Migration, _ oldSchemaVersion: UInt64
    ) throws -> Void
