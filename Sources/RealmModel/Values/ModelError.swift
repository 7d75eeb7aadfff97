/// What the model layer refuses, apart from the failures of the storage below it.
package enum ModelError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A row with this primary key exists already, under `existing`.
    case duplicatePrimaryKey(className: String, property: String, value: String, existing: Int64)
    /// Another row has the values of unique properties already, under `existing`.
    case duplicateValue(className: String, properties: [String], value: String, existing: Int64)
    /// Two objects have the same values of properties that are to become unique.
    case duplicateValues(className: String, properties: [String], value: String)
    /// An object links to one that stays, through a property whose rule then denies its deletion.
    case deletionDenied(className: String, property: String, targetClass: String)
    /// Two objects have the same value of a property that is to become the primary key; one such value, where it is known.
    case duplicatePrimaryKeys(className: String, property: String, value: String?)
    /// An object of a class that is to become embedded has not exactly one owner.
    case invalidOwnerCount(className: String, count: Int)
    /// No row with this key: the object was deleted.
    case noSuchRow(className: String, key: Int64)
    /// A link to a row that does not exist.
    case noSuchTarget(className: String, property: String, target: Int64)
    /// A string that must be unique is longer than an index can tell apart.
    case keyTooLong(className: String, property: String, byteCount: Int, limit: Int)
    /// A value of the wrong kind, or null for a property that is not optional.
    case invalidValue(className: String, property: String, expected: String, value: String?)
    /// The declared schema is not valid in itself; one sentence each.
    case invalidSchema([String])
    /// The file's schema differs in a way that needs a migration.
    case schemaMismatch([SchemaDifference])
    /// The file was last written with a higher schema version.
    case schemaVersionTooLow(provided: UInt64, stored: UInt64)

    package var description: String {
        switch self {
        case .duplicatePrimaryKey(let className, let property, let value, _):
            "Attempting to create an object of type '\(className)' with an existing primary key value \(value) of "
                + "'\(className).\(property)'."
        case .duplicateValue(let className, let properties, let value, _):
            "Attempting to create or change an object of type '\(className)' with an existing value \(value) of the unique "
                + "\(Self.names(properties, of: className))."
        case .duplicateValues(let className, let properties, let value):
            "Unique \(Self.names(properties, of: className)) has duplicate values: several objects have \(value). Give "
                + "them different values, or delete all but one, before the property becomes unique."
        case .deletionDenied(let className, let property, let targetClass):
            "Attempting to delete an object of type '\(className)' whose property '\(className).\(property)' links to "
                + "objects of type '\(targetClass)', which its delete rule denies. Delete these as well, or unlink them "
                + "first."
        case .duplicatePrimaryKeys(let className, let property, let value):
            "Primary key property '\(className).\(property)' has duplicate values after migration"
                + (value.map { ": several objects have \($0)." } ?? ".")
        case .invalidOwnerCount(let className, let count):
            "Cannot convert '\(className)' to embedded: an object has \(count) incoming links, and each must have "
                + "exactly one, which a value of any type is not. Delete or copy such objects in the migration block."
        case .noSuchRow(let className, let key):
            "The '\(className)' object with key \(key) has been deleted or invalidated."
        case .noSuchTarget(let className, let property, let target):
            "'\(className).\(property)' cannot link to the object with key \(target), which has been deleted."
        case .keyTooLong(let className, let property, let byteCount, let limit):
            "The value of '\(className).\(property)' has \(byteCount) bytes, and what must be unique has at most \(limit). "
                + "Store a hash of it there, and the text in another property."
        case .invalidValue(let className, let property, let expected, let value):
            "Invalid value for '\(expected)' property '\(className).\(property)'" + (value.map { ": \($0)." } ?? ".")
        case .invalidSchema(let reasons):
            "Schema validation failed due to the following errors:" + reasons.map { "\n- \($0)" }.joined()
        case .schemaMismatch(let differences):
            "Migration is required due to the following errors:" + differences.map { "\n- \($0)" }.joined()
        case .schemaVersionTooLow(let provided, let stored):
            "Provided schema version \(provided) is less than last set version \(stored)."
        }
    }

    /// One property, or those of a compound index, in a message.
    private static func names(_ properties: [String], of className: String) -> String {
        properties.count == 1
            ? "property '\(className).\(properties[0])'"
            : "combination '\(className).(" + properties.joined(separator: ", ") + ")'"
    }
}
