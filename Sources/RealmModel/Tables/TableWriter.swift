import RealmStorage

/// A table that write transactions change: its open rows, and the trees that follow them.
///
/// It lives from one transaction of this process to the next, which goes on where the one before ended, until another process
/// writes or a transaction that cannot be told from its predecessors is rolled back. It is used by the open transaction,
/// or by whoever seals what earlier ones left.
final class TableWriter {
    let id: UInt32
    let layout: TableLayout
    let rows: ClusterWriter
    /// The trees as the open transaction has them.
    @exclusivity(unchecked) var trees: [WrittenTree]
    /// The greatest int primary key, pending ones included, while `knowsMaximum`.
    @exclusivity(unchecked) var maximumPrimaryKey = Int64.min
    @exclusivity(unchecked) var knowsMaximum = false
    /// Whether something is not in the catalog yet, of transactions before the open one.
    @exclusivity(unchecked) private(set) var isDirty = false
    /// Where rows and trees began when everything was in the catalog; while that is so.
    @exclusivity(unchecked) private(set) var roots: TableRoots
    /// What the transactions before the open one left: what a rollback goes back to.
    @exclusivity(unchecked) private var left: [Left]
    @exclusivity(unchecked) private var leftMaximum: Int64?

    /// Rows from this key on were created by the open transaction.
    @exclusivity(unchecked) private(set) var firstNewKey = Int64.max
    /// A row that is known to exist in the open transaction, -1 for none.
    @exclusivity(unchecked) var liveKey: Int64 = -1
    /// What the open transaction has checked of the unique indexes; nil where there are none.
    @exclusivity(unchecked) private(set) var uniqueness: Uniqueness?
    /// Whether what earlier transactions left has to be sealed before one of its rows is changed.
    @exclusivity(unchecked) private(set) var mustSettle = false

    /// A tree between two transactions: only appended rows may be missing from it.
    private struct Left {
        var tree: ByteTree
        var pendingFrom: Int64
    }

    /// A writer that goes on from roots, in a transaction that then begins with `begin(in:generation:)`.
    init(_ roots: TableRoots, layout: TableLayout, transaction: WriteTransaction) {
        id = layout.schema.tableID
        self.layout = layout
        self.roots = roots
        rows = ClusterWriter(tree: roots.clusters, columns: layout.schema.columnLayouts, transaction: transaction)
        trees = roots.trees.map { WrittenTree(tree: $0) }
        for source in layout.sources { trees[source.tree].pendingFrom = roots.clusters.nextKey }
        left = trees.map { Left(tree: $0.tree, pendingFrom: $0.pendingFrom) }
    }

    // MARK: The life of a transaction

    /// Goes on in a transaction that begins.
    func begin(in transaction: WriteTransaction, generation: UnsafeMutablePointer<UInt64>) {
        mustSettle = isDirty && transaction.isJoined
        rows.resume(in: transaction, generation: generation, isUnsettled: mustSettle)
        rows.skipKeys(to: transaction.leastRowKey(of: id))
        firstNewKey = rows.tree.nextKey
        liveKey = -1
        uniqueness =
            layout.uniqueSources.isEmpty
            ? nil : Uniqueness(firstNewKey: firstNewKey, sources: layout.uniqueSources.count)
    }

    /// Goes on in the transaction that `suspend()` left: rows that were new, or not checked, before are so still.
    func resume(in transaction: WriteTransaction, generation: UnsafeMutablePointer<UInt64>) {
        rows.resume(in: transaction, generation: generation)
        liveKey = -1
    }

    /// Called before a row that is not this transaction's own is changed: what earlier ones left unsealed is sealed, so
    /// that a rollback finds it.
    @inline(never)
    func settle() throws(StorageError) {
        guard mustSettle else { return }
        try rows.settle()
        mustSettle = false
        liveKey = -1
    }

    /// Brings the trees up to date, at the end of a transaction that commits: only appended rows may be missing from them then.
    ///
    /// What earlier transactions left is not touched, so that everything can be rolled back.
    func prepareToLeave() throws(StorageError) {
        for source in layout.sources where trees[source.tree].lagsBehind { try catchUp(source) }
        try rows.boundOpenMemory()
    }

    /// Leaves what the transaction did to those that follow, or to itself when it is only suspended.
    func leave(isSuspended: Bool) {
        if !isSuspended { uniqueness = nil }
        isDirty = true
        noteLeft()
        rows.detach()
    }

    private func noteLeft() {
        for index in trees.indices {
            left[index] = Left(tree: trees[index].tree, pendingFrom: trees[index].pendingFrom)
        }
        leftMaximum = knowsMaximum ? maximumPrimaryKey : nil
    }

    /// Takes back what the open transaction did, before its pages are put back.
    ///
    /// - Returns: Whether what earlier transactions left is here still; else the writer is of no use any more.
    /// - Throws: The failure to take rows out of what was sealed with them. The writer is half way back then, and nobody
    ///   uses it again: the group is lost, and the session with all its writers is dropped.
    func rollBack(_ transaction: WriteTransaction) throws(StorageError) -> Bool {
        guard isDirty, transaction.isJoined else { return false }
        rows.revert()
        if rows.tree.nextKey > firstNewKey {
            // What was sealed with rows of this transaction in it goes for good.
            let first = firstNewKey
            try transaction.settle { () throws(StorageError) in try rows.truncate(from: first) }
        }
        for index in trees.indices {
            trees[index].forget()
            trees[index].tree = left[index].tree
            trees[index].pendingFrom = left[index].pendingFrom
        }
        maximumPrimaryKey = leftMaximum ?? .min
        knowsMaximum = leftMaximum != nil
        uniqueness = nil
        rows.detach()
        return true
    }

