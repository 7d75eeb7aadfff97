/// An enum with integer, string or floating-point raw values that a property can hold.
///
/// ```swift
/// enum Status: String, PersistableEnum { case open, closed }
/// ```
/// A stored raw value that is no case reads as nil where the property is optional, and is an error where it is not.
public protocol PersistableEnum: _Scalar, _Indexable, _PrimaryKey, _RealmCollectionValueInsideOptional,
    RawRepresentable,
    CaseIterable, RealmEnum, MinMaxType, Comparable
where RawValue: Comparable & _Scalar {
    /// What a case is stored as.
    associatedtype PersistedType = RawValue
}

/// A type whose raw values are stored.
public protocol RealmEnum: RawRepresentable {}

extension PersistableEnum {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { RawValue._shape }
    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> Self { allCases.first! }

    /// Reads the property of a managed object.
    @inlinable
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Self {
        let raw = RawValue._get(object, key)
        return Self(rawValue: raw) ?? _unknownCase(raw, object, key)
    }

    /// Whether what is stored is a case.
    public static func _isReadable(_ object: ObjectBase, _ key: UInt32) -> Bool {
        RawValue._isReadable(object, key) && Self(rawValue: RawValue._get(object, key)) != nil
    }

    /// Reads an optional property of a managed object.
    @inlinable
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Self? {
        RawValue._getOptional(object, key).flatMap { Self(rawValue: $0) }
    }

    @usableFromInline
    static func _unknownCase(_ raw: RawValue, _ object: ObjectBase, _ key: UInt32) -> Self {
        // Nothing is stored in a closed realm.
        if object.core?.isClosed ?? false { return _defaultValue() }
        misuse(
            "The stored value '\(raw)' of '\(object.propertyDescription(key))' is not a case of \(Self.self). "
                + "Make the property optional to read unknown values as nil, add the case, or read it with "
                + "`try object.value(of: \\.name)`, which throws."
        )
    }

    /// Writes a value into a row.
    public static func _store(_ value: Self, _ writer: _RowWriter) { RawValue._store(value.rawValue, writer) }
    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> Self? {
        value as? Self ?? RawValue._unboxed(value).flatMap { Self(rawValue: $0) }
    }
    /// The stored form of a value.
    public static func _stored(_ value: Self) -> _Stored { RawValue._stored(value.rawValue) }
    /// Converts from the stored form; nil when it is null or no value of the type.
    public static func _fromStored(_ stored: _Stored) -> Self? {
        RawValue._fromStored(stored).flatMap { Self(rawValue: $0) }
    }

    /// Cases are ordered by their raw values.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
