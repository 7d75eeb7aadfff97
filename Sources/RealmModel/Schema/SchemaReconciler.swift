package import RealmStorage

/// Brings a file's schema and a declared one together.
package enum SchemaReconciler {
    /// Compares a declared schema with the stored one; a pure function.
    ///
    /// - Parameter stored: The file's schema; nil for a file that has none yet.
    /// - Returns: what to do; an empty plan when the file fits as it is.
    /// - Throws: `invalidSchema`, `schemaMismatch` or `schemaVersionTooLow`.
    package static func plan(
        stored: DatabaseSchema?, declared: DatabaseSchema
    ) throws(ModelError) -> SchemaPlan { preconditionFailure("stub") }

    /// The schema of a version, nil when none was ever stored.
    package static func storedSchema(of snapshot: Snapshot) throws(StorageError) -> DatabaseSchema? {
        preconditionFailure("stub")
    }

    /// The schema that a write transaction stands on, nil when none was ever stored.
    package static func storedSchema(of transaction: WriteTransaction) throws(StorageError) -> DatabaseSchema? {
        preconditionFailure("stub")
    }

    /// Carries out a plan in a transaction, which the caller commits.
    package static func apply(_ plan: SchemaPlan, in transaction: WriteTransaction) throws {
        preconditionFailure("stub")
    }
}

/// What makes a file's schema fit the declared one.
package struct SchemaPlan: Sendable, Equatable {
    package enum Step: Sendable, Equatable {
        case addClass(ClassSchema)
        case addProperty(className: String, PropertySchema)
        case removeProperty(className: String, name: String)
        case addIndex(className: String, property: String)
        case removeIndex(className: String, property: String)
        case setVersion(UInt64)
    }

    package var steps: [Step] = []

    package init() {}

    /// Whether there is nothing to do.
    package var isEmpty: Bool { steps.isEmpty }
}
