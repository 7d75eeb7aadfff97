import CRealmShims
import RealmQuery
import Synchronization

/// Turns a key path into property names by evaluating it on an instance whose getters record.
///
/// A recording instance never changes, so that one per class serves all threads; what is recorded belongs to the
/// evaluation that runs on the thread.
final class PathRecorder {
    /// The origin of linking objects that record, instead of reading.
    static let marker = "\u{0}recording"

    private var taken: [PathStep] = []
    /// The instance that the next step begins at; nil where the path is at its end.
    private var expected: ObjectIdentifier?
    private var isBroken = false
    /// Values for getters to return whose types have none by themselves, by the type.
    private let lent: [ObjectIdentifier: Any]
    /// Where in a projection the property is stored that was asked for first.
    private var storage: AnyKeyPath?

    private init(root: ObjectBase, lent: [ObjectIdentifier: Any]) {
        expected = ObjectIdentifier(root)
        self.lent = lent
    }

    /// The names that a key path goes through, joined by dots.
    static func name<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> String {
        names(of: keyPath, in: Root.self).joined(separator: ".")
    }

    /// The steps that a key path goes through.
    static func path<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> [PathStep] {
        path(in: Root.self, describing: "\(keyPath)") { _ = $0[keyPath: keyPath] }
    }

