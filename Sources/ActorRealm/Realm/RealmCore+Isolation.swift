/// What a realm says to a caller that does not run in its isolation.
extension RealmCore {
    /// Names the realm's isolation, the caller's, and the remedies.
    var wrongIsolationMessage: String {
        var message =
            "Realm accessed from incorrect thread or actor: it belongs to \(isolation), and was used from "
            + "\(RealmIsolation.currentDescription). Send `object.frozen`, `ThreadSafeReference(to: object)` or "
            + "`ObjectReference(to: object)` to the other isolation. Or open a realm there: with `try await Realm()` on an "
            + "actor, with `try Realm()` in a synchronous function."
        switch isolation {
        case .thread, .actor:
            message += " To bind a realm to an actor from its init, open it with `try await Realm(actor: self)`."
        case .queue, .scheduler, .everywhere: break
        }
        return message
    }
}
