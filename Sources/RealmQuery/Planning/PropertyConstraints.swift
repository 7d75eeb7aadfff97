import RealmModel

/// What the parts of a conjunction say of single properties, in the form in which indexes are asked.
struct PropertyConstraints {
    fileprivate struct Constraint {
        /// The fewest values that a part allows.
        var equal: (part: Int, values: [StoredValue])?
        /// What all ranges leave together.
        var lower = IndexBound.unbounded
        var upper = IndexBound.unbounded
        var ranges: [Int] = []
        var prefix: (part: Int, bytes: [UInt8])?
    }

    private var constraints: [Int: Constraint] = [:]

    init(_ parts: [Condition]) {
        for (place, part) in parts.enumerated() {
            switch part.candidate {
            case .equal(let property, let values)?:
                let known = constraints[property]?.equal?.values.count ?? .max
                if values.count < known { constraints[property, default: Constraint()].equal = (place, values) }
            case .range(let property, let lower, let upper)?:
                constraints[property, default: Constraint()].narrow(lower, upper, by: place)
            case .prefix(let property, let bytes)?:
                let known = constraints[property]?.prefix?.bytes.count ?? 0
                if bytes.count > known { constraints[property, default: Constraint()].prefix = (place, bytes) }
            default: break
            }
        }
    }

    var isEmpty: Bool { constraints.isEmpty }

    /// The properties that several ranges narrow, with what these leave together.
    var joinedRanges: [(property: Int, lower: IndexBound, upper: IndexBound, parts: [Int])] {
        constraints.filter { $0.value.ranges.count > 1 }
            .map { (property: $0.key, lower: $0.value.lower, upper: $0.value.upper, parts: $0.value.ranges) }
    }

    /// The one value that a property must have, and the part that says so.
    func value(of property: Int) -> (part: Int, value: StoredValue)? {
        guard let equal = constraints[property]?.equal, equal.values.count == 1 else { return nil }
        return (equal.part, equal.values[0])
    }

    /// The range or prefix of a property, and the parts that say so.
    func tail(of property: Int) -> (parts: [Int], tail: IndexTail)? {
        guard let constraint = constraints[property] else { return nil }
        if let prefix = constraint.prefix { return ([prefix.part], .prefix(prefix.bytes)) }
        if constraint.ranges.isEmpty { return nil }
        return (constraint.ranges, .range(constraint.lower, constraint.upper))
    }

    /// The part of an index that the constraints lead to, and the parts that it answers; nil when its first property is
    /// not constrained.
    func range(of index: TableIndex) -> (range: IndexRange, parts: [Int])? {
        var prefixes: [[StoredValue]] = [[]]
        var parts: [Int] = []
        var tail = IndexTail.all
        for property in index.ordinals {
            if let equal = constraints[property]?.equal,
                equal.values.count * prefixes.count <= IndexRange.combinationLimit
            {
                prefixes = prefixes.flatMap { prefix in equal.values.map { prefix + [$0] } }
                parts.append(equal.part)
                continue
            }
            if let found = self.tail(of: property) {
                tail = found.tail
                parts += found.parts
            }
            break
        }
        if parts.isEmpty { return nil }
        return (IndexRange(index: index, prefixes: prefixes, tail: tail), parts)
    }
}

extension PropertyConstraints.Constraint {
    /// Takes another range into account.
    fileprivate mutating func narrow(_ lower: IndexBound, _ upper: IndexBound, by part: Int) {
        ranges.append(part)
        if case .including(let value) = lower {
            if case .including(let known) = self.lower, StoredValue.order(known, value) >= 0 {
                // The known bound is the narrower one.
            } else {
                self.lower = lower
            }
        }
        if case .including(let value) = upper {
            if case .including(let known) = self.upper, StoredValue.order(known, value) <= 0 {
                // The known bound is the narrower one.
            } else {
                self.upper = upper
            }
        }
    }
}
