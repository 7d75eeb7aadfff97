import RealmQuery

/// A value of a type-safe query: a property of the objects that are searched, or a condition on them.
///
/// ```swift
/// let found = people.where { $0.age >= 18 && $0.dogs.name == "Rex" }
/// ```
/// Queries exist only inside the closure of `where`.
///
/// - Precondition: What is compared can be: a number with a number, and one collection in a comparison. For a predicate from outside
///   `RealmPredicate(parsing:)` and ``RealmCollection/filter(_:)-(RealmPredicate)`` throw instead.
@dynamicMemberLookup
public struct Query<T> {
    let node: QueryNode

    @inline(__always)
    init(_ node: QueryNode) { self.node = node }

    /// The objects that a query is about.
    @usableFromInline static var root: Query<T> { Query(.root) }

    /// The predicate of a condition on objects.
    static func predicate(_ isIncluded: (Query<T>) -> Query<Bool>, in core: RealmCore) -> Predicate {
        isIncluded(root).node.predicate(in: core)
    }

    static func constant<Value>(_ value: Value) -> QueryNode {
        // The usual types are compared and not cast.
        if Value.self == String.self {
            return .value(.string(withUnsafePointer(to: value) { UnsafeRawPointer($0).load(as: String.self) }))
        }
        if Value.self == Int.self { return .value(.int(Int64(unsafeBitCast(value, to: Int.self)))) }
        if let embedded = PredicateFormat.embedded(value) { return .embedded(embedded) }
        if let objects = ValueReader.unwrap(value), ValueReader.object(objects) != nil || objects is AnyRealmValue {
            return .objects(objects)
        }
        return .value(attempt { try PredicateFormat.value(value) })
    }

    func compared(
        _ operation: ComparisonOperator,
        _ right: QueryNode,
        _ options: StringComparisonOptions = .none
    ) -> Query<Bool> {
        Query<Bool>(.comparison(node, operation, right, options))
    }

    /// Equal to a value.
    public static func == (left: Query, right: T) -> Query<Bool> {
        let constant = constant(right)
        if case .member(let member) = left.node, case .value(let value) = constant {
            return Query<Bool>(.memberEquals(member, value))
        }
        return left.compared(.equal, constant)
    }
    /// Equal to another property.
    public static func == (left: Query, right: Query) -> Query<Bool> { left.compared(.equal, right.node) }
    /// Different from a value.
    public static func != (left: Query, right: T) -> Query<Bool> { left.compared(.notEqual, constant(right)) }
    /// Different from another property.
    public static func != (left: Query, right: Query) -> Query<Bool> { left.compared(.notEqual, right.node) }

    /// Equal to one of some values.
    public func `in`<Values: Sequence>(_ values: Values) -> Query<Bool> where Values.Element == T { isOne(of: values) }

    /// Equal to one of some values; embedded objects without a row are compared property by property.
    func isOne<Values: Sequence>(of values: Values) -> Query<Bool> {
        let values = values.map { $0 as Any }
        // All are of one type.
        let sample = values.lazy.compactMap { ValueReader.unwrap($0) }.first
        guard let sample, sample is EmbeddedObject || PredicateFormat.embedded(sample) != nil else {
            if sample is ObjectBase || sample is AnyRealmValue { return compared(.in, .objects(values)) }
            return compared(.in, .value(.list(values.map { value in attempt { try PredicateFormat.value(value) } })))
        }
        let nodes = values.map { value -> QueryNode in
            PredicateFormat.embedded(value).map { .embedded($0) } ?? Self.constant(value)
        }
        return compared(.in, .oneOf(nodes))
    }

    /// A property of the objects.
    public subscript<Value>(dynamicMember member: KeyPath<T, Value>) -> Query<Value> where T: ObjectBase {
        if case .root = node, let known = PathRecorder.known(member, in: T.self) { return Query<Value>(.member(known)) }
        return Query<Value>(.path(node.path.appending(PathRecorder.steps(of: member, in: T.self), isCollection: false)))
    }

    /// A collection of the objects.
    public subscript<Value: RealmCollection>(dynamicMember member: KeyPath<T, Value>) -> Query<Value>
    where T: ObjectBase {
        Query<Value>(.path(node.path.appending(PathRecorder.steps(of: member, in: T.self), isCollection: true)))
    }
}

/// Any optional, to constrain extensions of generic types.
public protocol OptionalProtocol {
    /// What it wraps.
    associatedtype Wrapped
}
extension Optional: OptionalProtocol {}

/// Numbers and dates, which can be ordered in a query.
public protocol _QueryNumeric {}
/// Strings and data, which can be ordered and searched in a query.
public protocol _QueryBinary {}
/// Strings, which can be matched against patterns in a query.
public protocol _QueryString: _QueryBinary {}
extension Optional: _QueryNumeric where Wrapped: _QueryNumeric {}
extension Optional: _QueryBinary where Wrapped: _QueryBinary {}
extension Optional: _QueryString where Wrapped: _QueryString {}

