import RealmModel

extension List {
    /// Traps unless an element can stand or be put at a position; false inside a migration, which keeps the mistake.
    private func check(_ index: Int, in count: Int) -> Bool {
        if index >= 0, index < count { return true }
        refuseIndex(index, count: count, in: place)
        return false
    }

    /// Whether the list belongs to a realm that was closed, so that nothing is in it and nothing can be put there.
    var isClosed: Bool {
        guard let place else { return false }
        place.core.checkAccess()
        return place.core.isClosed
    }

    /// The stored form of an element; nil after a failure of the storage, which the commit throws.
    private func encode(_ element: Element, _ writer: _RowWriter) -> StoredValue? {
        Element._encodeElement(element, writer)?.value
    }

    /// Adds an element at the end.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. Where values come from outside, ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the
    ///   owner throws.
    public func append(_ object: Element) {
        guard let place else {
            unmanaged.append(object)
            return
        }
        guard let writer = place.writer() else { return }
        guard let stored = encode(object, writer) else { return }
        place.append(stored)
        writer.finish()
    }

    /// Adds elements at the end.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. Where values come from outside, ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the
    ///   owner throws.
    public func append<Elements: Sequence>(objectsIn objects: Elements) where Elements.Element == Element {
        // The sequence may be this list.
        let elements = Array(objects)
        guard let place else { return unmanaged.append(contentsOf: elements) }
        guard !place.path.isEmpty, !elements.isEmpty else {
            for element in elements { append(element) }
            return
        }
        // A list in a value is written as a whole.
        guard let writer = place.writer() else { return }
        guard let stored = Self.encoded(elements, writer) else { return }
        place.append(stored)
        writer.finish()
    }

    /// Inserts an element before a position.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    public func insert(_ object: Element, at index: Int) {
        guard let place else {
            _ = check(index, in: count + 1)
            unmanaged.insert(object, at: index)
            return
        }
        guard let writer = place.writer() else { return }
        guard check(index, in: count + 1) else { return }
        guard let stored = encode(object, writer) else { return }
        place.insert(stored, at: index)
        writer.finish()
    }

    /// Removes the element at a position.
    ///
    /// The object itself stays in the realm, unless it is embedded.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    public func remove(at index: Int) {
        guard let place else {
            _ = check(index, in: unmanaged.count)
            unmanaged.remove(at: index)
            return
        }
        guard let writer = place.writer(), check(index, in: count) else { return }
        place.remove(in: index..<index + 1)
        writer.finish()
    }

    /// Removes all elements.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. Where values come from outside, ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the
    ///   owner throws.
    public func removeAll() {
        guard let place else {
            unmanaged.removeAll()
            return
        }
        guard let writer = place.writer() else { return }
        place.removeAll()
        writer.finish()
    }

    /// Replaces the element at a position.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    public func replace(index: Int, object: Element) {
        guard let place else {
            _ = check(index, in: unmanaged.count)
            unmanaged[index] = object
            return
        }
        guard let writer = place.writer(), check(index, in: count) else { return }
        guard let stored = encode(object, writer) else { return }
        place.replace(at: index, with: stored)
        writer.finish()
    }

    /// Moves an element so that it ends at a position.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    public func move(from: Int, to: Int) {
        if isClosed { return }
        let count = count
        guard check(from, in: count), check(to, in: count) else { return }
        guard let place else {
            let element = unmanaged.remove(at: from)
            unmanaged.insert(element, at: to)
            return
        }
        guard let writer = place.writer() else { return }
        place.move(from: from, to: to)
        writer.finish()
    }

    /// Exchanges two elements.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    public func swapAt(_ index1: Int, _ index2: Int) {
        if isClosed { return }
        let count = count
        guard check(index1, in: count), check(index2, in: count) else { return }
        guard let place else {
            unmanaged.swapAt(index1, index2)
            return
        }
        guard let writer = place.writer() else { return }
        place.swap(index1, index2)
        writer.finish()
    }

    /// Makes the list hold exactly the elements of another, which may be itself.
    func assign(_ other: List) {
        if isSame(as: other) { return }
        let elements = Array(other)
        if elements.isEmpty { other.place?.checkContents() }
        guard let place else {
            unmanaged = elements
            return
        }
        guard let writer = place.writer() else { return }
        guard let stored = Self.encoded(elements, writer) else { return }
        if place.path.isEmpty { writer.setList(stored) } else { place.assign(stored) }
        writer.finish()
    }

    /// The stored forms of elements; nil after a failure of the writer's operation.
    static func encoded(_ elements: [Element], _ writer: _RowWriter) -> [StoredValue]? {
        var stored: [StoredValue] = []
        stored.reserveCapacity(elements.count)
        let rows = writer.reusedRows()
        for (index, element) in elements.enumerated() {
            if !rows.isEmpty { writer.reuse(index < rows.count ? rows[index] : nil) }
            guard let value = Element._encodeElement(element, writer) else { return nil }
            stored.append(value.value)
        }
        if !rows.isEmpty { writer.reuse(nil) }
        return stored
    }

    static func store(_ elements: [Element], _ writer: _RowWriter) {
        guard let stored = encoded(elements, writer) else { return }
        writer.setList(stored)
    }
}

