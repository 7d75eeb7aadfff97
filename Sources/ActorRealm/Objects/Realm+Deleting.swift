import RealmModel

extension Realm {
    /// Deletes an object.
    ///
    /// Links to it become nil, lists lose it, and embedded objects that it owns go with it. So do the objects that it links
    /// to through properties declared with `@Persisted(onDelete: .cascade)`, with all that goes with them in turn. When a
    /// property declared with `.deny` links to an object that stays, nothing is deleted, and the transaction fails with
    /// `Realm.Error.deletionDenied` when it commits.
    ///
    /// - Precondition: A write transaction is open, and the object is this realm's and exists: look at
    ///   ``ObjectBase/isInvalidated``. ``remove(_:)-(ObjectBase)`` throws instead.
    public func delete(_ object: ObjectBase) {
        guard canWrite("delete") else { return }
        guard object.core === core, let accessor = object.tableAccessor else {
            misuse("Can only delete an object from the Realm it belongs to.")
        }
        core.attemptWrite {
            if try !accessor.table.deleteIfPresent(key: object.rowKey) {
                if let damage = accessor.table.damage(ofMissing: object.rowKey) { throw damage }
                misuse("Object has been deleted or invalidated: it cannot be deleted again.")
            }
        }
        object.rowGeneration = 0
        core.noteWrite()
    }

    /// Deletes several objects.
    ///
    /// - Precondition: A write transaction is open, and the objects are this realm's: look at
    ///   ``isInWriteTransaction`` and ``ThreadConfined/realm``. `remove` throws instead.
    public func delete<Objects: Sequence>(_ objects: Objects) where Objects.Element: ObjectBase {
        let objects = Array(objects).filter { !$0.isInvalidated }
        guard let first = objects.first else { return }
        guard objects.count > 1 else { return delete(first) }
        guard canWrite("delete") else { return }
        // Together: a delete rule does not deny what goes as well.
        delete(
            objects.map { object in
                guard object.core === core, let accessor = object.tableAccessor else {
                    misuse("Can only delete an object from the Realm it belongs to.")
                }
                return (accessor.table, object.rowKey)
            }
        )
        for object in objects { object.rowGeneration = 0 }
    }

    private func delete(_ rows: [TableView.Doomed]) {
        core.attemptWrite {
            try core.model.requireDeletable(rows)
            // Rows that go with an earlier one are gone when their turn comes.
            for (table, key) in rows { try table.deleteUnasked(key: key) }
        }
        core.noteWrite()
    }

    /// Deletes the objects that a list holds.
    ///
    /// - Precondition: A write transaction is open, and the objects are this realm's: look at
    ///   ``isInWriteTransaction`` and ``ThreadConfined/realm``. `remove` throws instead.
    public func delete<Element: ObjectBase>(_ objects: List<Element>) {
        delete(managed: objects)
    }

    /// Deletes the objects that a map holds.
    ///
    /// - Precondition: A write transaction is open, and the objects are this realm's: look at
    ///   ``isInWriteTransaction`` and ``ThreadConfined/realm``. `remove` throws instead.
    public func delete<Key: _MapKey, Element: ObjectBase>(_ map: Map<Key, Element?>) {
        delete(map.values.compactMap { $0 })
    }

    /// Deletes the objects that results hold.
    ///
    /// - Precondition: A write transaction is open, and the objects are this realm's: look at
    ///   ``isInWriteTransaction`` and ``ThreadConfined/realm``. `remove` throws instead.
    public func delete<Element: ObjectBase>(_ objects: Results<Element>) {
        delete(managed: objects)
    }

    private func delete<Elements: RealmCollection>(managed objects: Elements) where Elements.Element: ObjectBase {
        guard canWrite("delete") else { return }
        guard let backing = objects._backing, backing.core === core, let accessor = backing.elements else {
            misuse("Can only delete objects from the Realm they belong to.")
        }
        if backing.isWholeTable {
            core.attemptWrite { try accessor.table.deleteAll() }
            core.noteWrite()
        } else {
            delete(backing.keys().map { (accessor.table, $0) })
        }
    }

    /// Deletes all objects of all classes.
    ///
    /// - Precondition: A write transaction is open: look at ``isInWriteTransaction``. ``remove(_:)`` of all objects of each class throws.
    public func deleteAll() {
        guard canWrite("deleteAll") else { return }
        core.attemptWrite { try core.model.deleteAll() }
        core.noteWrite()
    }
}
