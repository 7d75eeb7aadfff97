public import Foundation

extension ProjectedCollection {
    /// The position of the first value that is equal to a value; nil for none.
    ///
    /// - Complexity: O(n), where n is the number of values.
    public func index(of value: Value) -> Int? { firstIndex(of: value) }

    /// The position of the first value whose object fulfils a predicate; nil for none.
    ///
    /// Of the names of dogs, `"age > 3"` finds that of the first dog which is older than three.
    ///
    /// - Precondition: The collection is managed, and the predicate is about properties of its objects.
    ///   For text from outside ``RealmCollection/filter(_:)-(RealmPredicate)`` of the objects throws.
    public func index(matching predicateFormat: String, _ arguments: Any...) -> Int? {
        source.index(matching: predicateFormat, arguments)
    }

    /// The values at some positions, in their order.
    ///
    /// - Precondition: There are such positions: look at ``count``.
    public func objects(at indexes: IndexSet) -> [Value] { indexes.map { self[$0] } }
}
