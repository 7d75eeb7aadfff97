import CRealmShims
import Dispatch

/// The isolation of a serial executor: of the actor that is its own, with those that run on that one, or of all actors that share a
/// custom one.
///
/// It keeps neither the actor nor the executor alive: the actor usually keeps its realm alive.
final class ActorIsolation: Sendable {
    /// The executor's identity: the address of the actor itself, or of its custom executor.
    let executor: UInt
    private let implementation: UInt
    /// Keeps the memory at that address, not the object: no other executor has the identity while this exists.
    private unowned let memory: any AnyObject & Sendable
    /// That whose own the executor is.
    private weak let actor: (any Actor)?
    private weak let customExecutor: (any SerialExecutor)?
    let name: String
    /// Keeps the order of what is handed to the executor, which tasks of their own would not.
    let mailbox = RealmMailbox()

    /// The isolation of an actor.
    convenience init(_ actor: any Actor) {
        let executor = unsafeBitCast(actor.unownedExecutor, to: crealm_executor_ref.self)
        self.init(executor, actor, name: "the actor \(type(of: actor))")
    }

    /// The isolation of the executor that runs the caller; nil where none does.
    static func current() -> ActorIsolation? {
        let executor = crealm_current_executor()
        if executor.identity == 0 {
            let isMain =
                crealm_current_place() == crealm_main_executor()
                || crealm_current_task() == 0 && DispatchQueue.isMainCurrent
            return isMain ? ActorIsolation(MainActor.shared) : nil
        }
        if executor.identity == crealm_main_executor() { return ActorIsolation(MainActor.shared) }
        if executor.isCustom { return ActorIsolation(executor, nil, name: "the executor \(type(of: executor.object))") }
        guard let actor = executor.object as? any Actor else { return nil }
        return ActorIsolation(executor, actor, name: "the actor \(type(of: actor))")
    }

    private init(_ reference: crealm_executor_ref, _ actor: (any Actor)?, name: String) {
        executor = reference.identity
        implementation = reference.implementation
        self.name = name
        if let actor, actor === MainActor.shared {
            memory = actor
            self.actor = actor
            customExecutor = nil
            return
        }
        let object = reference.object
        memory = object
        if reference.isCustom {
            self.actor = nil
            customExecutor = object as? any SerialExecutor
        } else {
            // An actor may run on another one, whose place it is and that outlives it.
            if let actor, object === actor { self.actor = actor } else { self.actor = (object as? any Actor) ?? actor }
            customExecutor = nil
        }
    }

    /// Whether there is still something to run work on.
    var isAlive: Bool { actor != nil || customExecutor != nil }

    /// Compares places; asks the executor itself where none runs the caller (a custom executor's own threads), or where it
    /// may know that another one stands for the same context.
    var isCurrent: Bool {
        if crealm_current_place() == executor { return true }
        if executor == crealm_main_executor() {
            // Outside tasks the main actor's code runs on the main queue.
            return crealm_current_task() == 0 && DispatchQueue.isMainCurrent
        }
        guard let customExecutor else { return false }
        return withExtendedLifetime(customExecutor) { crealm_is_current_executor(executor, implementation) }
    }

    /// Runs the work on the executor, in the order of the calls.
    func post(_ work: @escaping @Sendable () -> Void) {
        guard mailbox.append(work) else { return }
        let mailbox = mailbox
        if executor == crealm_main_executor() {
            // A task would begin on the concurrent pool; that needs a thread, which a commit must not wait for.
            DispatchQueue.main.async { mailbox.drain() }
        } else if let actor {
            // Detached: whoever makes something due has values and a priority of his own.
            Task.detached { await actor.drain(mailbox) }
        } else if let customExecutor {
            let visitor = ExecutorVisitor(customExecutor, executor, implementation)
            Task.detached { await visitor.drain(mailbox) }
        } else {
            mailbox.discard()
        }
    }
}

/// Runs work on a custom executor for none of the actors that share it.
private actor ExecutorVisitor {
    private let executor: any SerialExecutor
    private let words: (UInt, UInt)

    init(_ executor: any SerialExecutor, _ identity: UInt, _ implementation: UInt) {
        self.executor = executor
        words = (identity, implementation)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafeBitCast(words, to: UnownedSerialExecutor.self)
    }
}

extension Actor {
    fileprivate func drain(_ mailbox: RealmMailbox) {
        mailbox.drain()
    }
}

extension crealm_executor_ref {
    /// Whether it is an object of the program's own, and no default actor; the low bits are flags.
    fileprivate var isCustom: Bool { implementation & ~7 != 0 }

    /// The object whose address is the identity; the caller knows that it exists.
    fileprivate var object: any AnyObject & Sendable {
        let address = UnsafeRawPointer(bitPattern: identity).unsafelyUnwrapped
        return unsafeBitCast(
            Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue(),
            to: (any AnyObject & Sendable).self
        )
    }
}