extension List: _Persistable {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { Element._elementShape.collected(in: .list) }
    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> List { List() }
    /// The first value of an unmanaged property; on a recording instance, the value that records further steps.
    public static func _initialValue(_ object: ObjectBase, _ key: UInt32) -> List {
        guard key & PersistedKey.recording == PersistedKey.recording else { return List() }
        PathRecorder.record(object, key, next: Element._elementShape.target.map { PathRecorder.instance(of: $0) })
        return List(recording: true)
    }
    /// Whether the property keeps a collection object.
    @inlinable @inline(__always)
    public static var _isCollection: Bool { true }

    /// Reads the property of a managed object.
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> List {
        let accessor = object.checkedAccessor()
        return List(ListPlace(accessor: accessor, key: object.rowKey, declared: Int(key) - 1))
    }

    /// Replaces the contents of a collection.
    public static func _assignContents(of value: List, to own: List) { own.assign(value) }
    /// Writes a value into a row.
    public static func _store(_ value: List, _ writer: _RowWriter) { store(Array(value), writer) }

    /// Writes the value that a wrapper holds into a row.
    public static func _storeWrapper(at wrapper: UnsafeMutableRawPointer, _ writer: _RowWriter) {
        let value = wrapper.assumingMemoryBound(to: Persisted<List>.self).pointee.value
        // A new row's list is empty already.
        if let value, !(value.unmanaged.isEmpty && writer.isNewRow) {
            store(value.unmanaged, writer)
        } else if !writer.isNewRow {
            writer.setList([])
        }
    }

    /// Makes the wrapper of an object that was just added read from its row.
    public static func _manageWrapper(at wrapper: UnsafeMutableRawPointer, of object: ObjectBase, key: UInt32) {
        let pointer = wrapper.assumingMemoryBound(to: Persisted<List>.self)
        // The list that the program may hold becomes the managed one.
        if let value = pointer.pointee.value, let accessor = object.tableAccessor {
            value.manage(ListPlace(accessor: accessor, key: object.rowKey, declared: Int(key) - 1))
        }
        pointer.pointee.key = key
    }

    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> List? {
        guard let value = ValueReader.unwrap(value) else { return List() }
        if let list = value as? List { return list }
        guard let values = ValueReader.copiedElements(of: value) else { return nil }
        let list = List()
        for value in values {
            guard let element = Element._unboxedElement(value) else { return nil }
            list.unmanaged.append(element)
        }
        return list
    }

    /// Assigns a dynamically typed value to a property; false when it does not fit.
    public static func _assignWrapper(
        at wrapper: UnsafeMutableRawPointer,
        of object: ObjectBase,
        _ value: Any?
    ) -> Bool {
        guard let other = _unboxed(value) else { return false }
        let pointer = wrapper.assumingMemoryBound(to: Persisted<List>.self)
        if let own = pointer.pointee.value {
            own.assign(other)
        } else if Int32(bitPattern: pointer.pointee.key) > 0 {
            _get(object, pointer.pointee.key).assign(other)
        } else {
            let own = List()
            pointer.pointee.value = own
            own.assign(other)
        }
        return true
    }

    /// Writes a dynamically typed value into a row; false when it does not fit.
    public static func _storeBoxed(_ value: Any?, _ writer: _RowWriter) -> Bool {
        guard let value = ValueReader.unwrap(value) else {
            writer.setList([])
            return true
        }
        guard let values = ValueReader.copiedElements(of: value) else { return false }
        var stored: [StoredValue] = []
        let rows = writer.reusedRows()
        for (index, value) in values.enumerated() {
            if !rows.isEmpty { writer.reuse(index < rows.count ? rows[index] : nil) }
            guard let element = Element._encodeBoxedElement(value, writer) else {
                return writer.context?.failure != nil
            }
            stored.append(element.value)
        }
        if !rows.isEmpty { writer.reuse(nil) }
        writer.setList(stored)
        return true
    }
}

extension List: Decodable where Element: Decodable {
    /// Decodes an unmanaged list from an array.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { unmanaged.append(try container.decode(Element.self)) }
    }
}

extension List: Encodable where Element: Encodable {
    /// Encodes the elements as an array.
    ///
    /// - Throws: What the encoder throws, and what `requireReadable()` does.
    public func encode(to encoder: any Encoder) throws {
        try requireReadable()
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}
