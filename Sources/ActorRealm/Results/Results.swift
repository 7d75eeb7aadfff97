import RealmModel

/// Objects or values of a realm: all of a class, or those that a query selects, in the order asked for.
///
/// Results are lazy: the query runs when an element or the count is asked for, once per version. They are live: after
/// the realm moved on, or inside a write transaction after a write, they show what then matches.
public struct Results<Element: RealmCollectionValue>: RealmCollection {
    @usableFromInline let backing: _CollectionBacking

    @inlinable
    init(_ backing: _CollectionBacking) { self.backing = backing }

    /// What stands behind the results.
    @inlinable public var _backing: _CollectionBacking? { backing }

    /// The number of elements.
    ///
    /// Damage ends the process here: `requireReadable()` throws it before.
    public var count: Int { backing.count }

    /// The first element; nil when there is none.
    @inlinable public var first: Element? {
        if !backing.hasObjects { return count == 0 ? nil : self[0] }
        guard let key = backing.firstKey() else { return nil }
        return Element._element(forKey: key, in: backing)
    }

    /// The element at a position.
    ///
    /// In a realm that was closed every position reads as nothing: see ``Realm/close()``.
    ///
    /// Damage, and a position that does not exist, end the process here: `requireReadable()` throws damage before.
    ///
    /// - Precondition: There is such a position: look at ``count``, or take ``first`` or iterate.
    public subscript(position: Int) -> Element { Element._element(at: position, in: backing) }

    /// Iterates over the elements as they are now, in spite of writes made in the loop.
    ///
    /// Damage ends the process here: `requireReadable()` throws it before.
    @inlinable
    public func makeIterator() -> RealmIterator<Element> { RealmIterator(_CollectionCursor.over(backing)) }

    /// The realm that the results belong to.
    public var realm: Realm? { backing.core.realm() }
    /// Whether the realm was invalidated or closed.
    public var isInvalidated: Bool { backing.core.isInvalidated }
    /// Whether the results stand on one version for good.
    public var isFrozen: Bool { backing.core.isFrozen }

    /// The results as of the version that the realm stands on.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is
    ///   open: look at ``realm`` and ``isInvalidated``.
    public func freeze() -> Results { frozenThroughReference("Results") }
    /// The live results of frozen ones.
    ///
    /// - Precondition: The value is managed: look at ``realm``. Its file can be read: `try Realm(configuration:)`
    ///   throws instead.
    public func thaw() -> Results? { thawedThroughReference("Results") }

    /// The value as a description that does not belong to an isolation.
    public var _reference: _ConfinedReference { _ConfinedReference(.collection(backing.descriptor)) }
    /// The value that a description stands for in a realm.
    public static func _resolve(_ reference: _ConfinedReference, in realm: Realm) -> Results? {
        guard case .collection(let descriptor) = reference.content else { return nil }
        return _CollectionBacking.find(descriptor, of: Element._elementShape, in: realm.core).map { Results($0) }
    }

    /// Whether both are the same results of the same realm: not whether their elements are equal.
    public static func == (left: Results, right: Results) -> Bool {
        left.backing === right.backing
            || (left.backing.core === right.backing.core && left.backing.descriptor == right.backing.descriptor)
    }
}

@available(
    *,
    unavailable,
    message:
        "Results belong to their realm's isolation. Send `results.frozen` or `ThreadSafeReference(to: results)` instead."
)
extension Results: Sendable {}

extension Results: Encodable where Element: Encodable {
    /// Encodes the elements as an array.
    ///
    /// - Throws: What the encoder throws, and what `requireReadable()` does.
    public func encode(to encoder: any Encoder) throws {
        try requireReadable()
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}

/// Goes over the elements of a collection of a realm.
public struct RealmIterator<Element: RealmCollectionValue>: IteratorProtocol {
    @usableFromInline let cursor: _CollectionCursor?
    /// The cursor again, which the iterator holds: it need not be held once more for each element.
    @usableFromInline let reference: Unmanaged<_CollectionCursor>?
    /// The elements of an unmanaged list.
    @usableFromInline var elements: IndexingIterator<[Element]>

    init(_ backing: _CollectionBacking) { self.init(_CollectionCursor.over(backing)) }

    @inlinable
    init(_ cursor: _CollectionCursor?) {
        self.cursor = cursor
        if let cursor { reference = Unmanaged.passUnretained(cursor) } else { reference = nil }
        elements = [].makeIterator()
    }

    @inlinable
    init(_ elements: [Element]) {
        cursor = nil
        reference = nil
        self.elements = elements.makeIterator()
    }

    /// The next element; nil at the end.
    @inlinable
    public mutating func next() -> Element? {
        if let reference { return reference._withUnsafeGuaranteedRef { Element._next($0) } }
        return elements.next()
    }
}

@available(*, unavailable, message: "An iterator belongs to one loop: send `results.frozen` instead.")
extension RealmIterator: Sendable {}
