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
        isOne(of: values)
    }

    /// Whether the collection holds each of some elements; it does when there are none of these.
    public func containsAll<Values: Sequence>(in values: Values) -> Query<Bool> where Values.Element == T.Element {
        values.reduce(Query<Bool>(.value(.bool(true)))) { condition, value in
            let next = contains(value)
            if case .value = condition.node { return next }
            return condition && next
        }
    }

    /// The collection, of which every element has to meet the condition: `$0.dogs.all.age > 3`.
    ///
    /// An empty collection meets every condition. A range is asked of each element, nil included, and an aggregate is one
    /// value, for which `all` changes nothing.
    public var all: Query<T> { quantified(.all) }

    /// The collection, of which no element may meet the condition: `$0.dogs.none.age > 3`.
    ///
    /// A range is asked of each element; what is asked of an aggregate is negated.
    public var none: Query<T> { quantified(PredicateQuantifier.none) }

    private func quantified(_ quantifier: PredicateQuantifier) -> Query<T> {
        var path = node.path
        path.quantifier = quantifier
        path.quantifiedLength = path.steps.count
        return Query<T>(.path(path))
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

extension Query
where T: RealmCollection, T.Element: OptionalProtocol & _QueryNumeric, T.Element.Wrapped: Comparable {
    /// Whether all elements that are not nil are in a range without its upper bound.
    public func contains(_ range: Range<T.Element.Wrapped>) -> Query<Bool> {
        if isQuantified { return within(range.lowerBound, range.upperBound) }
        return compared(.greaterOrEqual, .minimum, range.lowerBound) && compared(.less, .maximum, range.upperBound)
    }
    /// Whether all elements that are not nil are in a range with both bounds.
    public func contains(_ range: ClosedRange<T.Element.Wrapped>) -> Query<Bool> {
        if isQuantified { return between(range.lowerBound, range.upperBound) }
        return compared(.greaterOrEqual, .minimum, range.lowerBound)
            && compared(.lessOrEqual, .maximum, range.upperBound)
    }

    private func compared(
        _ operation: ComparisonOperator,
        _ step: PropertyPath.Step,
        _ bound: T.Element.Wrapped
    ) -> Query<Bool> {
        Query<Bool>(.comparison(.path(node.path.aggregated(step)), operation, Self.constant(bound), .none))
    }
}

extension Query where T: RealmCollection, T.Element: Comparable & _QueryNumeric {
    /// Whether all elements are in a range without its upper bound.
    public func contains(_ range: Range<T.Element>) -> Query<Bool> {
        if isQuantified { return within(range.lowerBound, range.upperBound) }
        return min >= range.lowerBound && max < range.upperBound
    }
    /// Whether all elements are in a range with both bounds.
    public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> {
        if isQuantified { return between(range.lowerBound, range.upperBound) }
        return min >= range.lowerBound && max <= range.upperBound
    }
}
