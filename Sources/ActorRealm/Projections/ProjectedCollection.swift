/// The values of one property of a collection's objects, as `projectTo` makes them.
///
/// It is live, and written through: `projection.friendNames[0] = "Ann"` sets the property of the first friend.
public struct ProjectedCollection<Value: RealmCollectionValue>: _ConfinedCollection, RandomAccessCollection,
    ThreadConfined, Equatable, CustomStringConvertible
{
    /// A value of the property.
    public typealias Element = Value
    /// A range of the values.
    public typealias SubSequence = Slice<ProjectedCollection>

    let source: ProjectedSource<Value>

    /// The position of the first value.
    public var startIndex: Int { 0 }
    /// The position after the last value.
    public var endIndex: Int { source.count }
    /// The number of values.
    ///
    /// There are none where the owner was deleted. Damage ends the process here: `requireReadable()` throws both before.
    public var count: Int { source.count }

    /// The value at a position.
    ///
    /// In a realm that was closed every position reads as nothing: see ``Realm/close()``.
    ///
    /// - Precondition: There is such a position: look at ``count``, or take ``first`` or iterate. To be assigned, a
    ///   write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and ``isInvalidated``.
    public subscript(position: Int) -> Value {
        get { source[position] }
        nonmutating set { source[position] = newValue }
    }

    /// Iterates over the values, and ends where the collection does by then.
    ///
    /// There are none where the owner was deleted. Damage ends the process here: `requireReadable()` throws both before.
    public func makeIterator() -> UnfoldSequence<Value, Int> {
        // The end may come before the position: the loop's body may make the collection shorter, or another job close the realm.
        sequence(state: 0) { [source] position in
            guard position < source.count else { return nil }
            defer { position += 1 }
            return source[position]
        }
    }

    /// The realm that the objects belong to; nil while they are unmanaged.
    public var realm: Realm? { source.confined.realm }
    /// Whether the owner of the collection was deleted, or its realm invalidated.
    public var isInvalidated: Bool { source.confined.isInvalidated }
    /// Whether the objects stand on one version for good.
    public var isFrozen: Bool { source.confined.isFrozen }
    /// The values as of the version that the realm stands on.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is
    ///   open: look at ``realm`` and ``isInvalidated``.
    public func freeze() -> ProjectedCollection { frozenThroughReference("projected collections") }
    /// The live values of frozen ones; nil when the owner does not exist any more.
    ///
    /// - Precondition: The value is managed: look at ``realm``. Its file can be read: `try Realm(configuration:)`
    ///   throws instead.
    public func thaw() -> ProjectedCollection? { thawedThroughReference("projected collections") }

    /// The value as a description that does not belong to an isolation.
    public var _reference: _ConfinedReference { source.reference }
    /// The value that a description stands for in a realm.
    public static func _resolve(_ reference: _ConfinedReference, in realm: Realm) -> ProjectedCollection? {
        guard case .projected(let resolver) = reference.content else { return nil }
        return (resolver.resolve(in: realm) as? ProjectedSource<Value>).map { ProjectedCollection(source: $0) }
    }

    /// Whether both are one property of the same collection.
    public static func == (left: ProjectedCollection, right: ProjectedCollection) -> Bool {
        left.source.isSame(as: right.source)
    }

    /// A listing of the first hundred values.
    public var description: String {
        do { try requireReadable() } catch { return "ProjectedCollection<\(Value.self)> [unreadable: \(error)]" }
        return "ProjectedCollection<\(Value.self)> {\n"
            + prefix(100).enumerated().map { "\t[\($0)] \(ObjectDescription.text($1))" }.joined(separator: ",\n")
            + "\n}"
    }
}

@available(
    *,
    unavailable,
    message: "Projected collections belong to their realm's isolation. Send `projection.frozen` instead."
)
extension ProjectedCollection: Sendable {}

/// Any `ProjectedCollection`.
public protocol _ProjectedCollection: RandomAccessCollection where Element: RealmCollectionValue {}
extension ProjectedCollection: _ProjectedCollection {}

extension RealmCollection where Element: ObjectBase {
    /// Projects the objects to one of their properties: `\Person.friends.projectTo.firstName`.
    public var projectTo: CollectionElementMapper<Self> { CollectionElementMapper(collection: self) }
}

/// Gives the properties of a collection's objects; what `projectTo` returns.
@dynamicMemberLookup
public struct CollectionElementMapper<Base: RealmCollection> where Base.Element: ObjectBase {
    let collection: Base

    /// The values of a property of the objects.
    public subscript<Value: RealmCollectionValue>(
        dynamicMember keyPath: KeyPath<Base.Element, Value>
    ) -> ProjectedCollection<Value> {
        ProjectedCollection(source: CollectionProjection(collection, keyPath))
    }
}

@available(
    *,
    unavailable,
    message: "It projects a live collection. Send `list.frozen` or `ThreadSafeReference(to: list)` instead."
)
extension CollectionElementMapper: Sendable {}
