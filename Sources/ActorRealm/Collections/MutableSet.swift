import RealmModel

/// A collection of objects or values that a property holds, each of them once.
///
/// A set belongs to the object whose property it is. While that is unmanaged, the set is like one of Swift's; once it is
/// managed, the set reads from and writes to the realm, and writing needs a write transaction. Values come in ascending
/// order, objects in the order in which they were made; an unmanaged set keeps the order of insertion.
///
/// ```swift
/// class Person: Object {
///     @Persisted var tags: MutableSet<String>
/// }
/// ```
/// Looking for an element, inserting and removing one cost O(log n).
public final class MutableSet<Element: RealmCollectionValue>: RealmCollection {
    /// The elements of an unmanaged set, in order of insertion.
    var unmanaged: [Element] { elements.inOrder }
    private var elements = UnmanagedElements<Element>()
    /// Where a managed set is.
    private(set) var place: ListPlace?
    /// Set on sets of recording instances.
    let isRecording: Bool

    /// Creates an unmanaged, empty set.
    public init() { isRecording = false }

    init(recording: Bool) { isRecording = recording }

    init(_ place: ListPlace) {
        self.place = place
        isRecording = false
    }

    /// Makes the set read from a row that now has its elements.
    func manage(_ place: ListPlace) {
        self.place = place
        elements = UnmanagedElements()
    }

    /// What stands behind a managed collection; nil for an unmanaged one.
    public var _backing: _CollectionBacking? { place?.backing }

    /// The number of elements.
    ///
    /// There are none where the owner was deleted. Damage ends the process here: `requireReadable()` throws both before.
    public var count: Int { place?.count ?? unmanaged.count }

    /// The first element; nil when there is none.
    public var first: Element? {
        if isEmpty { return isRecording ? PathRecorder.element(Element.self, .first) : nil }
        return self[0]
    }

    /// The last element; nil when there is none.
    public var last: Element? {
        let count = count
        if count == 0 { return isRecording ? PathRecorder.element(Element.self, .last) : nil }
        return self[count - 1]
    }

    /// The element at a position.
    ///
    /// In a realm that was closed every position reads as nothing: see ``Realm/close()``.
    ///
    /// - Precondition: There is such a position: look at ``count``, or take ``first`` or iterate.
    public subscript(position: Int) -> Element {
        guard let place else {
            if isRecording, let element = PathRecorder.element(Element.self, .position(position)) { return element }
            guard unmanaged.indices.contains(position) else { indexOutOfBounds(position, count: unmanaged.count) }
            return unmanaged[position]
        }
        return Element._element(place.stored(at: position), in: place.backing)
    }

    /// Iterates over the elements as they are now, in spite of writes made in the loop.
    ///
    /// There are none where the owner was deleted. Damage ends the process here: `requireReadable()` throws both before.
    public func makeIterator() -> RealmIterator<Element> {
        guard let place else { return RealmIterator(unmanaged) }
        place.core.checkAccess()
        return RealmIterator(place.backing)
    }

    // MARK: Elements

    /// Whether the set holds an element.
    public func contains(_ object: Element) -> Bool {
        guard let place else { return elements.contains(object) }
        guard let stored = Element._storedElement(object, in: place.backing) else {
            place.checkContents()
            return false
        }
        let list = place.list()
        return place.core.attempt(or: false) { try list.sortedPosition(of: stored.value).isThere }
    }

    /// Puts an element into the set, if it is not there.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. Where values come from outside, ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the
    ///   owner throws.
    public func insert(_ object: Element) {
        guard let place else {
            elements.insert(object)
            return
        }
        guard let writer = place.writer() else { return }
        guard let stored = Element._encodeElement(object, writer) else { return }
        place.core.attemptWrite {
            try place.accessor.table.setInsert(place.property, key: place.key, stored.value)
        }
        writer.finish()
    }

    /// Puts elements into the set.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. Where values come from outside, ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the
    ///   owner throws.
    public func insert<Elements: Sequence>(objectsIn objects: Elements) where Elements.Element == Element {
        // The sequence may be this set.
        for object in Array(objects) { insert(object) }
    }

    /// Takes an element out of the set, if it is there.
    ///
    /// The object itself stays in the realm.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. Where values come from outside, ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the
    ///   owner throws.
    public func remove(_ object: Element) {
        guard let place else {
            elements.remove(object)
            return
        }
        guard let writer = place.writer() else { return }
        guard let stored = Element._storedElement(object, in: place.backing) else { return }
        place.core.attemptWrite {
            try place.accessor.table.setRemove(place.property, key: place.key, stored.value)
        }
        writer.finish()
    }

