public import FoundationEssentials
import RealmModel

extension String: _Scalar, _Indexable, _PrimaryKey, _QueryString {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { _PropertyShape(.string) }
    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> String { "" }
    /// Reads the property of a managed object.
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> String { object.readString(key) ?? "" }
    /// Reads an optional property of a managed object.
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> String? { object.readString(key) }
    /// Writes a value into a row.
    public static func _store(_ value: String, _ writer: _RowWriter) { writer.setString(value) }
    /// The stored form of a value.
    public static func _stored(_ value: String) -> _Stored { _Stored(.string(value)) }
    /// Converts from the stored form; nil when it is null or no value of the type.
    public static func _fromStored(_ stored: _Stored) -> String? {
        guard case .string(let value) = stored.value else { return nil }
        return value
    }
}

extension Data: _Scalar, _QueryBinary {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { _PropertyShape(.data) }
    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> Data { Data() }
    /// Reads the property of a managed object.
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Data { object.readData(key) ?? Data() }
    /// Reads an optional property of a managed object.
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Data? { object.readData(key) }
    /// Writes a value into a row.
    public static func _store(_ value: Data, _ writer: _RowWriter) { value.withUnsafeBytes { writer.setBytes($0) } }
    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> Data? { value as? Data ?? (value as? [UInt8]).map { Data($0) } }
    /// The stored form of a value.
    public static func _stored(_ value: Data) -> _Stored { _Stored(.data([UInt8](value))) }
    /// Converts from the stored form; nil when it is null or no value of the type.
    public static func _fromStored(_ stored: _Stored) -> Data? {
        guard case .data(let value) = stored.value else { return nil }
        return Data(value)
    }
}

extension Date: _Scalar, _Indexable, _QueryNumeric, MinMaxType {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { _PropertyShape(.date) }
    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> Date { Date() }
    /// Whether the default is another value each time: it is.
    @inlinable @inline(__always)
    public static var _isDefaultGenerated: Bool { true }
    /// Reads the property of a managed object.
    @inlinable
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Date {
        Date(timeIntervalSinceReferenceDate: object.column(key).double(object.rowIndex))
    }
    /// Reads an optional property of a managed object.
    @inlinable
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Date? {
        let slot = object.column(key)
        let row = object.rowIndex
        return slot.isNull(row) ? nil : Date(timeIntervalSinceReferenceDate: slot.double(row))
    }
    /// Writes a value into a row.
    public static func _store(_ value: Date, _ writer: _RowWriter) {
        writer.setDate(value.timeIntervalSinceReferenceDate)
    }
    /// The stored form of a value.
    public static func _stored(_ value: Date) -> _Stored { _Stored(.date(value.timeIntervalSinceReferenceDate)) }
    /// Converts from the stored form; nil when it is null or no value of the type.
    public static func _fromStored(_ stored: _Stored) -> Date? {
        guard case .date(let value) = stored.value else { return nil }
        return Date(timeIntervalSinceReferenceDate: value)
    }
}

extension UUID: _Scalar, _Indexable, _PrimaryKey {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { _PropertyShape(.uuid) }
    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> UUID { UUID() }
    /// Whether the default is another value each time: it is.
    @inlinable @inline(__always)
    public static var _isDefaultGenerated: Bool { true }
    /// Reads an optional property of a managed object.
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> UUID? { object.readUUID(key) }
    /// Writes a value into a row.
    public static func _store(_ value: UUID, _ writer: _RowWriter) { writer.setUUID(UUIDBytes(value)) }
    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> UUID? {
        value as? UUID ?? (value as? String).flatMap { UUID(uuidString: $0) }
    }
    /// The stored form of a value.
    public static func _stored(_ value: UUID) -> _Stored { _Stored(.uuid(UUIDBytes(value))) }
    /// Converts from the stored form; nil when it is null or no value of the type.
    public static func _fromStored(_ stored: _Stored) -> UUID? {
        guard case .uuid(let value) = stored.value else { return nil }
        return UUID(value)
    }
}

extension ObjectId: _Scalar, _Indexable, _PrimaryKey {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { _PropertyShape(.objectId) }
    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> ObjectId { ObjectId.generate() }
    /// Whether the default is another value each time: it is.
    @inlinable @inline(__always)
    public static var _isDefaultGenerated: Bool { true }
    /// Reads an optional property of a managed object.
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> ObjectId? { object.readObjectId(key) }
    /// Writes a value into a row.
    public static func _store(_ value: ObjectId, _ writer: _RowWriter) { writer.setObjectId(value) }
    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> ObjectId? {
        value as? ObjectId ?? (value as? String).flatMap { try? ObjectId(string: $0) }
    }
    /// The stored form of a value.
    public static func _stored(_ value: ObjectId) -> _Stored { _Stored(.objectId(value.bytes)) }
    /// Converts from the stored form; nil when it is null or no value of the type.
    public static func _fromStored(_ stored: _Stored) -> ObjectId? {
        guard case .objectId(let value) = stored.value else { return nil }
        return ObjectId(bytes: value)
    }
}

extension Data: _RealmCollectionValueInsideOptional {}
extension Date: _RealmCollectionValueInsideOptional {}
extension UUID: _RealmCollectionValueInsideOptional {}
