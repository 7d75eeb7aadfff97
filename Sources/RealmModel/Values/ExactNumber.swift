/// A number of any type by its exact value: what the order, the equality and the hash of numbers are made of.
///
/// It is the greatest double that is not above the number, and the number itself where that double is another one: an
/// integer beyond 2^53, or most decimals with a fraction. NaN is equal to itself and comes first; -0.0 is 0.0.
struct ExactNumber {
    /// The greatest double that is not above the number.
    let floor: Double
    /// The number where it lies above `floor`.
    let exact: DecimalNumber?

    private init(floor: Double, exact: DecimalNumber?) {
        self.floor = floor + 0.0
        self.exact = exact
    }

    init(_ value: Double) { self.init(floor: value, exact: nil) }

    init(_ value: Int64) {
        let nearest = Double(value)
        let order = Self.order(value, nearest)
        self.init(floor: order < 0 ? nearest.nextDown : nearest, exact: order == 0 ? nil : DecimalNumber(value))
    }

    init(_ value: DecimalNumber) {
        if value.form != .finite || value.coefficient == 0 {
            self.init(floor: value.form == .finite ? 0 : value.double, exact: nil)
        } else if value.isWhole, let whole = value.integer {
            self.init(whole)
        } else {
            let nearest = value.double
            let order = DecimalComparison.order(nearest, value)
            self.init(floor: order > 0 ? nearest.nextDown : nearest, exact: order == 0 ? nil : value)
        }
    }

    /// Below 0 when the left number comes first, 0 when both have the same value.
    static func order(_ left: ExactNumber, _ right: ExactNumber) -> Int {
        let floors = order(left.floor, right.floor)
        if floors != 0 { return floors }
        return switch (left.exact, right.exact) {
        case (nil, nil): 0
        case (nil, _): -1
        case (_, nil): 1
        case (let one?, let other?): DecimalNumber.order(one, other)
        }
    }

    /// NaN comes first.
    static func order(_ left: Double, _ right: Double) -> Int {
        if left.isNaN || right.isNaN { return left.isNaN ? (right.isNaN ? 0 : -1) : 1 }
        return left < right ? -1 : left == right ? 0 : 1
    }

    /// An integer and a floating-point number, exactly; NaN comes first.
    static func order(_ integer: Int64, _ number: Double) -> Int {
        if number.isNaN || number < -0x1p63 { return 1 }
        if number >= 0x1p63 { return -1 }
        let whole = number.rounded(.down)
        let floor = Int64(whole)
        if integer != floor { return integer < floor ? -1 : 1 }
        return whole == number ? 0 : -1
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(floor.isNaN ? Double.nan.bitPattern : floor.bitPattern)
        if let exact { hasher.combine(exact) }
    }

    /// Appends bytes that compare as the numbers do, and of which none are the beginning of others.
    func appendSortKey(to bytes: inout [UInt8]) {
        var word: UInt64 = 0
        if !floor.isNaN { word = floor.sign == .minus ? ~floor.bitPattern : floor.bitPattern | 1 << 63 }
        withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(exact == nil ? 0 : 1)
        exact?.appendSortKey(to: &bytes)
    }
}

/// How binary numbers compare with decimal ones: by products that both have, without rounding.
enum DecimalComparison {
    /// Below 0 when the binary number is less, 0 when both are the same.
    ///
    /// The two have to be near each other, as a decimal and its nearest double are: that bounds the size of the products.
    static func order(_ binary: Double, _ decimal: DecimalNumber) -> Int {
        if binary.isInfinite { return binary < 0 ? -1 : 1 }
        if binary == 0 { return decimal.isNegative ? 1 : -1 }
        // |binary| = significand * 2^power, |decimal| = coefficient * 5^exponent * 2^exponent.
        let significand = binary.significandBitPattern | (binary.isNormal ? 1 << 52 : 0)
        let power = Int(max(binary.exponentBitPattern, 1)) - 1075
        var left = WholeNumber(UInt128(significand))
        var right = WholeNumber(decimal.coefficient)
        if decimal.exponent < 0 {
            left.multiply(byPowerOfFive: -decimal.exponent)
        } else {
            right.multiply(byPowerOfFive: decimal.exponent)
        }
        let common = min(power, decimal.exponent)
        left.shiftLeft(by: power - common)
        right.shiftLeft(by: decimal.exponent - common)
        let order = WholeNumber.order(left, right)
        return decimal.isNegative ? -order : order
    }

    /// A whole number of any size.
    private struct WholeNumber {
        /// Its words, the lowest first; the highest is not 0.
        private var words: [UInt32] = []

        init(_ value: UInt128) {
            var rest = value
            while rest != 0 {
                words.append(UInt32(truncatingIfNeeded: rest))
                rest >>= 32
            }
        }

        mutating func multiply(byPowerOfFive count: Int) {
            var rest = count
            while rest > 0 {
                let step = min(rest, 13)
                multiply(by: (0..<step).reduce(1) { power, _ in power * 5 })
                rest -= step
            }
        }

        private mutating func multiply(by factor: UInt64) {
            var carry: UInt64 = 0
            for index in words.indices {
                let product = UInt64(words[index]) * factor + carry
                words[index] = UInt32(truncatingIfNeeded: product)
                carry = product >> 32
            }
            if carry != 0 { words.append(UInt32(carry)) }
        }

        mutating func shiftLeft(by count: Int) {
            guard !words.isEmpty else { return }
            multiply(by: 1 << UInt64(count % 32))
            words.insert(contentsOf: repeatElement(0, count: count / 32), at: 0)
        }

        static func order(_ left: WholeNumber, _ right: WholeNumber) -> Int {
            if left.words.count != right.words.count { return left.words.count < right.words.count ? -1 : 1 }
            for (one, other) in zip(left.words.reversed(), right.words.reversed()) where one != other {
                return one < other ? -1 : 1
            }
            return 0
        }
    }
}
