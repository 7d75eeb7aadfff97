import RealmModel
import RealmQuery

/// A collection that can belong to a realm: `Results`, `List`, `LinkingObjects`.
///
/// It is a random-access collection whose transformations are lazy. A managed one is live: it always shows the version
/// that its realm stands on.
public protocol RealmCollection<Element>: _ConfinedCollection, RandomAccessCollection, LazyCollectionProtocol,
    ThreadConfined, Equatable, CustomStringConvertible
where Element: RealmCollectionValue {
    /// What stands behind a managed collection; nil for an unmanaged one.
    var _backing: _CollectionBacking? { get }
}

extension RealmCollection {
    /// The managed contents, for operations that an unmanaged collection cannot offer.
    @usableFromInline
    func managed(_ operation: String) -> _CollectionBacking {
        guard let backing = _backing else {
            misuse(
                "\(operation) is only supported on managed collections. Add the object to a Realm first."
            )
        }
        return backing
    }

    /// The position of the first element.
    public var startIndex: Int { 0 }
    /// The position after the last element.
    public var endIndex: Int { count }
    /// The position after another.
    public func index(after index: Int) -> Int { index + 1 }
    /// The position before another.
    public func index(before index: Int) -> Int { index - 1 }
    /// A position at a distance from another.
    public func index(_ index: Int, offsetBy distance: Int) -> Int { index + distance }
    /// A position at a distance from another, unless that lies beyond a limit.
    public func index(_ index: Int, offsetBy distance: Int, limitedBy limit: Int) -> Int? {
        let result = index + distance
        if distance >= 0 ? limit >= index && result > limit : limit <= index && result < limit { return nil }
        return result
    }
    /// The number of positions between two.
    public func distance(from start: Int, to end: Int) -> Int { end - start }

    /// Ends the process for a position that a range has and the collection does not, or keeps the mistake of a migration; in a realm that
    /// was closed it does nothing.
    public func _refusePosition(_ position: Int, count: Int) {
        guard let backing = _backing else { indexOutOfBounds(position, count: count) }
        backing.refuseIndex(position, count: count)
    }

    /// Whether the collection has no elements.
    public var isEmpty: Bool { count == 0 }
    /// The last element; nil when there is none.
    public var last: Element? {
        let count = count
        return count == 0 ? nil : self[count - 1]
    }

    /// The position of an element; nil when the collection does not hold it.
    ///
    /// Values of a managed collection are compared as sorting compares them: strings by their bytes, numbers by value, and
    /// NaN is equal to itself.
    public func index(of element: Element) -> Int? {
        guard let backing = _backing else { return firstIndex { $0 == element } }
        if let (object, key) = Element._elementKey(element) {
            guard object.core === backing.core, object.tableAccessor === backing.elements else { return nil }
            return backing.index(of: key)
        }
        if backing.elements != nil {
            return backing.values().firstIndex { Element._element(_Stored($0), in: backing) == element }
        }
        guard let stored = Element._storedElement(element, in: backing) else { return nil }
        return backing.values().firstIndex(of: stored.value)
    }

