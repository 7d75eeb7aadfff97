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
    public var count: Int {
        guard let place else { return unmanaged.count }
        return place.list().count
    }

    /// The first element; nil when there is none.
    public var first: Element? { isEmpty ? nil : self[0] }

    /// The element at a position.
    public subscript(position: Int) -> Element {
        get {
            guard let place else {
                if isRecording, let element = Element._recordingElement() { return element }
                guard unmanaged.indices.contains(position) else { indexOutOfBounds(position, count: unmanaged.count) }
                return unmanaged[position]
            }
            let list = place.list()
            guard position >= 0, position < list.count else { indexOutOfBounds(position, count: list.count) }
            return Element._element(_Stored(attempt { try list.value(at: position) }), in: place.backing)
        }
        set { replace(index: position, object: newValue) }
    }

    /// Iterates over the elements as they are now, in spite of writes made in the loop.
    public func makeIterator() -> RealmIterator<Element> {
        guard let place else { return RealmIterator(unmanaged) }
        place.checkOwner()
        return RealmIterator(place.backing)
    }

    /// The realm that the list belongs to; nil while it is unmanaged.
    public var realm: Realm? { place?.core.realm() }
    /// Whether the object that holds the list was deleted.
    public var isInvalidated: Bool { place.map { $0.core.isInvalidated || $0.backing.isOwnerDeleted } ?? false }
    /// Whether the list stands on one version for good.
    public var isFrozen: Bool { place?.core.isFrozen ?? false }
    /// The list as of the version that the realm stands on.
    public func freeze() -> List { frozenThroughReference("List") }
    /// The live list of a frozen one.
    public func thaw() -> List? { thawedThroughReference("List") }

    /// The value as a description that does not belong to an isolation.
    public var _reference: _ConfinedReference {
        _ConfinedReference(place.map { .collection($0.backing.descriptor) } ?? .unmanaged)
    }
    /// The value that a description stands for in a realm.
    public static func _resolve(_ reference: _ConfinedReference, in realm: Realm) -> List? {
        guard case .collection(let descriptor) = reference.content,
            case .list(let ownerClass, let key, let name) = descriptor.source,
            let accessor = realm.core.accessor(className: ownerClass, isDynamic: descriptor.isDynamic),
            let property = accessor.info.property(columnNamed: name),
            attempt({ try accessor.table.contains(key: key) })
        else { return nil }
        return List(ListPlace(accessor: accessor, key: key, declared: property.ordinal))
    }

    /// Whether both are the list of the same object, or, when unmanaged, the same list.
    public static func == (left: List, right: List) -> Bool {
        guard let one = left.place, let two = right.place else { return left === right }
        return one.core === two.core && one.accessor === two.accessor && one.key == two.key
            && one.declared == two.declared
    }
}

@available(
    *,
    unavailable,
    message: "A list belongs to its realm's isolation. Send a ThreadSafeReference or a frozen copy instead."
)
extension List: Sendable {}

extension List: MutableCollection {}

/// The list property of a row.
final class ListPlace {
    /// Keeps the accessor alive.
    let core: RealmCore
    unowned(unsafe) let accessor: TableAccessor
    let key: Int64
    let declared: Int
    /// The stored ordinal.
    let property: Int
    private(set) lazy var backing = attempt { try _CollectionBacking(list: accessor, key: key, declared: declared) }

    init(accessor: TableAccessor, key: Int64, declared: Int) {
        core = accessor.core
        self.accessor = accessor
        self.key = key
        self.declared = declared
        property = accessor.ordinals[declared]
        if core.isFrozen { _ = backing }
    }

    /// Traps when the owner is gone.
    func checkOwner() {
        core.checkAccess()
        if !attempt({ try accessor.table.contains(key: key) }) {
            misuse("List is no longer valid: its object has been deleted or invalidated.")
        }
    }

    /// The elements, to be read before the next write.
    func list() -> ListView {
        core.checkAccess()
        guard let location = attempt({ try accessor.table.locate(key) }) else {
            misuse("List is no longer valid: its object has been deleted or invalidated.")
        }
        return attempt { try accessor.table.list(property, at: location, key: key) }
    }

    /// Where a write goes, after the checks that every write makes.
    func writer(context: AddContext? = nil) -> _RowWriter {
        core.checkAccess()
        if core.isFrozen {
            misuse("Attempting to modify a frozen List - call thaw on it first.")
        }
        if !core.isInWriteTransaction {
            misuse(
                "Cannot modify managed List outside of a write transaction: make the change inside realm.write { }."
            )
        }
        checkOwner()
        return _RowWriter(accessor: accessor, rowKey: key, declared: declared, context: context)
    }
}