extension Query where T: OptionalProtocol, T.Wrapped: ObjectBase {
    /// A property of the linked object.
    public subscript<Value>(dynamicMember member: KeyPath<T.Wrapped, Value>) -> Query<Value> {
        Query<Value>(
            .path(node.path.appending(PathRecorder.steps(of: member, in: T.Wrapped.self), isCollection: false))
        )
    }

    /// A collection of the linked object.
    public subscript<Value: RealmCollection>(dynamicMember member: KeyPath<T.Wrapped, Value>) -> Query<Value> {
        Query<Value>(
            .path(node.path.appending(PathRecorder.steps(of: member, in: T.Wrapped.self), isCollection: true))
        )
    }
}

extension Query where T: _QueryNumeric {
    /// Greater than a value.
    public static func > (left: Query, right: T) -> Query<Bool> { left.compared(.greater, constant(right)) }
    /// Greater than another property.
    public static func > (left: Query, right: Query) -> Query<Bool> { left.compared(.greater, right.node) }
    /// At least a value.
    public static func >= (left: Query, right: T) -> Query<Bool> { left.compared(.greaterOrEqual, constant(right)) }
    /// At least another property.
    public static func >= (left: Query, right: Query) -> Query<Bool> { left.compared(.greaterOrEqual, right.node) }
    /// Less than a value.
    public static func < (left: Query, right: T) -> Query<Bool> { left.compared(.less, constant(right)) }
    /// Less than another property.
    public static func < (left: Query, right: Query) -> Query<Bool> { left.compared(.less, right.node) }
    /// At most a value.
    public static func <= (left: Query, right: T) -> Query<Bool> { left.compared(.lessOrEqual, constant(right)) }
    /// At most another property.
    public static func <= (left: Query, right: Query) -> Query<Bool> { left.compared(.lessOrEqual, right.node) }

    /// The smallest of the values behind a collection.
    public var min: Query { Query(.path(node.path.aggregated(.minimum))) }
    /// The largest of the values behind a collection.
    public var max: Query { Query(.path(node.path.aggregated(.maximum))) }
    /// The mean of the values behind a collection.
    public var avg: Query { Query(.path(node.path.aggregated(.average))) }
    /// The sum of the values behind a collection.
    public var sum: Query { Query(.path(node.path.aggregated(.sum))) }
}

extension Query {
    /// Whether `all` or `none` stands before the value.
    var isQuantified: Bool { node.path.quantifier != nil }

    func within(_ lower: Any, _ upper: Any) -> Query<Bool> {
        // Behind a collection two comparisons would be about two elements. Elsewhere they are two, since indexes serve them.
        if case .path(let path) = node, path.quantifier != nil || !path.collections.isEmpty {
            return compared(.within, bounds(lower, upper))
        }
        return Query<Bool>(
            .conjunction(
                .comparison(node, .greaterOrEqual, Self.constant(lower), []),
                .comparison(node, .less, Self.constant(upper), [])
            )
        )
    }

    func between(_ lower: Any, _ upper: Any) -> Query<Bool> {
        compared(.between, bounds(lower, upper))
    }

    private func bounds(_ lower: Any, _ upper: Any) -> QueryNode {
        .value(.list([attempt { try PredicateFormat.value(lower) }, attempt { try PredicateFormat.value(upper) }]))
    }
}

extension Query where T: Comparable & _QueryNumeric {
    /// In a range without its upper bound.
    public func contains(_ range: Range<T>) -> Query<Bool> { within(range.lowerBound, range.upperBound) }
    /// In a range with both bounds.
    public func contains(_ range: ClosedRange<T>) -> Query<Bool> { between(range.lowerBound, range.upperBound) }
}

extension Query where T: OptionalProtocol, T.Wrapped: Comparable & _QueryNumeric {
    /// In a range without its upper bound.
    public func contains(_ range: Range<T.Wrapped>) -> Query<Bool> { within(range.lowerBound, range.upperBound) }
    /// In a range with both bounds.
    public func contains(_ range: ClosedRange<T.Wrapped>) -> Query<Bool> { between(range.lowerBound, range.upperBound) }
}

extension Query where T == Bool {
    /// The opposite.
    public static prefix func ! (query: Query) -> Query<Bool> { Query<Bool>(.not(query.node)) }
    /// Both conditions.
    public static func && (left: Query, right: Query) -> Query<Bool> {
        Query<Bool>(.conjunction(left.node, right.node))
    }

    /// Either condition.
    public static func || (left: Query, right: Query) -> Query<Bool> {
        Query<Bool>(.disjunction(left.node, right.node))
    }

    /// The number of elements of a collection for which the condition holds.
    public var count: Query<Int> { Query<Int>(.subqueryCount(node)) }
}

extension Query where T: PersistableEnum {
    /// The raw value of an enum.
    public var rawValue: Query<T.RawValue> { Query<T.RawValue>(node) }
}

extension Query where T: OptionalProtocol, T.Wrapped: PersistableEnum {
    /// The raw value of an enum.
    public var rawValue: Query<T.Wrapped.RawValue?> { Query<T.Wrapped.RawValue?>(node) }
}

@available(*, unavailable, message: "A query exists inside the closure of `where(_:)` only: send `results.frozen`.")
extension Query: Sendable {}
