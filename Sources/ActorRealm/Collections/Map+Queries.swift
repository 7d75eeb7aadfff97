import RealmModel
import RealmQuery

/// Queries over the values of a managed map.
extension Map {
    /// The values for which a predicate in the string language holds; see ``RealmCollection/filter(_:_:)``.
    ///
    /// - Precondition: The map is managed, and the predicate parses and fits: for text from outside
    ///   ``filter(_:)-(RealmPredicate)`` throws.
    public func filter(_ predicateFormat: String, _ arguments: Any...) -> Results<Value> {
        let backing = managed("filter")
        let predicate = PredicateFormat.predicate(predicateFormat, arguments, in: backing.core)
        return Results(backing.core.attempt(or: backing) { try backing.filtered(predicate) })
    }

    /// The values for which a parsed predicate holds.
    ///
    /// - Throws: `Realm.Error` with the code `.invalidInput` when the predicate does not fit the values, is about objects of another
    ///   file, or the map is not managed.
    public func filter(_ predicate: RealmPredicate) throws -> Results<Value> {
        guard let backing = try readableBacking() else {
            throw Realm.Error(
                .invalidInput,
                "filter is only supported on managed collections. Add the object to a Realm first."
            )
        }
        return Results(try backing.applying(predicate))
    }

    /// The objects for which a condition holds.
    ///
    /// - Precondition: The map is managed, and what is compared can be: ``filter(_:)-(RealmPredicate)`` throws
    ///   instead.
    public func `where`<Target: ObjectBase>(_ isIncluded: (Query<Target>) -> Query<Bool>) -> Results<Value>
    where Value == Target? {
        let backing = managed("where")
        return Results(
            backing.core.attempt(or: backing) {
                try backing.filtered(Query<Target>.predicate(isIncluded, in: backing.core))
            }
        )
    }

    /// The objects in the order of a property.
    ///
    /// - Precondition: The map is managed, and there are such properties: for a name from outside
    ///   ``filter(_:)-(RealmPredicate)`` throws, with `SORT(name)` or `DISTINCT(name)` behind the predicate.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// The objects in the order of several properties, the first one deciding.
    ///
    /// - Precondition: The map is managed, and there are such properties: for a name from outside
    ///   ``filter(_:)-(RealmPredicate)`` throws, with `SORT(name)` or `DISTINCT(name)` behind the predicate.
    public func sorted<Descriptors: Sequence>(by sortDescriptors: Descriptors) -> Results<Value>
    where Descriptors.Element == SortDescriptor {
        let backing = managed("sorted")
        return Results(backing.core.attempt(or: backing) { try backing.sorted(Array(sortDescriptors)) })
    }

    /// The values in order.
    ///
    /// - Precondition: The map is managed: look at ``realm``.
    public func sorted(ascending: Bool = true) -> Results<Value> {
        sorted(by: [SortDescriptor(keyPath: "self", ascending: ascending)])
    }

    /// The values, each once.
    ///
    /// - Precondition: The map is managed: look at ``realm``.
    public func distinct() -> Results<Value> {
        let backing = managed("distinct")
        return Results(backing.core.attempt(or: backing) { try backing.distinct(["self"]) })
    }

    /// Computes over a property, or over the values themselves: with nil, `self` and an empty name.
    func aggregate(_ operation: AggregateOperation, _ name: String?) -> _Stored {
        let property = name == "self" || name?.isEmpty == true ? nil : name
        if let backing = _backing {
            return backing.core.attempt(or: _Stored(.null)) { try backing.aggregate(operation, property) }
        }
        return attempt {
            try .aggregate(operation, property, of: values.map { Value._boxedElement($0) }, shape: Value._elementShape)
        }
    }

