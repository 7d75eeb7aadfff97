import RealmModel
import RealmStorage

/// What a type of the program's own can be stored as.
public protocol _CustomPersistedType: _PersistableInsideOptional, RealmCollectionValue {
    /// What a property that holds it through another type looks like in the schema.
    static var _customShape: _PropertyShape { get }
    /// What is stored before a value was set.
    static func _customDefault() -> Self
    /// Whether that is another value each time.
    static var _isCustomDefaultGenerated: Bool { get }
    /// The stored form of a value; nil for embedded objects, which have none without a row.
    static func _customStored(_ value: Self) -> _Stored?
    /// Converts from the stored form; nil when it is null or of another type.
    static func _customFromStored(_ stored: _Stored) -> Self?
    /// Whether what is stored in a property of a managed object is null or a value of the type.
    static func _isCustomReadable(_ object: ObjectBase, _ key: UInt32) -> Bool
    /// Whether two values are stored as the same.
    static func _customEqual(_ left: Self, _ right: Self) -> Bool
    /// Hashes what is stored.
    static func _customHash(_ value: Self, into hasher: inout Hasher)
}

extension _CustomPersistedType {
    /// Whether what is stored in a property of a managed object is null or a value of the type.
    public static func _isCustomReadable(_ object: ObjectBase, _ key: UInt32) -> Bool { true }
    /// Whether two values are stored as the same.
    public static func _customEqual(_ left: Self, _ right: Self) -> Bool { left == right }
    /// Hashes what is stored.
    public static func _customHash(_ value: Self, into hasher: inout Hasher) { value.hash(into: &hasher) }
}

extension _Scalar {
    /// What a property that holds it through another type looks like in the schema.
    public static var _customShape: _PropertyShape { _shape }
    /// What is stored before a value was set.
    public static func _customDefault() -> Self { _defaultValue() }
    /// Whether that is another value each time.
    public static var _isCustomDefaultGenerated: Bool { _isDefaultGenerated }
    /// The stored form of a value.
    public static func _customStored(_ value: Self) -> _Stored? { _stored(value) }
    /// Converts from the stored form; nil when it is null or of another type.
    public static func _customFromStored(_ stored: _Stored) -> Self? { _fromStored(stored) }
}

extension _Scalar {
    /// Whether what is stored in a property of a managed object is null or a value of the type.
    public static func _isCustomReadable(_ object: ObjectBase, _ key: UInt32) -> Bool {
        _getOptional(object, key) != nil || object.view(key).isNull(object.rowIndex)
    }
    /// Whether two values are stored as the same: strings by their bytes.
    public static func _customEqual(_ left: Self, _ right: Self) -> Bool {
        guard let one = _sectionKey(left), let other = _sectionKey(right) else { return left == right }
        return one.value == other.value
    }
    /// Hashes what is the same for equal values.
    public static func _customHash(_ value: Self, into hasher: inout Hasher) {
        if let key = _sectionKey(value) { key.value.hash(into: &hasher) } else { value.hash(into: &hasher) }
    }
}

extension EmbeddedObject: _CustomPersistedType {}

extension _CustomPersistedType where Self: EmbeddedObject {
    /// What a property that holds it through another type looks like in the schema.
    public static var _customShape: _PropertyShape { _shapeInsideOptional }
    /// What is stored before a value was set.
    public static func _customDefault() -> Self { Self() }
    /// Whether that is another value each time: its own properties may start at generated values.
    public static var _isCustomDefaultGenerated: Bool { true }
    /// The stored form of a value; nil, because an object has none without a row.
    public static func _customStored(_ value: Self) -> _Stored? { nil }
    /// Converts from the stored form; nil, because an object has none without a row.
    public static func _customFromStored(_ stored: _Stored) -> Self? { nil }
    /// Whether two objects have equal properties.
    public static func _customEqual(_ left: Self, _ right: Self) -> Bool { EmbeddedEquality.areEqual(left, right) }
    /// Hashes the properties.
    public static func _customHash(_ value: Self, into hasher: inout Hasher) {
        EmbeddedEquality.hash(value, into: &hasher)
    }
}
