import RealmModel
import RealmStorage

/// One step of a path from rows to other rows.
struct PathHop {
    enum Kind {
        /// A to-one link.
        case link
        /// A list, set or dictionary of objects.
        case list
        /// The object under a name of a dictionary.
        case entry(String)
        /// The rows of another class that link here through one of its properties.
        case backlinks
    }

    var kind: Kind
    /// The table that the step starts from.
    var source: TableView
    /// The table that it leads to.
    var target: TableView
    /// The linking property's ordinal: in `source`, or for backlinks in `target`.
    var property: Int
    /// Where the run's context remembers the target's leaf visited last.
    var slot: Int

    /// Whether the step may lead to several rows.
    var isMany: Bool {
        switch kind {
        case .link, .entry: false
        case .list, .backlinks: true
        }
    }

    /// The row that a step to at most one row leads to.
    func target(of location: RowLocation, key: Int64) throws -> Int64? {
        if case .entry(let name) = kind {
            let value = try source.map(property, at: location, key: key).value(for: name)
            if case .link(let target) = value { return target }
            return nil
        }
        let column = try source.column(property, in: location.leaf)
        return column.isNull(location.row) ? nil : column.int(location.row)
    }

    /// The rows that a row leads to, in order and as often as they occur.
    func targets(of location: RowLocation, key: Int64) throws -> [Int64] {
        switch kind {
        case .link, .entry: return try target(of: location, key: key).map { [$0] } ?? []
        case .list:
            return try source.linkedKeys(property, at: location, key: key)
        case .backlinks:
            return try source.backlinkKeys(of: key, from: target.id, property: property)
        }
    }

    /// The number of rows that a row leads to.
    func targetCount(of location: RowLocation, key: Int64) throws -> Int {
        switch kind {
        case .link, .entry: try targets(of: location, key: key).count
        case .list: try source.list(property, at: location, key: key).count
        case .backlinks: try source.backlinkCount(of: key, from: target.id, property: property)
        }
    }
}

/// A collection of one row: of objects, or of plain values.
enum PathCollection {
    case objects(PathHop)
    /// A list, set or dictionary of values: the table and the ordinal.
    case values(TableView, Int)

    func count(of location: RowLocation, key: Int64) throws -> Int {
        switch self {
        case .objects(let hop): try hop.targetCount(of: location, key: key)
        case .values(let table, let property): try table.list(property, at: location, key: key).count
        }
    }
}

/// What stands at the end of a path.
enum PathTerminal {
    /// One value of the row: its table and the ordinal.
    case value(TableView, Int, ColumnKind)
    /// Each element of a collection of values, of a dictionary its values.
    case elements(TableView, Int)
    /// Each name of a dictionary.
    case keys(TableView, Int)
    /// The value under a name of a dictionary.
    case entry(TableView, Int, String)
    /// What is found inside values of any kind.
    case inside(InnerPath)
    /// The row itself, as its key.
    case row
    /// `@count`
    case count(PathCollection)
    /// `@min`, `@max`, `@sum`, `@avg`
    case aggregate(PathAggregate)
    /// `SUBQUERY(…).@count`
    case subquery(SubqueryCounter)
}

extension ColumnView {
    /// The value of a row, borrowed from the leaf.
    @inline(__always)
    func borrowed(_ row: Int, as kind: ColumnKind) throws(StorageError) -> BorrowedValue {
        if isNull(row) { return .null }
        switch kind {
        case .int: return .int(int(row))
        case .float: return .float(float(row))
        case .double: return .double(double(row))
        case .fixed12: return .bytes(UnsafeRawBufferPointer(start: fixed(row), count: 12))
        case .fixed16: return .bytes(UnsafeRawBufferPointer(start: fixed(row), count: 16))
        case .bytes: return .bytes(try bytes(row))
        }
    }
}
