import Logging
import RealmStorage

/// A database of live objects, bound to the isolation that opened it.
///
/// Open one where it is used: on an actor, on the main actor, on a serial queue, or for one synchronous call.
///
/// ```swift
/// actor Todos {
///     var realm: Realm!
///     init() async throws { realm = try await Realm(actor: self) }
///
///     func add(_ name: String) async throws {
///         try await realm.asyncWrite { realm.create(Todo.self, value: ["name": name]) }
///     }
/// }
/// ```
///
/// Opening the same file again in the same isolation gives the same instance. A realm and everything reached from it may
/// be used only in its isolation; the compiler rejects most mistakes, and the others trap with a message.
public final class Realm {
    /// The core in use; after `invalidate()` the one that was in use, until the realm is used again.
    private var lastCore: RealmCore

    /// What the objects of this realm hold on to.
    var core: RealmCore {
        if lastCore.lifecycle == .invalidated { readAnew() }
        return lastCore
    }

    /// The same, not counted: counting references of a core, which others hold weakly, costs more than of other objects.
    @inline(__always)
    var heldCore: Unmanaged<RealmCore> {
        if lastCore.lifecycle == .invalidated { readAnew() }
        return Unmanaged.passUnretained(lastCore)
    }

    init(core: RealmCore) {
        lastCore = core
    }

    /// Whether `invalidate()` was called and the realm has not been used since.
    var isInvalid: Bool { lastCore.lifecycle == .invalidated }

    /// Notes that a block that used the realm is done; the last one closes it.
    func endBlock() {
        if !isClosed, lastCore.endBlock() { closeWhenQuiet() }
    }

    /// Closes the realm as soon as no asynchronous write is under way.
    ///
    /// - Parameter didClose: Called when it is closed.
    func closeWhenQuiet(_ didClose: @escaping (RealmCoordinator) -> Void = { _ in }) {
        let coordinator = lastCore.coordinator
        // Held by what waits, the realm would never go where its actor does, and with it the end of what waits.
        let realm = WeakReference(self)
        let core = WeakReference(lastCore)
        let isHeldBack = lastCore.callbackWrites.whenDone {
            if let realm = realm.object {
                realm.endForGood()
            } else if let core = core.object {
                // Something that was reached from it is still held.
                coordinator.forget(core)
                core.end(as: .closed)
            }
            didClose(coordinator)
        }
        if isHeldBack { return }
        endForGood()
        didClose(coordinator)
    }

    /// Whether `close()` was called.
    var isClosed: Bool { lastCore.lifecycle == .closed }

    /// Ends the core: every object reached so far is invalid, and no version is pinned until the realm is used again.
    func endCore() {
        if lastCore.lifecycle == .open { lastCore.end(as: .invalidated) }
    }

    /// Ends the realm's life.
    func endForGood() {
        lastCore.coordinator.forget(lastCore)
        lastCore.end(as: .closed)
    }

    private func readAnew() {
        let old = lastCore
        guard old.isCurrent else { return }
        do {
            let next = try old.successor()
            try old.coordinator.remember(next, asSuccessorOf: old)
            lastCore = next
            next.adopt(self)
            for block in old.signals.blocks { block.move(to: next) }
        } catch {
            old.report(error, "A realm could not be read any more after it was invalidated; it is closed.")
            if error.code == .schemaOutdated {
                // Its last version, which it could read, is gone with the invalidation.
                old.noteUnreadable(error)
                old.signals.fail(error)
            }
            endForGood()
        }
    }
}

@available(
    *,
    unavailable,
    message: "A realm belongs to its isolation: open one there, or send `realm.frozen`."
)
extension Realm: Sendable {}

extension Realm: Equatable {
    /// Whether both are the same realm of the same isolation.
    public static func == (left: Realm, right: Realm) -> Bool { left === right }
}

extension Realm {
    /// The configuration that the realm was opened with.
    public var configuration: Configuration { lastCore.configuration }

    /// Whether a write transaction is open.
    public var isInWriteTransaction: Bool {
        core.checkAccess()
        return core.isInWriteTransaction
    }

    /// Whether the realm stands on one version for good and may be read from anywhere.
    public var isFrozen: Bool { lastCore.isFrozen }
}

/// Lets an initializer of a class return an instance that exists already.
protocol ExistingInstance {}

extension ExistingInstance {
    init(existing: Self) { self = existing }
}

extension Realm: ExistingInstance {}
