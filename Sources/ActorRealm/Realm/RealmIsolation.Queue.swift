import CRealmShims
import Dispatch
import Synchronization

/// The isolation of a serial dispatch queue.
final class QueueIsolation: Sendable {
    let queue: DispatchQueue
    private let mark = DispatchSpecificKey<Bool>()
    /// Which queue it is, on each that has had a realm.
    private static let identity = DispatchSpecificKey<ObjectIdentifier>()
    private static let identifying = Mutex(())

    init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: mark, value: true)
        // Once, for as long as the queue exists: what runs on it may be reading.
        Self.identifying.withLock { _ in
            if queue.getSpecific(key: Self.identity) == nil {
                queue.setSpecific(key: Self.identity, value: ObjectIdentifier(queue))
            }
        }
    }

    deinit {
        queue.setSpecific(key: mark, value: nil)
    }

    /// The key of the queue that runs the caller where that has had a realm, else of the next one that it targets; it may be that of a
    /// queue which is gone.
    static var currentKey: RealmIsolation.Key? { DispatchQueue.getSpecific(key: identity).map { .object($0) } }

    /// Whether the caller runs on the queue, or on one that targets it.
    var isCurrent: Bool { mark.isCurrent }
}

extension DispatchSpecificKey {
    /// Whether the queue that runs the caller, or one that it targets, has a value for the key.
    ///
    /// The library looks values up by the key's address; the value itself is not needed.
    fileprivate var isCurrent: Bool { crealm_queue_has_specific(Unmanaged.passUnretained(self).toOpaque()) }
}

extension DispatchQueue {
    private static let mainMark: DispatchSpecificKey<Bool> = {
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        return mark
    }()

    /// The label of the queue that runs the caller; nil on threads of their own.
    static var currentLabel: String? {
        crealm_current_queue_label().map { String(cString: $0) }
    }

    /// Whether this is the main queue.
    ///
    /// `DispatchQueue.main` makes a new object each time.
    var isMain: Bool { getSpecific(key: Self.mainMark) == true }

    /// Whether the main queue runs the caller.
    static var isMainCurrent: Bool { mainMark.isCurrent }

    /// Whether the queue may run several blocks at once: it was made with `.concurrent`, or is a global one.
    ///
    /// The library has no function that tells, but objects of one kind have the same first word. Where that cannot be read,
    /// every queue passes for a serial one.
    var isConcurrent: Bool {
        guard let serial = Self.serialKind, let kind, let mainKind = DispatchQueue.main.kind else { return false }
        return kind != serial && kind != mainKind
    }

    private static let serialKind = DispatchQueue(label: "actor-realm.serial").kind

    private var kind: UInt? {
        let wrapped = Mirror(reflecting: self).children.first { $0.label == "__wrapped" }?.value as? OpaquePointer
        return wrapped.map { UnsafeRawPointer($0).load(as: UInt.self) }
    }
}
