import CRealmShims
import Dispatch

/// The isolation of an actor.
///
/// It does not keep the actor alive: the actor usually keeps its realm alive.
final class ActorIsolation: Sendable {
    weak let actor: (any Actor)?
    let identifier: ObjectIdentifier
    /// The identity of the actor's executor; the actor itself unless it has a custom one.
    let executor: UInt
    let name: String
    /// Keeps the order of what is handed to the actor, which tasks of their own would not.
    let mailbox = RealmMailbox()

    init(_ actor: any Actor) {
        self.actor = actor
        identifier = ObjectIdentifier(actor)
        executor = Self.words(of: actor).identity
        name = String(describing: type(of: actor))
    }

    /// Compares executor identities; asks the executor itself where no task runs (`DispatchQueue.main`, a custom
    /// executor's own threads).
    var isCurrent: Bool {
        if crealm_current_executor() == executor { return true }
        guard let actor else { return false }
        // Outside tasks the main actor's code runs on the main queue.
        if crealm_current_task() == 0, DispatchQueue.isMainCurrent { return actor === MainActor.shared }
        let words = Self.words(of: actor)
        return crealm_is_current_executor(words.identity, words.implementation)
    }

    /// Runs the work on the actor, in the order of the calls.
    func post(_ work: @escaping @Sendable () -> Void) {
        guard mailbox.append(work) else { return }
        guard let actor else { return mailbox.discard() }
        let mailbox = mailbox
        Task { await actor.drain(mailbox) }
    }

    private static func words(of actor: any Actor) -> (identity: UInt, implementation: UInt) {
        unsafeBitCast(actor.unownedExecutor, to: (UInt, UInt).self)
    }
}

extension Actor {
    fileprivate func drain(_ mailbox: RealmMailbox) {
        mailbox.drain()
    }
}
