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
    /// What the objects of this realm hold on to.
    private(set) var core: RealmCore

    init(core: RealmCore) {
        self.core = core
    }

    /// Ends the current core and goes on with a new one: every object reached so far is invalid.
    func replaceCore(with core: RealmCore) {
        self.core.end(as: .invalidated)
        self.core = core
    }
}

@available(
    *,
    unavailable,
    message: "A realm belongs to its isolation: open one there, or send a frozen copy or a ThreadSafeReference."
)
extension Realm: Sendable {}

extension Realm: Equatable {
    /// Whether both are the same realm of the same isolation.
    public static func == (left: Realm, right: Realm) -> Bool { left === right }
}

extension Realm {
    /// The configuration that the realm was opened with.
    public var configuration: Configuration { core.configuration }

    /// Whether a write transaction is open.
    public var isInWriteTransaction: Bool {
        core.checkAccess()
        return core.isInWriteTransaction
    }

    /// Whether the realm stands on one version for good and may be read from anywhere.
    public var isFrozen: Bool { core.isFrozen }
}

/// Lets an initializer of a class return an instance that exists already.
protocol ExistingInstance {}

extension ExistingInstance {
    init(existing: Self) { self = existing }
}

extension Realm: ExistingInstance {}
