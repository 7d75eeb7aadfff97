import FoundationEssentials
import RealmModel
import RealmStorage

nonisolated extension ObjectBase {
    final func readData(_ key: UInt32) -> Data? {
        let view = view(key)
        let row = rowIndex
        if view.isNull(row) { return nil }
        return readBytes(view, row).map { Data($0) }
    }

    final func readObjectId(_ key: UInt32) -> ObjectId? {
        let view = view(key)
        let row = rowIndex
        if view.isNull(row) { return nil }
        return view.width == 0 ? ObjectId() : ObjectId(bytes: ObjectIDBytes(load: view.fixed(row)))
    }

    final func readDecimal(_ key: UInt32) -> DecimalBytes? {
        let view = view(key)
        let row = rowIndex
        if view.isNull(row) { return nil }
        return view.width == 0 ? DecimalBytes(high: 0, low: 0) : DecimalBytes(load: view.fixed(row))
    }

    final func readUUID(_ key: UInt32) -> UUID? {
        let view = view(key)
        let row = rowIndex
        if view.isNull(row) { return nil }
        return UUID(view.width == 0 ? UUIDBytes(high: 0, low: 0) : UUIDBytes(load: view.fixed(row)))
    }
}

extension UUIDBytes {
    init(_ uuid: UUID) {
        self = withUnsafeBytes(of: uuid.uuid) { UUIDBytes(load: $0.baseAddress!) }
    }
}

extension UUID {
    init(_ bytes: UUIDBytes) {
        var value = UUID().uuid
        withUnsafeMutableBytes(of: &value) { bytes.store(to: $0.baseAddress!) }
        self.init(uuid: value)
    }
}
