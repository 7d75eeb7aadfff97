package import RealmModel
import RealmStorage

/// What a predicate demands of one property: the word that stands for its value lies in a range.
///
/// Rows outside the range cannot fulfil the predicate; rows inside it may. Ints stand for themselves, dates for words in
/// the same order, and other values for a hash, of which a range is one word.
package struct RowBound: Sendable, Hashable {
    package let property: Int
    package let lower: Int64
    package let upper: Int64

    init(property: Int, lower: Int64, upper: Int64) {
        self.property = property
        self.lower = lower
        self.upper = upper
    }

    /// The narrowest bound that the parts of a predicate give which all must hold; nil when they give none.
    package init?(_ predicate: Predicate, in table: TableView) {
        var bounds: [Int: RowBound] = [:]
        var resolver = PathResolver(model: table.model)
        var rest = [predicate]
        while let part = rest.popLast() {
            switch part {
            case .and(let parts): rest += parts
            case .comparison(let comparison):
                guard let found = RowBound.bound(of: comparison, &resolver, in: table) else { continue }
                let known = bounds[found.property] ?? found
                bounds[found.property] = RowBound(
                    property: found.property,
                    lower: max(known.lower, found.lower),
                    upper: min(known.upper, found.upper)
                )
            case .constant, .or, .not: break
            }
        }
        let best = bounds.values.min { ($0.width, $0.property) < ($1.width, $1.property) }
        guard let best else { return nil }
        self = best
    }

    private static func bound(
        of comparison: PredicateComparison,
        _ resolver: inout PathResolver,
        in table: TableView
    ) -> RowBound? {
        guard case .path(let path) = comparison.left, case .value(let value) = comparison.right,
            comparison.quantifier == nil, let resolved = try? resolver.resolve(path, from: table),
            let column = resolved.ownColumn, RowBound.kinds.contains(resolved.kind),
            table.schema.properties[column.property].collection == .none
        else { return nil }
        let factory = ValueTestFactory(path: resolved, options: comparison.options, model: table.model)
        // What does not fit is refused where the predicate is compiled.
        guard (try? factory.test(comparison.operation, value)) != nil else { return nil }
        switch factory.candidate(comparison.operation, value) {
        case .equal(let property, let values) where values.count == 1:
            let word = word(of: values[0])
            return RowBound(property: property, lower: word, upper: word)
        case .range(let property, .including(let lower), .including(let upper)):
            return RowBound(property: property, lower: word(of: lower), upper: word(of: upper))
        default: return nil
        }
    }

    /// Which bounds hold one of some ascending words.
    package static func indices(of bounds: [RowBound], holdingAnyOf words: [Int64]) -> [Int] {
        var found: [Int] = []
        for (index, bound) in bounds.enumerated() {
            let first = words.partitioningIndex { $0 >= bound.lower }
            if first < words.count, words[first] <= bound.upper { found.append(index) }
        }
        return found
    }

    private static let kinds: Set<PropertyKind> = [.int, .bool, .date, .string, .objectId, .uuid]

    private var width: UInt64 { lower > upper ? 0 : UInt64(bitPattern: upper &- lower) }

    /// The word that stands for a value of a property that can have a bound.
    static func word(of value: StoredValue) -> Int64 {
        switch value {
        case .int(let value): return value
        case .date(let seconds):
            // The bits of positive numbers are in their order, those of negative ones in the opposite one.
            let bits = Int64(bitPattern: seconds.bitPattern)
            return bits >= 0 ? bits : Int64.min &- bits
        default: return Int64(value.hashValue)
        }
    }
}
