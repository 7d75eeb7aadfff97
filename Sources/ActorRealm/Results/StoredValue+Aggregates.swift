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
    /// The stored form of a plain number or date of an unmanaged list, which may be one of values of any type.
    init(plain value: Any?) {
        guard let value else {
            self = .null
            return
        }
        if let value = value as? AnyRealmValue {
            self.init(plain: value.content)
        } else if let element = value as? any _Scalar {
            func stored<Value: _Scalar>(_ value: Value) -> StoredValue { Value._stored(value).value }
            self = stored(element)
        } else {
            self = .null
        }
    }
}

extension _Stored {
    /// Says that values have no property.
    static func noProperty(_ name: String) -> QueryError {
        QueryError("Invalid property name '\(name)': the elements are values, which have no properties.")
    }

    /// The aggregate of the elements of an unmanaged collection, or of a property of them, possibly across links.
    static func aggregate(
        _ operation: AggregateOperation,
        _ property: String?,
        of elements: [Any?],
        shape: _PropertyShape
    ) throws -> _Stored {
        var values = elements.map { ValueReader.unwrap($0) }
        var kind = shape.kind
        if let property {
            guard let target = shape.target else { throw noProperty(property) }
            var info = ModelClass.of(target)
            for name in property.split(separator: ".", omittingEmptySubsequences: false) {
                let step = info.property(inPath: String(name)) ?? info.requiredProperty(String(name))
                values = values.map { ($0 as? ObjectBase).flatMap { ValueReader.unwrap(step.value(in: $0)) } }
                kind = step.shape.kind
                if let target = step.shape.target { info = ModelClass.of(target) }
            }
        }
        return _Stored(try StoredValue.aggregate(operation, values.map { StoredValue(plain: $0) }, kind: kind))
    }
}
