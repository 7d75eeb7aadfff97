import RealmModel

extension Map: _Persistable {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { Value._elementShape.collected(in: .map) }
    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> Map { Map() }
    /// The first value of an unmanaged property; on a recording instance, the value that records further steps.
    public static func _initialValue(_ object: ObjectBase, _ key: UInt32) -> Map {
        guard key & PersistedKey.recording == PersistedKey.recording else { return Map() }
        PathRecorder.record(object, key, next: Value._elementShape.target.map { PathRecorder.instance(of: $0) })
        return Map(recording: true)
    }
    /// Whether the property keeps a collection object.
    @inlinable @inline(__always)
    public static var _isCollection: Bool { true }

    /// Reads the property of a managed object.
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> Map { Map(place(of: object, key)) }

    private static func place(of object: ObjectBase, _ key: UInt32) -> ListPlace {
        let accessor = object.checkedAccessor()
        return ListPlace(accessor: accessor, key: object.rowKey, declared: Int(key) - 1, named: "Map")
    }

    /// Replaces the contents of a collection.
    public static func _assignContents(of value: Map, to own: Map) { own.assign(value) }
    /// Writes a value into a row.
    public static func _store(_ value: Map, _ writer: _RowWriter) { store(Array(value), writer) }

    static func store(_ entries: [Element], _ writer: _RowWriter) {
        if let stored = encoded(entries, writer) { writer.setMap(stored) }
    }

    /// Writes the value that a wrapper holds into a row.
    public static func _storeWrapper(at wrapper: UnsafeMutableRawPointer, _ writer: _RowWriter) {
        let value = wrapper.assumingMemoryBound(to: Persisted<Map>.self).pointee.value
        // A new row's map is empty already.
        if let value, !(value.isEmpty && writer.isNewRow) {
            store(Array(value), writer)
        } else if !writer.isNewRow {
            writer.setMap([])
        }
    }

    /// Makes the wrapper of an object that was just added read from its row.
    public static func _manageWrapper(at wrapper: UnsafeMutableRawPointer, of object: ObjectBase, key: UInt32) {
        let pointer = wrapper.assumingMemoryBound(to: Persisted<Map>.self)
        // The map that the program may hold becomes the managed one.
        if let value = pointer.pointee.value { value.manage(place(of: object, key)) }
        pointer.pointee.key = key
    }

    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> Map? {
        guard let value = ValueReader.unwrap(value) else { return Map() }
        if let map = value as? Map { return map }
        guard let values = ValueReader.copiedEntries(of: value) else { return nil }
        let map = Map()
        for (name, value) in values {
            guard let element = Value._unboxedElement(value) else { return nil }
            map.updateValue(element, forKey: Key._key(named: name))
        }
        return map
    }

    /// Assigns a dynamically typed value to a property; false when it does not fit.
    public static func _assignWrapper(
        at wrapper: UnsafeMutableRawPointer,
        of object: ObjectBase,
        _ value: Any?
    ) -> Bool {
        guard let other = _unboxed(value) else { return false }
        let pointer = wrapper.assumingMemoryBound(to: Persisted<Map>.self)
        if let own = pointer.pointee.value {
            own.assign(other)
        } else if Int32(bitPattern: pointer.pointee.key) > 0 {
            _get(object, pointer.pointee.key).assign(other)
        } else {
            let own = Map()
            pointer.pointee.value = own
            own.assign(other)
        }
        return true
    }

    /// Writes a dynamically typed value into a row; false when it does not fit.
    public static func _storeBoxed(_ value: Any?, _ writer: _RowWriter) -> Bool {
        guard let value = ValueReader.unwrap(value) else {
            writer.setMap([])
            return true
        }
        guard let values = ValueReader.copiedEntries(of: value) else { return false }
        var stored: [StoredEntry] = []
        let rows = writer.reusedEntries()
        for (name, value) in values {
            if !rows.isEmpty { writer.reuse(rows[TextKey(name)]) }
            guard let element = Value._encodeBoxedElement(value, writer),
                let entry = entry(Key._key(named: name), element, writer)
            else { return writer.context?.failure != nil }
            stored.append(entry)
        }
        if !rows.isEmpty { writer.reuse(nil) }
        writer.setMap(stored)
        return true
    }
}