    /// Takes all elements out.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. Where values come from outside, ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the
    ///   owner throws.
    public func removeAll() {
        guard let place else {
            elements = UnmanagedElements()
            return
        }
        guard let writer = place.writer() else { return }
        place.removeAll()
        writer.finish()
    }

    // MARK: Sets

    /// Whether all elements are in another set.
    public func isSubset(of possibleSuperset: MutableSet) -> Bool { allSatisfy { possibleSuperset.contains($0) } }

    /// Whether the sets have an element in common.
    public func intersects(_ otherSet: MutableSet) -> Bool {
        contains { otherSet.contains($0) }
    }

    /// Keeps only the elements that another set holds too.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. Where values come from outside, ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the
    ///   owner throws.
    public func formIntersection(_ other: MutableSet) {
        for element in Array(self) where !other.contains(element) { remove(element) }
    }

    /// Puts the elements of another set in.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. Where values come from outside, ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the
    ///   owner throws.
    public func formUnion(_ other: MutableSet) { insert(objectsIn: other) }

    /// Takes the elements of another set out.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. Where values come from outside, ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the
    ///   owner throws.
    public func subtract(_ other: MutableSet) {
        for element in Array(other) { remove(element) }
    }

    /// Makes the set hold exactly the elements of another, which may be itself.
    func assign(_ other: MutableSet) {
        if isSame(as: other) { return }
        let elements = Array(other)
        if elements.isEmpty { other.place?.checkContents() }
        guard let place else {
            removeAll()
            insert(objectsIn: elements)
            return
        }
        guard let writer = place.writer() else { return }
        Self.store(elements, writer)
        writer.finish()
    }

    // MARK: Belonging

    /// The realm that the set belongs to; nil while it is unmanaged.
    public var realm: Realm? { place?.core.realm() }
    /// Whether the object that holds the set was deleted.
    public var isInvalidated: Bool { place?.isInvalidated ?? false }
    /// Whether the set stands on one version for good.
    public var isFrozen: Bool { place?.core.isFrozen ?? false }
    /// The set as of the version that the realm stands on.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is
    ///   open: look at ``realm`` and ``isInvalidated``.
    public func freeze() -> MutableSet { frozenThroughReference("MutableSet") }
    /// The live set of a frozen one.
    ///
    /// - Precondition: The value is managed: look at ``realm``. Its file can be read: `try Realm(configuration:)`
    ///   throws instead.
    public func thaw() -> MutableSet? { thawedThroughReference("MutableSet") }

    /// The value as a description that does not belong to an isolation.
    public var _reference: _ConfinedReference {
        _ConfinedReference(place.map { .collection($0.backing.descriptor) } ?? .unmanaged)
    }
    /// The value that a description stands for in a realm.
    public static func _resolve(_ reference: _ConfinedReference, in realm: Realm) -> MutableSet? {
        guard case .collection(let descriptor) = reference.content else { return nil }
        return ListPlace.find(descriptor, of: _shape, in: realm.core, named: "MutableSet").map { MutableSet($0) }
    }

    /// Whether both are the set of the same object, or unmanaged sets with equal elements.
    ///
    /// Complexity: O(n) for unmanaged sets.
    public static func == (left: MutableSet, right: MutableSet) -> Bool {
        if left === right { return true }
        return left.place == nil && right.place == nil
            ? left.count == right.count && left.isSubset(of: right) : left.isSame(as: right)
    }

    /// Whether both are one set.
    func isSame(as other: MutableSet) -> Bool {
        guard let one = place, let two = other.place else { return self === other }
        return one.isSame(as: two)
    }
}

@available(
    *,
    unavailable,
    message: "A set belongs to its realm's isolation. Send `set.frozen` or `ThreadSafeReference(to: set)` instead."
)
extension MutableSet: Sendable {}

extension MutableSet: _Persistable {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { Element._elementShape.collected(in: .set) }
    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> MutableSet { MutableSet() }
    /// The first value of an unmanaged property; on a recording instance, the value that records further steps.
    public static func _initialValue(_ object: ObjectBase, _ key: UInt32) -> MutableSet {
        guard key & PersistedKey.recording == PersistedKey.recording else { return MutableSet() }
        PathRecorder.record(object, key, next: Element._elementShape.target.map { PathRecorder.instance(of: $0) })
        return MutableSet(recording: true)
    }
    /// Whether the property keeps a collection object.
    @inlinable @inline(__always)
    public static var _isCollection: Bool { true }

