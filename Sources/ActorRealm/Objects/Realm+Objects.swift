import RealmModel

extension Realm {
    /// The model classes of the realm.
    public var schema: Schema { Schema(core.registry.schema) }

    /// All objects of a class, or all projections of them.
    ///
    /// - Precondition: The class is in the realm's ``schema`` and is not embedded. ``requireReadable(_:)`` throws where
    ///   it is not, and where the page is damaged on which the class begins.
    public func objects<Element: RealmFetchable>(_ type: Element.Type) -> Results<Element> {
        core.checkAccess()
        let accessor = core.requiredAccessor(for: type._fetchedType)
        if accessor.info.isEmbedded {
            misuse(Self.embeddedMessage(accessor.info.name))
        }
        return Results(_CollectionBacking(table: accessor))
    }

    /// Says that a class is embedded.
    static func embeddedMessage(_ className: String) -> String {
        "Embedded objects cannot be queried directly: '\(className)' is reached through its owners."
    }

    /// The object of a class with a primary key; nil when there is none.
    ///
    /// - Precondition: The class has a primary key, and the value is of its type: for a key from outside a query for
    ///   it, by ``RealmCollection/filter(_:)-(RealmPredicate)``, throws.
    public func object<Element: Object, KeyType>(ofType type: Element.Type, forPrimaryKey key: KeyType) -> Element? {
        heldCore._withUnsafeGuaranteedRef { core in
            core.checkAccess()
            return core.heldAccessor(for: type)
                ._withUnsafeGuaranteedRef { accessor in
                    guard let found = accessor.row(forPrimaryKey: key) else { return nil }
                    return unsafeDowncast(accessor.makeObject(key: found), to: Element.self)
                }
        }
    }
}

extension TableAccessor {
    /// The row with a primary key; nil when there is none.
    @inline(__always)
    fileprivate func row<KeyType>(forPrimaryKey key: KeyType) -> Int64? {
        guard let kind = primaryKeyKind else {
            misuse("'\(info.name)' does not have a primary key: find the object by a query.")
        }
        // Types are compared and not cast: the usual keys cost no conversion.
        if KeyType.self == Int.self, kind == .int {
            let key = Int64(unsafeBitCast(key, to: Int.self))
            return attempt { try find(intPrimaryKey: key) }
        }
        if KeyType.self == String.self, kind == .string {
            var key = withUnsafePointer(to: key) { UnsafeRawPointer($0).load(as: String.self) }
            return attempt { try key.withUTF8 { try table.findString(UnsafeRawBufferPointer($0)) } }
        }
        return find(anyPrimaryKey: key)
    }

    /// The row with a primary key of any type that fits.
    @inline(never)
    fileprivate func find(anyPrimaryKey key: Any) -> Int64? {
        guard let property = info.primaryKeyProperty, let stored = property.valueType._storedKey(key) else {
            info.primaryKeyProperty?.invalidValue(key, className: info.name)
            return nil
        }
        return attempt { try table.find(primaryKey: stored.value) }
    }
}
