import CRealmShims
import Dispatch

/// Where a live realm may be used, and how work gets there.
enum RealmIsolation: Sendable {
    case actor(ActorIsolation)
    case queue(QueueIsolation)
    case scheduler(any RealmScheduler)
    case thread(ThreadIsolation)
    /// Everywhere: frozen realms.
    case everywhere

    /// The isolation of an actor.
    init(_ actor: any Actor) {
        self = .actor(ActorIsolation(actor))
    }

    /// The isolation of a queue; the main queue stands for the main actor.
    init(_ queue: DispatchQueue) {
        self = queue.isMain ? .actor(ActorIsolation(MainActor.shared)) : .queue(QueueIsolation(queue))
    }

    /// The caller's thread, for as long as the current synchronous call runs.
    static var currentThread: RealmIsolation { .thread(ThreadIsolation()) }

    /// What tells isolations apart in caches and in the write queue.
    enum Key: Hashable, Sendable {
        case object(ObjectIdentifier)
        case thread(UInt)
        case none
    }

    var key: Key {
        switch self {
        case .actor(let isolation): .object(isolation.identifier)
        case .queue(let isolation): .object(ObjectIdentifier(isolation.queue))
        case .scheduler(let scheduler): .object(ObjectIdentifier(scheduler))
        case .thread(let isolation): .thread(isolation.word)
        case .everywhere: .none
        }
    }

    /// Whether the caller runs in this isolation.
    var isCurrent: Bool {
        switch self {
        case .actor(let isolation): isolation.isCurrent
        case .queue(let isolation): isolation.isCurrent
        case .scheduler(let scheduler): scheduler.isOnThread
        case .thread(let isolation): isolation.isCurrent
        case .everywhere: true
        }
    }

    /// Whether a thread that proved to run this isolation needs no second proof.
    ///
    /// A thread-bound realm that was opened inside a task does: the same pool thread runs other tasks between two
    /// calls.
    var trustsThreads: Bool {
        if case .thread(let isolation) = self { return isolation.task == 0 }
        return true
    }

    /// Whether work can be handed to this isolation: refreshes and asynchronous writes need that.
    var canPost: Bool {
        switch self {
        case .actor, .queue: true
        case .scheduler(let scheduler): scheduler.canInvoke
        case .thread, .everywhere: false
        }
    }

    /// Whether the isolation still exists; an actor is not kept alive by its realm.
    var isAlive: Bool {
        if case .actor(let isolation) = self { return isolation.actor != nil }
        return true
    }

    /// Whether a realm of this isolation may be remembered for the next opening.
    var isCacheable: Bool {
        switch self {
        case .actor, .queue, .scheduler: true
        case .thread(let isolation): isolation.isLasting
        case .everywhere: false
        }
    }

    /// Whether two isolations are one.
    func isSame(as other: RealmIsolation) -> Bool {
        if case .scheduler(let one) = self, case .scheduler(let two) = other { return one.isSame(as: two) }
        return key == other.key && isAlive && other.isAlive
    }
}

extension RealmIsolation: CustomStringConvertible {
    var description: String {
        switch self {
        case .actor(let isolation): "the actor \(isolation.name)"
        case .queue(let isolation): "the dispatch queue \"\(isolation.queue.label)\""
        case .scheduler(let scheduler): "the scheduler \(type(of: scheduler))"
        case .thread(let isolation):
            isolation.task == 0
                ? "the thread that opened it" : "the synchronous call that opened it outside every actor"
        case .everywhere: "every isolation (it is frozen)"
        }
    }

    /// Names the caller's isolation, for messages.
    static var currentDescription: String {
        if crealm_current_executor() != 0 { return "another actor" }
        if crealm_current_task() != 0 { return "a task outside every actor" }
        if DispatchQueue.isMainCurrent || crealm_is_main_thread() { return "the main thread" }
        if let label = DispatchQueue.currentLabel { return "the dispatch queue \"\(label)\"" }
        return "another thread"
    }
}

extension DispatchQueue {
    private static let mainLabel = "com.apple.main-thread"

    /// The label of the queue that runs the caller; nil on threads of their own.
    static var currentLabel: String? {
        crealm_current_queue_label().map { String(cString: $0) }
    }

    /// Whether this is the main queue.
    ///
    /// `DispatchQueue.main` makes a new object each time.
    var isMain: Bool { label == Self.mainLabel }

    /// Whether the main queue runs the caller.
    static var isMainCurrent: Bool { currentLabel == mainLabel }
}

extension RealmIsolation {
    /// Runs the work in this isolation, later, in the order of the calls.
    ///
    /// Not for threads.
    func post(_ work: @escaping @Sendable () -> Void) {
        switch self {
        case .actor(let isolation): isolation.post(work)
        case .queue(let isolation): isolation.queue.async(execute: work)
        case .scheduler(let scheduler): scheduler.invoke(work)
        case .thread, .everywhere: misuse("Nothing can be handed to \(self).")
        }
    }
}
