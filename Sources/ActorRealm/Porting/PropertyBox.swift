/// A type of which a property could hold an optional value before `@Persisted`: numbers and truth values.
public protocol RealmOptionalType: _PersistableInsideOptional {}

extension Int: RealmOptionalType {}
extension Int8: RealmOptionalType {}
extension Int16: RealmOptionalType {}
extension Int32: RealmOptionalType {}
extension Int64: RealmOptionalType {}
extension Float: RealmOptionalType {}
extension Double: RealmOptionalType {}
extension Bool: RealmOptionalType {}

/// What a `RealmProperty` can hold: optional values, and values of any kind.
public protocol RealmPropertyType: _Persistable {}

extension Optional: RealmPropertyType where Wrapped: _PersistableInsideOptional {}
extension AnyRealmValue: RealmPropertyType {}

/// The value of a property, reached through `value`.
///
/// Properties were declared so before `@Persisted`, as constants that held a box. With `@Persisted` the type goes on, and with
/// it the lines that read and write `value`; what is stored is the value itself, so that both forms fit one file.
///
/// ```swift
/// class Sailor: Object {
///     // let age = RealmProperty<Int?>()
///     @Persisted var age: RealmProperty<Int?>      // or, better: @Persisted var age: Int?
///
///     func grow() { age.value = (age.value ?? 0) + 1 }
/// }
/// ```
public struct _PropertyBox<Value: RealmPropertyType> {
    /// The value.
    public var value: Value

    init(_ value: Value) { self.value = value }

    /// Not available: without `@Persisted` the property would not be stored.
    @available(
        *,
        unavailable,
        message:
            "A constant is not stored. Declare `@Persisted var name: Int?` with the type of the value, or `@Persisted var name: RealmProperty<Int?>` to keep what reads and writes its value."
    )
    // The compiler rejects every call; the initializer must exist for the message.
    public init() { fatalError("unavailable") }

    /// Not available: without `@Persisted` the property would not be stored.
    @available(
        *,
        unavailable,
        message:
            "A constant is not stored. Declare `@Persisted var name: Int? = 5` with the type and the default of the value."
    )
    // As above.
    public init<Other>(_ value: Other) { fatalError("unavailable") }
}

/// The value of a property, reached through `value`.
@available(*, deprecated, message: "Declare the property with the type of its value: `@Persisted var name: Int?`")
public typealias RealmProperty<Value: RealmPropertyType> = _PropertyBox<Value>

/// The optional value of a property, reached through `value`.
@available(*, deprecated, message: "Declare the property with the type of its value: `@Persisted var name: Int?`")
public typealias RealmOptional<Value: RealmOptionalType> = _PropertyBox<Value?>

extension _PropertyBox: Equatable where Value: Equatable {}
extension _PropertyBox: Hashable where Value: Hashable {}
extension _PropertyBox: Sendable where Value: Sendable {}

extension _PropertyBox: Decodable where Value: Decodable {
    /// Decodes the value.
    public init(from decoder: any Decoder) throws { self.init(try Value(from: decoder)) }
}

extension _PropertyBox: Encodable where Value: Encodable {
    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

extension _PropertyBox: CustomStringConvertible {
    /// The value as text.
    public var description: String { ObjectDescription.text(value) }
}

extension _PropertyBox: _Persistable {
    /// It is stored as its value is.
    public typealias PersistedType = Value.PersistedType
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { Value._shape }
    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> Self { Self(Value._defaultValue()) }
    /// The first value of an unmanaged property.
    public static func _initialValue(_ object: ObjectBase, _ key: UInt32) -> Self {
        Self(Value._initialValue(object, key))
    }
    /// Reads the property of a managed object.
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Self { Self(Value._get(object, key)) }
    /// Writes the property of a managed object.
    public static func _set(_ object: ObjectBase, _ key: UInt32, _ value: Self) {
        Value._set(object, key, value.value)
    }
    /// Writes a value into a row.
    public static func _store(_ value: Self, _ writer: _RowWriter) { Value._store(value.value, writer) }
    /// The value of a dynamically typed read.
    public static func _boxed(_ value: Self) -> Any? { Value._boxed(value.value) }
    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> Self? {
        if let box = value as? Self { return box }
        return Value._unboxed(value).map { Self($0) }
    }
    /// What tells sections with different keys apart.
    public static func _sectionKey(_ value: Self) -> _Stored? { Value._sectionKey(value.value) }
    /// A key of sections as it is now.
    public static func _keptKey(_ value: Self) -> Self { Self(Value._keptKey(value.value)) }
    /// The stored form of a key that is or holds objects of a collection's file; nil for keys without any.
    public static func _linkingKey(_ value: Self, of backing: _CollectionBacking) -> _Stored? {
        Value._linkingKey(value.value, of: backing)
    }
    /// The key with such a stored form in the realm of a collection; nil where that does not have the objects' classes.
    public static func _key(linking stored: _Stored, in backing: _CollectionBacking) -> Self? {
        Value._key(linking: stored, in: backing).map { Self($0) }
    }
}
