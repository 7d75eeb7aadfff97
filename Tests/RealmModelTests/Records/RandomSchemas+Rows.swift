import RealmModel
import RealmTestSupport
import Testing

extension RandomSchemas {
    /// What a transaction ends with that breaks a rule: it is rolled back.
    struct Refused: Error {}

    /// Does random operations, and requires that the database judges their unique values as the plain model does.
    ///
    /// - Throws: `Refused` when both refuse them.
    mutating func changeRows(in model: ModelView) throws {
        for _ in 0..<1 + random.below(20) { try changeRow(in: model) }
        guard plain.hasDuplicates else { return try model.checkUniqueness() }
        do {
            try model.checkUniqueness()
        } catch ModelError.duplicateValue {
            throw Refused()
        }
        throw PlainDifference("unique values", found: "accepted", expected: "refused")
    }

    mutating func row(of className: String?) -> Int64? { className.flatMap { element(of: plain.keys(of: $0)) } }

    private mutating func changeRow(in model: ModelView) throws {
        guard let schema = element(of: plain.classes) else { return }
        let table = try #require(try model.table(named: schema.name))
        switch random.below(40) {
        // Embedded objects are made where something holds them.
        case 0..<14 where !schema.isEmbedded: try insert(schema, table)
        case 14..<19: if let key = row(of: schema.name) { try delete([key], schema, table) }
        case 19 where random.chance(20): try delete(plain.keys(of: schema.name), schema, table)
        default:
            guard let key = row(of: schema.name) else { return }
            for _ in 0...random.below(4) {
                // An object may be gone that something held which was changed.
                guard let property = element(of: schema.properties), try table.contains(key: key) else { return }
                try change(property, of: PlainPlace(className: schema.name, key: key), table)
            }
        }
    }

    private mutating func delete(_ keys: [Int64], _ schema: ClassSchema, _ table: TableView) throws {
        operationCount += 1
        func delete() throws {
            if keys.count == 1 { try table.delete(key: keys[0]) } else { try table.deleteAll() }
        }
        if let going = plain.deletion(of: keys.map { PlainPlace(className: schema.name, key: $0) }) {
            try delete()
            return plain.delete(going)
        }
        do {
            try delete()
        } catch ModelError.deletionDenied {
            return
        }
        throw PlainDifference("deleting \(keys) of \(schema.name)", found: "done", expected: "denied")
    }

    // MARK: New rows

    private mutating func insert(_ schema: ClassSchema, _ table: TableView) throws {
        operationCount += 1
        let primaryKey = schema.primaryKey.map { uniqueValue($0.kind) }
        let place = PlainPlace(className: schema.name, key: try table.insert(primaryKey: primaryKey))
        try noteInsertion(place, primaryKey: primaryKey.map { PlainValue($0, target: nil, in: table.model.schema) })
        let names = Set(PlainModel.uniqueNames(schema).joined())
        for property in schema.properties where names.contains(property.name) && !property.isPrimaryKey {
            let value = property.isOptional && random.chance(20) ? .null : uniqueValue(property.kind)
            try set(value, property, of: place, table)
        }
        if plain.isDuplicate(place) {
            try table.discard(key: place.key)
            plain.rows[place.className]?[place.key] = nil
            return
        }
        if random.chance(50) { try table.requireUnique(key: place.key) }
        for _ in 0..<random.below(4) {
            if let property = element(of: schema.properties) { try change(property, of: place, table) }
        }
    }

    /// Makes an embedded object, for a link that is made next.
    private mutating func insertOwned(_ className: String, in model: ModelView) throws -> Int64 {
        let table = try #require(try model.table(named: className))
        let key = try table.insert()
        try noteInsertion(PlainPlace(className: className, key: key), primaryKey: nil)
        return key
    }

    /// Notes a row whose key was never given out: the very next one, but where rollbacks may have taken some.
    private mutating func noteInsertion(_ place: PlainPlace, primaryKey: PlainValue?) throws {
        let next = plain.spentKeys[place.className, default: 0]
        guard plain.hasLostKeys ? place.key >= next : place.key == next else {
            throw PlainDifference("key of a new \(place.className)", found: place.key, expected: next)
        }
        plain.insert(place, primaryKey: primaryKey)
    }

    // MARK: Values

