public import Foundation

extension ProjectedCollection {
    /// The position of the first value that is equal to a value; nil for none.
    ///
    /// Values are compared as sorting compares them: strings by their bytes, numbers by value, and NaN is equal to itself.
    ///
    /// - Complexity: O(n), where n is the number of values.
    public func index(of value: Value) -> Int? { firstIndex(where: Self.equals(value)) }

    /// The position of the first value that is equal to a value, as ``index(of:)`` has it; nil for none.
    public func firstIndex(of value: Value) -> Int? { index(of: value) }

    /// The position of the last value that is equal to a value, as ``index(of:)`` has it; nil for none.
    public func lastIndex(of value: Value) -> Int? { lastIndex(where: Self.equals(value)) }

    /// Whether a value is equal to one of the collection's, as ``index(of:)`` has it.
    public func contains(_ value: Value) -> Bool { index(of: value) != nil }

    private static func equals(_ value: Value) -> (Value) -> Bool {
        guard let key = Value._setKey(value) else { return { $0 == value } }
        return { Value._setKey($0)?.value == key.value }
    }

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
