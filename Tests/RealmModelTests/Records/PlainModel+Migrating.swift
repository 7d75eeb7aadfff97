import RealmModel

/// Why a migration cannot be done.
enum PlainRefusal: Error {
    /// A delete rule denies that the rows of a class go.
    case denied
    /// Rows have the same values where no two may.
    case duplicates
}

extension PlainModel {
    /// Does what a migration says; after an error a part of it may have been done.
    mutating func migrate(_ migration: RandomMigration) throws {
        for rename in migration.renames { renameProperty(rename.className, from: rename.from, to: rename.to) }
        dropDanglingProperties()
        if let (old, new) = migration.renamedClass { renameClass(old, to: new) }
        // The first row of a class that is removed below comes after those of the new classes.
        for schema in migration.declared where self.schema(schema.name) == nil {
            classes.append(schema)
            nextKeys[schema.name] = firstKey
            spentKeys[schema.name] = firstKey
        }
        for schema in migration.declared { clearProperties(becoming: schema) }
        for schema in migration.declared { change(to: schema) }
        if let name = migration.removedClass { try remove(name) }
        dropDanglingProperties()
        if hasDuplicates { throw PlainRefusal.duplicates }
    }

    private func place(_ className: String) -> Int? { classes.firstIndex { $0.name == className } }

    private mutating func renameProperty(_ className: String, from old: String, to new: String) {
        guard let place = place(className), classes[place][old] != nil else { return }
        classes[place] = classes[place].renaming(old, to: new)
        for key in keys(of: className) {
            let value = rows[className]?[key]?.removeValue(forKey: old)
            rows[className]?[key]?[new] = value
        }
    }

    private mutating func renameClass(_ old: String, to new: String) {
        classes = classes.map { schema in
            schema.with(name: schema.name == old ? new : nil, schema.properties, schema.compoundIndexes)
                .retargeting { $0 == old ? new : $0 }
        }
        for (name, table) in rows {
            rows[name] = table.mapValues { row in
                row.mapValues { value in
                    value.mappingLinks { place in
                        PlainPlace(className: place.className == old ? new : place.className, key: place.key)
                    }
                }
            }
        }
        rows[new] = rows.removeValue(forKey: old)
        nextKeys[new] = nextKeys.removeValue(forKey: old)
        spentKeys[new] = spentKeys.removeValue(forKey: old)
    }

    /// Whether values of both have one form, but for null.
    private static func haveOneForm(_ one: PropertySchema, _ other: PropertySchema) -> Bool {
        one.kind == other.kind && one.collection == other.collection && one.targetClass == other.targetClass
    }

    /// Empties the properties of a class that go or get another type.
    private mutating func clearProperties(becoming declared: ClassSchema) {
        for property in schema(declared.name)?.properties ?? [] where property.isStored {
            if let next = declared[property.name], Self.haveOneForm(property, next) { continue }
            for key in keys(of: declared.name) {
                put(Self.initial(property), property, of: PlainPlace(className: declared.name, key: key))
            }
        }
    }

    /// Gives the rows of a class the properties that are declared.
    private mutating func change(to declared: ClassSchema) {
        guard let place = place(declared.name) else { return }
        let stored = classes[place]
        for key in keys(of: declared.name) {
            var row: Row = [:]
            for property in declared.properties where property.isStored {
                guard let old = stored[property.name], Self.haveOneForm(old, property),
                    let value = rows[declared.name]?[key]?[property.name]
                else {
                    row[property.name] = Self.initial(property)
                    continue
                }
                row[property.name] =
                    old.isOptional == property.isOptional ? value : Self.converted(value, to: property)
            }
            rows[declared.name]?[key] = row
        }
        // A computed property that is not declared stays.
        let kept = stored.properties.filter { !$0.isStored && declared[$0.name] == nil }
        classes[place] = declared.with(declared.properties + kept, declared.compoundIndexes)
    }

    /// A value when null comes to be allowed or not: the default that is declared stands for null then, or zero; entries of
    /// dictionaries that link to nothing go.
    private static func converted(_ value: PlainValue, to property: PropertySchema) -> PlainValue {
        if property.isOptional { return value }
        let zero = zero(property.kind)
        switch value {
        case .null:
            guard let known = property.recordedDefault.value else { return zero }
            return PlainValue(known, target: nil, in: DatabaseSchema(classes: [ClassSchema]()))
        case .list(let elements): return .list(elements.map { $0 == .null ? zero : $0 })
        case .set(let elements):
            guard elements.contains(.null) else { return value }
            var kept = elements.filter { $0 != .null && $0.identity != zero.identity }
            kept.insert(zero)
            return .set(kept)
        case .map(let entries):
            if property.isLink { return .map(entries.filter { $0.value != .null }) }
            return .map(entries.mapValues { $0 == .null ? zero : $0 })
        default: return value
        }
    }

    /// Removes a class with its rows, and the properties that lead to it.
    private mutating func remove(_ className: String) throws {
        guard let place = place(className) else { return }
        guard let going = deletion(of: keys(of: className).map { PlainPlace(className: className, key: $0) }) else {
            throw PlainRefusal.denied
        }
        delete(going)
        classes.remove(at: place)
        rows[className] = nil
        firstKey = max(firstKey, spentKeys[className, default: 0])
        nextKeys[className] = nil
        spentKeys[className] = nil
        for index in classes.indices {
            let schema = classes[index]
            for property in schema.properties where property.targetClass == className {
                for key in keys(of: schema.name) { rows[schema.name]?[key]?[property.name] = nil }
            }
            classes[index] = schema.with(
                schema.properties.filter { $0.targetClass != className },
                schema.compoundIndexes
            )
        }
    }

    /// Drops computed properties whose link is gone.
    private mutating func dropDanglingProperties() {
        classes = classes.map { schema in
            let kept = schema.properties.filter { property in
                if property.isStored { return true }
                let link = property.originProperty.flatMap { self.schema(property.targetClass ?? "")?[$0] }
                return link?.isLink == true && link?.targetClass == schema.name
            }
            return kept.count == schema.properties.count ? schema : schema.with(kept, schema.compoundIndexes)
        }
    }
}
