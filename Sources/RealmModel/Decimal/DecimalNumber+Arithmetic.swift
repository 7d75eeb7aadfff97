/// Arithmetic with correct rounding: to nearest, ties to even. Nothing traps: results out of range are infinite, invalid
/// operations give NaN.
extension DecimalNumber {
    /// Rounds an exact result to a representable number.
    ///
    /// - Parameters:
    ///   - value: The coefficient.
    ///   - exponent: Its exponent.
    ///   - isNegative: Its sign.
    ///   - hasMore: Whether the exact coefficient is larger by a part of one.
    /// - Returns: the nearest number.
    static func rounded(_ value: WideNumber, exponent: Int, isNegative: Bool, hasMore: Bool) -> DecimalNumber {
        var value = value
        var exponent = exponent
        var hasMore = hasMore
        // The digits to drop: beyond the precision, or below the smallest exponent.
        var drop = Swift.max(0, digitCount(value) - precision, minimumExponent - exponent)
        var lastDropped: UInt128 = 0
        while drop > 0 {
            // The last digit dropped decides, everything below it only tells whether there is more.
            if drop > 1 {
                let step = Swift.min(drop - 1, 37)
                let (quotient, remainder) = value.dividedBy(DecimalPowers.ten(step))
                hasMore = hasMore || remainder != 0
                value = quotient
                exponent += step
                drop -= step
                if value.isZero, drop > 1 {
                    exponent += drop - 1
                    drop = 1
                }
            } else {
                let (quotient, remainder) = value.dividedBy(10)
                lastDropped = remainder
                value = quotient
                exponent += 1
                drop = 0
            }
        }
        var coefficient = value.low
        if lastDropped > 5 || (lastDropped == 5 && (hasMore || coefficient & 1 == 1)) { coefficient += 1 }
        if coefficient == coefficientLimit {
            coefficient /= 10
            exponent += 1
        }
        return fitted(isNegative: isNegative, coefficient: coefficient, exponent: exponent)
    }

    /// A number whose coefficient fits, with its exponent brought into range.
    private static func fitted(isNegative: Bool, coefficient: UInt128, exponent: Int) -> DecimalNumber {
        var coefficient = coefficient
        var exponent = exponent
        if coefficient == 0 {
            return DecimalNumber(
                isNegative: isNegative,
                exponent: Swift.min(Swift.max(exponent, minimumExponent), maximumExponent)
            )
        }
        while exponent > maximumExponent {
            guard coefficient < coefficientLimit / 10 else {
                return DecimalNumber(form: .infinity, isNegative: isNegative)
            }
            coefficient *= 10
            exponent -= 1
        }
        return DecimalNumber(isNegative: isNegative, coefficient: coefficient, exponent: exponent)
    }

    private static func digitCount(_ value: WideNumber) -> Int {
        if value.high == 0 { return DecimalPowers.digitCount(value.low) }
        let (quotient, _) = value.dividedBy(DecimalPowers.ten(38))
        return 38 + digitCount(quotient)
    }

    /// The NaN that an operation on NaNs gives.
    private static func propagated(_ left: DecimalNumber, _ right: DecimalNumber) -> DecimalNumber? {
        left.isNaN || right.isNaN ? notANumber : nil
    }

    package static func + (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
        if let result = propagated(left, right) { return result }
        if left.form == .infinity || right.form == .infinity {
            if left.form == right.form { return left.isNegative == right.isNegative ? left : notANumber }
            return left.form == .infinity ? left : right
        }
        // The operand with the greater exponent is scaled to the other's.
        let (upper, lower) = left.exponent >= right.exponent ? (left, right) : (right, left)
        if upper.coefficient == 0 {
            if lower.coefficient == 0 {
                return DecimalNumber(
                    isNegative: left.isNegative && right.isNegative,
                    exponent: lower.exponent
                )
            }
            return lower
        }
        var distance = upper.exponent - lower.exponent
        if lower.coefficient == 0 {
            // The zero only asks for more digits.
            let room = Swift.min(distance, precision - DecimalPowers.digitCount(upper.coefficient))
            return DecimalNumber(
                isNegative: upper.isNegative,
                coefficient: upper.coefficient * DecimalPowers.ten(room),
                exponent: upper.exponent - room
            )
        }
        var upperCoefficient = upper.coefficient
        let room = Swift.min(distance, precision - DecimalPowers.digitCount(upperCoefficient))
        upperCoefficient *= DecimalPowers.ten(room)
        distance -= room
        let isDifference = upper.isNegative != lower.isNegative
        if distance > 36 {
            // The lower operand is less than a thousandth of the last digit: it only tips the scales.
            let scaled = WideNumber.product(upperCoefficient, 100)
            return rounded(
                isDifference ? scaled - WideNumber(high: 0, low: 1) : scaled,
                exponent: lower.exponent + distance - 2,
                isNegative: upper.isNegative,
                hasMore: true
            )
        }
        let scaled = WideNumber.product(upperCoefficient, DecimalPowers.ten(distance))
        let other = WideNumber(high: 0, low: lower.coefficient)
        if !isDifference {
            return rounded(scaled + other, exponent: lower.exponent, isNegative: upper.isNegative, hasMore: false)
        }
        if scaled < other {
            return rounded(other - scaled, exponent: lower.exponent, isNegative: lower.isNegative, hasMore: false)
        }
        let difference = scaled - other
        return rounded(
            difference,
            exponent: lower.exponent,
            isNegative: difference.isZero ? false : upper.isNegative,
            hasMore: false
        )
    }

