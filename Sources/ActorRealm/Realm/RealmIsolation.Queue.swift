import CRealmShims
import Dispatch

/// The isolation of a serial dispatch queue.
final class QueueIsolation: Sendable {
    let queue: DispatchQueue
    private let mark = DispatchSpecificKey<Bool>()

    init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: mark, value: true)
    }

    deinit {
        queue.setSpecific(key: mark, value: nil)
    }

    /// Of queues that all run the caller, the place of the one that lies nearest: it targets the others.
    static func nearest(of isolations: [QueueIsolation]) -> Int? {
        if isolations.count < 2 { return isolations.indices.first }
        // The library finds the nearest value of a key; nobody else has this one.
        let key = DispatchSpecificKey<Int>()
        for (index, isolation) in isolations.enumerated() { isolation.queue.setSpecific(key: key, value: index) }
        defer { for isolation in isolations { isolation.queue.setSpecific(key: key, value: nil) } }
        return DispatchQueue.getSpecific(key: key)
    }

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
