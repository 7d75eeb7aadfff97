/// Bytes that compare as the values do.
extension StoredValue {
    /// Bytes whose order is that of `order(_:_:)`, equal for equal values; lists and dictionaries compare by their
    /// encodings instead.
    package var sortKey: [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .null: bytes.append(0)
        case .bool(let value): bytes += [1, value ? 1 : 0]
        case .int, .float, .double, .decimal:
            bytes.append(2)
            (decimal ?? .notANumber).appendSortKey(to: &bytes)
        case .string(let value):
            bytes.append(3)
            bytes.append(contentsOf: value.utf8)
        case .data(let value):
            bytes.append(4)
            bytes.append(contentsOf: value)
        case .date(let value):
            bytes.append(5)
            DecimalNumber(value).appendSortKey(to: &bytes)
        case .objectId(let value):
            bytes.append(6)
            Self.append(value.high, to: &bytes)
            Self.append(value.low, to: &bytes)
        case .uuid(let value):
            bytes.append(7)
            Self.append(value.high, to: &bytes)
            Self.append(value.low, to: &bytes)
        case .link(let key):
            bytes.append(8)
            Self.append(key, to: &bytes)
        case .anyLink(let table, let key):
            bytes.append(8)
            Self.append(table, to: &bytes)
            Self.append(key, to: &bytes)
        case .list:
            bytes.append(9)
            bytes += MixedFormat.encode(self)
        case .dictionary:
            bytes.append(10)
            bytes += MixedFormat.encode(self)
        }
        return bytes
    }

    private static func append<Value: FixedWidthInteger>(_ value: Value, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

extension DecimalNumber {
    /// Appends bytes that compare as the numbers do: NaN first, then from minus to plus infinity.
    func appendSortKey(to bytes: inout [UInt8]) {
        if isNaN { return bytes.append(0) }
        if form == .infinity { return bytes.append(isNegative ? 1 : 5) }
        if coefficient == 0 { return bytes.append(3) }
        bytes.append(isNegative ? 2 : 4)
        // Where the first digit stands, then all digits.
        let digits = DecimalPowers.digitCount(coefficient)
        let place = UInt16(digits + exponent + 10_000)
        let whole = coefficient * DecimalPowers.ten(DecimalNumber.precision - digits)
        let flip: UInt8 = isNegative ? 0xFF : 0
        withUnsafeBytes(of: place.bigEndian) { for byte in $0 { bytes.append(byte ^ flip) } }
        withUnsafeBytes(of: whole.bigEndian) { for byte in $0 { bytes.append(byte ^ flip) } }
    }
}
