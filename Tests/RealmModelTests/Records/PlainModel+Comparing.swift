import RealmModel

/// What a database has otherwise than the plain model.
struct PlainDifference: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    init(_ place: String, found: Any, expected: Any) {
        func short(_ value: Any) -> String { String("\(value)".prefix(300)) }
        description = "\(place): found \(short(found)), expected \(short(expected))"
    }
}

extension PlainModel {
    /// The first difference, by class, row and property: declarations, row keys, the next key, values, the order of lists, what sets and
    /// dictionaries hold, and what computed properties find.
    func difference(from model: ModelView) throws -> PlainDifference? {
        let names = (model.schema.list.map(\.name).sorted(), classes.map(\.name).sorted())
        guard names.0 == names.1 else { return PlainDifference("classes", found: names.0, expected: names.1) }
        for schema in classes {
            guard let table = try model.table(named: schema.name) else {
                return PlainDifference(schema.name, found: "no table", expected: "one")
            }
            let words = (Self.words(table.schema), Self.words(schema))
            guard words.0 == words.1 else { return PlainDifference(schema.name, found: words.0, expected: words.1) }
            if let difference = try difference(schema, from: table, in: model) { return difference }
        }
        return nil
    }

    private func difference(
        _ schema: ClassSchema,
        from table: TableView,
        in model: ModelView
    ) throws -> PlainDifference? {
        var found: [Int64] = []
        for position in 0..<table.count { if let key = try table.key(at: position) { found.append(key) } }
        let keys = keys(of: schema.name)
        guard found == keys else { return PlainDifference("rows of \(schema.name)", found: found, expected: keys) }
        let next = nextKeys[schema.name, default: 0]
        guard hasLostKeys ? table.nextKey >= next : table.nextKey == next else {
            return PlainDifference("next key of \(schema.name)", found: table.nextKey, expected: next)
        }
        for property in schema.properties {
            guard let ordinal = table.schema.ordinal(of: property.name) else { continue }
            let origins = property.isStored ? [:] : origins(of: property)
            for key in keys {
                let place = PlainPlace(className: schema.name, key: key)
                let title = "\(schema.name).\(property.name) of row \(key)"
                guard property.isStored else {
                    let found = try Self.origins(property, key, table, model)
                    let expected = origins[place, default: []]
                    if found != expected { return PlainDifference(title, found: found, expected: expected) }
                    continue
                }
                let found = try Self.value(property, ordinal, key, table, model)
                let expected = value(property.name, of: place)
                if found != expected { return PlainDifference(title, found: found, expected: expected) }
            }
        }
        return nil
    }

    /// What a class declares, in an order of its own.
    private static func words(_ schema: ClassSchema) -> [String] {
        let properties = schema.properties.map { property in
            var words = "\(property.name): \(property.typeDescription)"
            if !property.isStored { words += " from \(property.originProperty ?? "nowhere")" }
            if property.isOptional { words += " optional" }
            if property.isPrimaryKey { words += " key" }
            if property.isIndexed { words += " indexed" }
            if property.isUnique { words += " unique" }
            return words + " \(property.deleteRule)"
        }
        let indexes = schema.compoundIndexes.map { "\($0.description)\($0.isUnique ? " unique" : "")" }
        return (schema.isEmbedded ? ["embedded"] : []) + properties.sorted() + indexes.sorted()
    }

    // MARK: Values

    private static func value(
        _ property: PropertySchema,
        _ ordinal: Int,
        _ key: Int64,
        _ table: TableView,
        _ model: ModelView
    ) throws -> PlainValue {
        func plain(_ value: StoredValue) -> PlainValue {
            PlainValue(value, target: property.targetClass, in: model.schema)
        }
        switch property.collection {
        case .none: return plain(try table.value(ordinal, key: key))
        case .list: return .list(try table.list(ordinal, key: key).values().map(plain))
        case .set:
            let elements = try table.list(ordinal, key: key).values().map(plain)
            let set = Set(elements)
            // What is there twice is no set.
            return set.count == elements.count ? .set(set) : .list(elements)
        case .map:
            let entries = try table.map(ordinal, key: key).entries()
            let map = Dictionary(entries.map { ($0.key, plain($0.value)) }, uniquingKeysWith: { first, _ in first })
            return map.count == entries.count ? .map(map) : .list(entries.map { plain($0.value) })
        }
    }

    /// The rows that link to a row through the property that a computed one names, ascending, each as often as it does.
    private static func origins(
        _ property: PropertySchema,
        _ key: Int64,
        _ table: TableView,
        _ model: ModelView
    ) throws -> [Int64] {
        guard let name = property.targetClass, let link = property.originProperty,
            let origin = try model.table(named: name), let ordinal = origin.schema.ordinal(of: link)
        else { return [-1] }
        return try table.backlinkKeys(of: key, from: origin.id, property: ordinal)
    }

    /// The same as the plain model has it, for all rows.
    private func origins(of property: PropertySchema) -> [PlainPlace: [Int64]] {
        guard let name = property.targetClass, let link = property.originProperty else { return [:] }
        var origins: [PlainPlace: [Int64]] = [:]
        for key in keys(of: name) {
            for target in value(link, of: PlainPlace(className: name, key: key)).links {
                origins[target, default: []].append(key)
            }
        }
        return origins
    }
}
