/// A collection of any kind, as far as the elements are of one type.
///
/// ```swift
/// let shown: [AnyRealmCollection<Dog>] = [AnyRealmCollection(person.dogs), AnyRealmCollection(realm.objects(Dog.self))]
/// ```
public struct AnyRealmCollection<Element: RealmCollectionValue>: RealmCollection {
    private let base: any RealmCollection<Element>

    /// Wraps a collection, which stays what it is.
    public init<Base: RealmCollection>(_ base: Base) where Base.Element == Element { self.base = base }

    /// What stands behind a managed collection; nil for an unmanaged one.
    public var _backing: _CollectionBacking? { base._backing }
    /// Where the wrapped collection is, if it is the property of an object.
    var place: ListPlace? { (base as? any ReadableElements)?.place }
    /// The number of elements.
    ///
    /// There are none where the owner was deleted. Damage ends the process here: `requireReadable()` throws both before.
    public var count: Int { base.count }
    /// The first element; nil when there is none.
    public var first: Element? { base.isEmpty ? nil : self[0] }
    /// The element at a position.
    ///
    /// In a realm that was closed every position reads as nothing: see ``Realm/close()``.
    ///
    /// - Precondition: There is such a position: look at ``count``, or take ``first`` or iterate.
    public subscript(position: Int) -> Element { base[position] }

    /// Iterates over the elements as they are now, in spite of writes made in the loop.
    public func makeIterator() -> RealmIterator<Element> {
        base._backing.map { RealmIterator($0) } ?? RealmIterator((0..<base.count).map { base[$0] })
    }

    /// The realm that the collection belongs to; nil while it is unmanaged.
    public var realm: Realm? { base.realm }
    /// Whether the collection's owner was deleted, or its realm invalidated.
    public var isInvalidated: Bool {
        if base.isInvalidated { return true }
        if (base as? any ReadableElements)?.place != nil { return false }
        // What was sent or frozen is results of all elements.
        return base._backing?.isInvalidated ?? false
    }
    /// Whether the collection stands on one version for good.
    public var isFrozen: Bool { base.isFrozen }
    /// The collection as of the version that the realm stands on.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is
    ///   open: look at ``realm`` and ``isInvalidated``.
    public func freeze() -> AnyRealmCollection { AnyRealmCollection(wrapping: base.freeze()) }
    /// The live collection of a frozen one; nil when its owner does not exist any more.
    ///
    /// - Precondition: The value is managed: look at ``realm``. Its file can be read: `try Realm(configuration:)`
    ///   throws instead.
    public func thaw() -> AnyRealmCollection? { base.thaw().map { AnyRealmCollection(wrapping: $0) } }

    private init(wrapping base: any RealmCollection<Element>) { self.base = base }

    /// The value as a description that does not belong to an isolation.
    public var _reference: _ConfinedReference { base._reference }
    /// The value that a description stands for in a realm.
    public static func _resolve(_ reference: _ConfinedReference, in realm: Realm) -> AnyRealmCollection? {
        Results<Element>._resolve(reference, in: realm).map { AnyRealmCollection($0) }
    }

    /// Whether both wrap the same collection.
    public static func == (left: AnyRealmCollection, right: AnyRealmCollection) -> Bool {
        guard let one = left._backing, let other = right._backing else {
            if let one = left.base as? List<Element>, let other = right.base as? List<Element> { return one == other }
            guard let one = left.base as? MutableSet<Element>, let other = right.base as? MutableSet<Element> else {
                return false
            }
            return one == other
        }
        return one === other || (one.core === other.core && one.descriptor == other.descriptor)
    }
}

@available(
    *,
    unavailable,
    message:
        "A collection belongs to its realm's isolation. Send `collection.frozen` or `ThreadSafeReference(to: collection)` instead."
)
extension AnyRealmCollection: Sendable {}

extension AnyRealmCollection: Encodable where Element: Encodable {
    /// Encodes the elements as an array.
    ///
    /// - Throws: What the encoder throws, and what `requireReadable()` does.
    public func encode(to encoder: any Encoder) throws {
        try requireReadable()
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}