    /// The smallest value of a property of the objects; nil when there is none.
    ///
    /// - Precondition: There is such a property, of numbers: for a name from outside ``requireReadable(properties:)`` throws,
    ///   and ``Realm/schema`` tells the type.
    public func min<Result: MinMaxType>(ofProperty property: String) -> Result? {
        Result._fromAggregate(aggregate(.minimum, property))
    }
    /// The largest value of a property of the objects; nil when there is none.
    ///
    /// - Precondition: There is such a property, of numbers: for a name from outside ``requireReadable(properties:)`` throws,
    ///   and ``Realm/schema`` tells the type.
    public func max<Result: MinMaxType>(ofProperty property: String) -> Result? {
        Result._fromAggregate(aggregate(.maximum, property))
    }
    /// The sum of a property of the objects; 0 when there are no values.
    ///
    /// - Precondition: There is such a property, of numbers: for a name from outside ``requireReadable(properties:)`` throws,
    ///   and ``Realm/schema`` tells the type.
    public func sum<Result: AddableType>(ofProperty property: String) -> Result {
        Result._sum(aggregate(.sum, property))
    }
    /// The mean of a property of the objects; nil when there are no values.
    ///
    /// - Precondition: There is such a property, of numbers: for a name from outside ``requireReadable(properties:)`` throws,
    ///   and ``Realm/schema`` tells the type.
    public func average<Result: AddableType>(ofProperty property: String) -> Result? {
        Result._fromAggregate(aggregate(.average, property))
    }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    /// The objects in the order of a property.
    ///
    /// - Precondition: The map is managed, and there are such properties: for a name from outside
    ///   ``filter(_:)-(RealmPredicate)`` throws, with `SORT(name)` or `DISTINCT(name)` behind the predicate.
    public func sorted<Property: _Persistable>(
        by keyPath: KeyPath<Value.Wrapped, Property>,
        ascending: Bool = true
    ) -> Results<Value> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }
    /// The first object of each group of objects that are equal in some properties.
    ///
    /// - Precondition: The map is managed, and there are such properties: for a name from outside
    ///   ``filter(_:)-(RealmPredicate)`` throws, with `SORT(name)` or `DISTINCT(name)` behind the predicate.
    public func distinct<KeyPaths: Sequence>(by keyPaths: KeyPaths) -> Results<Value>
    where KeyPaths.Element == String {
        let backing = managed("distinct")
        return Results(backing.core.attempt(or: backing) { try backing.distinct(Array(keyPaths)) })
    }
    /// The first object of each group of objects that are equal in some properties.
    ///
    /// - Precondition: The map is managed, and there are such properties: for a name from outside
    ///   ``filter(_:)-(RealmPredicate)`` throws, with `SORT(name)` or `DISTINCT(name)` behind the predicate.
    public func distinct(by keyPaths: [PartialKeyPath<Value.Wrapped>]) -> Results<Value> {
        distinct(by: keyPaths.map { PathRecorder.name(of: $0) })
    }

    /// The smallest value of a property of the objects; nil when there is none.
    public func min<Result: MinMaxType & _Persistable>(of keyPath: KeyPath<Value.Wrapped, Result>) -> Result? {
        min(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The smallest value of an optional property of the objects; nil when there is none.
    public func min<Result: MinMaxType & _PersistableInsideOptional>(
        of keyPath: KeyPath<Value.Wrapped, Result?>
    ) -> Result? {
        min(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The largest value of a property of the objects; nil when there is none.
    public func max<Result: MinMaxType & _Persistable>(of keyPath: KeyPath<Value.Wrapped, Result>) -> Result? {
        max(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The largest value of an optional property of the objects; nil when there is none.
    public func max<Result: MinMaxType & _PersistableInsideOptional>(
        of keyPath: KeyPath<Value.Wrapped, Result?>
    ) -> Result? {
        max(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The sum of a property of the objects; 0 when there are no values.
    public func sum<Result: AddableType & _Persistable>(of keyPath: KeyPath<Value.Wrapped, Result>) -> Result {
        sum(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The sum of an optional property of the objects, leaving nil out; 0 when there are no values.
    public func sum<Result: AddableType & _PersistableInsideOptional>(
        of keyPath: KeyPath<Value.Wrapped, Result?>
    ) -> Result {
        sum(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The mean of a property of the objects; nil when there are no values.
    public func average<Property: AddableType & _Persistable, Result: AddableType>(
        of keyPath: KeyPath<Value.Wrapped, Property>
    ) -> Result? {
        average(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The mean of an optional property of the objects, leaving nil out; nil when there are no values.
    public func average<Property: AddableType & _PersistableInsideOptional, Result: AddableType>(
        of keyPath: KeyPath<Value.Wrapped, Property?>
    ) -> Result? {
        average(ofProperty: PathRecorder.name(of: keyPath))
    }
}

extension Map where Value: MinMaxType {
    /// The smallest value; nil when there is none.
    public func min() -> Value? { Value._fromAggregate(aggregate(.minimum, nil)) }
    /// The largest value; nil when there is none.
    public func max() -> Value? { Value._fromAggregate(aggregate(.maximum, nil)) }
}

extension Map where Value: AddableType {
    /// The sum of the values.
    public func sum() -> Value { Value._sum(aggregate(.sum, nil)) }
    /// The mean of the values; nil when there are none.
    public func average<Result: AddableType>() -> Result? { Result._fromAggregate(aggregate(.average, nil)) }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: MinMaxType {
    /// The smallest value; nil when there is none.
    public func min() -> Value.Wrapped? { Value.Wrapped._fromAggregate(aggregate(.minimum, nil)) }
    /// The largest value; nil when there is none.
    public func max() -> Value.Wrapped? { Value.Wrapped._fromAggregate(aggregate(.maximum, nil)) }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: AddableType {
    /// The sum of the values.
    public func sum() -> Value.Wrapped { Value.Wrapped._sum(aggregate(.sum, nil)) }
    /// The mean of the values; nil when there are none.
    public func average<Result: AddableType>() -> Result? { Result._fromAggregate(aggregate(.average, nil)) }
}
