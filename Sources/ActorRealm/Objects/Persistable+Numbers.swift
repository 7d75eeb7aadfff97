import RealmModel

/// The integer types; all are stored as 64-bit values.
///
/// Another program may declare a wider type for the same property. A value that does not fit then is none of the type: an optional
/// property reads it as nil, and others end the process, as with a value that is no case of an enum.
public protocol _PersistableInteger: _Scalar, FixedWidthInteger, _Indexable, _PrimaryKey, _QueryNumeric, AddableType,
    MinMaxType
{}

extension _PersistableInteger {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { _PropertyShape(.int) }
    /// The value that a property without a default of its own starts with.
    @inlinable @inline(__always)
    public static func _defaultValue() -> Self { 0 }

    /// Reads the property of a managed object.
    @inlinable @inline(__always)
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Self {
        let value = object.readInteger(key)
        return Self(exactly: value) ?? _misfit(value, object, key)
    }

    /// Whether what is stored fits.
    public static func _isReadable(_ object: ObjectBase, _ key: UInt32) -> Bool {
        Self(exactly: object.readInteger(key)) != nil
    }

    @usableFromInline
    @inline(never)
    static func _misfit(_ value: Int64, _ object: ObjectBase, _ key: UInt32) -> Self {
        misuse(
            "The stored value \(value) of '\(object.propertyDescription(key))' does not fit in \(Self.self). Declare a wider "
                + "type, make the property optional to read such values as nil, or read it with "
                + "`try object.value(of: \\.name)`, which throws."
        )
    }

    /// Reads an optional property of a managed object.
    @inlinable @inline(__always)
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Self? {
        let slot = object.column(key)
        let row = object.rowIndex
        return slot.isNull(row) ? nil : Self(exactly: slot.integer(row))
    }

    /// Writes a value into a row.
    public static func _store(_ value: Self, _ writer: _RowWriter) { writer.setInt(Int64(truncatingIfNeeded: value)) }
    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> Self? { ValueReader.integer(value).flatMap { Self(exactly: $0) } }
    /// The stored form of a value.
    public static func _stored(_ value: Self) -> _Stored { _Stored(.int(Int64(truncatingIfNeeded: value))) }
    /// Converts from the stored form; nil when it is null or no value of the type.
    public static func _fromStored(_ stored: _Stored) -> Self? {
        guard case .int(let value) = stored.value else { return nil }
        return Self(exactly: value)
    }
}

extension Int: _PersistableInteger {}
extension Int8: _PersistableInteger {}
extension Int16: _PersistableInteger {}
extension Int32: _PersistableInteger {}
extension Int64: _PersistableInteger {}

extension Bool: _Scalar, _Indexable, _PrimaryKey {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { _PropertyShape(.bool) }
    /// The value that a property without a default of its own starts with.
    @inlinable @inline(__always)
    public static func _defaultValue() -> Bool { false }

    /// Reads the property of a managed object.
    @inlinable @inline(__always)
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Bool {
        object.readInteger(key) != 0
    }

    /// Reads an optional property of a managed object.
    @inlinable @inline(__always)
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Bool? {
        let slot = object.column(key)
        let row = object.rowIndex
        return slot.isNull(row) ? nil : slot.integer(row) != 0
    }

    /// Writes a value into a row.
    public static func _store(_ value: Bool, _ writer: _RowWriter) { writer.setBool(value) }
    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> Bool? { ValueReader.bool(value) }
    /// The stored form of a value.
    public static func _stored(_ value: Bool) -> _Stored { _Stored(.bool(value)) }
    /// Converts from the stored form; nil when it is null or no value of the type.
    public static func _fromStored(_ stored: _Stored) -> Bool? {
        guard case .bool(let value) = stored.value else { return nil }
        return value
    }
}

extension Double: _Scalar, _QueryNumeric, AddableType, MinMaxType {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { _PropertyShape(.double) }
    /// The value that a property without a default of its own starts with.
    @inlinable @inline(__always)
    public static func _defaultValue() -> Double { 0 }

    /// Reads the property of a managed object.
    @inlinable @inline(__always)
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Double {
        object.column(key).double(object.rowIndex)
    }

    /// Reads an optional property of a managed object.
    @inlinable @inline(__always)
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Double? {
        let slot = object.column(key)
        let row = object.rowIndex
        return slot.isNull(row) ? nil : slot.double(row)
    }

    /// Writes a value into a row.
    public static func _store(_ value: Double, _ writer: _RowWriter) { writer.setDouble(value) }
    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> Double? { ValueReader.double(value) }
    /// The stored form of a value.
    public static func _stored(_ value: Double) -> _Stored { _Stored(.double(value)) }
    /// Converts from the stored form; nil when it is null or no value of the type.
    public static func _fromStored(_ stored: _Stored) -> Double? {
        guard case .double(let value) = stored.value else { return nil }
        return value
    }
}

extension Float: _Scalar, _QueryNumeric, AddableType, MinMaxType {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { _PropertyShape(.float) }
    /// The value that a property without a default of its own starts with.
    @inlinable @inline(__always)
    public static func _defaultValue() -> Float { 0 }

    /// Reads the property of a managed object.
    @inlinable @inline(__always)
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Float {
        object.column(key).float(object.rowIndex)
    }

    /// Reads an optional property of a managed object.
    @inlinable @inline(__always)
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Float? {
        let slot = object.column(key)
        let row = object.rowIndex
        return slot.isNull(row) ? nil : slot.float(row)
    }

    /// Writes a value into a row.
    public static func _store(_ value: Float, _ writer: _RowWriter) { writer.setFloat(value) }
    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> Float? { ValueReader.float(value) }
    /// The stored form of a value.
    public static func _stored(_ value: Float) -> _Stored { _Stored(.float(value)) }
    /// Converts from the stored form; nil when it is null or no value of the type.
    public static func _fromStored(_ stored: _Stored) -> Float? {
        guard case .float(let value) = stored.value else { return nil }
        return value
    }
}
