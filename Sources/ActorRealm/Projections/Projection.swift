import RealmModel

/// A view of a class's objects with the properties that one use of them needs, under the names that suit it.
///
/// ```swift
/// class PersonProjection: Projection<Person> {
///     @Projected(\Person.firstName) var name: String
///     @Projected(\Person.address?.city) var homeCity: String?
///     @Projected(\Person.friends.projectTo.firstName) var friends: ProjectedCollection<String>
/// }
///
/// let people = realm.objects(PersonProjection.self)
/// ```
/// A projection holds nothing: it reads and writes the properties of its object. Only what it projects is observed.
nonisolated open class Projection<Root: ObjectBase & RealmCollectionValue & ThreadConfined> {
    /// The object that is projected.
    public let rootObject: Root

    /// Projects an object, managed or not.
    public required init(projecting object: Root) { rootObject = object }
}

/// What projections of all classes have in common.
public protocol ProjectionObservable: AnyObject, RealmFetchable, KeypathSortable, ThreadConfined,
    CustomStringConvertible
{
    /// The class whose objects are projected.
    associatedtype Root: ObjectBase & RealmCollectionValue & ThreadConfined
    /// The object that is projected.
    var rootObject: Root { get }
    /// Projects an object.
    init(projecting object: Root)
}

nonisolated extension Projection: Hashable {
    /// Whether both project the same object.
    public static func == (left: Projection, right: Projection) -> Bool {
        left.rootObject.isSameObject(as: right.rootObject)
    }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) {
        if let accessor = rootObject.tableAccessor {
            hasher.combine(accessor.table.id)
            hasher.combine(rootObject.rowKey)
        } else {
            hasher.combine(ObjectIdentifier(rootObject))
        }
    }
}

nonisolated extension Projection: ProjectionObservable {
    /// The realm that the object lives in; nil while it is unmanaged.
    public var realm: Realm? { rootObject.realm }
    /// Whether the object was deleted, or its realm invalidated.
    public var isInvalidated: Bool { rootObject.isInvalidated }
    /// Whether the object stands on one version for good.
    public var isFrozen: Bool { rootObject.isFrozen }
    /// What the object is, without its realm.
    public var _reference: _ConfinedReference { rootObject._reference }

    /// The projected properties, where they come from, and their values.
    public var description: String {
        let schema: [ProjectionSchema.Property]
        do {
            schema = try ProjectionSchema.of(type(of: self), readFrom: rootObject)
            let isClosed = rootObject.core?.isClosed ?? false
            if !isClosed { for property in schema { try property.requireReadable(in: rootObject) } }
        } catch {
            return "\(type(of: self))<\(Root.className())> [unreadable: \(error)]"
        }
        let properties =
            schema
            .map { "\t\($0.name)(\\.\($0.origin)) = \($0.projected.describedValue(of: rootObject));\n" }
        let address = ObjectDescription.address(of: rootObject)
        return "\(type(of: self))<\(Root.className())> <\(address)> {\n\(properties.joined())}"
    }
}

@available(
    *,
    unavailable,
    message:
        "A projection belongs to its realm's isolation. Send `projection.frozen` or `ThreadSafeReference(to: projection)` instead."
)
nonisolated extension Projection: Sendable {}

extension ThreadConfined where Self: ProjectionObservable {
    /// The projection of the object as of the version that its realm stands on, immutable.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is
    ///   open: look at ``ThreadConfined/realm`` and ``ThreadConfined/isInvalidated``.
    public func freeze() -> Self { frozenThroughReference("projections") }
    /// The projection of the live object; nil when it does not exist any more.
    ///
    /// - Precondition: The value is managed: look at ``ThreadConfined/realm``. Its file can be read: `try
    ///   Realm(configuration:)` throws instead.
    public func thaw() -> Self? { thawedThroughReference("projections") }

    /// The value that a description stands for in a realm.
    public static func _resolve(_ reference: _ConfinedReference, in realm: Realm) -> Self? {
        Root._resolve(reference, in: realm).map { Self(projecting: $0) }
    }
}

extension RealmCollectionValue where Self: ProjectionObservable {
    /// What an element looks like in the schema.
    public static var _elementShape: _PropertyShape { Root._elementShape }
    /// Makes an element from its stored form.
    public static func _element(_ stored: _Stored, in backing: _CollectionBacking) -> Self {
        Self(projecting: Root._element(stored, in: backing))
    }
    /// The element at a position of a managed collection.
    public static func _element(at index: Int, in backing: _CollectionBacking) -> Self {
        Self(projecting: Root._element(at: index, in: backing))
    }
    /// The stored form of an element; an unmanaged object is added.
    public static func _encodeElement(_ value: Self, _ writer: _RowWriter) -> _Stored? {
        Root._encodeElement(value.rootObject, writer)
    }
    /// Converts a dynamically typed element; nil when it does not fit.
    public static func _unboxedElement(_ value: Any?) -> Self? {
        value as? Self ?? Root._unboxedElement(value).map { Self(projecting: $0) }
    }
    /// The next element of an iteration.
    public static func _next(_ cursor: _CollectionCursor) -> Self? {
        Root._next(cursor).map { Self(projecting: $0) }
    }
    /// The object and its row key.
    public static func _elementKey(_ value: Self) -> (object: ObjectBase, key: Int64)? {
        (value.rootObject, value.rootObject.rowKey)
    }
    /// The class whose objects are looked up.
    public static var _fetchedType: ObjectBase.Type { Root.self }
}

extension KeypathSortable where Self: ProjectionObservable {
    /// The name of the stored property, dotted across links.
    public static func _name(of keyPath: AnyKeyPath) -> String { ProjectionSchema.name(of: keyPath, in: Self.self) }
}

extension ObjectKeyIdentifiable where Self: ProjectionObservable {
    /// The row of a managed object, the address of an unmanaged one.
    public var id: UInt64 {
        guard rootObject.core != nil, let accessor = rootObject.tableAccessor else {
            return UInt64(UInt(bitPattern: ObjectIdentifier(rootObject).hashValue))
        }
        return UInt64(accessor.table.id) << 48 ^ UInt64(bitPattern: rootObject.rowKey)
    }
}
