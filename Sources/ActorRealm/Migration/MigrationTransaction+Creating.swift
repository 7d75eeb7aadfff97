import RealmModel
import RealmStorage

/// Making and finding objects by their keys, inside a migration.
extension MigrationTransaction {
    /// Creates an object, or updates the one with its primary key; a detached one after a mistake.
    func create(_ className: String, value: Any, update: Realm.UpdatePolicy) -> DynamicObject {
        guard !hasFailed, let accessor = writableAccessor(className) else { return .detached() }
        let info = accessor.info
        if info.isEmbedded {
            refuse(
                "Embedded objects cannot be created directly: assign '\(className)' to a property of its owner.",
                className
            )
            return .detached()
        }
        if update != .error, info.primaryKey == nil {
            refuse(
                "'\(className)' does not have a primary key and can not be updated: create it without an update policy.",
                className
            )
            return .detached()
        }
        if let object = ValueReader.object(value), object.isInvalidated {
            refuse("Object has been deleted or invalidated: it cannot be copied.", className)
            return .detached()
        }
        var created: DynamicObject?
        attempt(className) {
            let context = CreateContext(core: new, policy: update)
            let key = try context.create(value, new.accessor(className: className) ?? accessor)
            try context.drain()
            created = unsafeDowncast(accessor.makeObject(key: key), to: DynamicObject.self)
        }
        new.noteWrite()
        return hasFailed ? .detached() : created ?? .detached()
    }

    /// The new object with a primary key; nil when there is none, and after a mistake.
    func find(_ className: String, _ key: Any) -> DynamicObject? {
        guard !hasFailed, let accessor = writableAccessor(className) else { return nil }
        return find(key, accessor) { try row(of: accessor, withKey: $0) }
    }

    /// The old object with a primary key; nil when there was none, and after a mistake.
    func findOld(_ className: String, _ key: Any) -> DynamicObject? {
        // A file that is old enough has no such class, and so no such object.
        guard !hasFailed, let accessor = old.registry.dynamicAccessor(className: className) else { return nil }
        return find(key, accessor) { try accessor.table.existingRow(withPrimaryKey: $0) }
    }

    private func find(_ key: Any, _ accessor: TableAccessor, _ row: (StoredValue) throws -> Int64?) -> DynamicObject? {
        let className = accessor.info.name
        guard let property = accessor.info.primaryKeyProperty else {
            refuse("'\(className)' does not have a primary key: go through its objects.", className)
            return nil
        }
        guard let stored = property.valueType._storedKey(key)?.value else {
            refuse(property.invalidValueMessage(key, className: className), className, property.name)
            return nil
        }
        var found: Int64?
        attempt(className, property.name) { found = try row(stored) }
        return found.map { unsafeDowncast(accessor.makeObject(key: $0), to: DynamicObject.self) }
    }

    /// The dynamic accessor of a class of the program; nil after a mistake.
    private func writableAccessor(_ className: String) -> TableAccessor? {
        if declaredClass(className) != nil, let accessor = new.registry.dynamicAccessor(className: className) {
            do throws(StorageError) { try new.requireReadable(accessor) } catch {
                fail(publicError(error, className))
                return nil
            }
            return accessor
        }
        refuse(new.unknownClassMessage(className), className)
        return nil
    }

    /// The row with a primary key, also while the class has none.
    func row(of accessor: TableAccessor, withKey value: StoredValue) throws -> Int64? {
        if accessor.table.primaryKeyOrdinal != nil { return try accessor.table.existingRow(withPrimaryKey: value) }
        guard let property = accessor.info.primaryKeyProperty else { return nil }
        return try keys.find(value, in: accessor.table, accessor.storedOrdinal(property.ordinal), accessor.info.name)
    }
}
