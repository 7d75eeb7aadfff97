package import RealmStorage

extension TableView {
    /// The error for a row that does not exist, when an index names it all the same: then it was not deleted, the file is damaged.
    ///
    /// Looks through the indexes: for whoever is about to give up.
    package func damage(ofMissing key: Int64) -> StorageError? {
        guard writer == nil else { return nil }
        for source in layout.sources where !source.slots[0].isLink {
            do throws(StorageError) {
                guard try names(key, source) else { continue }
            } catch {
                return error
            }
            return corrupt("an index names row \(key), which does not exist.")
        }
        return nil
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
