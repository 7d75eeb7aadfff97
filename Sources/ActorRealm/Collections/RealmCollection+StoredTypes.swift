public import Foundation

/// A type whose values have an order in a realm.
public protocol SortableType {}

extension Int: SortableType {}
extension Int8: SortableType {}
extension Int16: SortableType {}
extension Int32: SortableType {}
extension Int64: SortableType {}
extension Bool: SortableType {}
extension Float: SortableType {}
extension Double: SortableType {}
extension String: SortableType {}
extension Data: SortableType {}
extension Date: SortableType {}
extension UUID: SortableType {}
extension ObjectId: SortableType {}
extension Decimal128: SortableType {}
extension AnyRealmValue: SortableType {}
extension Optional: SortableType where Wrapped: SortableType {}

extension _HasPersistedType {
    /// The value that a computed one stands for: an enum of its raw value, a type of one's own of what is stored.
    fileprivate static func of(_ persisted: PersistedType?) -> Self? {
        guard let persisted else { return nil }
        return (Self.self as? any _Persistable.Type)?._unboxed(persisted) as? Self
    }

    /// The sum that a computed one stands for, or the sum of nothing.
    fileprivate static func sum(_ persisted: PersistedType?) -> Self where PersistedType: AddableType {
        let sum = persisted ?? PersistedType._zero()
        guard let value = of(sum) else {
            misuse("Failed to convert persisted value '\(sum)' to type '\(Self.self)' in a non-optional context.")
        }
        return value
    }
}

/// The forms for all types that are stored as others, custom ones among them, and for code that is generic over them.
extension RealmCollection {
    /// The smallest value of a property; nil when there is none.
    @_disfavoredOverload
    public func min<Value: _HasPersistedType>(ofProperty property: String) -> Value?
    where Value.PersistedType: MinMaxType { Value.of(min(ofProperty: property)) }
    /// The largest value of a property; nil when there is none.
    @_disfavoredOverload
    public func max<Value: _HasPersistedType>(ofProperty property: String) -> Value?
    where Value.PersistedType: MinMaxType { Value.of(max(ofProperty: property)) }
    /// The sum of a property, as it is stored.
    @_disfavoredOverload
    public func sum<Value: _HasPersistedType>(ofProperty property: String) -> Value
    where Value.PersistedType: AddableType { Value.sum(sum(ofProperty: property)) }
    /// The mean of a property, as it is stored; nil when there are no values.
    @_disfavoredOverload
    public func average<Value: _HasPersistedType>(ofProperty property: String) -> Value?
    where Value.PersistedType: AddableType { Value.of(average(ofProperty: property)) }
}

extension RealmCollection where Element: ObjectBase {
    /// The smallest value of a property; nil when there is none.
    @_disfavoredOverload
    public func min<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Value?
    where Value.PersistedType: MinMaxType { min(ofProperty: PathRecorder.name(of: keyPath)) }
    /// The largest value of a property; nil when there is none.
    @_disfavoredOverload
    public func max<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Value?
    where Value.PersistedType: MinMaxType { max(ofProperty: PathRecorder.name(of: keyPath)) }
    /// The sum of a property, as it is stored.
    @_disfavoredOverload
    public func sum<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Value
    where Value.PersistedType: AddableType { sum(ofProperty: PathRecorder.name(of: keyPath)) }
    /// The mean of a property, as it is stored; nil when there are no values.
    @_disfavoredOverload
    public func average<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Value?
    where Value.PersistedType: AddableType { average(ofProperty: PathRecorder.name(of: keyPath)) }
    /// The objects in the order of a property.
    ///
    /// - Precondition: The collection is managed, and there is such a property that can be sorted by. For a name from
    ///   outside ``filter(_:)-(RealmPredicate)`` throws, with `SORT(name)` behind the predicate.
    @_disfavoredOverload
    public func sorted<Value: _HasPersistedType>(
        by keyPath: KeyPath<Element, Value>,
        ascending: Bool = true
    ) -> Results<Element> where Value.PersistedType: SortableType {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }
}

extension RealmCollection where Element.PersistedType: MinMaxType {
    /// The smallest value; nil when there is none.
    @_disfavoredOverload
    public func min() -> Element? { Element.of(min(ofProperty: "self")) }
    /// The largest value; nil when there is none.
    @_disfavoredOverload
    public func max() -> Element? { Element.of(max(ofProperty: "self")) }
}

extension RealmCollection where Element.PersistedType: AddableType {
    /// The sum, as it is stored.
    @_disfavoredOverload
    public func sum() -> Element { Element.sum(sum(ofProperty: "self")) }
    /// The mean, as it is stored; nil when there are no values.
    @_disfavoredOverload
    public func average<Value: _HasPersistedType>() -> Value? where Value.PersistedType: AddableType {
        average(ofProperty: "self")
    }
}

