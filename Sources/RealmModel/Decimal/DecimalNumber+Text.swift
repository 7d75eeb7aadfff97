/// The text of decimal numbers: as the General Decimal Arithmetic specification's to-scientific-string writes them.
extension DecimalNumber {
    /// Reads a number: sign, digits with a point, exponent; or `inf`, `infinity`, `nan`, `snan` in any case.
    ///
    /// Digits beyond the precision are rounded. Nil for any other text.
    package init?(parsing text: some StringProtocol) {
        var bytes = Array(text.utf8)[...]
        var isNegative = false
        if let sign = bytes.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            isNegative = sign == UInt8(ascii: "-")
            bytes = bytes.dropFirst()
        }
        switch String(decoding: bytes, as: UTF8.self).lowercased() {
        case "inf", "infinity":
            self.init(form: .infinity, isNegative: isNegative)
            return
        case "nan":
            self.init(form: .quietNaN, isNegative: isNegative)
            return
        case "snan":
            self.init(form: .signalingNaN, isNegative: isNegative)
            return
        default: break
        }
        var coefficient: UInt128 = 0
        var exponent = 0
        var digitCount = 0
        var hasDigits = false
        var isFraction = false
        // One digit more than is kept decides on rounding, what follows only tells whether there is more.
        var hasMore = false
        while let byte = bytes.first {
            if byte == UInt8(ascii: ".") {
                guard !isFraction else { return nil }
                isFraction = true
            } else if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                hasDigits = true
                let digit = UInt128(byte - UInt8(ascii: "0"))
                if digitCount <= Self.precision {
                    coefficient = coefficient * 10 + digit
                    if coefficient != 0 { digitCount += 1 }
                    if isFraction { exponent -= 1 }
                } else {
                    hasMore = hasMore || digit != 0
                    if !isFraction { exponent += 1 }
                }
            } else {
                break
            }
            bytes = bytes.dropFirst()
        }
        guard hasDigits else { return nil }
        if let mark = bytes.first {
            guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return nil }
            let digits = bytes.dropFirst()
            let unsigned =
                digits.first.map { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") } == true
                ? digits.dropFirst() : digits
            guard !unsigned.isEmpty, unsigned.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            else { return nil }
            // Far out of range is as good as any number that is, but the digits may undo a part of it.
            let isBelow = digits.first == UInt8(ascii: "-")
            let value = Int(String(decoding: digits, as: UTF8.self)) ?? (isBelow ? .min : .max)
            let (sum, isBeyond) = exponent.addingReportingOverflow(value)
            exponent = isBeyond ? (isBelow ? -100_000 : 100_000) : Swift.min(Swift.max(sum, -100_000), 100_000)
        }
        self = Self.rounded(
            WideNumber(high: 0, low: coefficient),
            exponent: exponent,
            isNegative: isNegative,
            hasMore: hasMore
        )
    }

    /// The number as text that reads back as the same number.
    package var text: String {
        let sign = isNegative ? "-" : ""
        switch form {
        case .infinity: return sign + "Inf"
        case .quietNaN: return "NaN"
        case .signalingNaN: return "sNaN"
        case .finite: break
        }
        let digits = "\(coefficient)"
        let adjusted = exponent + digits.utf8.count - 1
        if exponent <= 0, adjusted >= -6 {
            if exponent == 0 { return sign + digits }
            let point = digits.utf8.count + exponent
            if point > 0 { return sign + digits.prefix(point) + "." + digits.dropFirst(point) }
            return sign + "0." + String(repeating: "0", count: -point) + digits
        }
        var text = sign + digits.prefix(1)
        if digits.utf8.count > 1 { text += "." + digits.dropFirst() }
        return text + "E" + (adjusted < 0 ? "\(adjusted)" : "+\(adjusted)")
    }
}

/// The sixteen bytes of a decimal number in a file: the format's binary integer encoding, most significant byte first;
/// all bytes 0 for the number 0.
@frozen
package struct DecimalBytes: Hashable, Sendable, BitwiseCopyable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(load bytes: UnsafeRawPointer) {
        high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    package func store(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }

    /// Encodes a number.
    package init(_ number: DecimalNumber) {
        let sign: UInt64 = number.isNegative ? 1 << 63 : 0
        switch number.form {
        case .infinity: self.init(high: sign | 0b11110 << 58, low: 0)
        case .quietNaN: self.init(high: sign | 0b111110 << 57, low: 0)
        case .signalingNaN: self.init(high: sign | 0b111111 << 57, low: 0)
        case .finite where number.coefficient == 0 && number.exponent == 0 && !number.isNegative:
            // What a new row's column holds.
            self.init(high: 0, low: 0)
        case .finite:
            // A coefficient below 10^34 has at most 113 bits, so the long form of the exponent always serves.
            let exponent = UInt64(number.exponent - DecimalNumber.minimumExponent)
            self.init(
                high: sign | exponent << 49 | UInt64(truncatingIfNeeded: number.coefficient >> 64),
                low: UInt64(truncatingIfNeeded: number.coefficient)
            )
        }
    }

    /// The number; a coefficient that is too large stands for 0, as the standard says.
    package var number: DecimalNumber {
        if high == 0 && low == 0 { return .zero }
        let isNegative = high >> 63 == 1
        if high >> 58 & 0b11111 == 0b11110 { return DecimalNumber(form: .infinity, isNegative: isNegative) }
        if high >> 58 & 0b11111 == 0b11111 {
            return DecimalNumber(form: high >> 57 & 1 == 1 ? .signalingNaN : .quietNaN, isNegative: isNegative)
        }
        let isShort = high >> 61 & 0b11 == 0b11
        let exponent = Int(high >> (isShort ? 47 : 49) & 0x3FFF) + DecimalNumber.minimumExponent
        let coefficient = isShort ? DecimalNumber.coefficientLimit : UInt128(high & (1 << 49 - 1)) << 64 | UInt128(low)
        return DecimalNumber(
            isNegative: isNegative,
            coefficient: coefficient < DecimalNumber.coefficientLimit ? coefficient : 0,
            exponent: exponent
        )
    }
}
