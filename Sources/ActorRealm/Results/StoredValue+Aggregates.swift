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

    /// Computes over the values of a collection of values; nulls are left out.
    static func aggregate(
        _ operation: AggregateOperation,
        _ values: [StoredValue],
        kind: PropertyKind
    ) throws -> StoredValue {
        let present = values.filter { !$0.isNull }
        if kind == .decimal128 || kind == .any {
            let numbers = present.filter { $0.decimal != nil }
            let sum = numbers.reduce(DecimalNumber.zero) { $0 + ($1.decimal ?? .zero) }
            switch operation {
            case .minimum: return numbers.min { compare($0, $1) < 0 } ?? .null
            case .maximum: return numbers.max { compare($0, $1) < 0 } ?? .null
            case .sum: return .decimal(DecimalBytes(sum))
            case .average:
                return numbers.isEmpty ? .null : .decimal(DecimalBytes(sum / DecimalNumber(Int64(numbers.count))))
            }
        }
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