extension RealmCollection where Element: ObjectBase {
    /// The smallest value of an optional property; nil when there is none.
    @_disfavoredOverload
    public func min<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value?>) -> Value?
    where Value.PersistedType: MinMaxType { min(ofProperty: PathRecorder.name(of: keyPath)) }
    /// The largest value of an optional property; nil when there is none.
    @_disfavoredOverload
    public func max<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value?>) -> Value?
    where Value.PersistedType: MinMaxType { max(ofProperty: PathRecorder.name(of: keyPath)) }
    /// The sum of an optional property, as it is stored, leaving nil out.
    @_disfavoredOverload
    public func sum<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value?>) -> Value
    where Value.PersistedType: AddableType { sum(ofProperty: PathRecorder.name(of: keyPath)) }
    /// The mean of an optional property, as it is stored, leaving nil out; nil when there are no values.
    @_disfavoredOverload
    public func average<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value?>) -> Value?
    where Value.PersistedType: AddableType { average(ofProperty: PathRecorder.name(of: keyPath)) }
}

extension RealmCollection
where Element: OptionalProtocol, Element.Wrapped: _HasPersistedType, Element.Wrapped.PersistedType: MinMaxType {
    /// The smallest value; nil when there is none.
    @_disfavoredOverload
    public func min() -> Element.Wrapped? { Element.Wrapped.of(min(ofProperty: "self")) }
    /// The largest value; nil when there is none.
    @_disfavoredOverload
    public func max() -> Element.Wrapped? { Element.Wrapped.of(max(ofProperty: "self")) }
}

extension RealmCollection
where Element: OptionalProtocol, Element.Wrapped: _HasPersistedType, Element.Wrapped.PersistedType: AddableType {
    /// The sum, as it is stored, leaving nil out.
    @_disfavoredOverload
    public func sum() -> Element.Wrapped { Element.Wrapped.sum(sum(ofProperty: "self")) }
    /// The mean, as it is stored, leaving nil out; nil when there are no values.
    @_disfavoredOverload
    public func average<Value: _HasPersistedType>() -> Value? where Value.PersistedType: AddableType {
        average(ofProperty: "self")
    }
}

extension Map {
    /// The smallest value of a property of the objects; nil when there is none.
    @_disfavoredOverload
    public func min<Result: _HasPersistedType>(ofProperty property: String) -> Result?
    where Result.PersistedType: MinMaxType { Result.of(min(ofProperty: property)) }
    /// The largest value of a property of the objects; nil when there is none.
    @_disfavoredOverload
    public func max<Result: _HasPersistedType>(ofProperty property: String) -> Result?
    where Result.PersistedType: MinMaxType { Result.of(max(ofProperty: property)) }
    /// The sum of a property of the objects, as it is stored.
    @_disfavoredOverload
    public func sum<Result: _HasPersistedType>(ofProperty property: String) -> Result
    where Result.PersistedType: AddableType { Result.sum(sum(ofProperty: property)) }
    /// The mean of a property of the objects, as it is stored; nil when there are no values.
    @_disfavoredOverload
    public func average<Result: _HasPersistedType>(ofProperty property: String) -> Result?
    where Result.PersistedType: AddableType { Result.of(average(ofProperty: property)) }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    /// The smallest value of a property of the objects; nil when there is none.
    @_disfavoredOverload
    public func min<Result: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, Result>) -> Result?
    where Result.PersistedType: MinMaxType { min(ofProperty: PathRecorder.name(of: keyPath)) }
    /// The largest value of a property of the objects; nil when there is none.
    @_disfavoredOverload
    public func max<Result: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, Result>) -> Result?
    where Result.PersistedType: MinMaxType { max(ofProperty: PathRecorder.name(of: keyPath)) }
    /// The sum of a property of the objects, as it is stored.
    @_disfavoredOverload
    public func sum<Result: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, Result>) -> Result
    where Result.PersistedType: AddableType { sum(ofProperty: PathRecorder.name(of: keyPath)) }
    /// The mean of a property of the objects, as it is stored; nil when there are no values.
    @_disfavoredOverload
    public func average<Result: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, Result>) -> Result?
    where Result.PersistedType: AddableType { average(ofProperty: PathRecorder.name(of: keyPath)) }
}

extension Map where Value.PersistedType: MinMaxType {
    /// The smallest value; nil when there is none.
    @_disfavoredOverload
    public func min() -> Value? { Value.of(min(ofProperty: "self")) }
    /// The largest value; nil when there is none.
    @_disfavoredOverload
    public func max() -> Value? { Value.of(max(ofProperty: "self")) }
}

extension Map where Value.PersistedType: AddableType {
    /// The sum of the values, as it is stored.
    @_disfavoredOverload
    public func sum() -> Value { Value.sum(sum(ofProperty: "self")) }
    /// The mean of the values, as it is stored; nil when there are none.
    @_disfavoredOverload
    public func average<Result: _HasPersistedType>() -> Result? where Result.PersistedType: AddableType {
        average(ofProperty: "self")
    }
}
