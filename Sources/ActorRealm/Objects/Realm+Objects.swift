import RealmModel

extension Realm {
    /// The model classes of the realm.
    public var schema: Schema { Schema(core.registry.schema) }

    /// All objects of a class.
    public func objects<Element: RealmFetchable & ObjectBase>(_ type: Element.Type) -> Results<Element> {
        core.checkAccess()
        let accessor = core.requiredAccessor(for: type)
        if accessor.info.isEmbedded {
            misuse(
                "Embedded objects cannot be queried directly: '\(accessor.info.name)' is reached through its owners."
            )
        }
        return Results(attempt { try _CollectionBacking(table: accessor) })
    }

    /// The object of a class with a primary key; nil when there is none.
    public func object<Element: Object, KeyType>(ofType type: Element.Type, forPrimaryKey key: KeyType) -> Element? {
        core.checkAccess()
        let accessor = core.requiredAccessor(for: type)
        guard let property = accessor.info.primaryKeyProperty else {
            misuse("'\(accessor.info.name)' does not have a primary key: find the object by a query.")
        }
        let found: Int64?
        if let key = key as? Int, property.shape.kind == .int {
            found = attempt { try accessor.table.findInt(Int64(key)) }
        } else if var key = key as? String, property.shape.kind == .string {
            found = attempt { try key.withUTF8 { try accessor.table.findString(UnsafeRawBufferPointer($0)) } }
        } else {
            guard let stored = property.valueType._storedKey(key) else {
                property.invalidValue(key, className: accessor.info.name)
            }
            found = attempt { try accessor.table.find(primaryKey: stored.value) }
        }
        guard let found else { return nil }
        return unsafeDowncast(accessor.makeObject(key: found), to: Element.self)
    }
}
