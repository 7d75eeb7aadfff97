/// The order of values: within a kind as one expects, between kinds null, bool, numbers, string, data, date, ObjectId,
/// UUID, link, list, dictionary.
extension StoredValue {
    private var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int, .float, .double, .decimal: 2
        case .string: 3
        case .data: 4
        case .date: 5
        case .objectId: 6
        case .uuid: 7
        case .link, .anyLink: 8
        case .list: 9
        case .dictionary: 10
        }
    }

    /// A total order: numbers of different types compare by value, NaN comes before every number, strings compare as
    /// bytes.
    ///
    /// - Returns: below 0 when the left value comes first, 0 when the two are the same.
    package static func order(_ left: StoredValue, _ right: StoredValue) -> Int {
        switch (left, right) {
        case (.int(let left), .int(let right)), (.link(let left), .link(let right)): return order(left, right)
        case (.bool(let left), .bool(let right)): return order(left ? 1 : 0, right ? 1 : 0)
        case (.float(let left), .float(let right)): return orderNumbers(Double(left), Double(right))
        case (.double(let left), .double(let right)), (.date(let left), .date(let right)):
            return orderNumbers(left, right)
        case (.string(let left), .string(let right)): return orderBytes(left.utf8, right.utf8)
        case (.data(let left), .data(let right)): return orderBytes(left, right)
        case (.objectId(let left), .objectId(let right)): return order(left, right)
        case (.uuid(let left), .uuid(let right)): return order(left, right)
        case (.anyLink(let leftTable, let leftKey), .anyLink(let rightTable, let rightKey)):
            return leftTable == rightTable ? order(leftKey, rightKey) : order(leftTable, rightTable)
        case (.list(let left), .list(let right)):
            for (one, other) in zip(left, right) {
                let order = order(one, other)
                if order != 0 { return order }
            }
            return order(left.count, right.count)
        case (.dictionary(let left), .dictionary(let right)):
            for (one, other) in zip(left, right) {
                let names = orderBytes(one.key.utf8, other.key.utf8)
                if names != 0 { return names }
                let order = order(one.value, other.value)
                if order != 0 { return order }
            }
            return order(left.count, right.count)
        default:
            if let left = left.decimal, let right = right.decimal { return DecimalNumber.order(left, right) }
            return order(left.rank, right.rank)
        }
    }

    /// The number that the value is, exactly where decimals can say it; nil for other kinds.
    package var decimal: DecimalNumber? {
        switch self {
        case .int(let value): DecimalNumber(value)
        case .float(let value): DecimalNumber(Double(value))
        case .double(let value): DecimalNumber(value)
        case .decimal(let value): value.number
        default: nil
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
        left < right ? -1 : left == right ? 0 : 1
    }

    private static func orderNumbers(_ left: Double, _ right: Double) -> Int {
        if left.isNaN || right.isNaN { return left.isNaN ? (right.isNaN ? 0 : -1) : 1 }
        return order(left, right)
    }

    private static func orderBytes<Bytes: Collection>(_ left: Bytes, _ right: Bytes) -> Int
    where Bytes.Element == UInt8 {
        if left.elementsEqual(right) { return 0 }
        return left.lexicographicallyPrecedes(right) ? -1 : 1
    }
}

extension Array where Element == StoredValue {
    /// The values of a set: ascending, each once.
    package func sortedAndUnique() -> [StoredValue] {
        var result: [StoredValue] = []
        result.reserveCapacity(count)
        for value in sorted(by: { StoredValue.order($0, $1) < 0 }) {
            if let last = result.last, StoredValue.order(last, value) == 0 { continue }
            result.append(value)
        }
        return result
    }
}

extension Array where Element == StoredEntry {
    /// The entries of a dictionary: names ascending as bytes, of several with one name the last.
    package func sortedAndUnique() -> [StoredEntry] {
        var result: [StoredEntry] = []
        result.reserveCapacity(count)
        // The sort is stable, so that the last entry of a name stays the last.
        for entry in sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            if let last = result.last, last.key.utf8.elementsEqual(entry.key.utf8) {
                result[result.count - 1] = entry
            } else {
                result.append(entry)
            }
        }
        return result
    }
}
