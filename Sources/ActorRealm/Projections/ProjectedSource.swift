import Dispatch

/// What stands behind a projected collection, whatever the class and the kind of collection.
///
/// An abstract class: every member is overridden by its one subclass, which alone is made.
class ProjectedSource<Value: RealmCollectionValue> {
    var count: Int { fatalError("abstract") }
    var confined: any ThreadConfined { fatalError("abstract") }
    var reference: _ConfinedReference { fatalError("abstract") }

    subscript(position: Int) -> Value {
        get { fatalError("abstract") }
        set { fatalError("abstract") }
    }

    func isSame(as other: ProjectedSource) -> Bool { fatalError("abstract") }

    func observe(
        keyPaths: [String]?,
        on queue: DispatchQueue?,
        _ block: @escaping (RealmCollectionChange<ProjectedCollection<Value>>) -> Void
    ) -> NotificationToken {
        fatalError("abstract")
    }
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

    override var reference: _ConfinedReference {
        let base = collection._reference
        if case .unmanaged = base.content { return base }
        let keyPath = keyPath
        return _ConfinedReference(
            .projected(
                ProjectedResolver { realm in
                    Base._resolve(base, in: realm).map { CollectionProjection<Base, Value>($0, keyPath) }
                }
            )
        )
    }

    override func isSame(as other: ProjectedSource<Value>) -> Bool {
        guard let other = other as? CollectionProjection<Base, Value> else { return false }
        return keyPath == other.keyPath && collection == other.collection
    }

    override func observe(
        keyPaths: [String]?,
        on queue: DispatchQueue?,
        _ block: @escaping (RealmCollectionChange<ProjectedCollection<Value>>) -> Void
    ) -> NotificationToken {
        let keyPath = keyPath
        func projected(_ collection: Base) -> ProjectedCollection<Value> {
            ProjectedCollection(source: CollectionProjection<Base, Value>(collection, keyPath))
        }
        return collection.observe(keyPaths: keyPaths ?? [PathRecorder.name(of: keyPath)], on: queue) { change in
            switch change {
            case .initial(let collection): block(.initial(projected(collection)))
            case .update(let collection, let deletions, let insertions, let modifications):
                block(
                    .update(
                        projected(collection),
                        deletions: deletions,
                        insertions: insertions,
                        modifications: modifications
                    )
                )
            case .error(let error): block(.error(error))
            }
        }
    }
}

/// Finds a projected collection again in a realm; unchecked because it holds references and key paths only.
struct ProjectedResolver: @unchecked Sendable {
    let resolve: (Realm) -> AnyObject?
}
