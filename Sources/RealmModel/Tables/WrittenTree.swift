import RealmStorage

/// A tree of a table inside a write transaction, and what it lags behind its rows with.
struct WrittenTree {
    var tree: ByteTree
    /// The rows from this key on are not in it yet; `.max` for trees that never lag behind.
    var pendingFrom = Int64.max
    /// Whether it lags behind in another way.
    var lagsBehind = false
    /// What is to become of entries of rows below `pendingFrom`.
    var changes: PendingChanges?
    /// Entries of rows below `pendingFrom` that have been put aside, sorted.
    var aside: [ByteTree] = []

    /// Drops what it lags behind with.
    mutating func forget() {
        pendingFrom = .max
        lagsBehind = false
        changes = nil
        aside = []
    }

    /// The changes of entries that wait.
    final class PendingChanges {
        @exclusivity(unchecked) var list = KeyList()
        /// Whether no entry comes.
        @exclusivity(unchecked) var removesOnly = true
    }
}
