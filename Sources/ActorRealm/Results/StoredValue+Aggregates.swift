import RealmModel
import RealmQuery

extension StoredValue {
    /// Orders values of one kind, null first.
    static func compare(_ left: StoredValue, _ right: StoredValue) -> Int {
        func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
            left < right ? -1 : left == right ? 0 : 1
        }
        switch (left, right) {
        case (.null, .null): return 0
        case (.null, _): return -1
        case (_, .null): return 1
        case (.int(let left), .int(let right)), (.link(let left), .link(let right)): return order(left, right)
        case (.bool(let left), .bool(let right)): return order(left ? 1 : 0, right ? 1 : 0)
        case (.float(let left), .float(let right)): return order(left, right)
        case (.double(let left), .double(let right)), (.date(let left), .date(let right)): return order(left, right)
        case (.string(let left), .string(let right)):
            return left == right ? 0 : left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
        case (.data(let left), .data(let right)):
            return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
        case (.objectId(let left), .objectId(let right)): return order(left, right)
        case (.uuid(let left), .uuid(let right)): return order(left, right)
        default: return 0
        }
    }

    /// The value as a number; nil for other kinds.
    var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .float(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// Computes over the values of a collection of values; nulls are left out.
    static func aggregate(
        _ operation: AggregateOperation,
        _ values: [StoredValue],
        kind: PropertyKind
    ) throws -> StoredValue {
        let present = values.filter { !$0.isNull }
        switch operation {
        case .minimum, .maximum:
            guard [.int, .float, .double, .date].contains(kind) else { throw unsupported(operation, kind) }
            let sorted = operation == .minimum ? { compare($0, $1) < 0 } : { compare($0, $1) > 0 }
            return present.min(by: sorted) ?? .null
        case .sum:
            guard [.int, .float, .double].contains(kind) else { throw unsupported(operation, kind) }
            if kind == .int {
                return .int(
                    present.reduce(0) { sum, value in if case .int(let value) = value { sum &+ value } else { sum } }
                )
            }
            return .double(present.reduce(0) { $0 + ($1.number ?? 0) })
        case .average:
            guard [.int, .float, .double].contains(kind) else { throw unsupported(operation, kind) }
            if present.isEmpty { return .null }
            return .double(present.reduce(0) { $0 + ($1.number ?? 0) } / Double(present.count))
        }
    }

    private static func unsupported(_ operation: AggregateOperation, _ kind: PropertyKind) -> QueryError {
        QueryError("Operation '\(operation.name)' not supported for \(kind.name) values.")
    }
}

extension StoredValue {
    /// The stored form of a plain number or date of an unmanaged list.
    init(plain value: Any?) {
        guard let value else {
            self = .null
            return
        }
        if let element = value as? any _Scalar {
            func stored<Value: _Scalar>(_ value: Value) -> StoredValue { Value._stored(value).value }
            self = stored(element)
        } else {
            self = .null
        }
    }
}
