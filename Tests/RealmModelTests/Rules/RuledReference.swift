import RealmModel
import Testing

/// Rows with unique values and delete rules in plain Swift, with the rules spelled out naively.
struct RuledReference: Equatable {
    typealias Row = [[StoredValue]]

    let schemas: [ClassSchema]
    var tables: [[Int64: Row]]
    var nextKeys: [Int64]

    init(_ schemas: [ClassSchema]) {
        self.schemas = schemas
        tables = Array(repeating: [:], count: schemas.count)
        nextKeys = Array(repeating: 0, count: schemas.count)
    }

    func table(named name: String) -> Int { schemas.firstIndex { $0.name == name }! }

    mutating func insert(_ table: Int, key: Int64) {
        #expect(key >= nextKeys[table], "a row key that was given out is given out again")
        nextKeys[table] = key + 1
        tables[table][key] = schemas[table].properties
            .map { property in
                if property.collection != .none { return [] }
                if property.isOptional { return [.null] }
                return [property.kind == .string ? .string("") : .int(0)]
            }
    }

    /// The unique indexes of a class, by ordinals.
    func uniqueIndexes(_ table: Int) -> [[Int]] {
        let schema = schemas[table]
        return schema.properties.indices.filter { schema.properties[$0].isUnique }.map { [$0] }
            + schema.compoundIndexes.filter(\.isUnique).map { $0.properties.map { schema.ordinal(of: $0)! } }
    }

    /// Whether a row has the values that another one has in a unique index.
    func isDuplicate(_ key: Int64, in table: Int) -> Bool {
        uniqueIndexes(table)
            .contains { ordinals in
                func values(_ key: Int64) -> [StoredValue] { ordinals.map { tables[table][key]![$0][0] } }
                let own = values(key)
                if own.contains(.null) { return false }
                return tables[table].keys.contains { $0 != key && values($0) == own }
            }
    }

    var hasDuplicates: Bool {
        tables.indices.contains { table in tables[table].keys.contains { isDuplicate($0, in: table) } }
    }

    struct Place: Hashable {
        let table: Int
        let key: Int64
    }

    private func targets(_ place: Place, _ rule: RealmModel.DeleteRule) -> Set<Place> {
        var found: Set<Place> = []
        for (ordinal, property) in schemas[place.table].properties.enumerated()
        where property.isLink && property.deleteRule == rule {
            for case .link(let key) in tables[place.table][place.key]![ordinal] {
                found.insert(Place(table: table(named: property.targetClass!), key: key))
            }
        }
        return found
    }

    /// Everything that goes when rows go; nil when a rule denies it.
    func deletion(of keys: [Int64], in table: Int) -> Set<Place>? {
        var going = Set(keys.map { Place(table: table, key: $0) })
        while true {
            let more = going.reduce(into: going) { $0.formUnion(targets($1, .cascade)) }
            if more == going { break }
            going = more
        }
        return going.allSatisfy { targets($0, .deny).isSubset(of: going) } ? going : nil
    }

    mutating func delete(_ places: Set<Place>) {
        for place in places { tables[place.table][place.key] = nil }
        for (table, schema) in schemas.enumerated() {
            for (ordinal, property) in schema.properties.enumerated() where property.isLink {
                let target = self.table(named: property.targetClass!)
                for key in tables[table].keys {
                    var values = tables[table][key]![ordinal]
                    let gone = { (value: StoredValue) in
                        if case .link(let key) = value { return places.contains(Place(table: target, key: key)) }
                        return false
                    }
                    if property.collection == .none {
                        if gone(values[0]) { values = [.null] }
                    } else {
                        values.removeAll(where: gone)
                    }
                    tables[table][key]![ordinal] = values
                }
            }
        }
    }
}
