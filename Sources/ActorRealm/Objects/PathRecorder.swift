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

    private var names: [String] = []
    /// The instance that the next step begins at; nil where the path is at its end.
    private var expected: ObjectIdentifier?
    private var isBroken = false
    /// Where in a projection the property is stored that was asked for first.
    private var storage: AnyKeyPath?

    /// A value for properties of its type that have no other one on a recording instance.
    private let sample: Any?

    private init(root: ObjectBase, sample: Any?) {
        expected = ObjectIdentifier(root)
        self.sample = sample
    }

    /// The names that a key path goes through, joined by dots.
    static func name<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> String {
        names(of: keyPath, in: Root.self).joined(separator: ".")
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
        guard let word = crealm_recorder_get() else { return }
        let recorder = Unmanaged<PathRecorder>.fromOpaque(word).takeUnretainedValue()
        if recorder.storage == nil { recorder.storage = storage }
    }

    /// Where in a projection the property is stored that the running evaluation has asked for first.
    static var projectedStorage: AnyKeyPath? {
        crealm_recorder_get().flatMap { Unmanaged<PathRecorder>.fromOpaque($0).takeUnretainedValue().storage }
    }

    /// The names that an evaluation on a recording instance goes through.
    static func names<Root: ObjectBase>(
        in type: Root.Type,
        describing keyPath: @autoclosure () -> String,
        _ evaluate: (Root) -> Void
    ) -> [String] {
        guard let names = recordedNames(in: type, evaluate) else { misuse(brokenMessage(keyPath())) }
        return names
    }

    /// The names that a key path goes through; nil for one that names no stored property.
    static func recordedNames<Root: ObjectBase>(
        of keyPath: PartialKeyPath<Root>,
        in type: Root.Type,
        sample: Any? = nil
    ) -> [String]? {
        recordedNames(in: type, sample: sample) { _ = $0[keyPath: keyPath] }
    }

    /// A value for a property of a recording instance whose type has none of its own: the declared one, or the sample.
    static func sample<Value: _Persistable>(of object: ObjectBase, _ key: UInt32) -> Value? {
        let info = ModelClass.of(type(of: object))
        let property = info.properties[Int(key & ~PersistedKey.recording) - 1]
        let declaring = info.type.init()
        if property.hasDeclaredDefault(in: declaring) { return property.value(in: declaring) as? Value }
        guard let word = crealm_recorder_get() else { return nil }
        return Unmanaged<PathRecorder>.fromOpaque(word).takeUnretainedValue().sample as? Value
    }

    /// Says that a key path names no stored property.
    static func brokenMessage(_ keyPath: String) -> String {
        "The key path \(keyPath) does not name a property marked `@Persisted`, or links from one to the next. "
            + "Only stored properties can be searched, sorted and observed."
    }

    private static func recordedNames<Root: ObjectBase>(
        in type: Root.Type,
        sample: Any? = nil,
        _ evaluate: (Root) -> Void
    ) -> [String]? {
        let root = instance(of: type)
        let recorder = PathRecorder(root: root, sample: sample)
        let outer = crealm_recorder_get()
        crealm_recorder_set(Unmanaged.passUnretained(recorder).toOpaque())
        defer { crealm_recorder_set(outer) }
        evaluate(unsafeDowncast(root, to: Root.self))
        return recorder.isBroken || recorder.names.isEmpty ? nil : recorder.names
    }

    /// Notes that a recording instance was asked for a property.
    static func record(_ object: ObjectBase, _ key: UInt32, next: ObjectBase? = nil) {
        guard let word = crealm_recorder_get() else { return }
        let recorder = Unmanaged<PathRecorder>.fromOpaque(word).takeUnretainedValue()
        if ObjectIdentifier(object) != recorder.expected { recorder.isBroken = true }
        let info = ModelClass.of(type(of: object))
        recorder.names.append(info.pathName(of: info.properties[Int(key & ~PersistedKey.recording) - 1]))
        recorder.expected = next.map { ObjectIdentifier($0) }
    }

    // Recording instances are never changed after they were made.
    private struct Instances: @unchecked Sendable {
        var byType: [ObjectIdentifier: ObjectBase] = [:]
    }

    private static let instances = Mutex(Instances())

    /// The recording instance of a class.
    static func instance(of type: ObjectBase.Type) -> ObjectBase {
        let identifier = ObjectIdentifier(type)
        if let known = instances.withLock({ Shared(object: $0.byType[identifier]) }).object { return known }
        let object = type.init()
        for property in ModelClass.of(type).properties {
            property.reset(in: object, key: property.key | PersistedKey.recording)
        }
        let shared = Shared(object: object)
        return
            instances.withLock { known in
                if let other = known.byType[identifier] { return Shared(object: other) }
                known.byType[identifier] = shared.object
                return shared
            }
            .object!
    }

    // Takes one out of the lock, or there; as above.
    private struct Shared: @unchecked Sendable {
        let object: ObjectBase?
    }
}
