import CRealmShims
import RealmModel

/// What `@Persisted(originProperty:)` accepts.
public protocol LinkingObjectsProtocol {
    /// The objects that link through the property of that name.
    init(originProperty: String)
}

/// The objects of a class that link to an object through one of their properties.
///
/// It follows the forward links by itself.
///
/// ```swift
/// class Dog: Object {
///     @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
/// }
/// ```
public struct LinkingObjects<Element: ObjectBase & RealmCollectionValue>: RealmCollection, LinkingObjectsProtocol {
    @usableFromInline let backing: _CollectionBacking?
    /// The name of the property that links here; not kept beside a backing, which knows it.
    let originProperty: String

    /// The objects that link through the property of that name; empty until the object is managed.
    public init(originProperty: String) {
        backing = nil
        self.originProperty = originProperty
    }

    /// The objects of a class that link through the property of that name.
    public init(fromType type: Element.Type, property: String) { self.init(originProperty: property) }

    init(_ backing: _CollectionBacking) {
        self.backing = backing
        originProperty = ""
    }

    /// What stands behind a managed collection; nil for an unmanaged one.
    public var _backing: _CollectionBacking? { backing }

    /// The number of objects.
    ///
    /// There are none where the owner was deleted. Damage ends the process here: `requireReadable()` throws both before.
    public var count: Int { backing?.count ?? 0 }
    /// The first object; nil when there is none.
    public var first: Element? {
        if isEmpty {
            return originProperty == PathRecorder.marker ? PathRecorder.element(Element.self, .first) : nil
        }
        return self[0]
    }
    /// The last object; nil when there is none.
    public var last: Element? {
        let count = count
        if count == 0 {
            return originProperty == PathRecorder.marker ? PathRecorder.element(Element.self, .last) : nil
        }
        return self[count - 1]
    }

    /// The object at a position.
    ///
    /// In a realm that was closed it is an invalidated one at every position: see ``Realm/close()``.
    ///
    /// - Precondition: There is such a position: look at ``count``, or take ``first`` or iterate.
    public subscript(position: Int) -> Element {
        guard let backing else {
            if originProperty == PathRecorder.marker,
                let element = PathRecorder.element(Element.self, .position(position))
            {
                return element
            }
            indexOutOfBounds(position, count: 0)
        }
        return Element._element(at: position, in: backing)
    }

    /// Iterates over the objects as they are now, in spite of writes made in the loop.
    ///
    /// There are none where the owner was deleted. Damage ends the process here: `requireReadable()` throws both before.
    @inlinable
    public func makeIterator() -> RealmIterator<Element> {
        guard let backing else { return RealmIterator([]) }
        return RealmIterator(_CollectionCursor.over(backing))
    }

    /// The realm that the objects belong to; nil while the object is unmanaged.
    public var realm: Realm? { backing?.core.realm() }
    /// Whether the object that is linked to was deleted.
    public var isInvalidated: Bool { backing?.isInvalidated ?? false }
    /// Whether the objects stand on one version for good.
    public var isFrozen: Bool { backing?.core.isFrozen ?? false }
    /// The objects as of the version that the realm stands on.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is
    ///   open: look at ``realm`` and ``isInvalidated``.
    public func freeze() -> LinkingObjects { frozenThroughReference("LinkingObjects") }
    /// The live objects of frozen ones.
    ///
    /// - Precondition: The value is managed: look at ``realm``. Its file can be read: `try Realm(configuration:)`
    ///   throws instead.
    public func thaw() -> LinkingObjects? { thawedThroughReference("LinkingObjects") }

    /// The value as a description that does not belong to an isolation.
    public var _reference: _ConfinedReference {
        _ConfinedReference(backing.map { .collection($0.descriptor) } ?? .unmanaged)
    }
    /// The value that a description stands for in a realm.
    public static func _resolve(_ reference: _ConfinedReference, in realm: Realm) -> LinkingObjects? {
        guard case .collection(let descriptor) = reference.content, case .backlinks = descriptor.source else {
            return nil
        }
        return _CollectionBacking.find(descriptor, of: Element._elementShape, in: realm.core).map { LinkingObjects($0) }
    }

    /// Whether both are the links to the same object.
    public static func == (left: LinkingObjects, right: LinkingObjects) -> Bool {
        left.originProperty == right.originProperty && left.backing?.core === right.backing?.core
            && left.backing?.descriptor == right.backing?.descriptor
    }
}

