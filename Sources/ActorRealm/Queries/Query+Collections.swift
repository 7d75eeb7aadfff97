import RealmQuery

extension Query where T: RealmCollection {
    /// A property of the elements: a condition on it holds when it holds for one of them.
    public subscript<Value>(dynamicMember member: KeyPath<T.Element, Value>) -> Query<Value>
    where T.Element: ObjectBase {
        Query<Value>(
            .path(node.path.appending(PathRecorder.steps(of: member, in: T.Element.self), isCollection: false))
        )
    }

    /// A collection of the elements.
    public subscript<Value: RealmCollection>(dynamicMember member: KeyPath<T.Element, Value>) -> Query<Value>
    where T.Element: ObjectBase {
        Query<Value>(
            .path(node.path.appending(PathRecorder.steps(of: member, in: T.Element.self), isCollection: true))
        )
    }

    /// The number of elements.
    public var count: Query<Int> { Query<Int>(.path(node.path.aggregated(.count))) }

    /// Whether the collection holds an element.
    public func contains(_ element: T.Element) -> Query<Bool> { compared(.equal, Self.constant(element)) }

    /// Whether the collection holds one of some elements.
    public func containsAny<Values: Sequence>(in values: Values) -> Query<Bool> where Values.Element == T.Element {
        compared(.in, .value(.list(values.map { value in attempt { try PredicateFormat.value(value) } })))
    }

    /// Whether one element is equal to a value.
    public static func == (left: Query, right: T.Element) -> Query<Bool> { left.compared(.equal, constant(right)) }
    /// Whether one element differs from a value.
    public static func != (left: Query, right: T.Element) -> Query<Bool> { left.compared(.notEqual, constant(right)) }
}

extension Query where T: RealmCollection, T.Element: _QueryNumeric {
    /// Whether one element is greater than a value.
    public static func > (left: Query, right: T.Element) -> Query<Bool> { left.compared(.greater, constant(right)) }
    /// Whether one element is at least a value.
    public static func >= (left: Query, right: T.Element) -> Query<Bool> {
        left.compared(.greaterOrEqual, constant(right))
    }
    /// Whether one element is less than a value.
    public static func < (left: Query, right: T.Element) -> Query<Bool> { left.compared(.less, constant(right)) }
    /// Whether one element is at most a value.
    public static func <= (left: Query, right: T.Element) -> Query<Bool> {
        left.compared(.lessOrEqual, constant(right))
    }

    /// The smallest element.
    public var min: Query<T.Element> { Query<T.Element>(.path(node.path.aggregated(.minimum))) }
    /// The largest element.
    public var max: Query<T.Element> { Query<T.Element>(.path(node.path.aggregated(.maximum))) }
    /// The mean of the elements.
    public var avg: Query<T.Element> { Query<T.Element>(.path(node.path.aggregated(.average))) }
    /// The sum of the elements.
    public var sum: Query<T.Element> { Query<T.Element>(.path(node.path.aggregated(.sum))) }
}

extension Query where T: RealmCollection, T.Element: Comparable & _QueryNumeric {
    /// Whether all elements are in a range without its upper bound.
    public func contains(_ range: Range<T.Element>) -> Query<Bool> {
        min >= range.lowerBound && max < range.upperBound
    }
    /// Whether all elements are in a range with both bounds.
    public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> {
        min >= range.lowerBound && max <= range.upperBound
    }
}