    private mutating func change(_ property: PropertySchema, of place: PlainPlace, _ table: TableView) throws {
        guard property.isStored, !property.isPrimaryKey else { return }
        operationCount += 1
        switch property.collection {
        case .list: return try changeList(property, of: place, table)
        case .set: return try changeSet(property, of: place, table)
        case .map: return try changeMap(property, of: place, table)
        case .none: break
        }
        let isNull = property.isLink && random.chance(20)
        guard let value = try isNull ? StoredValue.null : value(property, in: table.model) else { return }
        if !property.isLink {
            var next = plain
            next.put(plainValue(value, property, table), property, of: place)
            // Few transactions are refused.
            if next.isDuplicate(place), !random.chance(2) { return }
        }
        try set(value, property, of: place, table)
    }

    private mutating func set(
        _ value: StoredValue,
        _ property: PropertySchema,
        of place: PlainPlace,
        _ table: TableView
    ) throws {
        try table.set(table.ordinal(property.name), key: place.key, to: value)
        plain.put(plainValue(value, property, table), property, of: place)
    }

    func plainValue(_ value: StoredValue, _ property: PropertySchema, _ table: TableView) -> PlainValue {
        PlainValue(value, target: property.targetClass, in: table.model.schema)
    }

    /// A value or an element for a property; nil where there is no row to link to.
    ///
    /// A row of an embedded class is a new one: the caller links to it.
    mutating func value(_ property: PropertySchema, in model: ModelView) throws -> StoredValue? {
        guard property.isLink else {
            guard property.kind == .any else { return singleValue(property.kind, isOptional: property.isOptional) }
            return try anything(in: model, depth: property.collection == .set ? 3 : 0)
        }
        if property.collection == .map, property.isOptional, random.chance(20) { return .null }
        guard let target = property.targetClass else { return nil }
        if plain.isEmbedded(target) { return .link(try insertOwned(target, in: model)) }
        return row(of: target).map { .link($0) }
    }

    mutating func singleValue(_ kind: PropertyKind, isOptional: Bool) -> StoredValue {
        if isOptional, random.chance(20) { return .null }
        if kind == .decimal128 { return decimal() }
        let value = random.value(of: kind, isOptional: false)
        guard case .string(let text) = value else { return value }
        return .string(String(text.prefix(200)))
    }

    /// Equal decimals often differ in their exponents.
    private mutating func decimal() -> StoredValue {
        let sign: UInt64 = random.chance(30) ? 1 << 63 : 0
        let exponent = UInt64(6_176 + random.below(5) - 2)
        let coefficients: [UInt64] = [0, 1, 7, 10, 100, 120, 1_200]
        return .decimal(DecimalBytes(high: sign | exponent << 49, low: coefficients[random.below(7)]))
    }

    /// A value that no other row has.
    private mutating func uniqueValue(_ kind: PropertyKind) -> StoredValue {
        count += 1
        switch kind {
        case .int: return .int(random.chance(20) ? -Int64(count) : Int64(1_000 + count))
        case .string: return .string("unique \(count)")
        case .date: return .date(Double(10_000 + count))
        case .objectId: return .objectId(ObjectIDBytes(high: UInt64(count), low: 7))
        case .uuid: return .uuid(UUIDBytes(high: UInt64(count), low: 7))
        default: return singleValue(kind, isOptional: false)
        }
    }

    /// A value of any kind; with a depth of 3 one that a set can hold, whose kinds have no equal numbers.
    private mutating func anything(in model: ModelView, depth: Int) throws -> StoredValue {
        switch random.below(depth > 2 ? 7 : 11) {
        case 0: return .null
        case 1: return .bool(random.chance(50))
        case 2: return .int(Int64(random.below(9)))
        case 3: return .string("text \(random.below(9))")
        case 4, 5, 6:
            let names = plain.classes.filter { !$0.isEmbedded }.map(\.name)
            guard let name = element(of: names), let key = row(of: name), let table = try model.table(named: name)
            else { return .string("no row") }
            return .anyLink(table: table.id, key: key)
        case 7: return .double([.nan, -0.0, 1.5, .infinity][random.below(4)])
        case 8: return decimal()
        case 9: return .list(try (0..<random.below(4)).map { _ in try anything(in: model, depth: depth + 1) })
        default:
            let entries = try (0..<random.below(3))
                .map { StoredEntry(key: "k\($0)", value: try anything(in: model, depth: depth + 1)) }
            return .dictionary(entries)
        }
    }
}
