import RealmModel
import RealmStorage

/// A frozen object, collection or realm that may be sent anywhere and read from anywhere.
///
/// ```swift
/// let todos = realm.objects(Todo.self).frozen
/// Task.detached { report(todos.value.count) }
/// ```
///
/// It stands on the version at which it was made, and keeps that version in the file while it lives. Properties can be
/// read through it directly: `todo.frozen.name`. `realm.thaw(_:)` finds the live value again.
@dynamicMemberLookup
public struct Frozen<Value: ThreadConfined>: Sendable {
    /// Gives a frozen value: an accessor of its own for each caller, because accessors remember where they read last.
    private let make: @Sendable () -> Value
    let reference: _ConfinedReference
    let core: FrozenCore

    /// The frozen value: another accessor of it each time.
    ///
    /// Sections are found anew for each of them: to read several properties, keep one.
    public var value: Value { make() }

    /// The version that it stands on.
    public var version: UInt64 { core.core.version }

    /// A property of the frozen value.
    public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> Member {
        value[keyPath: keyPath]
    }

    fileprivate init(_ reference: _ConfinedReference, _ core: FrozenCore, make: @escaping @Sendable () -> Value) {
        self.make = make
        self.reference = reference
        self.core = core
    }
}

/// A frozen core, sent around; unchecked because a frozen core may be read from anywhere.
final class FrozenCore: @unchecked Sendable {
    let core: RealmCore

    init(_ core: RealmCore) {
        self.core = core
    }
}

extension ThreadConfined {
    /// The value as of the version that its realm stands on, to be sent anywhere.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is open.
    ///   Look at ``realm`` and ``isInvalidated``.
    public var frozen: Frozen<Self> {
        guard let realm else {
            misuse("Unmanaged objects and collections cannot be frozen. Add them to a realm first.")
        }
        realm.core.checkAccess()
        let core = FrozenCore(realm.freeze().core)
        guard let reference = frozenForm(of: realm, in: core.core.realm())?.reference else {
            misuse(
                "Cannot freeze an object that was deleted, or created in the write transaction that is open. Commit the "
                    + "write first."
            )
        }
        // Where the owner is gone, there is nothing to thaw.
        let thawed = realm.isClosed ? reference : _reference
        return Frozen(thawed, core) { Self._resolve(reference, in: core.core.realm())! }
    }
}

extension Realm {
    /// The realm as of the version that it stands on, to be sent anywhere.
    ///
    /// - Precondition: That of ``Realm/freeze()``; a `ThreadSafeReference` to the realm reads nothing.
    public var frozen: Frozen<Realm> {
        core.checkAccess()
        let core = FrozenCore(freeze().core)
        return Frozen(_ConfinedReference(.realm), core) { core.core.realm() }
    }

    /// The live value of a frozen one, in this realm.
    ///
    /// A realm that stands on an older version than the frozen value moves on to the newest one.
    ///
    /// - Returns: nil when the object, or the owner of the list, has been deleted, or the classes of the realm have no such collection.
    /// - Precondition: The frozen value comes from a realm of the same file: look at its ``Realm/configuration``.
    public func thaw<Value: ThreadConfined>(_ frozen: Frozen<Value>) -> Value? {
        core.checkAccess()
        if core.isClosed { return nil }
        guard core.isOfSameFile(as: frozen.core.core.coordinator) else { return nil }
        core.catchUp(with: frozen.version)
        return Value._resolve(frozen.reference, in: self)
    }

    /// This realm, brought to the version of a frozen one at least.
    ///
    /// - Precondition: The frozen realm is one of the same file: look at its ``Realm/configuration``.
    public func thaw(_ frozen: Frozen<Realm>) -> Realm {
        core.checkAccess()
        if core.isClosed { return self }
        if core.isOfSameFile(as: frozen.core.core.coordinator) { core.catchUp(with: frozen.version) }
        return self
    }
}
