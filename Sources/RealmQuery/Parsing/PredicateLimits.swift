/// What a predicate may ask at most, so that one from a stranger costs a bounded amount of stack, memory and time.
package enum PredicateLimits {
    /// The length of a predicate's text in UTF-8 bytes.
    package static let textByteCount = 100_000
    /// The depth of a predicate's tree, and of its parentheses.
    package static let depth = 100
    /// The number of values behind `IN`.
    package static let listCount = 10_000
    /// The number of values in all lists among the arguments of a predicate from outside.
    package static let argumentValueCount = 100_000
    /// The number of `SORT`, `DISTINCT` and `LIMIT` behind a predicate: each is work for every row.
    package static let clauseCount = 16
    /// The number of steps in a path.
    package static let pathStepCount = 32
    /// How deep `SUBQUERY` may nest: every level multiplies the work by the size of the collections.
    package static let subqueryDepth = 4
}
