/// The classes that a realm reads and writes: what a version of the file must have for the realm to stand on it.
///
/// Classes and properties are found by name, classes also by the one that the file has for them. A property is the same as long as its type, optionality, link target and key are;
/// its place among the others, its column and its table's number of columns tell nothing.
package struct SchemaMapping: Sendable {
    private let classes: [ClassSchema]
    /// Whether classes and rules that the file never had are no fault: nobody writes through the mapping.
    private let isReadOnly: Bool

    /// - Parameters:
    ///   - classes: The classes as the program declares them.
    ///   - isReadOnly: Whether the file may lack classes and rules.
    package init(_ classes: [ClassSchema], isReadOnly: Bool = false) {
        self.classes = classes
        self.isReadOnly = isReadOnly
    }

    /// What the stored schema has otherwise than it is declared.
    ///
    /// - Parameters:
    ///   - stored: The schema of the version to stand on.
    ///   - earlier: The schema of the version that the realm stands on now.
    /// - Returns: The first difference; nil when everything fits.
    package func fault(in stored: DatabaseSchema, after earlier: DatabaseSchema? = nil) -> SchemaDifference? {
        for declared in classes {
            guard let found = stored[declared.name] else {
                // What was never there reads as empty. What was there has been read.
                if earlier.map({ $0[declared.name] == nil }) ?? isReadOnly { continue }
                return SchemaDifference(declared.name, "Class '\(declared.name)' has been removed.")
            }
            let fault = declared.fault(
                in: found,
                after: earlier?[declared.name],
                needsRules: !isReadOnly,
                storedTarget: stored.name(of:)
            )
            if let fault { return fault }
        }
        return nil
    }
}

extension ClassSchema {
    /// What a stored class has otherwise than this one declares it.
    fileprivate func fault(
        in stored: ClassSchema,
        after earlier: ClassSchema?,
        needsRules: Bool,
        storedTarget: (String) -> String
    ) -> SchemaDifference? {
        if let earlier, earlier.tableID != stored.tableID {
            return SchemaDifference(name, "Class '\(name)' has been removed, and another one of that name been added.")
        }
        if isEmbedded != stored.isEmbedded {
            return SchemaDifference(
                name,
                "Class '\(name)' has been changed \(stored.isEmbedded ? "to" : "from") embedded."
            )
        }
        if primaryKey?.name != stored.primaryKey?.name {
            let keys = [primaryKey, stored.primaryKey].map { $0.map { "'\($0.name)'" } ?? "none" }
            return SchemaDifference(
                name,
                (primaryKey ?? stored.primaryKey)?.name,
                "The primary key of class '\(name)' has been changed from \(keys[0]) to \(keys[1])."
            )
        }
        for property in properties {
            var title: String { "Property '\(name).\(property.name)'" }
            func difference(_ text: String) -> SchemaDifference { SchemaDifference(name, property.name, text) }
            guard let found = stored[property.name] else { return difference("\(title) has been removed.") }
            if !found.holdsTheSame(as: property, storedTarget) {
                return difference(
                    "\(title) has been changed from '\(property.typeDescription)' to '\(found.typeDescription)'."
                )
            }
            guard needsRules else { continue }
            if property.hasUniqueIndex, !found.hasUniqueIndex { return difference("\(title) is not unique any more.") }
            // Its own is what it declares, and one that deletes less takes nothing away.
            if let rule = earlier?[property.name]?.deleteRule, rule != found.deleteRule,
                found.deleteRule != property.deleteRule, found.deleteRule != .deny
            {
                return difference("The delete rule of \(title.lowercasedFirst) has been changed.")
            }
        }
        guard needsRules else { return nil }
        for index in compoundIndexes where index.isUnique && !stored.compoundIndexes.contains(index) {
            return SchemaDifference(
                name,
                "The properties \(index.description) of class '\(name)' are not unique any more."
            )
        }
        return nil
    }
}

extension PropertySchema {
    /// Whether values of both are the same, whatever index, rule or column they have.
    ///
    /// `storedTarget` gives what the schema of the file calls a class of the declared one.
    func holdsTheSame(as declared: PropertySchema, _ storedTarget: (String) -> String) -> Bool {
        hasType(of: declared, storedTarget) && originProperty == declared.originProperty
            && (!isStored || isOptional == declared.isOptional)
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