    /// The position of the first object for which a condition holds.
    ///
    /// - Precondition: The collection is managed, and the predicate parses and fits the class. For text from outside
    ///   ``filter(_:)-(RealmPredicate)`` throws.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? where Element: ObjectBase {
        managed("index(matching:)").position(matching: isIncluded(Query<Element>.root))
    }

    /// The position of the first object for which a predicate holds.
    ///
    /// - Precondition: The collection is managed, and the predicate parses and fits the class. For text from outside
    ///   ``filter(_:)-(RealmPredicate)`` throws.
    public func index(matching predicateFormat: String, _ arguments: Any...) -> Int? where Element: ObjectBase {
        position(matching: predicateFormat, arguments)
    }

    /// As above, with the arguments in an array.
    func position(matching predicateFormat: String, _ arguments: [Any]) -> Int? {
        let backing = managed("index(matching:)")
        let predicate = PredicateFormat.predicate(predicateFormat, arguments, in: backing.core)
        return backing.core.attempt(or: nil) { try backing.position(matching: predicate) }
    }

    /// The objects for which a condition holds.
    ///
    /// ```swift
    /// let adults = people.where { $0.age >= 18 && $0.name.starts(with: "A") }
    /// ```
    ///
    /// - Precondition: The collection is managed, and what is compared can be: ``filter(_:)-(RealmPredicate)`` throws
    ///   instead.
    @inlinable
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> where Element: ObjectBase {
        Results((_backing ?? managed("where")).filtered(isIncluded(Query<Element>.root)))
    }

    /// The objects for which a predicate in the string language holds.
    ///
    /// Behind the predicate the text may say what happens to the objects that match: `SORT(age DESC, name)`,
    /// `DISTINCT(name)` and `LIMIT(10)`, applied in the order in which they stand.
    ///
    /// - Parameters:
    ///   - predicateFormat: The predicate; `%@` stands for the next argument, `%K` for a property name.
    ///   - arguments: The values.
    /// - Returns: The objects, as live results.
    /// - Precondition: The predicate parses and fits the class. For text from outside use
    ///   ``filter(_:)-(RealmPredicate)``, which throws.
    public func filter(_ predicateFormat: String, _ arguments: Any...) -> Results<Element> {
        Results(managed("filter").filtered(predicateFormat, arguments))
    }

    /// The objects for which a parsed predicate holds.
    ///
    /// - Throws: `Realm.Error` with the code `.invalidInput` when the predicate does not fit the class, with the position
    ///   of the comparison or clause that does not, or is about objects of another file.
    public func filter(_ predicate: RealmPredicate) throws -> Results<Element> {
        guard let backing = try readableBacking() else {
            throw Realm.Error(
                .invalidInput,
                "filter is only supported on managed collections. Add the object to a Realm first."
            )
        }
        return Results(try backing.applying(predicate))
    }

    /// The objects in the order of a property.
    ///
    /// - Precondition: The collection is managed, and there is such a property that can be sorted by. For a name from
    ///   outside ``filter(_:)-(RealmPredicate)`` throws, with `SORT(name)` behind the predicate.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// The objects in the order of a property.
    ///
    /// - Precondition: The collection is managed, and there is such a property that can be sorted by. For a name from
    ///   outside ``filter(_:)-(RealmPredicate)`` throws, with `SORT(name)` behind the predicate.
    public func sorted<Value: _Persistable>(
        by keyPath: KeyPath<Element, Value>,
        ascending: Bool = true
    ) -> Results<Element> where Element: KeypathSortable {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// The objects in the order of several properties, the first one deciding.
    ///
    /// - Precondition: The collection is managed, and there is such a property that can be sorted by. For a name from
    ///   outside ``filter(_:)-(RealmPredicate)`` throws, with `SORT(name)` behind the predicate.
    public func sorted<Descriptors: Sequence>(by sortDescriptors: Descriptors) -> Results<Element>
    where Descriptors.Element == SortDescriptor {
        let backing = managed("sorted")
        return Results(backing.core.attempt(or: backing) { try backing.sorted(Array(sortDescriptors)) })
    }

    /// The values in order.
    ///
    /// - Precondition: The collection is managed: look at ``realm``.
    public func sorted(ascending: Bool = true) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: "self", ascending: ascending)])
    }

    /// The first object of each group of objects that are equal in some properties.
    ///
    /// - Precondition: The collection is managed, and there are such properties. For a name from outside
    ///   ``filter(_:)-(RealmPredicate)`` throws, with `DISTINCT(name)` behind the predicate.
    public func distinct<KeyPaths: Sequence>(by keyPaths: KeyPaths) -> Results<Element>
    where KeyPaths.Element == String {
        let backing = managed("distinct")
        return Results(backing.core.attempt(or: backing) { try backing.distinct(Array(keyPaths)) })
    }

    /// The first object of each group of objects that are equal in some properties.
    ///
    /// - Precondition: The collection is managed, and there are such properties. For a name from outside
    ///   ``filter(_:)-(RealmPredicate)`` throws, with `DISTINCT(name)` behind the predicate.
    public func distinct(by keyPaths: [PartialKeyPath<Element>]) -> Results<Element> where Element: KeypathSortable {
        distinct(by: keyPaths.map { Element._name(of: $0) })
    }

    /// The values, each once.
    ///
    /// - Precondition: The collection is managed: look at ``realm``.
    public func distinct() -> Results<Element> { distinct(by: ["self"]) }

    /// The first elements, at most so many; with an order, the whole collection is not sorted.
    ///
    /// A filter that is put on the results narrows what the limit left.
    ///
    /// - Precondition: The collection is managed, and no number is negative. For text from outside
    ///   ``filter(_:)-(RealmPredicate)`` throws, with `LIMIT(10)` behind the predicate.
    public func limit(_ count: Int) -> Results<Element> { limit(count, offset: 0) }

    /// At most so many elements, behind as many that are left out: one page of the collection.
    ///
    /// - Precondition: The collection is managed, and no number is negative. For text from outside
    ///   ``filter(_:)-(RealmPredicate)`` throws, with `LIMIT(10)` behind the predicate.
    public func limit(_ count: Int, offset: Int) -> Results<Element> {
        let backing = managed("limit")
        return Results(backing.core.attempt(or: backing) { try backing.limited(count, offset: offset) })
    }

    /// A listing of the first hundred elements.
    public var description: String { ObjectDescription.describe(collection: self) }
}

