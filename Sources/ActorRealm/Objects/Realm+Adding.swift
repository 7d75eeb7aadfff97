import RealmModel

extension Realm {
    /// What to do when an object with the primary key exists already.
    @frozen
    public enum UpdatePolicy: Int, Sendable {
        /// That is an error.
        case error = 1
        /// Every property is written, so that observers see them all as modified.
        case all = 2
        /// Only properties that differ are written.
        case modified = 3
    }

    /// Adds an unmanaged object, and the unmanaged objects that it links to, to the realm.
    ///
    /// The object itself becomes managed. Adding an object of this realm again does nothing.
    ///
    /// - Precondition: A write transaction is open; with `.error`, no object has the primary key, and none the values of
    ///   unique properties. ``insert(_:)`` throws where this ends the process.
    public func add(_ object: Object, update: UpdatePolicy = .error) {
        core.attemptWrite { try bring(object, update: update) }
    }

    /// Adds several objects.
    ///
    /// - Precondition: That of ``add(_:update:)``. ``insert(_:)`` throws instead.
    public func add<Objects: Sequence>(_ objects: Objects, update: UpdatePolicy = .error)
    where Objects.Element: Object {
        for object in objects { add(object, update: update) }
    }

    private func bring(_ object: Object, update: UpdatePolicy) throws {
        guard canWrite("add") else { return }
        if let other = object.core {
            if other === core {
                if object.isInvalidated {
                    misuse("Adding a deleted or invalidated object to a Realm is not permitted.")
                }
                return
            }
            if other.isFrozen {
                misuse("Cannot add a frozen object to a Realm. Use `create` to copy it.")
            }
            misuse(
                "Object is already managed by another Realm. Use create instead to copy it into this Realm."
            )
        }
        let accessor = core.requiredAccessor(for: type(of: object))
        if update != .error, accessor.info.primaryKey == nil {
            misuse(
                "'\(accessor.info.name)' does not have a primary key and can not be updated: add it without an update "
                    + "policy."
            )
        }
        if update == .error {
            // The usual case, and made for every object: its context is used again.
            let context = core.spareAddContext ?? AddContext(core: core, policy: .error)
            core.spareAddContext = nil
            try context.add(object, accessor)
            core.spareAddContext = context
            return
        }
        try AddContext(core: core, policy: update).add(object, accessor)
    }

    /// Traps outside a write transaction; false when the realm was closed, or invalidated with the transaction, so that nothing is to
    /// be done.
    func canWrite(_ operation: String) -> Bool {
        core.checkAccess()
        if core.dropsWrites { return false }
        if core.isInWriteTransaction { return true }
        if core.isFrozen { misuse("Can't perform transactions on a frozen Realm: use `realm.thaw()` first.") }
        misuse(
            "Can only add, remove, or create objects in a Realm in a write transaction: call `\(operation)` inside "
                + "`try realm.write { }` or `try await realm.asyncWrite { }`."
        )
    }

    /// Creates an object in the realm from a dictionary by property name, an array in property order or another object.
    ///
    /// What does not fit ends the process: for input from outside there is ``insert(_:value:ignoringUnknownKeys:)``, which throws.
    /// Nested dictionaries and arrays create the objects that the new one links to. Properties that are not given have
    /// their defaults; when an existing object is updated, they stay as they are. Objects of another realm, and frozen ones, are
    /// copied with what they link to; those that lead back to themselves have no such copy: add a `detached()` one.
    ///
    /// - Precondition: A write transaction is open, the values fit the properties, and no object that is copied leads back to itself.
    ///   ``insert(_:value:ignoringUnknownKeys:)`` throws instead.
    @discardableResult
    public func create<T: Object>(
        _ type: T.Type,
        value: Any = [:],
        update: UpdatePolicy = .error
    ) -> T {
        guard canWrite("create") else { return T() }
        let accessor = accessorToCreate(type, value, update: update)
        var created: ObjectBase?
        core.attemptWrite {
            let context = CreateContext(core: core, policy: update)
            let key = try context.create(value, accessor)
            try context.drain()
            created = accessor.makeObject(key: key)
        }
        // After a failure of the storage, which the commit throws, the block may go on with an object that leads nowhere.
        return unsafeDowncast(created ?? T(), to: T.self)
    }

    /// The accessor of the class of which an object is to be created; traps where it cannot.
    private func accessorToCreate<T: Object>(_ type: T.Type, _ value: Any, update: UpdatePolicy) -> TableAccessor {
        let accessor = core.requiredAccessor(for: type)
        if update != .error, accessor.info.primaryKey == nil {
            misuse(
                "'\(accessor.info.name)' does not have a primary key and can not be updated: create it without an "
                    + "update policy."
            )
        }
        if let object = ValueReader.object(value), object.isInvalidated {
            misuse("Object has been deleted or invalidated: it cannot be copied.")
        }
        return accessor
    }
}
