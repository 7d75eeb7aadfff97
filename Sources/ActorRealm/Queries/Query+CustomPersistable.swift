import RealmQuery

extension Query where T: _CustomPersistable {
    /// What is stored for the value.
    public var persistableValue: Query<T.PersistedType> { Query<T.PersistedType>(node) }
}

extension Query where T: OptionalProtocol, T.Wrapped: _CustomPersistable {
    /// What is stored for the value.
    public var persistableValue: Query<T.Wrapped.PersistedType?> { Query<T.Wrapped.PersistedType?>(node) }
}

extension Query where T: RealmCollection, T.Element: _CustomPersistable {
    /// What is stored for the elements.
    public var persistableValue: Query<List<T.Element.PersistedType>> { Query<List<T.Element.PersistedType>>(node) }
}

extension Query where T: _CustomPersistable, T.PersistedType: _QueryNumeric {
    /// Greater than a value, as they are stored.
    public static func > (left: Query, right: T) -> Query<Bool> { left.compared(.greater, constant(right)) }
    /// At least a value, as they are stored.
    public static func >= (left: Query, right: T) -> Query<Bool> { left.compared(.greaterOrEqual, constant(right)) }
    /// Less than a value, as they are stored.
    public static func < (left: Query, right: T) -> Query<Bool> { left.compared(.less, constant(right)) }
    /// At most a value, as they are stored.
    public static func <= (left: Query, right: T) -> Query<Bool> { left.compared(.lessOrEqual, constant(right)) }
}

extension Query where T: _CustomPersistable & Comparable, T.PersistedType: _QueryNumeric {
    /// In a range without its upper bound, as they are stored.
    public func contains(_ range: Range<T>) -> Query<Bool> { within(range.lowerBound, range.upperBound) }
    /// In a range with both bounds, as they are stored.
    public func contains(_ range: ClosedRange<T>) -> Query<Bool> { between(range.lowerBound, range.upperBound) }
}

extension Query where T: OptionalProtocol, T.Wrapped: _CustomPersistable, T.Wrapped.PersistedType: _QueryNumeric {
    /// Greater than a value, as they are stored.
    public static func > (left: Query, right: T) -> Query<Bool> { left.compared(.greater, constant(right)) }
    /// At least a value, as they are stored.
    public static func >= (left: Query, right: T) -> Query<Bool> { left.compared(.greaterOrEqual, constant(right)) }
    /// Less than a value, as they are stored.
    public static func < (left: Query, right: T) -> Query<Bool> { left.compared(.less, constant(right)) }
    /// At most a value, as they are stored.
    public static func <= (left: Query, right: T) -> Query<Bool> { left.compared(.lessOrEqual, constant(right)) }
}

extension Query
where T: OptionalProtocol, T.Wrapped: _CustomPersistable & Comparable, T.Wrapped.PersistedType: _QueryNumeric {
    /// In a range without its upper bound, as they are stored.
    public func contains(_ range: Range<T.Wrapped>) -> Query<Bool> { within(range.lowerBound, range.upperBound) }
    /// In a range with both bounds, as they are stored.
    public func contains(_ range: ClosedRange<T.Wrapped>) -> Query<Bool> { between(range.lowerBound, range.upperBound) }
}

extension Query where T: PersistableEnum, T.RawValue: _QueryNumeric {
    /// Greater than a case, by their raw values.
    public static func > (left: Query, right: T) -> Query<Bool> { left.compared(.greater, constant(right)) }
    /// At least a case, by their raw values.
    public static func >= (left: Query, right: T) -> Query<Bool> { left.compared(.greaterOrEqual, constant(right)) }
    /// Less than a case, by their raw values.
    public static func < (left: Query, right: T) -> Query<Bool> { left.compared(.less, constant(right)) }
    /// At most a case, by their raw values.
    public static func <= (left: Query, right: T) -> Query<Bool> { left.compared(.lessOrEqual, constant(right)) }
    /// In a range without its upper bound, by their raw values.
    public func contains(_ range: Range<T>) -> Query<Bool> { within(range.lowerBound, range.upperBound) }
    /// In a range with both bounds, by their raw values.
    public func contains(_ range: ClosedRange<T>) -> Query<Bool> { between(range.lowerBound, range.upperBound) }
}

