import RealmModel

/// The integer types; all are stored as 64-bit values.
public protocol _PersistableInteger: _Scalar, FixedWidthInteger, _Indexable, _PrimaryKey, _QueryNumeric, AddableType, MinMaxType {}

extension _PersistableInteger {
    public static var _shape: _PropertyShape { _PropertyShape(.int) }
    @inlinable @inline(__always)
    public static func _defaultValue() -> Self { 0 }

    @inlinable @inline(__always)
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Self {
        Self(truncatingIfNeeded: object.column(key).integer(object.rowIndex))
    }

    @inlinable @inline(__always)
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Self? {
        let slot = object.column(key)
        let row = object.rowIndex
        return slot.isNull(row) ? nil : Self(truncatingIfNeeded: slot.integer(row))
    }

    public static func _store(_ value: Self, _ writer: _RowWriter) { writer.setInt(Int64(truncatingIfNeeded: value)) }
    public static func _unboxed(_ value: Any?) -> Self? { ValueReader.integer(value).flatMap { Self(exactly: $0) } }
    public static func _stored(_ value: Self) -> _Stored { _Stored(.int(Int64(truncatingIfNeeded: value))) }
    public static func _fromStored(_ stored: _Stored) -> Self? {
        guard case .int(let value) = stored.value else { return nil }
        return Self(truncatingIfNeeded: value)
    }
}

extension Int: _PersistableInteger {}
extension Int8: _PersistableInteger {}
extension Int16: _PersistableInteger {}
extension Int32: _PersistableInteger {}
extension Int64: _PersistableInteger {}

extension Bool: _Scalar, _Indexable, _PrimaryKey {
    public static var _shape: _PropertyShape { _PropertyShape(.bool) }
    @inlinable @inline(__always)
    public static func _defaultValue() -> Bool { false }

    @inlinable @inline(__always)
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Bool {
        object.column(key).integer(object.rowIndex) != 0
    }

    @inlinable @inline(__always)
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Bool? {
        let slot = object.column(key)
        let row = object.rowIndex
        return slot.isNull(row) ? nil : slot.integer(row) != 0
    }

    public static func _store(_ value: Bool, _ writer: _RowWriter) { writer.setBool(value) }
    public static func _unboxed(_ value: Any?) -> Bool? { ValueReader.bool(value) }
    public static func _stored(_ value: Bool) -> _Stored { _Stored(.bool(value)) }
    public static func _fromStored(_ stored: _Stored) -> Bool? {
        guard case .bool(let value) = stored.value else { return nil }
        return value
    }
}

extension Double: _Scalar, _QueryNumeric, AddableType, MinMaxType {
    public static var _shape: _PropertyShape { _PropertyShape(.double) }
    @inlinable @inline(__always)
    public static func _defaultValue() -> Double { 0 }

    @inlinable @inline(__always)
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Double {
        object.column(key).double(object.rowIndex)
    }

    @inlinable @inline(__always)
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Double? {
        let slot = object.column(key)
        let row = object.rowIndex
        return slot.isNull(row) ? nil : slot.double(row)
    }

    public static func _store(_ value: Double, _ writer: _RowWriter) { writer.setDouble(value) }
    public static func _unboxed(_ value: Any?) -> Double? { ValueReader.double(value) }
    public static func _stored(_ value: Double) -> _Stored { _Stored(.double(value)) }
    public static func _fromStored(_ stored: _Stored) -> Double? {
        guard case .double(let value) = stored.value else { return nil }
        return value
    }
}

extension Float: _Scalar, _QueryNumeric, AddableType, MinMaxType {
    public static var _shape: _PropertyShape { _PropertyShape(.float) }
    @inlinable @inline(__always)
    public static func _defaultValue() -> Float { 0 }

    @inlinable @inline(__always)
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Float {
        object.column(key).float(object.rowIndex)
    }

    @inlinable @inline(__always)
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Float? {
        let slot = object.column(key)
        let row = object.rowIndex
        return slot.isNull(row) ? nil : slot.float(row)
    }

    public static func _store(_ value: Float, _ writer: _RowWriter) { writer.setFloat(value) }
    public static func _unboxed(_ value: Any?) -> Float? { ValueReader.float(value) }
    public static func _stored(_ value: Float) -> _Stored { _Stored(.float(value)) }
    public static func _fromStored(_ stored: _Stored) -> Float? {
        guard case .float(let value) = stored.value else { return nil }
        return value
    }
}