    package static func - (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber { left + -right }

    package static func * (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
        if let result = propagated(left, right) { return result }
        let isNegative = left.isNegative != right.isNegative
        if left.form == .infinity || right.form == .infinity {
            return left.isZero || right.isZero ? notANumber : DecimalNumber(form: .infinity, isNegative: isNegative)
        }
        return rounded(
            .product(left.coefficient, right.coefficient),
            exponent: left.exponent + right.exponent,
            isNegative: isNegative,
            hasMore: false
        )
    }

    package static func / (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
        if let result = propagated(left, right) { return result }
        let isNegative = left.isNegative != right.isNegative
        if left.form == .infinity {
            return right.form == .infinity ? notANumber : DecimalNumber(form: .infinity, isNegative: isNegative)
        }
        if right.form == .infinity { return DecimalNumber(isNegative: isNegative, exponent: minimumExponent) }
        if right.coefficient == 0 {
            return left.coefficient == 0 ? notANumber : DecimalNumber(form: .infinity, isNegative: isNegative)
        }
        let ideal = left.exponent - right.exponent
        if left.coefficient == 0 {
            return DecimalNumber(
                isNegative: isNegative,
                exponent: Swift.min(Swift.max(ideal, minimumExponent), maximumExponent)
            )
        }
        // At least 35 digits of quotient: one more than is kept.
        let room = precision - DecimalPowers.digitCount(left.coefficient)
        let scaled = WideNumber.product(left.coefficient * DecimalPowers.ten(room), DecimalPowers.ten(36))
        let (quotient, remainder) = scaled.dividedBy(right.coefficient)
        let result = rounded(
            quotient,
            exponent: ideal - room - 36,
            isNegative: isNegative,
            hasMore: remainder != 0
        )
        return remainder == 0 && result.form == .finite ? result.withoutTrailingZeros(above: ideal) : result
    }
}

extension DecimalNumber: Equatable, Hashable, Comparable {
    /// Compares values: below 0 when the left one is less, 0 when they are equal, nil when one is NaN.
    package static func compare(_ left: DecimalNumber, _ right: DecimalNumber) -> Int? {
        if left.isNaN || right.isNaN { return nil }
        if left.isZero && right.isZero { return 0 }
        let leftIsNegative = left.isNegative && !left.isZero
        let rightIsNegative = right.isNegative && !right.isZero
        if leftIsNegative != rightIsNegative { return leftIsNegative ? -1 : 1 }
        let order = compareMagnitudes(left, right)
        return leftIsNegative ? -order : order
    }

    private static func compareMagnitudes(_ left: DecimalNumber, _ right: DecimalNumber) -> Int {
        if left.form == .infinity || right.form == .infinity {
            return left.form == right.form ? 0 : left.form == .infinity ? 1 : -1
        }
        if left.isZero || right.isZero { return left.isZero ? (right.isZero ? 0 : -1) : 1 }
        let leftTop = DecimalPowers.digitCount(left.coefficient) + left.exponent
        let rightTop = DecimalPowers.digitCount(right.coefficient) + right.exponent
        if leftTop != rightTop { return leftTop < rightTop ? -1 : 1 }
        // Numbers with the same leading place differ by at most 33 in their exponents.
        var leftCoefficient = left.coefficient
        var rightCoefficient = right.coefficient
        if left.exponent > right.exponent {
            leftCoefficient *= DecimalPowers.ten(left.exponent - right.exponent)
        } else {
            rightCoefficient *= DecimalPowers.ten(right.exponent - left.exponent)
        }
        return leftCoefficient < rightCoefficient ? -1 : leftCoefficient == rightCoefficient ? 0 : 1
    }

    /// A total order for sorting: NaN first, equal to NaN.
    package static func order(_ left: DecimalNumber, _ right: DecimalNumber) -> Int {
        if let order = compare(left, right) { return order }
        return left.isNaN ? (right.isNaN ? 0 : -1) : 1
    }

    /// Equality of values; NaN equals nothing.
    package static func == (left: DecimalNumber, right: DecimalNumber) -> Bool { compare(left, right) == 0 }
    package static func < (left: DecimalNumber, right: DecimalNumber) -> Bool { (compare(left, right) ?? 0) < 0 }
    // Those of the standard library say that one is not less than the other, which is so of NaN.
    package static func > (left: DecimalNumber, right: DecimalNumber) -> Bool { (compare(left, right) ?? 0) > 0 }
    package static func <= (left: DecimalNumber, right: DecimalNumber) -> Bool { (compare(left, right) ?? 1) <= 0 }
    package static func >= (left: DecimalNumber, right: DecimalNumber) -> Bool { (compare(left, right) ?? -1) >= 0 }

    package func hash(into hasher: inout Hasher) {
        let canonical = withoutTrailingZeros()
        hasher.combine(canonical.form)
        hasher.combine(canonical.isNegative && !canonical.isZero)
        hasher.combine(canonical.coefficient)
        hasher.combine(canonical.isZero ? 0 : canonical.exponent)
    }
}
