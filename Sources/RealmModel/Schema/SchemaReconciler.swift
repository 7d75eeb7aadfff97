import OrderedCollections
package import RealmStorage

/// Brings a file's schema and a declared one together.
///
/// Classes may be added at any time, and indexes and computed properties come and go. Properties may be added and removed when the schema
/// version is raised. Everything else needs a migration. Classes that only the file knows stay as they are.
package enum SchemaReconciler {
    /// Compares a declared schema with the stored one; a pure function.
    ///
    /// - Parameters:
    ///   - stored: The file's schema; nil for a file that has none yet.
    ///   - declared: What the configuration asks for, with its schema version.
    /// - Returns: what to do; an empty plan when the file fits as it is.
    /// - Throws: `invalidSchema`, `schemaMismatch` or `schemaVersionTooLow`.
    package static func plan(stored: DatabaseSchema?, declared: DatabaseSchema) throws(ModelError) -> SchemaPlan {
        let faults = SchemaValidator.faults(in: declared)
        guard faults.isEmpty else { throw .invalidSchema(faults) }
        var plan = SchemaPlan()
        guard let stored else {
            plan.steps = declared.classes.values.map { .addClass($0) } + [.setVersion(declared.version)]
            return plan
        }
        guard declared.version >= stored.version else {
            throw .schemaVersionTooLow(provided: declared.version, stored: stored.version)
        }
        let isRaised = declared.version > stored.version
        var mismatches: [String] = []
        for object in declared.classes.values {
            guard let old = stored[object.name] else {
                plan.steps.append(.addClass(object))
                continue
            }
            compare(old, object, isRaised: isRaised, &plan, &mismatches)
        }
        guard mismatches.isEmpty else { throw .schemaMismatch(mismatches) }
        if isRaised { plan.steps.append(.setVersion(declared.version)) }
        return plan
    }

    private static func compare(
        _ old: ClassSchema,
        _ new: ClassSchema,
        isRaised: Bool,
        _ plan: inout SchemaPlan,
        _ mismatches: inout [String]
    ) {
        let className = new.name
        if old.isEmbedded != new.isEmbedded {
            mismatches.append(
                "Class '\(className)' has been changed \(new.isEmbedded ? "to" : "from") embedded."
            )
        }
        comparePrimaryKeys(old, new, &mismatches)
        for property in old.properties where new[property.name] == nil && property.isStored {
            if !isRaised {
                mismatches.append("Property '\(className).\(property.name)' has been removed.")
            } else if !property.isPrimaryKey {
                plan.steps.append(.removeProperty(className: className, name: property.name))
            }
        }
        for property in new.properties {
            guard let stored = old[property.name] else {
                if property.isStored && !isRaised {
                    mismatches.append("Property '\(className).\(property.name)' has been added.")
                } else {
                    plan.steps.append(.addProperty(className: className, property))
                }
                continue
            }
            compare(stored, property, className, &plan, &mismatches)
        }
        // A computed property that the declaration does not know stays, unless the property that it reverses goes.
    }

    private static func comparePrimaryKeys(_ old: ClassSchema, _ new: ClassSchema, _ mismatches: inout [String]) {
        switch (old.primaryKey?.name, new.primaryKey?.name) {
        case (nil, let added?):
            mismatches.append("Primary Key for class '\(new.name)' has been added: '\(added)'.")
        case (let removed?, nil):
            mismatches.append("Primary Key for class '\(new.name)' has been removed: '\(removed)'.")
        case (let from?, let to?) where from != to:
            mismatches.append("Primary Key for class '\(new.name)' has changed from '\(from)' to '\(to)'.")
        default: break
        }
    }

    private static func compare(
        _ old: PropertySchema,
        _ new: PropertySchema,
        _ className: String,
        _ plan: inout SchemaPlan,
        _ mismatches: inout [String]
    ) {
        let name = "Property '\(className).\(new.name)'"
        if !old.isStored && !new.isStored {
            if old.targetClass != new.targetClass || old.originProperty != new.originProperty {
                plan.steps.append(.replaceComputedProperty(className: className, new))
            }
            return
        }
        var required = new
        required.isOptional = old.isOptional
        if old.typeDescription != required.typeDescription {
            mismatches.append(
                "\(name) has been changed from '\(old.typeDescription)' to '\(new.typeDescription)'."
            )
            return
        }
        if old.isOptional != new.isOptional {
            mismatches.append("\(name) has been made \(new.isOptional ? "optional" : "required").")
            return
        }
        if old.isPrimaryKey != new.isPrimaryKey { return }
        if old.isIndexed != new.isIndexed {
            plan.steps.append(
                new.isIndexed
                    ? .addIndex(className: className, property: new.name)
                    : .removeIndex(className: className, property: new.name)
            )
        }
    }

    /// The schema of a version, nil when none was ever stored.
    package static func storedSchema(of snapshot: Snapshot) throws(StorageError) -> DatabaseSchema? {
        try DatabaseSchema(in: snapshot.catalog, view: snapshot.view)
    }

    /// The schema that a write transaction stands on, nil when none was ever stored.
    package static func storedSchema(of transaction: WriteTransaction) throws(StorageError) -> DatabaseSchema? {
        try DatabaseSchema(in: transaction.catalog, view: transaction.view)
    }

    /// Carries out a plan in a transaction, which the caller commits.
    package static func apply(_ plan: SchemaPlan, in transaction: WriteTransaction) throws {
        if plan.isEmpty { return }
        var change = try SchemaChange(in: transaction)
        try change.apply(plan)
    }
}
