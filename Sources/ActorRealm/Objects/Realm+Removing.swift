import RealmModel

/// Deleting what may not be there, or not be here: everything here throws where `delete` ends the process.
extension Realm {
    /// Deletes an object like ``delete(_:)``, and throws what that would trap on.
    ///
    /// ```swift
    /// try realm.write { try realm.remove(person) }
    /// ```
    ///
    /// - Throws: `Realm.Error` with the code `.invalidatedObject` when the object has been deleted, `.invalidInput` when it is another
    ///   realm's or unmanaged, and outside a write transaction, `.deletionDenied` where a property of it that is declared with `.deny`
    ///   links to an object that stays: nothing has changed then. What the storage throws, the commit throws, too.
    public func remove(_ object: ObjectBase) throws {
        try core.requireTransaction(for: "remove")
        try remove(rows: [try row(of: object)])
        object.rowGeneration = 0
    }

    /// Deletes several objects, as ``remove(_:)-(ObjectBase)`` does, those that were deleted before left out.
    ///
    /// When one of them cannot be deleted, none is.
    public func remove<Objects: Sequence>(_ objects: Objects) throws where Objects.Element: ObjectBase {
        try core.requireTransaction(for: "remove")
        try ElementSource(of: objects).requireReadable()
        var found: [ObjectBase] = []
        var rows: [TableView.Doomed] = []
        for object in objects {
            do {
                rows.append(try row(of: object))
                found.append(object)
            } catch Realm.Error.invalidatedObject {}
        }
        try remove(rows: rows)
        for object in found { object.rowGeneration = 0 }
    }

    private func row(of object: ObjectBase) throws -> TableView.Doomed {
        guard object.core === core, let accessor = object.tableAccessor else {
            throw core.error(.invalidInput, "Can only delete an object from the Realm it belongs to.")
        }
        try object.requireReadable()
        return (accessor.table, object.rowKey)
    }

    private func remove(rows: [TableView.Doomed]) throws {
        do { try core.model.requireDeletable(rows) } catch { throw core.insertionError(error) }
        do {
            // Rows that go with an earlier one are gone when their turn comes.
            for (table, key) in rows { try table.deleteUnasked(key: key) }
        } catch {
            let failure = core.insertionError(error)
            core.refuseCommit(because: failure)
            throw failure
        }
        core.noteWrite()
    }
}
