/// What a query asks of each row: a tree of comparisons joined by logic.
///
/// A predicate is plain data. It knows no schema: names and types are resolved when a `CompiledQuery` is made of it.
package indirect enum Predicate: Sendable, Equatable {
    /// `TRUEPREDICATE` or `FALSEPREDICATE`.
    case constant(Bool)
    /// Holds when every part holds; an empty list holds.
    case and([Predicate])
    /// Holds when one of the parts holds; an empty list does not.
    case or([Predicate])
    /// Holds when the part does not: plain negation, nulls included.
    case not(Predicate)
    /// Compares two operands.
    case comparison(PredicateComparison)
}

extension Predicate {
    /// Compares two operands.
    package static func compare(
        _ left: PredicateOperand,
        _ operation: ComparisonOperator,
        _ right: PredicateOperand,
        options: StringComparisonOptions = .none,
        quantifier: PredicateQuantifier? = nil
    ) -> Predicate {
        .comparison(
            PredicateComparison(left, operation, right, options: options, quantifier: quantifier)
        )
    }

    /// All of the predicates, flattened so that a long chain of `&&` stays shallow.
    package static func conjunction(_ predicates: [Predicate]) -> Predicate {
        var parts: [Predicate] = []
        for predicate in predicates {
            switch predicate {
            case .constant(true): break
            case .and(let inner): parts += inner
            default: parts.append(predicate)
            }
        }
        return parts.isEmpty ? .constant(true) : parts.count == 1 ? parts[0] : .and(parts)
    }

    /// Any of the predicates, flattened so that a long chain of `||` stays shallow.
    package static func disjunction(_ predicates: [Predicate]) -> Predicate {
        var parts: [Predicate] = []
        for predicate in predicates {
            switch predicate {
            case .constant(false): break
            case .or(let inner): parts += inner
            default: parts.append(predicate)
            }
        }
        return parts.isEmpty ? .constant(false) : parts.count == 1 ? parts[0] : .or(parts)
    }

    /// The opposite; a double negation cancels itself out.
    package var negated: Predicate {
        switch self {
        case .constant(let value): .constant(!value)
        case .not(let inner): inner
        default: .not(self)
        }
    }
}

extension Predicate {
    /// The longest way from this node to a leaf, subqueries included, computed without recursion; counting stops
    /// soon after `limit`.
    package func depth(limit: Int) -> Int {
        var deepest = 0
        var pending: [(predicate: Predicate, depth: Int)] = [(self, 1)]
        while let (predicate, depth) = pending.popLast() {
            deepest = max(deepest, depth)
            if deepest > limit { return deepest }
            switch predicate {
            case .constant: break
            case .and(let parts), .or(let parts):
                for part in parts { pending.append((part, depth + 1)) }
            case .not(let part):
                pending.append((part, depth + 1))
            case .comparison(let comparison):
                for operand in [comparison.left, comparison.right] {
                    if case .subqueryCount(let subquery) = operand {
                        pending.append((subquery.predicate, depth + 1))
                    }
                }
            }
        }
        return deepest
    }
}
