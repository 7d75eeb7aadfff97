import RealmModel
import RealmStorage

extension ValueTestFactory {
    /// Where the rows that pass are found through a key, an index or backlinks; nil when only a scan finds them.
    ///
    /// Called after `test` accepted the same operator and value.
    func source(_ operation: ComparisonOperator, _ value: PredicateValue, in table: TableView) -> KeySource? {
        if path.isOwnRow {
            switch (operation, value) {
            case (.equal, .object(_, let key)): return .keys([key])
            case (.in, .list(let values)): return .keys(objectKeys(values))
            default: return nil
            }
        }
        if let target = linkTarget {
            switch (operation, value) {
            case (.equal, .object(_, let key)): return .backlinks(target.table, target.property, [key])
            case (.in, .list(let values)) where !values.contains(.null):
                return .backlinks(target.table, target.property, objectKeys(values))
            default: return nil
            }
        }
        guard let column = path.ownColumn, column.table.hasIndex(column.property) else { return nil }
        return candidate(operation, value)
    }

    /// Where the rows that pass would be found if the property of the row itself had an index; nil where that would not
    /// help.
    ///
    /// Called after `test` accepted the same operator and value.
    func candidate(_ operation: ComparisonOperator, _ value: PredicateValue) -> KeySource? {
        guard let column = path.ownColumn, options.isEmpty else { return nil }
        let property = column.property
        switch operation {
        case .equal:
            return stored(value).map { $0.isEmpty ? .none : .equal(property, $0) }
        case .in:
            guard case .list(let values) = value else { return nil }
            var all: Set<StoredValue> = []
            for value in values {
                guard let stored = stored(value) else { return nil }
                all.formUnion(stored)
            }
            return all.isEmpty ? KeySource.none : .equal(property, Array(all))
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            return range(operation, value, property)
        case .between:
            guard case .list(let bounds) = value, bounds.count == 2 else { return nil }
            return range(from: bounds[0], through: bounds[1], property)
        case .beginsWith:
            guard case .string(let prefix) = value, path.kind == .string, !prefix.isEmpty else { return nil }
            return .prefix(property, Array(prefix.utf8))
        case .notEqual, .within, .endsWith, .contains, .like: return nil
        }
    }

    /// For a single link, or for the objects of one collection, of the row itself: the table linked to and the property.
    private var linkTarget: (table: TableView, property: Int)? {
        guard path.kind == .object else { return nil }
        if let column = path.ownColumn, let className = path.targetClass,
            let target = try? column.table.model.table(named: className)
        {
            return (target, column.property)
        }
        if path.reader.hops.count == 1, case .row = path.reader.terminal, case .list = path.reader.hops[0].kind {
            return (path.reader.hops[0].target, path.reader.hops[0].property)
        }
        return nil
    }

    private func objectKeys(_ values: [PredicateValue]) -> [Int64] {
        values.compactMap { value in
            if case .object(_, let key) = value { return key }
            return nil
        }
    }

    /// The values as an index holds them, none when no row can have the value; nil when an index does not serve.
    private func stored(_ value: PredicateValue) -> [StoredValue]? {
        if value == .null { return [.null] }
        switch path.kind {
        case .int, .bool:
            guard let range = try? intRange(.equal, value) else { return nil }
            if range.lower != range.upper { return [] }
            return [path.kind == .bool ? .bool(range.lower == 1) : .int(range.lower)]
        case .date:
            guard case .date(let seconds) = value else { return nil }
            if seconds.isNaN { return [] }
            // An index holds 0 and -0 under one key.
            return [.date(seconds + 0.0)]
        case .string:
            guard case .string(let text) = value else { return nil }
            return [.string(text)]
        case .objectId:
            guard let words = try? words(value) else { return nil }
            return [.objectId(ObjectIDBytes(high: words.high, low: UInt32(truncatingIfNeeded: words.low)))]
        case .uuid:
            guard let words = try? words(value) else { return nil }
            return [.uuid(UUIDBytes(high: words.high, low: words.low))]
        default: return nil
        }
    }

    private func range(_ operation: ComparisonOperator, _ value: PredicateValue, _ property: Int) -> KeySource? {
        switch path.kind {
        case .int:
            guard let range = try? intRange(operation, value) else { return nil }
            return source(range, property)
        case .date:
            guard let range = try? doubleRange(operation, value) else { return nil }
            return source(range, property)
        default: return nil
        }
    }

    private func range(from lower: PredicateValue, through upper: PredicateValue, _ property: Int) -> KeySource? {
        switch path.kind {
        case .int:
            guard let first = try? intRange(.greaterOrEqual, lower), let second = try? intRange(.lessOrEqual, upper)
            else { return nil }
            return source(
                ConstantRange(lower: max(first.lower, second.lower), upper: min(first.upper, second.upper)),
                property
            )
        case .date:
            guard let first = try? doubleRange(.greaterOrEqual, lower),
                let second = try? doubleRange(.lessOrEqual, upper)
            else { return nil }
            return source(
                ConstantRange(lower: max(first.lower, second.lower), upper: min(first.upper, second.upper)),
                property
            )
        default: return nil
        }
    }

    private func source(_ range: ConstantRange<Int64>, _ property: Int) -> KeySource? {
        if range.isNegated { return nil }
        if range.lower > range.upper { return KeySource.none }
        return .range(property, .including(.int(range.lower)), .including(.int(range.upper)))
    }

    private func source(_ range: ConstantRange<Double>, _ property: Int) -> KeySource? {
        if range.isNegated { return nil }
        if !(range.lower <= range.upper) { return KeySource.none }
        return .range(property, .including(.date(range.lower)), .including(.date(range.upper)))
    }
}