    /// Brings the trees up to date, and stores rows, trees and their roots in the transaction's catalog.
    func seal(in transaction: WriteTransaction) throws(StorageError) {
        rows.resume(in: transaction, generation: nil)
        defer { rows.detach() }
        // Pages of the trees that are built now go to what they leave over.
        rows.leaveRooms()
        for source in layout.sources { try catchUp(source) }
        let clusters = try rows.seal()
        for index in trees.indices { try trees[index].tree.seal(in: transaction) }
        try storeEntry(clusters, in: transaction)
        roots = TableRoots(clusters: clusters, trees: trees.map(\.tree))
        noteLeft()
        isDirty = false
        mustSettle = false
    }

    private func storeEntry(_ clusters: ClusterTree, in transaction: WriteTransaction) throws(StorageError) {
        let byteCount = TableEntry.byteCount(trees: trees.count)
        try withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { (entry) throws(StorageError) in
            guard let base = entry.baseAddress else { return }
            TableEntry.store(clusters, treeCount: trees.count, to: base)
            for (index, tag) in layout.treeTags.enumerated() {
                TableEntry.store(trees[index].tree.root, tag: tag, at: index, to: base)
            }
            try CatalogKey.store(UnsafeRawBufferPointer(entry), CatalogKey.table, id, in: transaction)
        }
    }

    /// Notes the keys of the rows that the open transaction made: whatever becomes of it, they are never given out again.
    func noteRowKeys(in transaction: WriteTransaction) {
        guard rows.tree.nextKey > firstNewKey else { return }
        transaction.noteRowKeys(before: rows.tree.nextKey, of: id)
    }

    /// Deletes every row, and the entries of all trees.
    func removeAll() throws(StorageError) {
        try rows.deleteAll()
        for index in trees.indices {
            for var part in trees[index].aside { try part.removeAll(in: rows.transaction) }
            trees[index].forget()
            try trees[index].tree.removeAll(in: rows.transaction)
        }
        for source in layout.sources { trees[source.tree].pendingFrom = rows.tree.nextKey }
        uniqueness?.removeAll(before: rows.tree.nextKey)
        liveKey = -1
        maximumPrimaryKey = .min
    }
}

#if DEBUG
extension TableWriter {
    /// Trees fit the class and the rows, and what a rollback goes back to is there.
    func checkInvariantsOfChange() throws(BrokenInvariant) {
        let name = layout.schema.name
        try Invariant.require(trees.count == layout.treeCount, "'\(name)' has \(trees.count) trees")
        try Invariant.require(left.count == layout.treeCount, "'\(name)' was left with \(left.count) trees")
        try roots.checkInvariants(layout)
        try Invariant.require(firstNewKey == .max || firstNewKey <= rows.tree.nextKey, "'\(name)' has lost row keys")
        try Invariant.require(!mustSettle || isDirty, "'\(name)' has nothing to settle")
        for source in layout.sources {
            let tree = trees[source.tree]
            let end = rows.tree.nextKey
            try Invariant.require(tree.pendingFrom <= end, "An index of '\(name)' waits for rows that there are not")
            try Invariant.require(
                tree.lagsBehind || tree.changes == nil && tree.aside.isEmpty,
                "An index of '\(name)' counts as up to date, and changes wait for it"
            )
        }
        if let uniqueness {
            let sources = layout.uniqueSources.count
            try Invariant.require(uniqueness.pending.count == sources, "'\(name)' has other unique indexes")
            for pending in uniqueness.pending {
                try Invariant.require(pending.firstKey <= rows.tree.nextKey, "Unique values of '\(name)' are of no row")
            }
        }
    }

    /// Every index that is up to date has an entry for each row.
    func checkIndexes(in transaction: WriteTransaction) throws(BrokenInvariant) {
        // Where steps are made to fail, reading pages here would be one of them.
        if transaction.file.options.failures != nil { return }
        for source in layout.sources where !source.slots[0].isLink {
            let tree = trees[source.tree]
            guard tree.pendingFrom == rows.tree.nextKey, !tree.lagsBehind else { continue }
            // What cannot be read says nothing of this structure.
            guard let count = try? source.entryCount(in: tree.tree, transaction.view) else { continue }
            try Invariant.require(
                count == rows.tree.rowCount,
                "An index of '\(layout.schema.name)' has \(count) entries for \(rows.tree.rowCount) rows"
            )
        }
    }
}

extension TreeSource {
    /// The number of rows that a tree has entries for.
    fileprivate func entryCount(in tree: ByteTree, _ view: PageView) throws(StorageError) -> Int {
        if !hasKeyRuns { return try tree.count(in: view) }
        var cursor = tree.cursor(in: view)
        var count = 0
        var isOnRun = try cursor.seekFirst()
        while isOnRun {
            guard let run = KeyRun(key: cursor.key, entry: try cursor.value) else { break }
            count += Int(run.count)
            isOnRun = try cursor.next()
        }
        return count
    }
}

extension TableRoots {
    /// There is a root for each tree, all are sealed, and rows are where there are pages.
    func checkInvariants(_ layout: TableLayout) throws(BrokenInvariant) {
        let name = layout.schema.name
        try Invariant.require(trees.count == layout.treeCount, "The roots of '\(name)' are of \(trees.count) trees")
        for root in [clusters.root] + trees.map(\.root) {
            try Invariant.require(!root.isDirty, "A root of '\(name)' is not sealed")
        }
        let isEmpty = clusters.rowCount == 0
        try Invariant.require(
            clusters.root.isNone == isEmpty,
            "'\(name)' has \(clusters.rowCount) rows and other pages"
        )
        try Invariant.require(clusters.nextKey >= Int64(clusters.rowCount), "The next key of '\(name)' was given out")
    }
}
#endif
