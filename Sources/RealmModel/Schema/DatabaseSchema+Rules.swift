import OrderedCollections
import RealmStorage

/// Indexes and rules that a file has and an opening does not declare.
extension DatabaseSchema {
    /// The numbers of what classes declare.
    static func ruleNumbers(of classes: some Sequence<ClassSchema>) -> Set<UInt64> {
        var numbers: Set<UInt64> = []
        for schema in classes {
            for rule in schema.rules {
                for name in [schema.name] + schema.formerNames { numbers.insert(rule.number(inClass: name)) }
            }
        }
        return numbers
    }

    /// Adds to a declared schema the indexes, unique rules and delete rules that the file has and somebody declares.
    ///
    /// An index or a rule belongs to a property, or to several, and goes when one of them does or gets another type; a delete rule also
    /// when the class that the property links to becomes embedded.
    ///
    /// - Parameters:
    ///   - stored: The schema of the file; nil for a file that has none.
    ///   - isDeclared: Whether somebody declares the rule with a number; nothing else is kept that the schema does not declare.
    /// - Returns: The schema to bring the file to.
    package func keepingRules(of stored: DatabaseSchema?, where isDeclared: (UInt64) -> Bool) -> DatabaseSchema {
        guard let stored else { return self }
        var isChanged = false
        let kept = classes.values.map { declared in
            guard let found = stored[declared.name] else { return declared }
            let isOwned = { (target: String) in self[target]?.isEmbedded == true }
            let complete = declared.keepingRules(of: found, stored.name(of:), isOwned) { rule in
                isDeclared(rule.number(inClass: found.name))
                    || found.storedName.map { isDeclared(rule.number(inClass: $0)) } ?? false
            }
            if complete != nil { isChanged = true }
            return complete ?? declared
        }
        return isChanged ? DatabaseSchema(classes: kept, version: version) : self
    }
}

/// An index or a rule of a class.
private enum SchemaRule {
    case index([String])
    case unique([String])
    case delete(String, DeleteRule)

    /// A number that all processes find, and that hardly any other rule has; where one does, it is kept as long as that one.
    func number(inClass className: String) -> UInt64 {
        let parts: [String]
        switch self {
        case .index(let names): parts = ["index", className] + names
        case .unique(let names): parts = ["unique", className] + names
        case .delete(let name, let rule): parts = ["delete \(rule.rawValue)", className, name]
        }
        let text = parts.joined(separator: "\0")
        return Array(text.utf8)
            .withUnsafeBytes { bytes in
                bytes.baseAddress.map { XXH64.hash($0, count: bytes.count) } ?? 0
            }
    }
}

extension ClassSchema {
    /// What the class declares.
    fileprivate var rules: [SchemaRule] {
        var rules: [SchemaRule] = []
        for property in properties {
            if property.isIndexed { rules.append(.index([property.name])) }
            if property.isUnique { rules.append(.unique([property.name])) }
            if property.deleteRule != .nullify { rules.append(.delete(property.name, property.deleteRule)) }
        }
        for index in compoundIndexes {
            rules.append(.index(index.properties))
            if index.isUnique { rules.append(.unique(index.properties)) }
        }
        return rules
    }

    /// The class with the rules of the stored one that somebody declares; nil when it has them.
    fileprivate func keepingRules(
        of stored: ClassSchema,
        _ storedTarget: (String) -> String,
        _ isOwned: (String) -> Bool,
        where isDeclared: (SchemaRule) -> Bool
    ) -> ClassSchema? {
        var kept: Set<String> = []
        let properties = properties.map { declared in
            guard let found = stored[declared.name], found.holdsTheSame(as: declared, storedTarget) else {
                return declared
            }
            if !stored.compoundIndexes.isEmpty { kept.insert(declared.name) }
            var property = declared
            // Who else declares a rule is asked only where the class does not.
            if found.isIndexed, !declared.isIndexed, isDeclared(.index([found.name])) { property.isIndexed = true }
            if found.isUnique, !declared.isUnique || !declared.isIndexed, isDeclared(.unique([found.name])) {
                property.isIndexed = true
                property.isUnique = true
            }
            // Embedded objects always go with their owner.
            if let target = declared.targetClass, isOwned(target) { return property }
            // Of two that are declared the one stays that deletes less.
            if found.deleteRule != .nullify, declared.deleteRule != .deny, found.deleteRule != declared.deleteRule,
                isDeclared(.delete(found.name, found.deleteRule))
            {
                property.deleteRule = found.deleteRule
            } else if found.deleteRule == .deny, declared.deleteRule == .nullify,
                isDeclared(.delete(found.name, .cascade))
            {
                // The other one that is declared comes back when nobody declares that any more.
                property.deleteRule = .cascade
            }
            return property
        }
        var indexes = compoundIndexes
        for index in stored.compoundIndexes where index.properties.allSatisfy(kept.contains) {
            let isUnique = index.isUnique && isDeclared(.unique(index.properties))
            if let place = indexes.firstIndex(where: { $0.properties == index.properties }) {
                if isUnique { indexes[place].isUnique = true }
            } else if isUnique || isDeclared(.index(index.properties)) {
                indexes.append(CompoundIndexSchema(index.properties, isUnique: isUnique))
            }
        }
        if properties == self.properties, indexes == compoundIndexes { return nil }
        return ClassSchema(
            name: name,
            properties: properties,
            compoundIndexes: indexes,
            isEmbedded: isEmbedded,
            formerNames: formerNames
        )
    }
}
