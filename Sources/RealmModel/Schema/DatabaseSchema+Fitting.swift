import OrderedCollections

/// The usual case of an opening: the file has the classes as they are declared.
extension DatabaseSchema {
    /// Whether this schema, which is a file's, has each class of a declared one under the declared name and exactly as it is declared.
    ///
    /// Indexes of several properties may be in another order, as where one was added later, and computed properties that the class had before
    /// stay in the file.
    ///
    /// Where it does, ``called(asIn:)`` returns this schema, the declared one keeps no further rules of it, whoever declares some, and
    /// ``SchemaReconciler/plan(stored:declared:)`` returns an empty plan and throws nothing. Where it does not, these may find all the same
    /// that nothing is to be done. Neither schema is copied.
    ///
    /// - Parameter declared: What a program declares, with its schema version.
    /// - Returns: Whether that is so; false where the declared schema makes no sense in itself.
    package func isAsDeclared(in declared: DatabaseSchema) -> Bool {
        guard version == declared.version, declared.faults.isEmpty, !hasUnrecordedNames else { return false }
        return declared.classes.allSatisfy { name, new in classes[name]?.isTheSame(as: new) ?? false }
    }
}

extension ClassSchema {
    /// Whether a stored class has the properties, indexes and rules of a declared one of its name, and no others but computed properties.
    fileprivate func isTheSame(as new: ClassSchema) -> Bool {
        // A declared class has no index twice.
        guard isEmbedded == new.isEmbedded, compoundIndexes.count == new.compoundIndexes.count,
            new.compoundIndexes.allSatisfy(compoundIndexes.contains),
            properties.count(where: \.isStored) == new.properties.count(where: \.isStored)
        else { return false }
        return new.properties.allSatisfy { property in
            ordinal(of: property.name).map { properties[$0].isTheSame(as: property) } ?? false
        }
    }
}

extension PropertySchema {
    /// Whether a stored property is in everything as a declared one of its name: all but its column, and what is recorded for older programs.
    fileprivate func isTheSame(as new: PropertySchema) -> Bool {
        // A unique property has an index: who does not say so gets one.
        guard new.isIndexed || !new.isUnique else { return false }
        guard hasType(of: new), isOptional == new.isOptional, originProperty == new.originProperty else { return false }
        return isPrimaryKey == new.isPrimaryKey && isIndexed == new.isIndexed && isUnique == new.isUnique
            && deleteRule == new.deleteRule
    }
}
