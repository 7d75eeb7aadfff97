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
public final class Migration {
    private let transaction: MigrationTransaction

    init(_ transaction: MigrationTransaction) {
        self.transaction = transaction
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
        transaction.enumerate(typeName) { block($0, $1) }
    }

    /// Calls a block that may throw with every object of a class; see the other form.
    ///
    /// - Throws: what the block throws, and `CancellationError` when the task that opens the realm was cancelled.
    @_disfavoredOverload
    public func enumerateObjects(
        ofType typeName: String,
        _ block: (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) throws -> Void
    ) throws {
        try transaction.enumerateThrowing(typeName, block)
    }

    /// Creates an object of a class of the program from a dictionary by property name, an array in property order or
    /// another object.
    ///
    /// - Precondition: The program has the class, and the values fit.
    @discardableResult
    public func create(_ typeName: String, value: Any = []) -> MigrationObject {
        transaction.requireDeclared(typeName)
        return transaction.new.createDynamic(typeName, value: value, update: .error)
    }

    /// Deletes a new object.
    ///
    /// - Precondition: The object is one of the new ones.
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
    /// Call it outside of `enumerateObjects`. The values replace those of the property that has the new name.
    ///
    /// - Precondition: The old property is in the file and no longer in the program's class, the new one is in the
    ///   class, and their types differ at most in being optional.
    public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
        transaction.rename(typeName, from: oldName, to: newName)
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
