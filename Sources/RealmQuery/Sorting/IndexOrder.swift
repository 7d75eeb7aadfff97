import RealmModel
import RealmStorage

/// Rows in an order by walking an index that has it, where that is cheaper than sorting them.
struct IndexOrder {
    private let table: TableView
    private let index: TableIndex
    /// What the first properties of the index equal, and what the next one is like.
    private let values: [StoredValue]
    private let tail: IndexTail
    /// The number of properties that make the order.
    private let count: Int
    private let isDescending: Bool
    /// What is still to be tested of each row.
    private let residual: Condition?
    /// The number of rows after which walking would cost more than sorting.
    private let budget: Int

    /// Looks for an index; nil when there is none that helps.
    ///
    /// - Parameters:
    ///   - keys: The ordinals of the properties to sort by, with their directions.
    ///   - condition: What the rows must meet.
    ///   - table: The class.
    ///   - limit: The number of rows that are wanted.
    /// - Throws: `StorageError` when a page is damaged.
    init?(
        _ keys: [(property: Int, ascending: Bool)],
        where condition: Condition,
        table: TableView,
        limit: Int
    ) throws {
        guard let isDescending = keys.first.map({ !$0.ascending }), limit > 0, !table.indexes.isEmpty else {
            return nil
        }
        let constant = (condition as? ConstantCondition)?.value
        if constant == false { return nil }
        let parts = constant == true ? [] : (condition as? AndCondition)?.parts ?? [condition]
        let constraints = PropertyConstraints(parts)
        // What is the same in all rows does not order them.
        let keys = keys.filter { constraints.value(of: $0.property) == nil }
        guard !keys.isEmpty, keys.allSatisfy({ $0.ascending != isDescending }) else { return nil }
        var best: (index: TableIndex, values: [StoredValue], tail: IndexTail, answered: [Int], rows: Int)?
        for index in table.indexes {
            var values: [StoredValue] = []
            var answered: [Int] = []
            while values.count < index.ordinals.count,
                index.ordinals[values.count] != keys[0].property,
                let fixed = constraints.value(of: index.ordinals[values.count]),
                !index.isTruncated(fixed.value)
            {
                values.append(fixed.value)
                answered.append(fixed.part)
            }
            let ordered = index.ordinals.dropFirst(values.count).prefix(keys.count)
            guard Array(ordered) == keys.map(\.property) else { continue }
            var tail = IndexTail.all
            if let found = constraints.tail(of: keys[0].property) {
                tail = found.tail
                answered += found.parts
            }
            guard try Self.knowsOrder(index, equalTo: values, ordered: Array(ordered), table) else { continue }
            let rows =
                index.isIntPrimaryKey ? table.count : try table.count(in: index, equalTo: values, tail: tail)
            if rows < best?.rows ?? .max { best = (index, values, tail, answered, rows) }
        }
        guard let best else { return nil }
        let isExact = IndexRange(index: best.index, prefixes: [best.values], tail: best.tail).isExact
        let rest = isExact ? parts.indices.filter { !best.answered.contains($0) }.map { parts[$0] } : parts
        residual = rest.isEmpty ? nil : rest.count == 1 ? rest[0] : AndCondition(rest)
        if residual == nil {
            budget = .max
        } else {
            // Each row has to be found and tested, and there may not be enough that match. Where another index leads to
            // these, they are few enough to be sorted.
            guard limit <= best.rows / 16, try AccessPath(condition, table: table) == nil else { return nil }
            budget = max(256, best.rows / 16)
        }
        self.table = table
        self.isDescending = isDescending
        index = best.index
        values = best.values
        tail = best.tail
        count = keys.count
    }

    /// Whether an index has the order that sorting gives: it holds NaN behind all dates, and sorting puts it before them.
    private static func knowsOrder(
        _ index: TableIndex,
        equalTo values: [StoredValue],
        ordered: [Int],
        _ table: TableView
    ) throws -> Bool {
        for (place, property) in ordered.enumerated() where table.kind(of: property) == .date {
            guard place == 0 else { return false }
            let tail = IndexTail.range(.including(.date(.nan)), .unbounded)
            if try table.count(in: index, equalTo: values, tail: tail) > 0 { return false }
        }
        return true
    }

    /// The first rows; nil when too many were looked at, or the index does not know the order after all.
    func keys(limit: Int, _ context: QueryContext) throws -> [Int64]? {
        var keys: [Int64] = []
        var examined = 0
        var isExhausted = false
        func visit(_ key: Int64) throws -> Bool {
            examined += 1
            if examined > budget {
                isExhausted = true
                return false
            }
            if let residual {
                guard let location = try table.locate(key) else { return true }
                guard try residual.test(location, key: key, context) else { return true }
            }
            keys.append(key)
            return keys.count < limit
        }
        if index.isIntPrimaryKey {
            let lower: IndexBound
            let upper: IndexBound
            if case .range(let first, let last) = tail {
                (lower, upper) = (first, last)
            } else {
                (lower, upper) = (.unbounded, .unbounded)
            }
            let bound = residual == nil && !isDescending ? limit : .max
            let found = try table.rangeKeys(property: index.ordinals[0], lower: lower, upper: upper, limit: bound)
            if residual == nil { return Array(isDescending ? found.reversed().prefix(limit) : found.prefix(limit)) }
            for key in isDescending ? found.reversed() : found { guard try visit(key) else { break } }
        } else {
            let knows = try table.walk(
                index,
                equalTo: values,
                tail: tail,
                ordering: count,
                isDescending: isDescending,
                visit
            )
            if !knows { return nil }
        }
        return isExhausted ? nil : keys
    }

    /// The index in words.
    var explanation: String {
        if index.isIntPrimaryKey { return "primary key on \(table.schema.properties[index.ordinals[0]].name)" }
        return IndexRange(index: index, prefixes: [values], tail: tail).explanation(in: table)
    }
}