/// A type whose values have a smallest and a largest.
public protocol MinMaxType: SendableMetatype {
    static func _fromAggregate(_ stored: _Stored) -> Self?
}

/// A type whose values can be added up.
public protocol AddableType: SendableMetatype {
    static func _fromAggregate(_ stored: _Stored) -> Self?
    static func _zero() -> Self
}

extension RealmCollection {
    /// Computes over a property, or over the elements themselves: with nil, `self` and an empty name.
    func aggregate(_ operation: AggregateOperation, _ name: String?) -> _Stored {
        let property = name == "self" || name?.isEmpty == true ? nil : name
        if let backing = _backing {
            return backing.core.attempt(or: _Stored(.null)) { try backing.aggregate(operation, property) }
        }
        return attempt {
            try .aggregate(operation, property, of: map { Element._boxedElement($0) }, shape: Element._elementShape)
        }
    }

    /// The smallest value of a property; nil when there is none.
    ///
    /// Damage ends the process here: `requireReadable(_:_:)` with the property throws it before.
    ///
    /// - Precondition: There is such a property, of numbers: for a name from outside ``requireReadable(properties:)`` throws,
    ///   and ``Realm/schema`` tells the type.
    public func min<Value: MinMaxType>(ofProperty property: String) -> Value? {
        Value._fromAggregate(aggregate(.minimum, property))
    }
    /// The largest value of a property; nil when there is none.
    ///
    /// Damage ends the process here: `requireReadable(_:_:)` with the property throws it before.
    ///
    /// - Precondition: There is such a property, of numbers: for a name from outside ``requireReadable(properties:)`` throws,
    ///   and ``Realm/schema`` tells the type.
    public func max<Value: MinMaxType>(ofProperty property: String) -> Value? {
        Value._fromAggregate(aggregate(.maximum, property))
    }
    /// The sum of a property; 0 when there are no values.
    ///
    /// Integers wrap around at 64 bits; a sum that does not fit in the type ends the process: ask for a wider one (`let sum: Int = …`).
    /// So does damage here: `requireReadable(_:_:)` with the property throws it before.
    ///
    /// - Precondition: There is such a property, of numbers: for a name from outside ``requireReadable(properties:)`` throws,
    ///   and ``Realm/schema`` tells the type.
    public func sum<Value: AddableType>(ofProperty property: String) -> Value {
        Value._sum(aggregate(.sum, property))
    }
    /// The mean of a property; nil when there are no values.
    ///
    /// Damage ends the process here: `requireReadable(_:_:)` with the property throws it before.
    ///
    /// - Precondition: There is such a property, of numbers: for a name from outside ``requireReadable(properties:)`` throws,
    ///   and ``Realm/schema`` tells the type.
    public func average<Value: AddableType>(ofProperty property: String) -> Value? {
        Value._fromAggregate(aggregate(.average, property))
    }
}