@available(
    *,
    unavailable,
    message:
        "Linking objects belong to their realm's isolation. Send `owners.frozen` or `ThreadSafeReference(to: owners)` instead."
)
extension LinkingObjects: Sendable {}

extension LinkingObjects: _Persistable {
    /// What the type looks like in the schema.
    public static var _shape: _PropertyShape { _PropertyShape(.linkingObjects, target: Element.self) }
    /// The value that a property without a default of its own starts with.
    public static func _defaultValue() -> LinkingObjects { LinkingObjects(originProperty: "") }
    /// The first value of an unmanaged property; on a recording instance, the value that records further steps.
    public static func _initialValue(_ object: ObjectBase, _ key: UInt32) -> LinkingObjects {
        if key & PersistedKey.recording == PersistedKey.recording {
            PathRecorder.record(object, key, next: PathRecorder.instance(of: Element.self))
            return LinkingObjects(originProperty: PathRecorder.marker)
        }
        return _defaultValue()
    }
    /// Whether the property keeps a collection object.
    @inlinable @inline(__always)
    public static var _isCollection: Bool { true }

    /// Reads the property of a managed object.
    public static func _get(_ object: ObjectBase, _ key: UInt32) -> LinkingObjects {
        let accessor = object.checkedAccessor()
        let declared = Int(key) - 1
        let origin = accessor.target(of: declared)
        let backing = _CollectionBacking(
            backlinksTo: accessor,
            key: object.rowKey,
            origin: origin,
            property: accessor.originOrdinal(of: declared, in: origin)
        )
        return LinkingObjects(backing)
    }

    /// Drops what a wrapper holds and gives it a key.
    public static func _resetWrapper(at wrapper: UnsafeMutableRawPointer, key: UInt32) {
        // As the general one does, without looking up how the generic types lie in memory.
        let pointer = wrapper.assumingMemoryBound(to: Persisted<LinkingObjects>.self)
        pointer.pointee.word = key
        pointer.pointee.address = 0
        pointer.pointee.value = nil
    }

    /// Makes what a wrapper holds follow its accessor to another row, where nobody else holds it.
    public static func _moveWrapper(at wrapper: UnsafeMutableRawPointer, of object: ObjectBase, key: UInt32) {
        let pointer = wrapper.assumingMemoryBound(to: Persisted<LinkingObjects>.self)
        guard case .some = pointer.pointee.value else { return }
        // Behind the wrapper's two words stands the backing, the first property. It is looked at without being counted,
        // since it is to have no other holder, and without asking how the generic types lie in memory.
        if let address = wrapper.load(fromByteOffset: 8, as: UnsafeRawPointer?.self),
            crealm_is_sole_reference(address) != 0
        {
            let backing = Unmanaged<_CollectionBacking>.fromOpaque(address)
            if backing._withUnsafeGuaranteedRef({ $0.follow(object) }) { return }
        }
        pointer.pointee.value = nil
    }

    /// Writes a value into a row.
    public static func _store(_ value: LinkingObjects, _ writer: _RowWriter) {}
    /// Writes the value that a wrapper holds into a row.
    public static func _storeWrapper(at wrapper: UnsafeMutableRawPointer, _ writer: _RowWriter) {}
    /// The origin property of linking objects.
    public static func _wrapperOrigin(at wrapper: UnsafeMutableRawPointer) -> String? {
        wrapper.assumingMemoryBound(to: Persisted<LinkingObjects>.self).pointee.value?.originProperty
    }
    /// Assigns a dynamically typed value to a property; false when it does not fit.
    public static func _assignWrapper(
        at wrapper: UnsafeMutableRawPointer,
        of object: ObjectBase,
        _ value: Any?
    ) -> Bool { false }
    /// Writes a dynamically typed value into a row; false when it does not fit.
    public static func _storeBoxed(_ value: Any?, _ writer: _RowWriter) -> Bool { true }
}

extension LinkingObjects: Encodable where Element: Encodable {
    /// Encodes the objects as an array.
    ///
    /// - Throws: What the encoder throws, and what `requireReadable()` does.
    public func encode(to encoder: any Encoder) throws {
        try requireReadable()
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}
