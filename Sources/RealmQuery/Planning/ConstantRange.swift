import RealmModel

/// The ints, or the doubles, for which a comparison with a constant holds.
struct ConstantRange<Bound: Comparable & Sendable>: Sendable {
    var lower: Bound
    var upper: Bound
    /// Whether the values outside the range are meant (`!=`).
    var isNegated = false
}

extension ConstantRange where Bound == Int64 {
    static var empty: Self { Self(lower: 1, upper: 0) }
    static var full: Self { Self(lower: .min, upper: .max) }

    /// The ints that compare so with an int.
    init(_ operation: ComparisonOperator, _ value: Int64) {
        switch operation {
        case .equal: self.init(lower: value, upper: value)
        case .notEqual: self.init(lower: value, upper: value, isNegated: true)
        case .less: self = value == .min ? .empty : Self(lower: .min, upper: value - 1)
        case .lessOrEqual: self.init(lower: .min, upper: value)
        case .greater: self = value == .max ? .empty : Self(lower: value + 1, upper: .max)
        case .greaterOrEqual: self.init(lower: value, upper: .max)
        default: self = .empty
        }
    }

    /// The ints that compare so with a floating-point number, exactly.
    init(_ operation: ComparisonOperator, _ value: Double) {
        if let whole = Int64(exactly: value) {
            self.init(operation, whole)
            return
        }
        let limit = 0x1p63
        switch operation {
        case .notEqual:
            self = .empty
            isNegated = true
        case _ where value.isNaN: self = .empty
        case .less, .lessOrEqual:
            // The value is not a whole number in range: below it means at most its floor.
            if value < -limit {
                self = .empty
            } else {
                self.init(lower: .min, upper: value >= limit ? .max : Int64(value.rounded(.down)))
            }
        case .greater, .greaterOrEqual:
            if value >= limit {
                self = .empty
            } else {
                self.init(lower: value < -limit ? .min : Int64(value.rounded(.up)), upper: .max)
            }
        default: self = .empty
        }
    }

    /// The ints that compare so with a decimal, exactly.
    init(_ operation: ComparisonOperator, _ value: DecimalNumber) {
        guard let whole = value.integer, whole > .min || value.isWhole else {
            // Beyond every int, or no number.
            let limit: Double = value.isNaN ? .nan : value.isNegative ? -Double.infinity : .infinity
            self.init(operation, limit)
            return
        }
        if value.isWhole {
            self.init(operation, whole)
            return
        }
        // The number lies between two ints.
        let below = value.isNegative ? whole - 1 : whole
        switch operation {
        case .less, .lessOrEqual: self.init(.lessOrEqual, below)
        case .greater, .greaterOrEqual: self.init(.greater, below)
        case .notEqual:
            self = .empty
            isNegated = true
        default: self = .empty
        }
    }
}

extension ConstantRange where Bound == Double {
    static var empty: Self { Self(lower: 1, upper: 0) }

    /// The doubles that compare so with a double.
    init(_ operation: ComparisonOperator, _ value: Double) {
        let infinity = Double.infinity
        switch operation {
        case .notEqual: self.init(lower: value, upper: value, isNegated: true)
        case _ where value.isNaN: self = .empty
        case .equal: self.init(lower: value, upper: value)
        case .less: self = value == -infinity ? .empty : Self(lower: -infinity, upper: value.nextDown)
        case .lessOrEqual: self.init(lower: -infinity, upper: value)
        case .greater: self = value == infinity ? .empty : Self(lower: value.nextUp, upper: infinity)
        case .greaterOrEqual: self.init(lower: value, upper: infinity)
        default: self = .empty
        }
    }

    /// The doubles that compare so with an int, exactly.
    init(_ operation: ComparisonOperator, _ value: Int64) {
        let nearest = Double(value)
        self.init(operation, nearest: nearest, order: ValueComparison.order(value, nearest) ?? 0)
    }

    /// The doubles that compare so with a number, exactly: a double next to it, and how the number compares with that.
    init(_ operation: ComparisonOperator, nearest: Double, order: Int) {
        if order == 0 {
            self.init(operation, nearest)
            return
        }
        // The number lies between two doubles; `nearest` is one of them.
        let below = order < 0 ? nearest.nextDown : nearest
        switch operation {
        case .less, .lessOrEqual: self.init(.lessOrEqual, below)
        case .greater, .greaterOrEqual: self.init(.greater, below)
        case .notEqual:
            self = .empty
            isNegated = true
        default: self = .empty
        }
    }
}
