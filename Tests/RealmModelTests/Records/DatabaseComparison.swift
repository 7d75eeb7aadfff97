import RealmStorage
import Testing

@testable import RealmModel

/// Compares two databases by all that their tables hold.
enum DatabaseComparison {
    static func requireEqual(_ left: ModelView, _ right: ModelView, _ when: String, mayLackKeys: Bool = false) throws {
        try #require(left.schema.version == right.schema.version, "\(when)")
        try #require(left.schema.stamp == right.schema.stamp, "\(when)")
        let entries = try (entry(of: left), entry(of: right))
        try #require(entries.0 == entries.1, "\(when)")
        let classes = Self.classes(of: left)
        try #require(classes == Self.classes(of: right), "\(when)")
        for schema in classes {
            let one = try #require(try left.table(id: schema.tableID))
            let other = try #require(try right.table(id: schema.tableID))
            try #require(one.count == other.count, "\(schema.name) \(when)")
            try #require(
                mayLackKeys ? one.nextKey >= other.nextKey : one.nextKey == other.nextKey,
                "\(schema.name) \(when)"
            )
            for position in 0..<one.count {
                let key = try #require(try one.key(at: position))
                try #require(try other.key(at: position) == key, "\(schema.name) \(when)")
                let links = try (one.links(to: key), other.links(to: key))
                try #require(links.0 == links.1, "links to \(key) of \(schema.name) \(when)")
                for (ordinal, property) in schema.properties.enumerated() where property.isStored {
                    let what = "\(schema.name).\(property.name) of \(key) \(when)"
                    guard property.collection == .none else {
                        let values = try (one.list(ordinal, key: key).values(), other.list(ordinal, key: key).values())
                        try #require(values.0.map(bits) == values.1.map(bits), "\(what)")
                        continue
                    }
                    let values = try (one.value(ordinal, key: key), other.value(ordinal, key: key))
                    try #require(bits(values.0) == bits(values.1), "\(what)")
                }
            }
        }
    }

    /// What the next class will get: its number, and the key of its first row.
    private static func entry(of model: ModelView) throws -> [Int64] {
        let entry = try DatabaseEntry(in: model.snapshot.catalog, view: model.snapshot.view) ?? DatabaseEntry()
        return [Int64(entry.nextTableID), entry.firstRowKey]
    }

    /// The classes, without how their indexes are stored.
    private static func classes(of model: ModelView) -> [ClassSchema] {
        model.schema.classes.values.sorted { $0.tableID < $1.tableID }
            .map { schema in
                var schema = schema
                schema.longStrings = LongStringKeys()
                return schema
            }
    }

    /// A value with its bits: equal texts of other bytes, zeros and NaNs are different here.
    private static func bits(_ value: StoredValue) -> [UInt8] { MixedFormat.encode(value.forComparison) }
}

extension TableView {
    /// The rows that link to a row, by property, in the order in which they are told.
    fileprivate func links(to key: Int64) throws -> [[Int64]] {
        try linkOrigins.map { try backlinkKeys(of: key, from: $0.tableID, property: $0.property) }
    }
}

extension StoredValue {
    /// Links of typed properties have no encoding of their own.
    fileprivate var forComparison: StoredValue {
        if case .link(let key) = self { return .anyLink(table: 0, key: key) }
        return self
    }
}

extension ModelView {
    /// One number for all that the tables hold, the same for as long as the process runs.
    func digest() throws -> UInt64 {
        var hasher = Hasher()
        for schema in schema.classes.values.sorted(by: { $0.tableID < $1.tableID }) {
            guard let table = try table(id: schema.tableID) else { continue }
            hasher.combine(table.id)
            hasher.combine(table.nextKey)
            for position in 0..<table.count {
                guard let key = try table.key(at: position) else { continue }
                hasher.combine(key)
                for (ordinal, property) in schema.properties.enumerated() where property.isStored {
                    if property.collection == .none {
                        hasher.combine(MixedFormat.encode(try table.value(ordinal, key: key).forComparison))
                    } else {
                        for value in try table.list(ordinal, key: key).values() {
                            hasher.combine(MixedFormat.encode(value.forComparison))
                        }
                    }
                }
            }
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