    /// Reads the property of a managed object.
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> MutableSet {
        MutableSet(place(of: object, key))
    }

    private static func place(of object: ObjectBase, _ key: UInt32) -> ListPlace {
        let accessor = object.checkedAccessor()
        return ListPlace(accessor: accessor, key: object.rowKey, declared: Int(key) - 1, named: "MutableSet")
    }

    /// Replaces the contents of a collection.
    public static func _assignContents(of value: MutableSet, to own: MutableSet) { own.assign(value) }
    /// Writes a value into a row.
    public static func _store(_ value: MutableSet, _ writer: _RowWriter) { store(Array(value), writer) }

    static func store(_ elements: [Element], _ writer: _RowWriter) {
        var stored: [StoredValue] = []
        stored.reserveCapacity(elements.count)
        for element in elements {
            guard let value = Element._encodeElement(element, writer) else { return }
            stored.append(value.value)
        }
        writer.setSet(stored)
    }

    /// Writes the value that a wrapper holds into a row.
    public static func _storeWrapper(at wrapper: UnsafeMutableRawPointer, _ writer: _RowWriter) {
        let value = wrapper.assumingMemoryBound(to: Persisted<MutableSet>.self).pointee.value
        // A new row's set is empty already.
        if let value, !(value.unmanaged.isEmpty && writer.isNewRow) {
            store(value.unmanaged, writer)
        } else if !writer.isNewRow {
            writer.setSet([])
        }
    }

    /// Makes the wrapper of an object that was just added read from its row.
    public static func _manageWrapper(at wrapper: UnsafeMutableRawPointer, of object: ObjectBase, key: UInt32) {
        let pointer = wrapper.assumingMemoryBound(to: Persisted<MutableSet>.self)
        // The set that the program may hold becomes the managed one.
        if let value = pointer.pointee.value { value.manage(place(of: object, key)) }
        pointer.pointee.key = key
    }

    /// Converts a dynamically typed value; nil when it does not fit.
    public static func _unboxed(_ value: Any?) -> MutableSet? {
        guard let value = ValueReader.unwrap(value) else { return MutableSet() }
        if let set = value as? MutableSet { return set }
        guard let values = ValueReader.copiedElements(of: value) else { return nil }
        let set = MutableSet()
        for value in values {
            guard let element = Element._unboxedElement(value) else { return nil }
            set.insert(element)
        }
        return set
    }

    /// Assigns a dynamically typed value to a property; false when it does not fit.
    public static func _assignWrapper(
        at wrapper: UnsafeMutableRawPointer,
        of object: ObjectBase,
        _ value: Any?
    ) -> Bool {
        guard let other = _unboxed(value) else { return false }
        let pointer = wrapper.assumingMemoryBound(to: Persisted<MutableSet>.self)
        if let own = pointer.pointee.value {
            own.assign(other)
        } else if Int32(bitPattern: pointer.pointee.key) > 0 {
            _get(object, pointer.pointee.key).assign(other)
        } else {
            let own = MutableSet()
            pointer.pointee.value = own
            own.assign(other)
        }
        return true
    }

    /// Writes a dynamically typed value into a row; false when it does not fit.
    public static func _storeBoxed(_ value: Any?, _ writer: _RowWriter) -> Bool {
        guard let value = ValueReader.unwrap(value) else {
            writer.setSet([])
            return true
        }
        guard let values = ValueReader.copiedElements(of: value) else { return false }
        var stored: [StoredValue] = []
        for value in values {
            guard let element = Element._encodeBoxedElement(value, writer) else {
                return writer.context?.failure != nil
            }
            stored.append(element.value)
        }
        writer.setSet(stored)
        return true
    }
}

extension MutableSet: Decodable where Element: Decodable {
    /// Decodes an unmanaged set from an array.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { insert(try container.decode(Element.self)) }
    }
}

extension MutableSet: Encodable where Element: Encodable {
    /// Encodes the elements as an array.
    ///
    /// - Throws: What the encoder throws, and what `requireReadable()` does.
    public func encode(to encoder: any Encoder) throws {
        try requireReadable()
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}
