package import RealmModel
import RealmStorage

/// A computation over one property of many rows.
package enum AggregateOperation: Sendable, Hashable {
    case minimum
    case maximum
    case sum
    case average

    /// The operation's name in error messages.
    package var name: String {
        switch self {
        case .minimum: "min"
        case .maximum: "max"
        case .sum: "sum"
        case .average: "average"
        }
    }
}

/// An aggregate made ready for one class.
///
/// Nulls are left out.
///
/// `sum` gives `.int` (wrapping around) for ints and `.double` for floats and doubles, 0 without rows; `average` gives
/// `.double`; both give `.decimal` for decimals and for the numbers among values of any kind. `minimum` and `maximum`
/// give the property's own type, and all three `.null` without values.
package final class Aggregation {
    /// The class whose rows are summed up.
    package let table: TableView
    package let operation: AggregateOperation
    private let reader: PathReader
    private let kind: PropertyKind
    private let linkSlotCount: Int

    /// Resolves the property, which may lie behind to-one links.
    ///
    /// - Throws: `QueryError` when there is no such property or the operation makes no sense for it.
    package init(_ operation: AggregateOperation, of path: PropertyPath, table: TableView) throws {
        self.table = table
        self.operation = operation
        var resolver = PathResolver(model: table.model)
        let resolved = try resolver.resolve(path, from: table)
        let isSupported =
            switch resolved.kind {
            case .int, .float, .double, .decimal128, .any: true
            case .date: operation == .minimum || operation == .maximum
            default: false
            }
        guard isSupported, !resolved.reader.isMany else {
            throw QueryError(
                "Operation '\(operation.name)' not supported for property '\(table.schema.name).\(path)' of type "
                    + "'\(resolved.typeName)'"
            )
        }
        reader = resolved.reader
        kind = resolved.kind
        linkSlotCount = resolver.slotCount
    }

    /// The aggregate over all rows.
    package func value() throws -> StoredValue {
        var accumulator = AggregateAccumulator(kind: kind)
        let context = makeContext()
        var leaves = table.leaves()
        while let leaf = try leaves.next() {
            let rows = context.makeSet(rowCount: leaf.rowCount)
            defer { context.release(rows) }
            rows.fill()
            try add(leaf, rows, context, to: &accumulator)
        }
        return accumulator.stored(of: operation)
    }

    /// The aggregate over the rows that match a query.
    package func value(where query: CompiledQuery) throws -> StoredValue {
        var accumulator = AggregateAccumulator(kind: kind)
        let context = makeContext()
        try query.forEachLeaf { leaf, rows in
            try add(leaf, rows, context, to: &accumulator)
            return true
        }
        return accumulator.stored(of: operation)
    }

    /// The aggregate over given rows, as often as they are given; rows that do not exist are left out.
    package func value(of keys: [Int64]) throws -> StoredValue {
        var accumulator = AggregateAccumulator(kind: kind)
        let context = makeContext()
        var leaf: LeafView?
        for key in keys {
            var row = leaf?.row(of: key)
            if row == nil {
                guard let location = try table.locate(key) else { continue }
                leaf = location.leaf
                row = location.row
            }
            guard let leaf, let row else { continue }
            try reader.forEach(RowLocation(leaf: leaf, row: row), key: key, context) { value in
                accumulator.add(value)
                return true
            }
        }
        return accumulator.stored(of: operation)
    }

    private func makeContext() -> QueryContext {
        QueryContext(linkSlotCount: linkSlotCount, subqueryCount: 0)
    }

    private func add(
        _ leaf: LeafView,
        _ rows: RowSet,
        _ context: QueryContext,
        to accumulator: inout AggregateAccumulator
    ) throws {
        guard reader.hops.isEmpty, case .value(let table, let property, let columnKind) = reader.terminal else {
            try rows.visit { row in
                try reader.forEach(RowLocation(leaf: leaf, row: row), key: leaf.key(at: row), context) { value in
                    accumulator.add(value)
                    return true
                }
            }
            return
        }
        let column = try table.column(property, in: leaf)
        let wantsSum = operation == .sum || operation == .average
        let isWhole = rows.count == leaf.rowCount && !column.isAbsent
        switch columnKind {
        case .int where wantsSum && isWhole && Self.sumsExactly(leaf, table.column(property)):
            accumulator.add(sum: column.sumInts(), count: leaf.rowCount - column.countNulls())
        case .double where wantsSum && isWhole && column.nulls == nil:
            accumulator.addDoubles(of: column)
        case .int where column.nulls == nil:
            rows.visit { accumulator.add(column.int($0)) }
        case .double where column.nulls == nil:
            rows.visit { accumulator.add(column.double($0)) }
        default:
            try rows.visit { accumulator.add(try column.borrowed($0, as: columnKind)) }
        }
    }

    /// Whether the sum of a leaf's ints is exact in a double too, as an average needs it.
    private static func sumsExactly(_ leaf: LeafView, _ column: Int) -> Bool {
        guard let bounds = leaf.intBounds(column) else { return false }
        return bounds.minimum > -(1 << 40) && bounds.maximum < 1 << 40
    }
}
