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
    ///
    /// - Throws: `wrongIsolation` when the queue may run several blocks at once.
    init(_ queue: DispatchQueue, for configuration: Realm.Configuration? = nil) throws(Realm.Error) {
        if queue.isConcurrent {
            throw Realm.Error(
                .wrongIsolation,
                "A realm cannot belong to the concurrent queue \"\(queue.label)\", whose blocks run at the same time: pass a "
                    + "serial queue, which may target it.",
                fileURL: configuration?.fileURL
            )
        }
        self = queue.isMain ? .actor(ActorIsolation(MainActor.shared)) : .queue(QueueIsolation(queue))
    }

    /// The isolation of a queue that changes are delivered on.
    ///
    /// - Precondition: The queue is serial.
    static func delivering(on queue: DispatchQueue) -> RealmIsolation {
        do {
            return try RealmIsolation(queue)
        } catch {
            misuse(error.message)
        }
    }

    /// Where the caller is found to run: on the executor of an actor, or on a thread for as long as the current synchronous
    /// call runs.
    ///
    /// Queues and schedulers can only be asked whether they run the caller.
    static var current: RealmIsolation {
        ActorIsolation.current().map { .actor($0) } ?? .thread(ThreadIsolation())
    }

    /// What tells isolations apart in caches and in the write queue.
    enum Key: Hashable, Sendable {
        case executor(UInt)
        case object(ObjectIdentifier)
        case thread(ThreadIsolation)
        case none
    }

    var key: Key {
        switch self {
        case .actor(let isolation): .executor(isolation.executor)
        case .queue(let isolation): .object(ObjectIdentifier(isolation.queue))
        case .scheduler(let scheduler): .object(ObjectIdentifier(scheduler))
        case .thread(let isolation): .thread(isolation)
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

    /// The one word that every access compares with the caller's place, as far as there is one; to be asked for where the
    /// isolation is current.
    ///
    /// Queues run on any thread, and schedulers are known only to themselves: they are asked each time.
    var place: RealmPlace {
        switch self {
        case .actor(let isolation): RealmPlace(word: isolation.executor)
        case .thread: RealmPlace(word: crealm_current_place())
        case .queue, .scheduler: .nowhere
        case .everywhere: .everywhere
        }
    }

    /// Whether work can be handed to this isolation: refreshes and asynchronous writes need that.
    var canPost: Bool {
        switch self {
        case .actor, .queue: true
        case .scheduler(let scheduler): scheduler.canInvoke
        case .thread, .everywhere: false
        }
    }

    /// Whether it lasts longer than a synchronous call.
    var isLasting: Bool {
        switch self {
        case .actor, .queue, .scheduler: true
        case .thread, .everywhere: false
        }
    }

    /// Whether only the isolation itself can tell that the caller runs there.
    var isToBeAsked: Bool {
        switch self {
        case .queue, .scheduler: true
        case .actor, .thread, .everywhere: false
        }
    }

    /// Whether the isolation still exists; an actor is not kept alive by its realm.
    var isAlive: Bool {
        if case .actor(let isolation) = self { return isolation.isAlive }
        return true
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
        case .actor(let isolation): isolation.name
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
        if crealm_current_executor().identity != 0 { return "another actor" }
        if crealm_current_task() != 0 { return "a task outside every actor" }
        if DispatchQueue.isMainCurrent || crealm_is_main_thread() { return "the main thread" }
        if let label = DispatchQueue.currentLabel { return "the dispatch queue \"\(label)\"" }
        return "another thread"
    }
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
