import RealmModel

extension AddableType {
    /// The sum that was computed; zero where none was.
    static func _sum(_ stored: _Stored) -> Self {
        if let sum = _fromAggregate(stored) { return sum }
        if stored.value.isNull { return _zero() }
        misuse(
            "The sum \(stored.value.words) does not fit in \(Self.self): ask for it as a wider type, by the property's name."
        )
    }
}

extension _Scalar {
    /// Converts the result of an aggregate.
    public static func _fromAggregate(_ stored: _Stored) -> Self? { _fromStored(stored) }
}
extension _PersistableInteger {
    /// What nothing adds up to.
    public static func _zero() -> Self { 0 }
    /// Converts the result of an aggregate, rounded towards zero.
    public static func _fromAggregate(_ stored: _Stored) -> Self? {
        let whole: Self?
        switch stored.value {
        case .int(let value): whole = Self(exactly: value)
        case .double(let value) where value.isFinite: whole = Self(exactly: value.rounded(.towardZero))
        case .float(let value) where value.isFinite: whole = Self(exactly: value.rounded(.towardZero))
        case .decimal(let value) where value.number.form == .finite:
            whole = value.number.truncated.flatMap { Self(exactly: $0) }
        default: return nil
        }
        guard let whole else {
            misuse(
                "The result \(stored.value.words) does not fit in \(Self.self): ask for it as a wider type, by the property's name."
            )
        }
        return whole
    }
}
extension Double {
    /// What nothing adds up to.
    public static func _zero() -> Double { 0 }
    /// Converts the result of an aggregate.
    public static func _fromAggregate(_ stored: _Stored) -> Double? { stored.value.number }
}
extension Float {
    /// What nothing adds up to.
    public static func _zero() -> Float { 0 }
    /// Converts the result of an aggregate.
    public static func _fromAggregate(_ stored: _Stored) -> Float? { stored.value.number.map { Float($0) } }
}
extension Decimal128 {
    /// Converts the result of an aggregate.
    public static func _fromAggregate(_ stored: _Stored) -> Decimal128? {
        switch stored.value {
        case .int(let value): Decimal128(DecimalNumber(value))
        case .float(let value): Decimal128(DecimalNumber(value))
        case .double(let value): Decimal128(DecimalNumber(value))
        default: _fromStored(stored)
        }
    }
}
