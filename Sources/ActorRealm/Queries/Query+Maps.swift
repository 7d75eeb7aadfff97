import RealmModel
import RealmQuery

extension Query where T: RealmKeyedCollection {
    private func path(_ step: PropertyPath.Step, isCollection: Bool) -> QueryNode {
        .path(node.path.appending([step], isCollection: isCollection))
    }

    /// The names: a condition on them holds when it holds for one.
    public var keys: Query<T.Key> { Query<T.Key>(path(.allKeys, isCollection: false)) }
    /// The values: a condition on them holds when it holds for one.
    public var values: Query<T.Value> { Query<T.Value>(path(.allValues, isCollection: false)) }
    /// The value of a name.
    public subscript(_ key: T.Key) -> Query<T.Value> {
        Query<T.Value>(.path(node.path.stepping(.key(T.Key._name(key)))))
    }
    /// The number of entries.
    public var count: Query<Int> { Query<Int>(.path(node.path.aggregated(.count))) }

    /// Whether the map holds a value.
    public func contains(_ value: T.Value) -> Query<Bool> { compared(.equal, Query<T.Value>.constant(value)) }
    /// Whether the map holds one of some values.
    public func containsAny<Values: Sequence>(in values: Values) -> Query<Bool> where Values.Element == T.Value {
        isOne(of: values)
    }
    /// Whether one value is equal to a value.
    public static func == (left: Query, right: T.Value) -> Query<Bool> {
        left.compared(.equal, Query<T.Value>.constant(right))
    }
    /// Whether one value differs from a value.
    public static func != (left: Query, right: T.Value) -> Query<Bool> {
        left.compared(.notEqual, Query<T.Value>.constant(right))
    }
}

extension Query where T: RealmKeyedCollection, T.Value: _QueryNumeric {
    /// Whether one value is greater than a value.
    public static func > (left: Query, right: T.Value) -> Query<Bool> {
        left.compared(.greater, Query<T.Value>.constant(right))
    }
    /// Whether one value is at least a value.
    public static func >= (left: Query, right: T.Value) -> Query<Bool> {
        left.compared(.greaterOrEqual, Query<T.Value>.constant(right))
    }
    /// Whether one value is less than a value.
    public static func < (left: Query, right: T.Value) -> Query<Bool> {
        left.compared(.less, Query<T.Value>.constant(right))
    }
    /// Whether one value is at most a value.
    public static func <= (left: Query, right: T.Value) -> Query<Bool> {
        left.compared(.lessOrEqual, Query<T.Value>.constant(right))
    }

    /// The smallest value.
    public var min: Query<T.Value> { Query<T.Value>(.path(node.path.aggregated(.minimum))) }
    /// The largest value.
    public var max: Query<T.Value> { Query<T.Value>(.path(node.path.aggregated(.maximum))) }
    /// The mean of the values.
    public var avg: Query<T.Value> { Query<T.Value>(.path(node.path.aggregated(.average))) }
    /// The sum of the values.
    public var sum: Query<T.Value> { Query<T.Value>(.path(node.path.aggregated(.sum))) }
}

extension Query where T: RealmKeyedCollection, T.Value: Comparable & _QueryNumeric {
    /// Whether all values are in a range without its upper bound.
    public func contains(_ range: Range<T.Value>) -> Query<Bool> {
        if isQuantified { return within(range.lowerBound, range.upperBound) }
        return min >= range.lowerBound && max < range.upperBound
    }
    /// Whether all values are in a range with both bounds.
    public func contains(_ range: ClosedRange<T.Value>) -> Query<Bool> {
        if isQuantified { return between(range.lowerBound, range.upperBound) }
        return min >= range.lowerBound && max <= range.upperBound
    }
}

