import RealmModel

/// The table accessors of one realm, made when they are first asked for.
final class AccessorRegistry {
    private unowned(unsafe) let core: RealmCore
    private var byType: [ObjectIdentifier: TableAccessor] = [:]
    private var byName: [String: TableAccessor] = [:]
    /// Counts the writes made through the objects of this realm: collections compare it to know that they are stale.
    let writeCount: UnsafeMutablePointer<UInt64>

    init(core: RealmCore) {
        self.core = core
        writeCount = .allocate(capacity: 1)
        writeCount.initialize(to: 0)
    }

    deinit { writeCount.deallocate() }

    /// Makes every accessor now: a frozen realm is read from several threads and must not change later.
    func prepareAll(_ classes: [ModelClass]) {
        for info in classes { _ = accessor(for: info.type) }
        for accessor in byType.values { accessor.resolveTargets() }
    }

    func accessor(for type: ObjectBase.Type) -> TableAccessor? {
        if let known = byType[ObjectIdentifier(type)] { return known }
        guard core.modelSchema.contains(type) else { return nil }
        let info = ModelClass.of(type)
        guard let table = attempt({ try core.model.table(named: info.name) }) else { return nil }
        let accessor = TableAccessor(core: core, table: table, info: info)
        byType[ObjectIdentifier(type)] = accessor
        byName[info.name] = accessor
        return accessor
    }

    func accessor(className: String) -> TableAccessor? {
        if let known = byName[className] { return known }
        guard let info = core.modelSchema[className] else { return nil }
        return accessor(for: info.type)
    }
}

extension RealmCore {
    /// Where objects of a class are read and made; nil when the realm's schema does not have it.
    func accessor(for type: ObjectBase.Type) -> TableAccessor? { registry.accessor(for: type) }

    /// Where objects of a class are read and made; nil when the realm's schema does not have it.
    func accessor(className: String) -> TableAccessor? { registry.accessor(className: className) }

    /// The accessor of a class that must be in the schema.
    func requiredAccessor(for type: ObjectBase.Type) -> TableAccessor {
        guard let accessor = registry.accessor(for: type) else {
            preconditionFailure(
                "Object type '\(type.className())' is not managed by the Realm. If using a custom `objectTypes` array, "
                    + "add `\(type.className())` to it.")
        }
        return accessor
    }
}
