package import RealmModel
import RealmStorage

/// Keeps the first row of each group of rows that are equal in some properties.
///
/// Nulls are equal to each other.
package final class CompiledDistinct {
    /// The class whose rows are grouped.
    package let table: TableView
    private let paths: [SortKeyPath]
    private let linkSlotCount: Int

    /// Resolves the properties to group by.
    ///
    /// - Throws: `QueryError` when a path does not exist or crosses a collection.
    package init(_ paths: [PropertyPath], table: TableView) throws {
        self.table = table
        var resolver = PathResolver(model: table.model)
        self.paths = try paths.map {
            try SortKeyPath($0, table: table, resolver: &resolver, purpose: "distinct on", allowsLinks: true)
        }
        linkSlotCount = resolver.slotCount
    }

    /// The first row of each group, in the order given; rows that do not exist are left out.
    package func distinct(_ keys: [Int64]) throws -> [Int64] {
        let context = QueryContext(linkSlotCount: linkSlotCount, subqueryCount: 0)
        var seen: Set<[UInt8]> = []
        var seenWords: Set<UInt64> = []
        var hasSeenNull = false
        let isSingleNumber = paths.count == 1 && paths[0].isNumber
        var group: [UInt8] = []
        var leaf: LeafView?
        return try keys.filter { key in
            var row = leaf?.row(of: key)
            if row == nil {
                guard let location = try table.locate(key) else { return false }
                leaf = location.leaf
                row = location.row
            }
            guard let leaf, let row else { return false }
            let location = RowLocation(leaf: leaf, row: row)
            if isSingleNumber {
                return try paths[0]
                    .withValue(location, key: key, context) { value in
                        if value.isNull {
                            defer { hasSeenNull = true }
                            return !hasSeenNull
                        }
                        return seenWords.insert(value.orderWord).inserted
                    }
            }
            group.removeAll(keepingCapacity: true)
            for path in paths {
                try path.withValue(location, key: key, context) { Self.append($0, to: &group) }
            }
            return seen.insert(group).inserted
        }
    }

    /// Appends a value so that no two lists of values give the same bytes.
    private static func append(_ value: BorrowedValue, to group: inout [UInt8]) {
        switch value {
        case .null:
            group.append(0)
        case .bytes(let bytes):
            group.append(1)
            withUnsafeBytes(of: UInt64(bytes.count)) { group.append(contentsOf: $0) }
            group.append(contentsOf: bytes)
        default:
            group.append(2)
            withUnsafeBytes(of: value.orderWord) { group.append(contentsOf: $0) }
        }
    }
}

extension SortKeyPath {
    /// Whether the values are numbers, so that one word tells them apart.
    var isNumber: Bool {
        switch kind.columnKind {
        case .int, .float, .double: true
        case .fixed12, .fixed16, .bytes: false
        }
    }
}
