import OrderedCollections

/// Indexes and rules that a file has and an opening does not declare.
extension DatabaseSchema {
    /// Adds to a declared schema the indexes, unique rules and delete rules that the file has and other programs may rely on.
    ///
    /// An index or a rule belongs to a property, or to several, and goes when one of them does or gets another type.
    ///
    /// - Parameters:
    ///   - stored: The schema of the file; nil for a file that has none.
    ///   - isAlone: Whether nobody else has the file open: then nothing is kept that is not declared.
    /// - Returns: The schema to bring the file to.
    package func keepingRules(of stored: DatabaseSchema?, unless isAlone: Bool) -> DatabaseSchema {
        guard let stored, !isAlone else { return self }
        return DatabaseSchema(
            classes: classes.values.map { declared in
                stored[declared.name].map { declared.keepingRules(of: $0, stored.name(of:)) } ?? declared
            },
            version: version
        )
    }
}

extension ClassSchema {
    fileprivate func keepingRules(of stored: ClassSchema, _ storedTarget: (String) -> String) -> ClassSchema {
        var kept: Set<String> = []
        let properties = properties.map { declared in
            guard let found = stored[declared.name], found.holdsTheSame(as: declared, storedTarget) else {
                return declared
            }
            kept.insert(declared.name)
            var property = declared
            if found.isIndexed { property.isIndexed = true }
            if found.isUnique { property.isUnique = true }
            if found.deleteRule != .nullify { property.deleteRule = found.deleteRule }
            return property
        }
        var indexes = compoundIndexes
        for index in stored.compoundIndexes where index.properties.allSatisfy(kept.contains) {
            if let place = indexes.firstIndex(where: { $0.properties == index.properties }) {
                if index.isUnique { indexes[place].isUnique = true }
            } else {
                indexes.append(index)
            }
        }
        return ClassSchema(
            name: name,
            properties: properties,
            compoundIndexes: indexes,
            isEmbedded: isEmbedded,
            formerNames: formerNames
        )
    }
}
