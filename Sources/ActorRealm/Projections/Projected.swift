/// Declares a property of a projection: where in the object its value is.
///
/// The key path leads to a persisted property, possibly across links (`\Person.address?.city`) or, with `projectTo`,
/// through a collection.
@propertyWrapper
public struct Projected<T: ObjectBase, Value> {
    let keyPath: KeyPath<T, Value>

    /// Declares a property that reads, and where the key path allows it writes, a property of the object.
    public init(_ projectedKeyPath: KeyPath<T, Value>) { keyPath = projectedKeyPath }

    /// Not available: the value of a wrapper is reached through the projection that contains it.
    @available(*, unavailable, message: "`@Projected` can only be used as a property of a `Projection`")
    public var wrappedValue: Value {
        // The compiler rejects every call; the accessors must exist for the wrapper to be one.
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }

    /// Reads and writes the property of a projection's object.
    ///
    /// - Precondition: To be assigned, the key path can be written through, and that of the property holds: for values
    ///   from outside ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the object throws.
    public static subscript<Enclosing: Projection<T>>(
        _enclosingInstance projection: Enclosing,
        wrapped wrappedKeyPath: ReferenceWritableKeyPath<Enclosing, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<Enclosing, Self>
    ) -> Value {
        get {
            if PathRecorder.isRecording { PathRecorder.note(projectedBy: storageKeyPath) }
            return projection.rootObject[keyPath: projection[keyPath: storageKeyPath].keyPath]
        }
        set {
            let keyPath = projection[keyPath: storageKeyPath].keyPath
            // Assigning a collection of values back, as `change(&projection.names)` does, has written them already.
            func isCurrent<Other: Equatable>(_ value: Other) -> Bool {
                value == projection.rootObject[keyPath: keyPath] as? Other
            }
            if Value.self is any _ProjectedCollection.Type, let value = newValue as? any Equatable, isCurrent(value) {
                return
            }
            guard let writable = keyPath as? ReferenceWritableKeyPath<T, Value> else {
                misuse(
                    "The key path \(keyPath) of a projection cannot be written through: set the property of the object."
                )
            }
            projection.rootObject[keyPath: writable] = newValue
        }
    }
}

/// Any `Projected`, for discovery.
protocol AnyProjected {
    /// The value in an object of the root class.
    func value(of root: ObjectBase) -> Any?
    /// The value as a text, with `Optional` around what is one.
    func describedValue(of root: ObjectBase) -> String
    /// The way to the stored property, across links and collections.
    func path() -> [PathStep]
    /// The same, found without ending the process for a type without a value; what is missing for that is taken from an object.
    func path(readFrom root: ObjectBase) throws -> [PathStep]
    var isCollection: Bool { get }
    var isProjectedCollection: Bool { get }
}

extension Projected: AnyProjected {
    func value(of root: ObjectBase) -> Any? {
        ValueReader.unwrap(unsafeDowncast(root, to: T.self)[keyPath: keyPath])
    }

    func describedValue(of root: ObjectBase) -> String {
        ObjectDescription.text(unsafeDowncast(root, to: T.self)[keyPath: keyPath])
    }

    func path() -> [PathStep] { PathRecorder.path(of: keyPath) }

    func path(readFrom root: ObjectBase) throws -> [PathStep] {
        let root = unsafeDowncast(root, to: T.self)
        let path = try PathRecorder.readSteps(of: keyPath, in: T.self) { CollectionOfOne(root) }
        guard let path else { throw Realm.Error(.invalidInput, PathRecorder.brokenMessage("\(keyPath)")) }
        return path
    }

    var isProjectedCollection: Bool { Value.self is any _ProjectedCollection.Type }

    var isCollection: Bool { Value.self is any _ProjectedCollection.Type || Value.self is any RealmCollection.Type }
}

@available(
    *,
    unavailable,
    message: "A property belongs to its projection: send its value, or `ThreadSafeReference(to: projection)`."
)
extension Projected: Sendable {}