extension Query where T: OptionalProtocol, T.Wrapped: PersistableEnum, T.Wrapped.RawValue: _QueryNumeric {
    /// Greater than a case, by their raw values.
    public static func > (left: Query, right: T) -> Query<Bool> { left.compared(.greater, constant(right)) }
    /// At least a case, by their raw values.
    public static func >= (left: Query, right: T) -> Query<Bool> { left.compared(.greaterOrEqual, constant(right)) }
    /// Less than a case, by their raw values.
    public static func < (left: Query, right: T) -> Query<Bool> { left.compared(.less, constant(right)) }
    /// At most a case, by their raw values.
    public static func <= (left: Query, right: T) -> Query<Bool> { left.compared(.lessOrEqual, constant(right)) }
    /// In a range without its upper bound, by their raw values.
    public func contains(_ range: Range<T.Wrapped>) -> Query<Bool> { within(range.lowerBound, range.upperBound) }
    /// In a range with both bounds, by their raw values.
    public func contains(_ range: ClosedRange<T.Wrapped>) -> Query<Bool> { between(range.lowerBound, range.upperBound) }
}

extension Query where T: RealmCollection, T.Element: PersistableEnum {
    /// The raw values of the elements.
    public var rawValue: Query<List<T.Element.RawValue>> { Query<List<T.Element.RawValue>>(node) }
}

extension Query
where
    T: RealmCollection,
    T.Element: OptionalProtocol,
    T.Element.Wrapped: PersistableEnum,
    T.Element.Wrapped.RawValue: _RealmCollectionValueInsideOptional
{
    /// The raw values of the elements.
    public var rawValue: Query<List<T.Element.Wrapped.RawValue?>> {
        Query<List<T.Element.Wrapped.RawValue?>>(node)
    }
}

extension Query
where
    T: RealmCollection,
    T.Element: OptionalProtocol,
    T.Element.Wrapped: _CustomPersistable,
    T.Element.Wrapped.PersistedType: _RealmCollectionValueInsideOptional
{
    /// What is stored for the elements.
    public var persistableValue: Query<List<T.Element.Wrapped.PersistedType?>> {
        Query<List<T.Element.Wrapped.PersistedType?>>(node)
    }
}

extension Query where T: RealmKeyedCollection, T.Value: PersistableEnum {
    /// The raw values of the values.
    public var rawValue: Query<Map<T.Key, T.Value.RawValue>> { Query<Map<T.Key, T.Value.RawValue>>(node) }
}

extension Query
where
    T: RealmKeyedCollection,
    T.Value: OptionalProtocol,
    T.Value.Wrapped: PersistableEnum,
    T.Value.Wrapped.RawValue: _RealmCollectionValueInsideOptional
{
    /// The raw values of the values.
    public var rawValue: Query<Map<T.Key, T.Value.Wrapped.RawValue?>> {
        Query<Map<T.Key, T.Value.Wrapped.RawValue?>>(node)
    }
}

extension Query where T: RealmKeyedCollection, T.Value: _CustomPersistable {
    /// What is stored for the values.
    public var persistableValue: Query<Map<T.Key, T.Value.PersistedType>> {
        Query<Map<T.Key, T.Value.PersistedType>>(node)
    }
}

extension Query
where
    T: RealmKeyedCollection,
    T.Value: OptionalProtocol,
    T.Value.Wrapped: _CustomPersistable,
    T.Value.Wrapped.PersistedType: _RealmCollectionValueInsideOptional
{
    /// What is stored for the values.
    public var persistableValue: Query<Map<T.Key, T.Value.Wrapped.PersistedType?>> {
        Query<Map<T.Key, T.Value.Wrapped.PersistedType?>>(node)
    }
}

extension QueryNode {
    /// The condition that the object of a link has the same properties as another one.
    func memberwiseEqual(_ object: EmbeddedObject) -> QueryNode {
        let info = ModelClass.of(type(of: object))
        // An element of a collection is always there; a link may lead nowhere.
        let path = path
        let isElement = path.collections.last.map { path.steps.dropFirst($0).allSatisfy { $0 == .allValues } } ?? false
        var condition: QueryNode? = isElement ? nil : .not(.comparison(self, .equal, .value(.null), .none))
        for property in info.properties {
            if property.isCollection || property.shape.target != nil {
                misuse(
                    "Unsupported property '\(info.name).\(property.name)' for memberwise equality query: compare the "
                        + "properties of the embedded object through `persistableValue`."
                )
            }
            let member = QueryNode.path(path.appending([.property(info.pathName(of: property))], isCollection: false))
            let value = attempt { try PredicateFormat.value(property.value(in: object)) }
            let equal = QueryNode.comparison(member, .equal, .value(value), .none)
            condition = condition.map { .conjunction($0, equal) } ?? equal
        }
        return condition ?? .value(.bool(true))
    }
}
