import RealmModel

extension Realm {
    /// All objects of a class that is given by its name in the schema.
    ///
    /// The class need not be one of the program's: what the file has can be read and changed.
    ///
    /// - Precondition: The realm's schema or its file has such a class.
    ///   For a name from outside ``requireReadable(className:)`` throws.
    public func dynamicObjects(_ typeName: String) -> Results<DynamicObject> {
        let accessor = core.requiredDynamicAccessor(className: typeName)
        return Results(_CollectionBacking(table: accessor))
    }

    /// The object of a class, given by its name, with a primary key; nil when there is none.
    ///
    /// - Precondition: The class is there and has a primary key, and the value is of its type. For a name from
    ///   outside ``requireReadable(className:)`` throws, for a key a query for it by
    ///   ``RealmCollection/filter(_:)-(RealmPredicate)``.
    public func dynamicObject(ofType typeName: String, forPrimaryKey key: Any) -> DynamicObject? {
        let accessor = core.requiredDynamicAccessor(className: typeName)
        guard let property = accessor.info.primaryKeyProperty else {
            misuse("'\(typeName)' does not have a primary key: find the object by a query.")
        }
        guard let stored = property.valueType._storedKey(key) else {
            property.invalidValue(key, className: typeName)
        }
        guard let found = attempt({ try accessor.table.find(primaryKey: stored.value) }) else { return nil }
        return unsafeDowncast(accessor.makeObject(key: found), to: DynamicObject.self)
    }

    /// Creates an object of a class that is given by its name, as `create(_:value:update:)` does.
    ///
    /// - Precondition: A write transaction is open, the class exists, and the values fit its properties.
    ///   For names and values from outside ``dynamicInsert(_:value:ignoringUnknownKeys:)`` throws.
    @discardableResult
    public func dynamicCreate(
        _ typeName: String,
        value: Any = [:],
        update: UpdatePolicy = .error
    ) -> DynamicObject {
        guard canWrite("dynamicCreate") else {
            // An object of the class that leads nowhere.
            return unsafeDowncast(
                core.requiredDynamicAccessor(className: typeName).makeObject(key: -1),
                to: DynamicObject.self
            )
        }
        return core.createDynamic(typeName, value: value, update: update)
    }
}

extension RealmCore {
    /// Creates an object through the program's class, which has the defaults, where there is one.
    func createDynamic(_ className: String, value: Any, update: Realm.UpdatePolicy) -> DynamicObject {
        let accessor = requiredDynamicAccessor(className: className)
        if accessor.info.isEmbedded {
            misuse("Embedded objects cannot be created directly: assign '\(className)' to a property of its owner.")
        }
        if update != .error, accessor.info.primaryKey == nil {
            misuse(
                "'\(className)' does not have a primary key and can not be updated: create it without an update policy."
            )
        }
        var created: ObjectBase?
        attemptWrite {
            let context = CreateContext(core: self, policy: update)
            let key = try context.create(value, self.accessor(className: className) ?? accessor)
            try context.drain()
            created = accessor.makeObject(key: key)
        }
        noteWrite()
        return unsafeDowncast(created ?? DynamicObject.detached(), to: DynamicObject.self)
    }
}
