import RealmStorage

/// Trees that lag behind their rows inside a transaction.
///
/// The tree of a single-valued property is a function of the rows. So the rows that a transaction appends are not put
/// into it one by one: `pendingFrom` says from which key on they are missing, writes to such rows leave the tree alone,
/// and when the tree is read, or at the commit, or when many rows are waiting, the entries are made from the columns,
/// sorted, and inserted in order.
extension TableView {
    /// Brings a tree up to date.
    func catchUp(_ property: Int) throws(StorageError) {
        let tree = Int(slots[property].tree)
        guard let writer, pendingFrom[tree] < writer.tree.nextKey else { return }
        let first = pendingFrom[tree]
        pendingFrom[tree] = writer.tree.nextKey
        let entries = try PendingEntries(of: self, property: property, from: first)
        try entries.insert(into: &trees[tree], in: writer.transaction)
    }

    /// Brings the trees of all link properties up to date.
    func catchUpLinks() throws(StorageError) {
        guard writer != nil else { return }
        for property in linkProperties where slots[property].isDeferrable { try catchUp(property) }
    }

    /// Brings every tree up to date.
    func catchUpAll() throws(StorageError) {
        guard writer != nil else { return }
        for property in 0..<slotCount where slots[property].isDeferrable { try catchUp(property) }
    }

    /// Called when rows are appended: bounds the number of rows that wait.
    @inline(__always)
    func limitPending(before key: Int64) throws(StorageError) {
        guard (key &- firstNewKey) & (pendingRowLimit - 1) == 0, key != firstNewKey else { return }
        try catchUpAll()
    }
}
