import RealmModel
import RealmStorage

extension RealmCore {
    /// The frozen realm of the version that is read outside a transaction: the same one each time.
    func freeze() throws(StorageError) -> Realm {
        if isFrozen { return realm() }
        let acknowledged = try acknowledgedSnapshot()
        if !isClosed, let frozenRealm, frozenRealm.core.lifecycle == .open,
            frozenRealm.core.model.snapshot.version == (acknowledged ?? model.snapshot).version
        {
            return frozenRealm
        }
        let view: ModelView
        if let acknowledged {
            view = try ModelView(snapshot: acknowledged, schema: model.schema)
        } else {
            view = try model.duplicate()
        }
        let frozen = RealmCore(
            configuration: configuration,
            coordinator: coordinator,
            isolation: .everywhere,
            model: view,
            origin: origin,
            schema: registry.schema
        )
        .realm()
        if isClosed {
            // Empty, as this one is.
            frozen.core.end(as: .closed)
            return frozen
        }
        frozenRealm = frozen
        return frozen
    }
}