extension Query
where T: RealmKeyedCollection, T.Value: OptionalProtocol & _QueryNumeric, T.Value.Wrapped: Comparable {
    /// Whether all values that are not nil are in a range without its upper bound.
    public func contains(_ range: Range<T.Value.Wrapped>) -> Query<Bool> {
        if isQuantified { return within(range.lowerBound, range.upperBound) }
        return compared(.greaterOrEqual, .minimum, range.lowerBound) && compared(.less, .maximum, range.upperBound)
    }
    /// Whether all values that are not nil are in a range with both bounds.
    public func contains(_ range: ClosedRange<T.Value.Wrapped>) -> Query<Bool> {
        if isQuantified { return between(range.lowerBound, range.upperBound) }
        return compared(.greaterOrEqual, .minimum, range.lowerBound)
            && compared(.lessOrEqual, .maximum, range.upperBound)
    }

    private func compared(
        _ operation: ComparisonOperator,
        _ step: PropertyPath.Step,
        _ bound: T.Value.Wrapped
    ) -> Query<Bool> {
        Query<Bool>(.comparison(.path(node.path.aggregated(step)), operation, Self.constant(bound), .none))
    }
}

extension Query where T: ObjectBase {
    /// A map of the objects.
    public subscript<Value: RealmKeyedCollection>(dynamicMember member: KeyPath<T, Value>) -> Query<Value> {
        Query<Value>(.path(node.path.appending(PathRecorder.steps(of: member, in: T.self), isCollection: true)))
    }
}

extension Query where T: OptionalProtocol, T.Wrapped: ObjectBase {
    /// A map of the linked object.
    public subscript<Value: RealmKeyedCollection>(dynamicMember member: KeyPath<T.Wrapped, Value>) -> Query<Value> {
        Query<Value>(
            .path(node.path.appending(PathRecorder.steps(of: member, in: T.Wrapped.self), isCollection: true))
        )
    }
}

extension Query where T: RealmCollection, T.Element: ObjectBase {
    /// A map of the elements.
    public subscript<Value: RealmKeyedCollection>(dynamicMember member: KeyPath<T.Element, Value>) -> Query<Value> {
        Query<Value>(
            .path(node.path.appending(PathRecorder.steps(of: member, in: T.Element.self), isCollection: true))
        )
    }
}

extension AnyRealmValue: _QueryNumeric, AddableType, MinMaxType {
    /// What nothing adds up to.
    public static func _zero() -> AnyRealmValue { .decimal128(0) }
    /// Converts the result of an aggregate.
    public static func _fromAggregate(_ stored: _Stored) -> AnyRealmValue? {
        switch stored.value {
        case .int(let value): return AnyRealmValue.int(Int(value))
        case .float(let value): return AnyRealmValue.float(value)
        case .double(let value): return AnyRealmValue.double(value)
        case .decimal(let value): return AnyRealmValue.decimal128(Decimal128(value.number))
        default: return nil
        }
    }
}

extension Query where T == AnyRealmValue {
    /// Contains a text, or bytes.
    public func contains(_ value: T, options: StringOptions = []) -> Query<Bool> {
        compared(.contains, Self.constant(value), options.comparison)
    }
    /// Starts with a text, or bytes.
    public func starts(with value: T, options: StringOptions = []) -> Query<Bool> {
        compared(.beginsWith, Self.constant(value), options.comparison)
    }
    /// Ends with a text, or bytes.
    public func ends(with value: T, options: StringOptions = []) -> Query<Bool> {
        compared(.endsWith, Self.constant(value), options.comparison)
    }
    /// Equal to a value.
    public func equals(_ value: T, options: StringOptions = []) -> Query<Bool> {
        compared(.equal, Self.constant(value), options.comparison)
    }
    /// Different from a value.
    public func notEquals(_ value: T, options: StringOptions = []) -> Query<Bool> {
        compared(.notEqual, Self.constant(value), options.comparison)
    }
    /// Matches a pattern with `*` and `?`.
    public func like(_ value: T, caseInsensitive: Bool = false) -> Query<Bool> {
        compared(.like, Self.constant(value), caseInsensitive ? [.caseInsensitive] : [])
    }
}

extension Query where T == AnyRealmValue {
    /// The element at a position of a list.
    public subscript(_ index: Int) -> Query<AnyRealmValue> {
        Query<AnyRealmValue>(.path(node.path.stepping(.index(index))))
    }
    /// The value of a name of a dictionary.
    public subscript(_ key: String) -> Query<AnyRealmValue> {
        Query<AnyRealmValue>(.path(node.path.stepping(.key(key))))
    }
    /// The elements of a list, or the values of a dictionary: a condition holds when it holds for one.
    public var any: Query<AnyRealmValue> { Query<AnyRealmValue>(.path(node.path.stepping(.anyElement))) }
}