    /// The path that a key path describes, kept as long as the process lives; nil when too many are known.
    @inline(__always)
    static func known<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>, in type: Root.Type) -> Unmanaged<KnownPath>? {
        KnownPath.of(keyPath, in: type) { names(of: keyPath, in: type) }
    }

    /// The steps of the path that a key path describes.
    static func steps<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>, in type: Root.Type) -> [PropertyPath.Step] {
        known(keyPath, in: type)?._withUnsafeGuaranteedRef { $0.steps }
            ?? names(of: keyPath, in: type).map { .property($0) }
    }

    /// The names that a key path goes through.
    static func names<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>, in type: Root.Type) -> [String] {
        names(in: type, describing: "\(keyPath)") { _ = $0[keyPath: keyPath] }
    }

    /// Whether the thread is evaluating a key path on recording instances.
    static var isRecording: Bool { crealm_recorder_get() != nil }

    /// Notes that a projection of the recording instance was asked for a property, which is stored there.
    static func note(projectedBy storage: AnyKeyPath) {
        guard let recorder = running else { return }
        if recorder.storage == nil { recorder.storage = storage }
    }

    /// Where in a projection the property is stored that the running evaluation has asked for first.
    static var projectedStorage: AnyKeyPath? { running?.storage }

    /// What evaluates a key path on the thread.
    private static var running: PathRecorder? {
        crealm_recorder_get().map { Unmanaged<PathRecorder>.fromOpaque($0).takeUnretainedValue() }
    }

    /// What a collection of a recording instance has for each of its elements; notes which one the path goes on with.
    static func element<Element: RealmCollectionValue>(
        _ type: Element.Type,
        _ element: PathStep.Element
    ) -> Element? {
        if let recorder = running, !recorder.taken.isEmpty {
            recorder.taken[recorder.taken.count - 1].element = element
        }
        return Element._recordingElement()
    }

    /// Notes, where a key path is evaluated, that it goes by a name that is no property; false elsewhere.
    static func breaks() -> Bool {
        guard let recorder = running else { return false }
        recorder.isBroken = true
        return true
    }

    /// The names that an evaluation on a recording instance goes through.
    static func names<Root: ObjectBase>(
        in type: Root.Type,
        describing keyPath: @autoclosure () -> String,
        _ evaluate: (Root) -> Void
    ) -> [String] { path(in: type, describing: keyPath(), evaluate).map(\.name) }

    private static func path<Root: ObjectBase>(
        in type: Root.Type,
        describing keyPath: @autoclosure () -> String,
        _ evaluate: (Root) -> Void
    ) -> [PathStep] {
        guard let path = evaluated(in: type, evaluate).whole else { misuse(brokenMessage(keyPath())) }
        return path
    }

    /// The steps that a key path goes through.
    ///
    /// - Parameters:
    ///   - keyPath: The key path.
    ///   - type: The class that it begins in.
    ///   - lent: Values for getters to return whose types have none by themselves, by the type.
    /// - Returns: The steps; nil for one that names no stored property.
    static func recordedSteps<Root: ObjectBase>(
        of keyPath: PartialKeyPath<Root>,
        in type: Root.Type,
        lent: [ObjectIdentifier: Any] = [:]
    ) -> [PathStep]? {
        evaluated(in: type, lent: lent) { _ = $0[keyPath: keyPath] }.whole
    }

    /// Says that a key path names no stored property.
    static func brokenMessage(_ keyPath: String) -> String {
        "The key path \(keyPath) does not name a property marked `@Persisted`, or links from one to the next. "
            + "Only stored properties can be searched, sorted and observed."
    }

    /// The steps; nil for a path that names no stored property.
    private var whole: [PathStep]? { isBroken || taken.isEmpty ? nil : taken }

    private static func evaluated<Root: ObjectBase>(
        in type: Root.Type,
        lent: [ObjectIdentifier: Any] = [:],
        _ evaluate: (Root) -> Void
    ) -> PathRecorder {
        let root = instance(of: type)
        let recorder = PathRecorder(root: root, lent: lent)
        let outer = crealm_recorder_get()
        crealm_recorder_set(Unmanaged.passUnretained(recorder).toOpaque())
        defer { crealm_recorder_set(outer) }
        evaluate(unsafeDowncast(root, to: Root.self))
        return recorder
    }

    /// Notes that a recording instance was asked for a property.
    static func record(_ object: ObjectBase, _ key: UInt32, next: ObjectBase? = nil) {
        guard let recorder = running else { return }
        if ObjectIdentifier(object) != recorder.expected { recorder.isBroken = true }
        let info = ModelClass.of(type(of: object))
        recorder.taken.append(PathStep(info.pathName(of: info.properties[Int(key & ~PersistedKey.recording) - 1])))
        recorder.expected = next.map { ObjectIdentifier($0) }
    }

    /// A value of a type of the program's own that has none for its stored type's default: one that was lent, a declared default, or one
    /// that is found by trying.
    static func knownValue<Value: _CustomPersistable>(_ type: Value.Type) -> Value? {
        let identifier = ObjectIdentifier(type)
        if let lent = running?.lent[identifier] as? Value { return lent }
        let known = instances.withLock {
            Shared(values: $0.values, isTried: $0.tried.contains(identifier))
        }
        if let value = known.values[identifier] as? Value { return value }
        if known.isTried { return nil }
        // Outside of the lock: it calls the program.
        let value = type.triedValue()
        var values: [ObjectIdentifier: Any] = [:]
        if let value { values[identifier] = value }
        let found = Shared(values: values)
        instances.withLock { known in
            known.values.merge(found.values) { first, _ in first }
            known.tried.insert(identifier)
        }
        return value
    }

    // Recording instances, and values of types, are never changed after they were made.
    private struct Instances: @unchecked Sendable {
        var byType: [ObjectIdentifier: ObjectBase] = [:]
        /// A value of a type, by the type: a default that a class declares, or one that was found by trying.
        var values: [ObjectIdentifier: Any] = [:]
        /// The types for which a value was looked for by trying.
        var tried: Set<ObjectIdentifier> = []
    }

    private static let instances = Mutex(Instances())

    /// The recording instance of a class.
    static func instance(of type: ObjectBase.Type) -> ObjectBase {
        let identifier = ObjectIdentifier(type)
        if let known = instances.withLock({ Shared(object: $0.byType[identifier]) }).object { return known }
        let object = type.init()
        var values: [ObjectIdentifier: Any] = [:]
        for property in ModelClass.of(type).properties {
            if let value = property.declaredValue(in: object) { values[ObjectIdentifier(property.valueType)] = value }
            property.reset(in: object, key: property.key | PersistedKey.recording)
        }
        let shared = Shared(object: object, values: values)
        return
            instances.withLock { known in
                if let other = known.byType[identifier] { return Shared(object: other) }
                known.byType[identifier] = shared.object
                known.values.merge(shared.values) { first, _ in first }
                return shared
            }
            .object!
    }

    // Takes one out of the lock, or there; as above.
    private struct Shared: @unchecked Sendable {
        var object: ObjectBase?
        var values: [ObjectIdentifier: Any] = [:]
        var isTried = false
    }
}
