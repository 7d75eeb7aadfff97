/// Bytes that compare as the values do.
extension StoredValue {
    /// Bytes whose order is that of `order(_:_:)`, equal for equal values.
    package var sortKey: [UInt8] {
        var bytes: [UInt8] = []
        appendSortKey(to: &bytes, isNested: false)
        return bytes
    }

    /// The same for values of a property of some kind: decimals among themselves take fewer bytes.
    package func sortKey(of kind: PropertyKind) -> [UInt8] {
        guard kind == .decimal128, case .decimal(let value) = self else { return sortKey }
        var bytes: [UInt8] = []
        value.number.appendSortKey(to: &bytes)
        return bytes
    }

    /// Appends the bytes; those of nested values are not the beginning of others.
    private func appendSortKey(to bytes: inout [UInt8], isNested: Bool) {
        // What follows a value in a list is above 0, or the 0 of its end.
        bytes.append(rank + 1)
        switch self {
        case .null: break
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .int(let value): ExactNumber(value).appendSortKey(to: &bytes)
        case .float(let value): ExactNumber(Double(value)).appendSortKey(to: &bytes)
        case .double(let value), .date(let value): ExactNumber(value).appendSortKey(to: &bytes)
        case .decimal(let value): ExactNumber(value.number).appendSortKey(to: &bytes)
        case .string(let value):
            if isNested { Self.append(value.utf8, to: &bytes) } else { bytes.append(contentsOf: value.utf8) }
        case .data(let value):
            if isNested { Self.append(value, to: &bytes) } else { bytes.append(contentsOf: value) }
        case .objectId(let value):
            Self.append(value.high, to: &bytes)
            Self.append(value.low, to: &bytes)
        case .uuid(let value):
            Self.append(value.high, to: &bytes)
            Self.append(value.low, to: &bytes)
        case .link(let key):
            bytes.append(0)
            Self.append(UInt64(bitPattern: key) ^ 1 << 63, to: &bytes)
        case .anyLink(let table, let key):
            bytes.append(1)
            Self.append(table, to: &bytes)
            Self.append(UInt64(bitPattern: key) ^ 1 << 63, to: &bytes)
        case .list(let values):
            for value in values { value.appendSortKey(to: &bytes, isNested: true) }
            bytes.append(0)
        case .dictionary(let entries):
            for entry in entries {
                bytes.append(1)
                Self.append(entry.key.utf8, to: &bytes)
                entry.value.appendSortKey(to: &bytes, isNested: true)
            }
            bytes.append(0)
        }
    }

    private static func append<Value: FixedWidthInteger>(_ value: Value, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends bytes with an end: 00 as 00 FF, then 00 00.
    private static func append(_ text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        for byte in text {
            bytes.append(byte)
            if byte == 0 { bytes.append(0xFF) }
        }
        bytes.append(0)
        bytes.append(0)
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
