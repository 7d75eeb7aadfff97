public import FoundationEssentials
import RealmModel

extension String: _Scalar, _Indexable, _PrimaryKey, _QueryString {
    public static var _shape: _PropertyShape { _PropertyShape(.string) }
    public static func _defaultValue() -> String { "" }
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> String { object.readString(key) ?? "" }
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> String? { object.readString(key) }
    public static func _store(_ value: String, _ writer: _RowWriter) { writer.setString(value) }
    public static func _stored(_ value: String) -> _Stored { _Stored(.string(value)) }
    public static func _fromStored(_ stored: _Stored) -> String? {
        guard case .string(let value) = stored.value else { return nil }
        return value
    }
}

extension Data: _Scalar, _QueryBinary {
    public static var _shape: _PropertyShape { _PropertyShape(.data) }
    public static func _defaultValue() -> Data { Data() }
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Data { object.readData(key) ?? Data() }
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Data? { object.readData(key) }
    public static func _store(_ value: Data, _ writer: _RowWriter) { value.withUnsafeBytes { writer.setBytes($0) } }
    public static func _unboxed(_ value: Any?) -> Data? { value as? Data ?? (value as? [UInt8]).map { Data($0) } }
    public static func _stored(_ value: Data) -> _Stored { _Stored(.data([UInt8](value))) }
    public static func _fromStored(_ stored: _Stored) -> Data? {
        guard case .data(let value) = stored.value else { return nil }
        return Data(value)
    }
}

extension Date: _Scalar, _Indexable, _QueryNumeric, MinMaxType {
    public static var _shape: _PropertyShape { _PropertyShape(.date) }
    public static func _defaultValue() -> Date { Date() }
    @inlinable
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Date {
        Date(timeIntervalSinceReferenceDate: object.column(key).double(object.rowIndex))
    }
    @inlinable
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Date? {
        let slot = object.column(key)
        let row = object.rowIndex
        return slot.isNull(row) ? nil : Date(timeIntervalSinceReferenceDate: slot.double(row))
    }
    public static func _store(_ value: Date, _ writer: _RowWriter) {
        writer.setDate(value.timeIntervalSinceReferenceDate)
    }
    public static func _stored(_ value: Date) -> _Stored { _Stored(.date(value.timeIntervalSinceReferenceDate)) }
    public static func _fromStored(_ stored: _Stored) -> Date? {
        guard case .date(let value) = stored.value else { return nil }
        return Date(timeIntervalSinceReferenceDate: value)
    }
}

extension UUID: _Scalar, _Indexable, _PrimaryKey {
    public static var _shape: _PropertyShape { _PropertyShape(.uuid) }
    public static func _defaultValue() -> UUID { UUID() }
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> UUID? { object.readUUID(key) }
    public static func _store(_ value: UUID, _ writer: _RowWriter) { writer.setUUID(UUIDBytes(value)) }
    public static func _unboxed(_ value: Any?) -> UUID? {
        value as? UUID ?? (value as? String).flatMap { UUID(uuidString: $0) }
    }
    public static func _stored(_ value: UUID) -> _Stored { _Stored(.uuid(UUIDBytes(value))) }
    public static func _fromStored(_ stored: _Stored) -> UUID? {
        guard case .uuid(let value) = stored.value else { return nil }
        return UUID(value)
    }
}

extension ObjectId: _Scalar, _Indexable, _PrimaryKey {
    public static var _shape: _PropertyShape { _PropertyShape(.objectId) }
    public static func _defaultValue() -> ObjectId { ObjectId.generate() }
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> ObjectId? { object.readObjectId(key) }
    public static func _store(_ value: ObjectId, _ writer: _RowWriter) { writer.setObjectId(value) }
    public static func _unboxed(_ value: Any?) -> ObjectId? {
        value as? ObjectId ?? (value as? String).flatMap { try? ObjectId(string: $0) }
    }
    public static func _stored(_ value: ObjectId) -> _Stored { _Stored(.objectId(value.bytes)) }
    public static func _fromStored(_ stored: _Stored) -> ObjectId? {
        guard case .objectId(let value) = stored.value else { return nil }
        return ObjectId(bytes: value)
    }
}

extension Data: _RealmCollectionValueInsideOptional {}
extension Date: _RealmCollectionValueInsideOptional {}
extension UUID: _RealmCollectionValueInsideOptional {}
