import OrderedCollections
package import RealmStorage

/// Brings a file's schema and a declared one together.
///
/// Classes may be added at any time, and indexes and computed properties come and go. Everything else takes a raised
/// schema version. Classes that only the file knows stay as they are. A class whose name got those around it is the one that
/// the file has under its own name alone.
package enum SchemaReconciler {
    /// Compares a declared schema with the stored one; a pure function.
    ///
    /// - Parameters:
    ///   - stored: The file's schema; nil for a file that has none yet.
    ///   - declared: What the configuration asks for, with its schema version.
    /// - Returns: what to do; an empty plan when the file fits as it is.
    /// - Throws: `invalidSchema`, `schemaMismatch` or `schemaVersionTooLow`.
    package static func plan(stored: DatabaseSchema?, declared: DatabaseSchema) throws(ModelError) -> SchemaPlan {
        let faults = declared.faults
        guard faults.isEmpty else { throw .invalidSchema(faults) }
        var plan = SchemaPlan()
        guard let known = stored else {
            plan.steps = declared.classes.values.map { .addClass($0) } + [.setVersion(declared.version)]
            return plan
        }
        guard declared.version >= known.version else {
            throw .schemaVersionTooLow(provided: declared.version, stored: known.version)
        }
        let isRaised = declared.version > known.version
        var mismatches: [SchemaDifference] = []
        let stored = try known.called(asIn: declared)
        let declared = try declared.called(asStoredIn: stored)
        plan.steps = stored.unrecordedNames
        for object in declared.classes.values {
            guard let old = stored[object.name] else {
                plan.steps.append(.addClass(object))
                continue
            }
            compare(old, object, &plan, &mismatches)
        }
        guard isRaised || mismatches.isEmpty else { throw .schemaMismatch(mismatches) }
        if isRaised { plan.steps.append(.setVersion(declared.version)) }
        return plan
    }

    private static func compare(
        _ old: ClassSchema,
        _ new: ClassSchema,
        _ plan: inout SchemaPlan,
        _ mismatches: inout [SchemaDifference]
    ) {
        let className = new.name
        if old.isEmbedded != new.isEmbedded {
            mismatches.append(
                SchemaDifference(
                    className,
                    "Class '\(className)' has been changed \(new.isEmbedded ? "to" : "from") embedded."
                )
            )
            plan.steps.append(.setEmbedded(className: className, new.isEmbedded))
        }
        comparePrimaryKeys(old, new, &plan, &mismatches)
        for property in old.properties where new[property.name] == nil && property.isStored {
            mismatches.append(
                SchemaDifference(
                    className,
                    property.name,
                    "Property '\(className).\(property.name)' has been removed."
                )
            )
            plan.steps.append(.removeProperty(className: className, name: property.name))
        }
        for property in new.properties {
            guard let stored = old[property.name] else {
                if property.isStored {
                    mismatches.append(
                        SchemaDifference(
                            className,
                            property.name,
                            "Property '\(className).\(property.name)' has been added."
                        )
                    )
                }
                plan.steps.append(.addProperty(className: className, property.withoutUniqueness))
                if property.hasUniqueIndex {
                    plan.steps.append(.setUnique(className: className, property: property.name, true))
                }
                continue
            }
            compare(stored, property, className, &plan, &mismatches)
        }
        compareCompoundIndexes(old, new, &plan)
        // A computed property that the declaration does not know stays, unless the property that it reverses goes.
    }

    /// Whatever is there afterwards is over the columns that the properties then have.
    private static func compareCompoundIndexes(_ old: ClassSchema, _ new: ClassSchema, _ plan: inout SchemaPlan) {
        for index in old.compoundIndexes
        where !new.compoundIndexes.contains(where: { $0.properties == index.properties }) {
            plan.steps.append(.removeCompoundIndex(className: new.name, index))
        }
        let replaced = plan.steps.compactMap { step in
            if case .replaceProperty(new.name, let property, _) = step { return property.name }
            return nil
        }
        for index in new.compoundIndexes
        where !old.compoundIndexes.contains(index) || index.properties.contains(where: replaced.contains) {
            plan.steps.append(.addCompoundIndex(className: new.name, index))
        }
    }

    private static func comparePrimaryKeys(
        _ old: ClassSchema,
        _ new: ClassSchema,
        _ plan: inout SchemaPlan,
        _ mismatches: inout [SchemaDifference]
    ) {
        let title = "Primary Key for class '\(new.name)'"
        switch (old.primaryKey?.name, new.primaryKey?.name) {
        case (nil, let added?):
            mismatches.append(SchemaDifference(new.name, added, "\(title) has been added: '\(added)'."))
        case (let removed?, nil):
            mismatches.append(SchemaDifference(new.name, removed, "\(title) has been removed: '\(removed)'."))
        case (let from?, let to?) where from != to:
            mismatches.append(SchemaDifference(new.name, to, "\(title) has changed from '\(from)' to '\(to)'."))
        default: break
        }
        guard
            old.primaryKey?.name != new.primaryKey?.name
                || old.primaryKey?.typeDescription != new.primaryKey?.typeDescription
        else { return }
        if old.primaryKey != nil { plan.steps.append(.removePrimaryKey(className: new.name)) }
        if let key = new.primaryKey { plan.steps.append(.setPrimaryKey(className: new.name, property: key.name)) }
    }

    private static func compare(
        _ old: PropertySchema,
        _ new: PropertySchema,
        _ className: String,
        _ plan: inout SchemaPlan,
        _ mismatches: inout [SchemaDifference]
    ) {
        func differs(_ how: String) {
            mismatches.append(
                SchemaDifference(className, new.name, "Property '\(className).\(new.name)' has been \(how).")
            )
        }
        func replace(keepsValues: Bool) {
            plan.steps.append(
                .replaceProperty(className: className, new.withoutUniqueness, keepsValues: keepsValues)
            )
            if new.hasUniqueIndex {
                plan.steps.append(.setUnique(className: className, property: new.name, true))
            }
        }
        if !old.isStored && !new.isStored {
            if old.targetClass != new.targetClass || old.originProperty != new.originProperty {
                plan.steps.append(.replaceComputedProperty(className: className, new))
            }
            return
        }
        if !old.hasType(of: new) {
            differs("changed from '\(old.typeDescription)' to '\(new.typeDescription)'")
            replace(keepsValues: false)
            return
        }
        if old.isOptional != new.isOptional {
            differs("made \(new.isOptional ? "optional" : "required")")
            replace(keepsValues: true)
            return
        }
        if old.isIndexed != new.isIndexed {
            plan.steps.append(
                new.isIndexed
                    ? .addIndex(className: className, property: new.name)
                    : .removeIndex(className: className, property: new.name)
            )
        }
        if old.hasUniqueIndex != new.hasUniqueIndex {
            plan.steps.append(.setUnique(className: className, property: new.name, new.hasUniqueIndex))
        }
        if old.deleteRule != new.deleteRule {
            plan.steps.append(.setDeleteRule(className: className, property: new.name, new.deleteRule))
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
}

extension PropertySchema {
    /// The property as it is before it becomes the primary key, or unique: with an index where it is to have one.
    package var withoutUniqueness: PropertySchema {
        var property = self
        property.isPrimaryKey = false
        property.isUnique = false
        return property
    }
}
