import RealmModel
import RealmStorage
import Synchronization

/// Keeps an `observe` registration alive.
///
/// Keep the token for as long as changes are wanted: its deallocation ends the registration as `invalidate()` does. For the
/// block of a whole realm (``Realm/observe(file:line:_:)``) it is said in the log, as a warning: who has that in mind calls
/// `invalidate()`. A token made with `init()` is inert.
public final class NotificationToken: Sendable {
    private let registration: Mutex<(any NotificationRegistration)?>

    /// Makes a token that belongs to no registration.
    public init() {
        registration = Mutex(nil)
    }

    init(_ registration: any NotificationRegistration) {
        self.registration = Mutex(registration)
    }

    deinit {
        // Nobody else has the token any more.
        let current = registration.withLock { $0 }
        if let current, current.cancel() { current.noteLetGo() }
    }

    /// Ends the registration.
    ///
    /// It may be called from anywhere, any number of times. A block that is running is not interrupted; after it, none is
    /// called.
    ///
    /// - Returns: true when this call ended it, false when it had ended before or the token is inert.
    @discardableResult
    public func invalidate() -> Bool {
        let ended = registration.withLock { registration in
            let current = registration
            registration = nil
            return current
        }
        return ended?.cancel() ?? false
    }

    /// The registration as long as the token is valid.
    var current: (any NotificationRegistration)? {
        registration.withLock { $0 }
    }
}

/// What a token holds on to.
protocol NotificationRegistration: AnyObject, Sendable {
    /// Ends the registration; true when it was alive.
    func cancel() -> Bool
    /// Notes that it ended because its token was let go of.
    func noteLetGo()
    /// Notes, in the transaction whose commit is to be left out, what its observer shows then.
    func noteLeavingOut(in core: RealmCore)
    /// Leaves out the changes of a commit that is about to be published; the realm stands on a version now.
    func skip(_ commit: LeftOutCommit, standingOn version: UInt64)
    /// Takes back that a commit is left out.
    func takeBackSkip(of commit: LeftOutCommit)
    /// Whether the registration belongs to the realm of a core.
    func isIsolated(as core: RealmCore) -> Bool
}

extension RealmCore {
    /// Notes, before the open transaction is prepared, that observers of this realm are to leave it out.
    ///
    /// - Throws: `invalidInput` when one of them observes another realm.
    func noteLeavingOut(for tokens: [NotificationToken]) throws(Realm.Error) {
        if tokens.isEmpty || !hasTransaction { return }
        checkAccess()
        for token in tokens {
            guard let registration = token.current, !registration.isIsolated(as: self) else { continue }
            throw error(
                .invalidInput,
                "Incorrect Realm: only notifications for the Realm being modified can be skipped. Pass tokens of this "
                    + "realm's own observers."
            )
        }
        for token in tokens { token.current?.noteLeavingOut(in: self) }
    }

    /// Has observers of this realm leave out the commit that is about to be published.
    func skip(_ commit: PreparedCommit, for tokens: [NotificationToken]) -> LeftOutCommit? {
        if tokens.isEmpty { return nil }
        let leftOut = LeftOutCommit(version: commit.version)
        for token in tokens {
            guard let registration = token.current, registration.isIsolated(as: self) else { continue }
            registration.skip(leftOut, standingOn: model.snapshot.version)
        }
        return leftOut
    }

    /// Takes back that observers leave out a commit that failed: its version will be that of another one.
    func takeBackSkip(of commit: LeftOutCommit?, for tokens: [NotificationToken]) {
        guard let commit else { return }
        for token in tokens { token.current?.takeBackSkip(of: commit) }
    }
}