extension RealmCollection where Element: ObjectBase {
    /// The smallest value of a property; nil when there is none.
    public func min<Value: MinMaxType & _Persistable>(of keyPath: KeyPath<Element, Value>) -> Value? {
        min(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The smallest value of an optional property; nil when there is none.
    public func min<Value: MinMaxType & _PersistableInsideOptional>(of keyPath: KeyPath<Element, Value?>) -> Value? {
        min(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The largest value of a property; nil when there is none.
    public func max<Value: MinMaxType & _Persistable>(of keyPath: KeyPath<Element, Value>) -> Value? {
        max(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The largest value of an optional property; nil when there is none.
    public func max<Value: MinMaxType & _PersistableInsideOptional>(of keyPath: KeyPath<Element, Value?>) -> Value? {
        max(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The sum of a property; 0 when there are no values.
    ///
    /// Integers wrap around at 64 bits. A sum that does not fit in the property's type ends the process: `sum(ofProperty:)` gives it in a
    /// wider one.
    public func sum<Value: AddableType & _Persistable>(of keyPath: KeyPath<Element, Value>) -> Value {
        sum(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The sum of an optional property, leaving nil out; 0 when there are no values.
    public func sum<Value: AddableType & _PersistableInsideOptional>(of keyPath: KeyPath<Element, Value?>) -> Value {
        sum(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The mean of a property; nil when there are no values.
    public func average<Value: AddableType & _Persistable>(of keyPath: KeyPath<Element, Value>) -> Value? {
        average(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The mean of an optional property, leaving nil out; nil when there are no values.
    public func average<Value: AddableType & _PersistableInsideOptional>(
        of keyPath: KeyPath<Element, Value?>
    ) -> Value? {
        average(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The mean of a property of any type as a `Double`; nil when there are no values.
    @_disfavoredOverload
    public func average<Value: AddableType & _Persistable>(of keyPath: KeyPath<Element, Value>) -> Double? {
        average(ofProperty: PathRecorder.name(of: keyPath))
    }
    /// The mean of an optional property of any type as a `Double`, leaving nil out; nil when there are no values.
    @_disfavoredOverload
    public func average<Value: AddableType & _PersistableInsideOptional>(
        of keyPath: KeyPath<Element, Value?>
    ) -> Double? {
        average(ofProperty: PathRecorder.name(of: keyPath))
    }
}

extension RealmCollection where Element: MinMaxType {
    /// The smallest value; nil when there is none.
    public func min() -> Element? { Element._fromAggregate(aggregate(.minimum, nil)) }
    /// The largest value; nil when there is none.
    public func max() -> Element? { Element._fromAggregate(aggregate(.maximum, nil)) }
}

extension RealmCollection where Element: AddableType {
    /// The sum; 0 when there are no values.
    ///
    /// One that does not fit in the type ends the process: `sum(ofProperty: "self")` gives it in a wider one.
    public func sum() -> Element { Element._sum(aggregate(.sum, nil)) }
    /// The mean; nil when there are no values.
    public func average<Value: AddableType>() -> Value? { Value._fromAggregate(aggregate(.average, nil)) }
}

extension RealmCollection where Element: OptionalProtocol, Element.Wrapped: MinMaxType {
    /// The smallest value; nil when there is none.
    public func min() -> Element.Wrapped? { Element.Wrapped._fromAggregate(aggregate(.minimum, nil)) }
    /// The largest value; nil when there is none.
    public func max() -> Element.Wrapped? { Element.Wrapped._fromAggregate(aggregate(.maximum, nil)) }
}

extension RealmCollection where Element: OptionalProtocol, Element.Wrapped: AddableType {
    /// The sum, leaving nil out; 0 when there are no values.
    public func sum() -> Element.Wrapped { Element.Wrapped._sum(aggregate(.sum, nil)) }
    /// The mean, leaving nil out; nil when there are no values.
    public func average<Value: AddableType>() -> Value? { Value._fromAggregate(aggregate(.average, nil)) }
}
