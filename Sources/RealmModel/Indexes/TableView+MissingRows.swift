package import RealmStorage

/// Rows that an index or a link names and that are not there: in a file that is whole there are none.
extension TableView {
    /// The row with a primary key, which is about to be written.
    ///
    /// - Throws: `StorageError` where the index names a row that does not exist, too.
    package func existingRow(withPrimaryKey primaryKey: StoredValue) throws -> Int64? {
        guard let key = try find(primaryKey: primaryKey) else { return nil }
        // Whoever writes to the row next knows then that it is there.
        guard try exists(key) else { throw missing(key, namedBy: "the index of the primary key") }
        return key
    }

    /// Throws where a row does not exist that a link leads to, and that is about to be written.
    package func requireLinked(_ key: Int64) throws(StorageError) {
        guard try exists(key) else { throw missing(key, namedBy: "a link") }
    }

    func missing(_ key: Int64, namedBy what: String) -> StorageError {
        corrupt("\(what) names row \(key), which does not exist.")
    }

    /// The error for a row that does not exist, when an index or a link names it all the same: then it was not deleted, the file is
    /// damaged.
    ///
    /// Looks through the indexes: for whoever is about to give up.
    package func damage(ofMissing key: Int64) -> StorageError? {
        do throws(StorageError) {
            // The indexes are behind the rows while these are written.
            try catchUpAll()
            for source in layout.sources where !source.slots[0].isLink {
                if try names(key, source) { return missing(key, namedBy: "an index") }
            }
            return try hasBacklinks(to: key) ? missing(key, namedBy: "a backlink") : nil
        } catch {
            return error
        }
    }

    private func names(_ key: Int64, _ source: TreeSource) throws(StorageError) -> Bool {
        if source.hasKeyRuns {
            var isNamed = false
            try keyRuns(source.ordinals[0])
                .forEach(in: KeyRunRange(.unbounded, .unbounded)) { (run) throws(StorageError) -> Bool in
                    isNamed = key >= run.row && key &- run.row < run.count
                    return !isNamed
                }
            return isNamed
        }
        var cursor = tree(at: source.tree).cursor(in: view)
        var isOnEntry = try cursor.seekFirst()
        while isOnEntry {
            if IndexKey.rowKey(at: cursor) == key { return true }
            isOnEntry = try cursor.next()
        }
        return false
    }
}
