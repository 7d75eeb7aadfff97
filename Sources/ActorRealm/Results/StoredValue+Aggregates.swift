import RealmModel
import RealmQuery

extension StoredValue {
    /// Orders values, null first.
    static func compare(_ left: StoredValue, _ right: StoredValue) -> Int { order(left, right) }

    /// The value as a number; nil for other kinds.
    var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .float(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): value.number.double
        default: nil
        }
    }

    /// Computes over the values of a collection of values, as queries do; nulls are left out.
    static func aggregate(
        _ operation: AggregateOperation,
        _ values: [StoredValue],
        kind: PropertyKind
    ) throws -> StoredValue {
        var kinds: [PropertyKind] = [.int, .float, .double, .decimal128, .any]
        if operation == .minimum || operation == .maximum { kinds.append(.date) }
        guard kinds.contains(kind) else { throw unsupported(operation, kind) }
        var accumulator = AggregateAccumulator(kind: kind)
        for value in values { accumulator.add(value) }
        return accumulator.stored(of: operation)
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
