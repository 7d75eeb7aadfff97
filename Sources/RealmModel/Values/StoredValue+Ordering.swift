/// The order of values: within a kind by value and by bytes, between kinds null, bool, numbers, string, data, date,
/// ObjectId, UUID, link, list, dictionary.
extension StoredValue {
    var rank: UInt8 {
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

    /// A total order: numbers of different types compare by their exact values, NaN comes before every number, strings
    /// compare as bytes.
    ///
    /// - Returns: below 0 when the left value comes first, 0 when the two are the same.
    package static func order(_ left: StoredValue, _ right: StoredValue) -> Int {
        switch (left, right) {
        case (.null, .null): return 0
        case (.int(let left), .int(let right)), (.link(let left), .link(let right)): return order(left, right)
        case (.bool(let left), .bool(let right)): return order(left ? 1 : 0, right ? 1 : 0)
        case (.float(let left), .float(let right)): return ExactNumber.order(Double(left), Double(right))
        case (.double(let left), .double(let right)), (.date(let left), .date(let right)):
            return ExactNumber.order(left, right)
        case (.string(let left), .string(let right)): return TextBytes.order(left, right)
        case (.data(let left), .data(let right)):
            return left.withUnsafeBytes { left in right.withUnsafeBytes { TextBytes.order(left, $0) } }
        case (.objectId(let left), .objectId(let right)): return order(left, right)
        case (.uuid(let left), .uuid(let right)): return order(left, right)
        case (.anyLink(let leftTable, let leftKey), .anyLink(let rightTable, let rightKey)):
            return leftTable == rightTable ? order(leftKey, rightKey) : order(leftTable, rightTable)
        // The two meet nowhere; they are not the same.
        case (.link, .anyLink): return -1
        case (.anyLink, .link): return 1
        case (.list(let left), .list(let right)):
            for (one, other) in zip(left, right) {
                let order = order(one, other)
                if order != 0 { return order }
            }
            return order(left.count, right.count)
        case (.dictionary(let left), .dictionary(let right)):
            for (one, other) in zip(left, right) {
                let names = TextBytes.order(one.key, other.key)
                if names != 0 { return names }
                let order = order(one.value, other.value)
                if order != 0 { return order }
            }
            return order(left.count, right.count)
        default: return left.rank == right.rank ? orderNumbers(left, right) : order(left.rank, right.rank)
        }
    }

    /// Numbers of different types, or decimals.
    private static func orderNumbers(_ left: StoredValue, _ right: StoredValue) -> Int {
        switch (left, right) {
        case (.decimal(let left), .decimal(let right)): return DecimalNumber.order(left.number, right.number)
        case (.int(let left), .double(let right)): return ExactNumber.order(left, right)
        case (.double(let left), .int(let right)): return -ExactNumber.order(right, left)
        default:
            guard let one = left.exactNumber, let other = right.exactNumber else { return 0 }
            return ExactNumber.order(one, other)
        }
    }

    /// The number that the value is; nil for other kinds.
    var exactNumber: ExactNumber? {
        switch self {
        case .int(let value): ExactNumber(value)
        case .float(let value): ExactNumber(Double(value))
        case .double(let value): ExactNumber(value)
        case .decimal(let value): ExactNumber(value.number)
        default: nil
        }
    }

    /// Whether the value is a number of any type.
    package var isNumber: Bool { rank == 2 }

    /// Whether the value is a number or date that is none.
    package var isNaN: Bool {
        switch self {
        case .float(let value): value.isNaN
        case .double(let value), .date(let value): value.isNaN
        case .decimal(let value): value.number.isNaN
        default: false
        }
    }

    /// The number that the value is, as a decimal to reckon with: of a binary number the shortest that names it; nil for
    /// other kinds.
    package var decimal: DecimalNumber? {
        switch self {
        case .int(let value): DecimalNumber(value)
        case .float(let value): DecimalNumber(value)
        case .double(let value): DecimalNumber(value)
        case .decimal(let value): value.number
        default: nil
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
        left < right ? -1 : left == right ? 0 : 1
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
            if let last = result.last, TextBytes.areEqual(last.key, entry.key) {
                result[result.count - 1] = entry
            } else {
                result.append(entry)
            }
        }
        return result
    }
}
