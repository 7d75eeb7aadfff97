import Logging
import RealmModel
import RealmStorage
import Synchronization

/// An object or a collection on its way to another isolation.
///
/// Make it where the value may be used, send it, and resolve it once with the realm of the other isolation, best inside a
/// write transaction, where it gives the latest data:
///
/// ```swift
/// actor Worker {
///     var realm: Realm!
///     init() async throws { realm = try await Realm(actor: self) }
///
///     func finish(_ reference: ThreadSafeReference<Todo>) async throws {
///         try await realm.asyncWrite { realm.resolve(reference)?.isDone = true }
///     }
/// }
///
/// let worker = try await Worker()
/// try await worker.finish(ThreadSafeReference(to: todo))
/// ```
///
/// A reference to an object that was created in the open write transaction leads to the object once that is committed, and
/// to nil before, and when it is rolled back.
///
/// The version that the value stands on stays in the file until the reference is resolved or released. For references
/// that live longer there is ``ObjectReference``, which pins nothing.
public struct ThreadSafeReference<Confined: ThreadConfined>: Sendable {
    private let content: ReferenceContent

    /// Makes a reference, in the isolation of the value.
    ///
    /// - Precondition: The value is managed and has not been deleted or invalidated.
    ///   Look at ``ThreadConfined/realm`` and ``ThreadConfined/isInvalidated``.
    public init(to threadConfined: Confined) {
        content = ReferenceContent(to: threadConfined)
    }

    /// Whether the reference has been resolved already.
    public var isInvalidated: Bool { content.isTaken }

    fileprivate func take() -> ReferenceContent.Target? { content.take() }

    /// The target, the first time.
    fileprivate func takeOnce() -> ReferenceContent.Target {
        guard let target = take() else { misuse(Self.takenMessage) }
        return target
    }

    private static var takenMessage: String {
        "Can only resolve a thread safe reference once. Make a reference for each use, or `ObjectReference(to: object)`."
    }

    /// Resolves a reference to a realm: opens the realm of an isolation, or of the one that the caller is found to run in.
    func opened(in place: RealmIsolation?) throws -> Realm {
        guard let target = take() else { throw Realm.Error(.invalidInput, Self.takenMessage) }
        guard target.snapshot != nil else {
            throw Realm.Error(
                .closed,
                "The realm had been closed when the reference was made. Open it again.",
                fileURL: target.configuration.fileURL
            )
        }
        let core =
            if let place { try target.coordinator.core(for: place, configuration: target.configuration) } else {
                try target.coordinator.coreForCurrentContext(configuration: target.configuration)
            }
        core.catchUp(with: target.version)
        return core.realm()
    }
}

/// What the copies of one thread-safe reference share.
final class ReferenceContent: Sendable {
    struct Target: Sendable {
        let reference: _ConfinedReference
        let coordinator: RealmCoordinator
        let configuration: Realm.Configuration
        /// The version that the value stood on: in a write transaction the one that it makes.
        let version: UInt64
        /// The version that was read outside the transaction, pinned; nil when the realm had been closed, so that the
        /// reference leads nowhere.
        let snapshot: Snapshot?
        /// Keeps the file from being deleted or replaced, where there is such a version.
        let fileUse: FileUse?
    }

    private let target: Mutex<Target?>

    init(to value: some ThreadConfined) {
        target = Mutex(Target(value))
    }

    var isTaken: Bool { target.withLock { $0 == nil } }

    func take() -> Target? {
        target.withLock { target in
            defer { target = nil }
            return target
        }
    }
}

extension ReferenceContent.Target {
    init(_ value: some ThreadConfined) {
        guard let realm = value.realm else {
            misuse(
                "Cannot construct reference to unmanaged object, which can be passed across threads directly: it belongs "
                    + "to no realm yet."
            )
        }
        realm.core.checkAccess()
        let isClosed = realm.isClosed
        if !isClosed, value.isInvalidated { misuse("Cannot construct reference to invalidated object.") }
        reference = value._reference
        coordinator = realm.core.coordinator
        configuration = realm.core.configuration
        version = realm.core.version
        snapshot = isClosed ? nil : realm.core.model.snapshot
        fileUse = isClosed ? nil : FileUse(of: coordinator)
    }
}

extension Realm {
    /// The value that a reference leads to, in this realm.
    ///
    /// A realm that was just opened, and of which nothing was read or told yet, stands at the version that the value stood on, until
    /// it moves on: with `refresh()`, with a write, or by itself in a later turn of its actor or queue. Any other realm keeps its
    /// version, or moves on to the newest one when that of the value is newer. Results are those of the query in the realm.
    ///
    /// - Returns: nil when the object, or the owner of the list, does not exist at that version, or the classes of the realm have no such
    ///   collection: they are others of that name, or lack a property that is asked for.
    /// - Precondition: The reference comes from a realm of the same file and has not been resolved before.
    ///   Look at ``ThreadSafeReference/isInvalidated``. Where two tasks may resolve the same one, send an ``ObjectReference`` or a
    ///   ``Frozen`` value, which may be resolved any number of times; a reference to a realm is resolved by a function that throws.
    public func resolve<Confined>(_ reference: ThreadSafeReference<Confined>) -> Confined? {
        let isFresh = core.isFresh
        core.checkAccess()
        let target = reference.takeOnce()
        if core.isClosed || target.snapshot == nil { return nil }
        guard core.isOfSameFile(as: target.coordinator) else { return nil }
        if isFresh { core.goBack(to: target) }
        core.catchUp(with: target.version)
        return Confined._resolve(target.reference, in: self)
    }
}

extension RealmCore {
    /// Whether something comes from this file, and not from one that was there before it: an in-memory realm that was closed, or a
    /// file that was deleted or replaced, by anybody.
    ///
    /// Traps for what comes from another place.
    func isOfSameFile(as other: RealmCoordinator) -> Bool {
        if coordinator === other { return true }
        guard coordinator.isOfSamePath(as: other) else {
            misuse(
                "Cannot resolve a reference in a Realm with a different configuration than the source Realm: open the "
                    + "file it comes from."
            )
        }
        return false
    }

    /// Stands a realm, of which nothing was read yet, on the older version of a reference.
    ///
    /// Not where the classes have changed in between, and not for what was made in a transaction, which that version does not have.
    fileprivate func goBack(to target: ReferenceContent.Target) {
        guard let snapshot = target.snapshot, !isFrozen, lifecycle == .open, !hasTransaction, outdated.reason == nil,
            target.version == snapshot.version, snapshot.version < model.snapshot.version
        else { return }
        do {
            guard try DatabaseSchema.stamp(of: snapshot) == model.schemaStamp else { return }
            try advance(to: snapshot)
        } catch {
            report(error, "A realm could not move to the version of a reference.")
        }
        if autorefresh { postRefresh() }
    }

    /// Moves to the newest version if the realm stands before the given one and can move.
    func catchUp(with version: UInt64) {
        guard !isFrozen, !isClosed, !isHeldByTransaction, model.snapshot.version < version else { return }
        do {
            try advanceToNewest()
        } catch {
            report(error, "A realm could not move to the newest version.")
        }
    }
}
