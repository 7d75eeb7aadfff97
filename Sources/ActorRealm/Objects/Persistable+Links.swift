import RealmModel

extension ObjectBase: _PersistableInsideOptional {}

/// A to-one link is an optional property of a model class.
extension _PersistableInsideOptional where Self: ObjectBase {
    /// What the optional form looks like in the schema.
    public static var _shapeInsideOptional: _PropertyShape {
        _PropertyShape(.object, isOptional: true, target: Self.self)
    }

    /// Reads an optional property of a managed object.
    public static func _getOptional(_ object: ObjectBase, _ key: UInt32) -> Self? {
        guard let target = object.readLink(key) else { return nil }
        return unsafeDowncast(target, to: Self.self)
    }

    /// Writes a value or null into a row.
    public static func _storeOptional(_ value: Self?, _ writer: _RowWriter) {
        guard let value else {
            writer.setLink(nil)
            return
        }
        if let target = writer.adding({ $0.linkKey(to: value, writer: writer) }) { writer.setLink(target) }
    }

    /// The first value of an unmanaged optional property.
    public static func _initialOptional(_ object: ObjectBase, _ key: UInt32) -> Self? {
        guard key & PersistedKey.recording == PersistedKey.recording else { return nil }
        let next = PathRecorder.instance(of: Self.self)
        PathRecorder.record(object, key, next: next)
        return unsafeDowncast(next, to: Self.self)
    }

    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxedOptional(_ value: Any) -> Self? {
        if let object = ValueReader.object(value) as? Self { return object }
        return ValueReader.makeObject(value, of: Self.self).map { unsafeDowncast($0, to: Self.self) }
    }

    /// Writes a dynamically typed value into a row; false when it does not fit.
    public static func _storeBoxedOptional(_ value: Any, _ writer: _RowWriter) -> Bool {
        guard let context = writer.context as? CreateContext else {
            guard let typed = _unboxedOptional(value) else { return false }
            _storeOptional(typed, writer)
            return true
        }
        guard let target = context.linkKey(forValue: value, of: Self.self, writer: writer) else { return false }
        writer.setLink(target)
        return true
    }
}

nonisolated extension ObjectBase {
    /// The object that a link holds.
    final func readLink(_ key: UInt32) -> ObjectBase? {
        let slot = column(key)
        let row = rowIndex
        if slot.isNull(row) { return nil }
        let target = slot.integer(row)
        guard let accessor = tableState.pointee.accessor else { return nil }
        return accessor._withUnsafeGuaranteedRef { $0.makeTarget(of: Int(key) - 1, key: target) }
    }
}
