import RealmModel
import RealmStorage

/// Where the rows that can match a condition are found without a scan.
indirect enum KeySource {
    /// No row.
    case none
    /// The rows themselves.
    case keys([Int64])
    /// The rows whose indexed property is one of these values.
    case equal(Int, [StoredValue])
    /// The rows whose indexed property lies between two bounds.
    case range(Int, IndexBound, IndexBound)
    /// The rows whose indexed string begins with these bytes.
    case prefix(Int, [UInt8])
    /// The rows whose property links to one of these rows of another table.
    case backlinks(TableView, Int, [Int64])
    /// The rows in a part of an index over several properties.
    case compound(IndexRange)
    /// The rows of all of these.
    case union([KeySource])

    /// The number of rows, or more; stops counting beyond `limit`.
    func estimate(in table: TableView, limit: Int) throws -> Int {
        switch self {
        case .none: return 0
        case .keys(let keys): return keys.count
        case .equal(let property, let values):
            if table.isUnique(property), !values.contains(.null) { return values.count }
            // The values are worth one look-up each at least.
            var total = 0
            for value in values {
                total += try 1 + table.indexedCount(property: property, equalTo: value)
                if total > limit { break }
            }
            return total
        case .range(let property, let lower, let upper):
            return try table.rangeCount(property: property, lower: lower, upper: upper)
        case .prefix(let property, let bytes):
            return try bytes.withUnsafeBytes {
                try table.prefixKeys(property: property, prefix: $0, limit: limit == .max ? limit : limit + 1).count
            }
        case .backlinks(let target, let property, let keys):
            var total = 0
            for key in keys {
                total += try 1 + target.backlinkCount(of: key, from: table.id, property: property)
                if total > limit { break }
            }
            return total
        case .compound(let range): return try range.estimate(in: table, limit: limit)
        case .union(let parts):
            var total = 0
            for part in parts {
                total += try part.estimate(in: table, limit: limit)
                if total > limit { break }
            }
            return total
        }
    }

    /// The rows, ascending, each once; `.keys` may name rows that do not exist.
    func keys(in table: TableView) throws -> [Int64] {
        switch self {
        case .none: return []
        case .keys(let keys): return KeySource.ordered(keys)
        case .equal(let property, let values):
            if table.schema.primaryKeyOrdinal == property {
                return KeySource.ordered(
                    try values.compactMap { $0.isNull ? nil : try table.find(primaryKey: $0) }
                        + (values.contains(.null)
                            ? table.indexedKeys(property: property, equalTo: StoredValue.null) : [])
                )
            }
            if values.count == 1 { return try table.indexedKeys(property: property, equalTo: values[0]) }
            return KeySource.ordered(try values.flatMap { try table.indexedKeys(property: property, equalTo: $0) })
        case .range(let property, let lower, let upper):
            return KeySource.ordered(try table.rangeKeys(property: property, lower: lower, upper: upper))
        case .prefix(let property, let bytes):
            return KeySource.ordered(
                try bytes.withUnsafeBytes { try table.prefixKeys(property: property, prefix: $0) }
            )
        case .backlinks(let target, let property, let keys):
            return KeySource.ordered(
                try keys.flatMap { try target.backlinkKeys(of: $0, from: table.id, property: property) }
            )
        case .compound(let range): return KeySource.ordered(try range.keys(in: table))
        case .union(let parts):
            return KeySource.ordered(try parts.flatMap { try $0.keys(in: table) })
        }
    }

    /// Whether the rows come out exactly as the condition wants them, so that it need not be tested again.
    var isExact: Bool {
        switch self {
        case .keys: false
        case .none, .equal, .range, .prefix, .backlinks: true
        case .compound(let range): range.isExact
        case .union(let parts): parts.allSatisfy(\.isExact)
        }
    }

    /// The source in words.
    func explanation(in table: TableView) -> String {
        func name(_ property: Int) -> String { table.schema.properties[property].name }
        func index(_ property: Int) -> String {
            if table.schema.primaryKeyOrdinal == property { return "primary key on \(name(property))" }
            return TableIndex.words([name(property)], isUnique: table.isUnique(property))
        }
        switch self {
        case .none: return "nothing"
        case .keys(let keys): return "\(keys.count) given rows"
        case .equal(let property, let values):
            return index(property) + ", \(values.count == 1 ? "one value" : "\(values.count) values")"
        case .range(let property, _, _): return index(property) + ", a range"
        case .prefix(let property, _): return index(property) + ", a prefix"
        case .compound(let range): return range.explanation(in: table)
        case .backlinks(_, let property, let keys):
            return "backlinks of \(name(property)) to \(keys.count == 1 ? "one object" : "\(keys.count) objects")"
        case .union(let parts): return parts.map { $0.explanation(in: table) }.joined(separator: " and ")
        }
    }

    private static func ordered(_ keys: [Int64]) -> [Int64] {
        if keys.count < 2 { return keys }
        var sorted = keys
        sorted.sort()
        var count = 1
        for index in 1..<sorted.count where sorted[index] != sorted[count - 1] {
            sorted[count] = sorted[index]
            count += 1
        }
        sorted.removeSubrange(count...)
        return sorted
    }
}
