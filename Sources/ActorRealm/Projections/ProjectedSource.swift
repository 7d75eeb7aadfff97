import RealmQuery
import RealmStorage

/// What stands behind a projected collection, whatever the class and the kind of collection.
///
/// An abstract class: every member is overridden by its one subclass, which alone is made.
class ProjectedSource<Value: RealmCollectionValue> {
    var count: Int { mustOverride() }
    var confined: any ThreadConfined { mustOverride() }
    // Every instance is of a subclass, which overrides all of these.
    var reference: _ConfinedReference { mustOverride() }

    subscript(position: Int) -> Value {
        get { mustOverride() }
        set { mustOverride() }
    }

    func isSame(as other: ProjectedSource) -> Bool { mustOverride() }

    /// The position of the first value whose object fulfils a predicate; nil for none.
    func index(matching predicateFormat: String, _ arguments: [Any]) -> Int? { mustOverride() }

    /// Throws what reading a value would trap on.
    func requireReadable() throws { mustOverride() }

    /// The values as something to observe; with nil for key paths, only writes to the property count.
    func observation(keyPaths: [String]?, origin: ReaderOrigin) -> (ObservationSource<CollectionSubject>, RealmCore?) {
        mustOverride()
    }

    /// Takes the order of the objects from an observer that knows it.
    func adopt(_ order: ObservedOrder) { mustOverride() }
}

/// A property of the objects of one collection.
final class CollectionProjection<Base: RealmCollection, Value: RealmCollectionValue>: ProjectedSource<Value>
where Base.Element: ObjectBase {
    private let collection: Base
    private let keyPath: KeyPath<Base.Element, Value>

    init(_ collection: Base, _ keyPath: KeyPath<Base.Element, Value>) {
        self.collection = collection
        self.keyPath = keyPath
        super.init()
        // On a recording collection the path goes on.
        if PathRecorder.isRecording, collection._backing == nil, let element = Base.Element._recordingElement() {
            _ = element[keyPath: keyPath]
        }
    }

    override var count: Int { collection.count }
    override var confined: any ThreadConfined { collection }

    override subscript(position: Int) -> Value {
        get { collection[position][keyPath: keyPath] }
        set {
            guard let writable = keyPath as? ReferenceWritableKeyPath<Base.Element, Value> else {
                misuse("The key path \(keyPath) of a projected collection cannot be written through.")
            }
            collection[position][keyPath: writable] = newValue
        }
    }

    override func index(matching predicateFormat: String, _ arguments: [Any]) -> Int? {
        collection.position(matching: predicateFormat, arguments)
    }

    override func requireReadable() throws {
        guard let backing = try collection.readableBacking() else { return }
        let path = try PathRecorder.requiredSteps(of: keyPath, in: Base.Element.self) { () throws -> Base in
            try collection.requireReadable()
            return collection
        }
        try backing.requireReadable([path]) {
            Base.Element._isReadableElement($0, in: backing)
        }
    }

    override var reference: _ConfinedReference {
        let base = collection._reference
        if case .unmanaged = base.content { return base }
        let keyPath = keyPath
        return _ConfinedReference(
            .projected(
                ProjectedResolver { realm, outlivesOwner in
                    Base._resolve(outlivesOwner ? base.outlivingOwner : base, in: realm)
                        .map { CollectionProjection<Base, Value>($0, keyPath) }
                }
            )
        )
    }

    override func isSame(as other: ProjectedSource<Value>) -> Bool {
        guard let other = other as? CollectionProjection<Base, Value> else { return false }
        return keyPath == other.keyPath && collection == other.collection
    }

    override func observation(
        keyPaths: [String]?,
        origin: ReaderOrigin
    ) -> (ObservationSource<CollectionSubject>, RealmCore?) {
        let source = collection.observationSource(
            keyPaths: keyPaths ?? [PathRecorder.name(of: keyPath)],
            origin: origin
        )
        let projected = ObservationSource(
            subject: source.subject,
            reference: reference,
            coordinator: source.coordinator,
            configuration: source.configuration,
            origin: origin,
            isEnded: source.isEnded
        )
        return (projected, collection._backing?.core)
    }

    override func adopt(_ order: ObservedOrder) { collection._backing?.adopt(order) }
}

/// Finds a projected collection again in a realm; unchecked because it holds references and key paths only.
struct ProjectedResolver: @unchecked Sendable {
    /// Whether it finds an empty collection where the owner does not exist, and not none.
    var outlivesOwner = false
    private let find: (_ realm: Realm, _ outlivesOwner: Bool) -> AnyObject?

    init(_ find: @escaping (_ realm: Realm, _ outlivesOwner: Bool) -> AnyObject?) { self.find = find }

    func resolve(in realm: Realm) -> AnyObject? { find(realm, outlivesOwner) }
}
