import RealmModel

/// An ordered collection of objects or values that a property holds.
///
/// A list belongs to the object whose property it is. While that is unmanaged, the list is like an array; once it is
/// managed, the list reads from and writes to the realm, and writing needs a write transaction.
///
/// ```swift
/// class Person: Object {
///     @Persisted var dogs: List<Dog>
///     @Persisted var nicknames: List<String?>
/// }
/// ```
public final class List<Element: RealmCollectionValue>: RealmCollection {
    /// The elements of an unmanaged list.
    var unmanaged: [Element] = []
    /// Where a managed list is.
    private(set) var place: ListPlace?
    /// Set on lists of recording instances.
    let isRecording: Bool

    /// Creates an unmanaged, empty list.
    public init() { isRecording = false }

    init(recording: Bool) { isRecording = recording }

    init(_ place: ListPlace) {
        self.place = place
        isRecording = false
    }

    /// Makes the list read from a row that now has its elements.
    func manage(_ place: ListPlace) {
        self.place = place
        unmanaged = []
    }

    /// What stands behind a managed collection; nil for an unmanaged one.
    public var _backing: _CollectionBacking? { place?.backing }

    /// The number of elements.
    ///
    /// There are none where the owner was deleted. Damage ends the process here: `requireReadable()` throws both before.
    public var count: Int {
        guard let place else { return unmanaged.count }
        return place.count
    }

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
    /// Damage and a deleted owner end the process here: `requireReadable()` throws them before.
    ///
    /// - Precondition: There is such a position: look at ``count``, or take ``first`` or iterate. To be assigned, a
    ///   write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and ``isInvalidated``.
    public subscript(position: Int) -> Element {
        get {
            guard let place else {
                if isRecording, let element = PathRecorder.element(Element.self, .position(position)) { return element }
                guard unmanaged.indices.contains(position) else { indexOutOfBounds(position, count: unmanaged.count) }
                return unmanaged[position]
            }
            return Element._element(place.stored(at: position), in: place.backing, step: _NestedStep(.index(position)))
        }
        set { replace(index: position, object: newValue) }
    }

    /// Iterates over the elements as they are now, in spite of writes made in the loop.
    ///
    /// There are none where the owner was deleted. Damage ends the process here: `requireReadable()` throws both before.
    public func makeIterator() -> RealmIterator<Element> {
        guard let place else { return RealmIterator(unmanaged) }
        place.core.checkAccess()
        return RealmIterator(place.backing)
    }

    /// The realm that the list belongs to; nil while it is unmanaged.
    public var realm: Realm? { place?.core.realm() }
    /// Whether the object that holds the list was deleted.
    public var isInvalidated: Bool { place?.isInvalidated ?? false }
    /// Whether the list stands on one version for good.
    public var isFrozen: Bool { place?.core.isFrozen ?? false }
    /// The list as of the version that the realm stands on.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is
    ///   open: look at ``realm`` and ``isInvalidated``.
    public func freeze() -> List { frozenThroughReference("List") }
    /// The live list of a frozen one.
    ///
    /// - Precondition: The value is managed: look at ``realm``. Its file can be read: `try Realm(configuration:)`
    ///   throws instead.
    public func thaw() -> List? { thawedThroughReference("List") }

    /// The value as a description that does not belong to an isolation.
    public var _reference: _ConfinedReference {
        _ConfinedReference(place.map { .collection($0.backing.descriptor) } ?? .unmanaged)
    }
    /// The value that a description stands for in a realm.
    public static func _resolve(_ reference: _ConfinedReference, in realm: Realm) -> List? {
        guard case .collection(let descriptor) = reference.content,
            let place = ListPlace.find(descriptor, of: _shape, in: realm.core, named: "List")
        else { return nil }
        return List(place)
    }

    /// Whether both are the list of the same object, or unmanaged lists with equal elements in the same order.
    ///
    /// Complexity: O(n) for unmanaged lists.
    public static func == (left: List, right: List) -> Bool {
        if left === right { return true }
        return left.place == nil && right.place == nil
            ? left.unmanaged == right.unmanaged : left.isSame(as: right)
    }

    /// Whether both are one list.
    func isSame(as other: List) -> Bool {
        guard let one = place, let two = other.place else { return self === other }
        return one.isSame(as: two)
    }
}

@available(
    *,
    unavailable,
    message: "A list belongs to its realm's isolation. Send `list.frozen` or `ThreadSafeReference(to: list)` instead."
)
extension List: Sendable {}

extension List: MutableCollection {
    /// A range of a list.
    public typealias SubSequence = Slice<List>
}
