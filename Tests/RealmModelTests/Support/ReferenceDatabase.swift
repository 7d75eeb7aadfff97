import RealmModel
import RealmTestSupport
import Testing

/// The same database in plain Swift dictionaries, with the rules spelled out naively.
struct ReferenceDatabase: Equatable {
    enum Value: Hashable {
        case single(StoredValue)
        case list([StoredValue])
    }

    typealias Row = [Value]

    let schemas: [ClassSchema]
    var tables: [[Int64: Row]]
    var nextKeys: [Int64]

    init(_ schemas: [ClassSchema]) {
        self.schemas = schemas
        tables = Array(repeating: [:], count: schemas.count)
        nextKeys = Array(repeating: 0, count: schemas.count)
    }

    func table(named name: String) -> Int { schemas.firstIndex { $0.name == name }! }

    func defaultValue(_ property: PropertySchema) -> Value {
        if property.collection != .none { return .list([]) }
        if property.isOptional { return .single(.null) }
        switch property.kind {
        case .int: return .single(.int(0))
        case .bool: return .single(.bool(false))
        case .string: return .single(.string(""))
        case .data: return .single(.data([]))
        case .date: return .single(.date(0))
        case .float: return .single(.float(0))
        case .double: return .single(.double(0))
        case .objectId: return .single(.objectId(ObjectIDBytes(high: 0, low: 0)))
        case .uuid: return .single(.uuid(UUIDBytes(high: 0, low: 0)))
        default: return .single(.null)
        }
    }

    mutating func insert(_ table: Int, key: Int64, primaryKey: StoredValue?) {
        #expect(key >= nextKeys[table], "a row key that was given out is given out again")
        nextKeys[table] = key + 1
        var row = schemas[table].properties.map(defaultValue)
        if let primaryKey { row[schemas[table].primaryKeyOrdinal!] = .single(primaryKey) }
        tables[table][key] = row
    }

    /// Every link to a row: table, key and property of the origin, as often as it occurs.
    func links(to key: Int64, in table: Int) -> [(table: Int, key: Int64, property: Int)] {
        var result: [(table: Int, key: Int64, property: Int)] = []
        for (origin, schema) in schemas.enumerated() {
            for (ordinal, property) in schema.properties.enumerated()
            where property.isLink && property.targetClass == schemas[table].name {
                for originKey in tables[origin].keys.sorted() {
                    switch tables[origin][originKey]![ordinal] {
                    case .single(.link(key)): result.append((origin, originKey, ordinal))
                    case .list(let elements):
                        for element in elements where element == .link(key) {
                            result.append((origin, originKey, ordinal))
                        }
                    default: break
                    }
                }
            }
        }
        return result
    }

    mutating func delete(_ key: Int64, in table: Int) {
        guard let row = tables[table].removeValue(forKey: key) else { return }
        for (origin, schema) in schemas.enumerated() {
            for (ordinal, property) in schema.properties.enumerated()
            where property.isLink && property.targetClass == schemas[table].name {
                for originKey in tables[origin].keys {
                    switch tables[origin][originKey]![ordinal] {
                    case .single(.link(key)): tables[origin][originKey]![ordinal] = .single(.null)
                    case .list(let elements):
                        tables[origin][originKey]![ordinal] = .list(elements.filter { $0 != .link(key) })
                    default: break
                    }
                }
            }
        }
        for (property, value) in zip(schemas[table].properties, row) { deleteOwned(property, value) }
    }

    /// Deletes the embedded rows that a value held and that nothing holds any more.
    mutating func deleteOwned(_ property: PropertySchema, _ value: Value) {
        guard property.isLink else { return }
        let target = self.table(named: property.targetClass!)
        guard schemas[target].isEmbedded else { return }
        var elements: [StoredValue] = []
        switch value {
        case .single(let element): elements = [element]
        case .list(let list): elements = list
        }
        for case .link(let child) in elements where links(to: child, in: target).isEmpty { delete(child, in: target) }
    }
}
