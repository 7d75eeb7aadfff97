/// A table inside a write transaction.
///
/// Touched clusters are open in memory until `seal()`; reads through the writer see them. The part of the tree above them
/// is loaded as well, everything else stays in its pages. When the open clusters take more memory than a bound, the oldest
/// are encoded early. Not Sendable: it belongs to the transaction.
package final class ClusterWriter {
    /// The columns of the table.
    package let columns: [ColumnLayout]
    /// The transaction that writes; a writer that is kept open goes from one to the next.
    package var transaction: WriteTransaction {
        @inline(__always)
        get {
            guard let attached else { preconditionFailure("The writer is between two transactions") }
            return attached
        }
    }
    @exclusivity(unchecked) private var attached: WriteTransaction?
    /// Bumped whenever a `LeafView` or `RowLocation` handed out before may be stale.
    ///
    /// Appending rows and setting values of rows in a cluster that is open already does not bump it; column views are stale
    /// after any write all the same.
    @exclusivity(unchecked) package private(set) var generation: UInt64 = 0
    /// The row count and next key are current; the root only after `seal()`.
    @exclusivity(unchecked) package internal(set) var tree: ClusterTree

    /// The memory that open clusters may take before the oldest are encoded.
    @exclusivity(unchecked) private(set) var openByteLimit: Int
    /// The rows that a cluster may have; fewer in wide tables.
    let rowLimit: Int
    let memory = OpenMemory()
    @exclusivity(unchecked) private var sharedGeneration: UnsafeMutablePointer<UInt64>?

    @exclusivity(unchecked) var root: OverlayChild?
    /// Open clusters in the order in which they were opened; some may be closed by now.
    @exclusivity(unchecked) var openOrder: [OpenCluster] = []
    @exclusivity(unchecked) var openOrderHead = 0
    /// The cluster that takes appended rows, the last of the table.
    @exclusivity(unchecked) var tail: OpenCluster?
    /// The rows of the tail that the nodes above do not count yet.
    @exclusivity(unchecked) var uncountedTailRows = 0
    /// The tail's plan, while everything is being encoded.
    @exclusivity(unchecked) var tailPlan: ClusterPlan?
    /// The cluster that was written to last.
    @exclusivity(unchecked) var current: OpenCluster?
    /// Rows below this key were written by earlier transactions that are not sealed: their clusters stay in memory, since pages
    /// that this transaction takes are given back when it is rolled back.
    @exclusivity(unchecked) private var unsettledKeys = Int64.min
    /// What they were sealed to by this transaction: what a rollback goes back to.
    @exclusivity(unchecked) private var settledTree: ClusterTree?

    /// - Parameters:
    ///   - tree: The table as it stands in the catalog.
    ///   - columns: All columns of the table; clusters that were written when there were fewer read the rest as default.
    ///   - transaction: The open write transaction.
    ///   - generation: A word that is bumped together with `generation`, for readers who keep it at hand.
    ///   - openByteLimit: The memory that open clusters may take, in bytes; nil for what the transaction allows.
    package init(
        tree: ClusterTree,
        columns: [ColumnLayout],
        transaction: WriteTransaction,
        generation: UnsafeMutablePointer<UInt64>? = nil,
        openByteLimit: Int? = nil
    ) {
        self.tree = tree
        self.columns = columns
        attached = transaction
        self.openByteLimit = openByteLimit ?? transaction.openByteLimit
        sharedGeneration = generation
        rowLimit = max(64, min(ClusterFormat.rowLimit, 32_000 / max(columns.count, 1)))
        root = tree.root.isNone ? nil : .sealed(tree.root)
    }

    /// Goes on in another transaction, which builds on what this writer wrote.
    ///
    /// - Parameters:
    ///   - transaction: The transaction that begins.
    ///   - generation: A word that is bumped together with `generation`, as in the initialiser.
    ///   - isUnsettled: Whether the rows that there are were written by transactions that are not sealed, and have to be there
    ///     when this one is rolled back.
    package func resume(
        in transaction: WriteTransaction,
        generation: UnsafeMutablePointer<UInt64>?,
        isUnsettled: Bool = false
    ) {
        attached = transaction
        unsettledKeys = isUnsettled ? tree.nextKey : .min
        settledTree = nil
        sharedGeneration = generation
        openByteLimit = transaction.openByteLimit
    }

    /// Leaves the transaction, which is over.
    package func detach() {
        attached = nil
        sharedGeneration = nil
    }

    /// Seals what earlier transactions left unsealed, so that it is there when this one is rolled back.
    ///
    /// - Throws: What sealing throws, now and whenever it is asked for again: the group is lost then.
    package func settle() throws(StorageError) {
        settledTree = try transaction.settle { () throws(StorageError) in
            unsettledKeys = .min
            return try seal()
        }
    }

    /// Whether a cluster has to stay in memory until the rows of earlier transactions are settled.
    func isUnsettled(_ cluster: OpenCluster) -> Bool { cluster.firstKey < unsettledKeys }

    /// The memory that open clusters take.
    package var openByteCount: Int { memory.byteCount }

    /// Bounds the memory that is left to the transactions that follow, which have to keep it.
    package func boundOpenMemory() throws(StorageError) {
        if memory.byteCount > openByteLimit / 2 { try encodeOldest() }
    }

    func bumpGeneration() {
        generation &+= 1
        if let sharedGeneration { sharedGeneration.pointee &+= 1 }
    }

    // MARK: Rows

    /// Appends a row with the next key, all columns default (null where nullable), and returns its key.
    package func append() throws(StorageError) -> Int64 {
        let key = tree.nextKey
        try append(key: key)
        return key
    }

    /// Appends a row with a key of at least `tree.nextKey`.
    package func append(key: Int64) throws(StorageError) {
        precondition(key >= tree.nextKey, "Row keys ascend: the next one is \(tree.nextKey)")
        guard key < .max else { throw StorageError(.limit, "A table has used up its row keys") }
        let cluster: OpenCluster
        if let tail, tail.rowCount < rowLimit, tail.heapByteCount < Self.heapByteLimit {
            cluster = tail
        } else {
            cluster = try openTail(key: key)
        }
        try cluster.append(key: key)
        uncountedTailRows += 1
        current = cluster
        tree.rowCount &+= 1
        tree.nextKey = key + 1
        if memory.byteCount > openByteLimit { try encodeOldest() }
    }

    /// Deletes a row; false when there is no such row.
    ///
    /// `willDelete` is called with the row before it goes.
    @discardableResult
    @inline(__always)
    package func delete(
        key: Int64,
        willDelete: (RowLocation) throws(StorageError) -> Void = { _ in }
    ) throws(StorageError) -> Bool {
        guard let (cluster, row) = try openRow(key) else { return false }
        try willDelete(RowLocation(leaf: cluster.leaf, row: row))
        try delete(row, of: cluster, key: key)
        return true
    }

    /// Opens the cluster that holds a row; a cluster that does not hold it stays closed.
    private func openRow(_ key: Int64) throws(StorageError) -> (OpenCluster, Int)? {
        // Deletions often follow each other in the order of the keys.
        if let current, let row = current.leaf.row(of: key) { return (current, row) }
        if let cluster = openCluster(for: key) {
            current = cluster
            return cluster.leaf.row(of: key).map { (cluster, $0) }
        }
        guard try leaf(containing: key) != nil, let cluster = try open(for: key), let row = cluster.leaf.row(of: key)
        else { return nil }
        return (cluster, row)
    }

    private func delete(_ row: Int, of cluster: OpenCluster, key: Int64) throws(StorageError) {
        try cluster.forEachOverflow(row: row) { (run) throws(StorageError) in
            Overflow.free(run, in: transaction)
        }
        countTail()
        cluster.markDead(row: row)
        tree.rowCount &-= 1
        countDown(key: key, of: cluster)
        bumpGeneration()
        if memory.byteCount > openByteLimit { try encodeOldest() }
    }

    /// Deletes every row; the keys are still not reused.
    package func deleteAll() throws(StorageError) {
        if let root { try free(root) }
        forgetOpenClusters()
        root = nil
        tree.root = .none
        tree.rowCount = 0
        bumpGeneration()
    }

    /// Frees every page of the table.
    package func destroy() throws(StorageError) {
        try deleteAll()
    }

    /// Encodes everything that changed and returns the tree of the new version.
    ///
    /// The writer may go on afterwards; a small cluster at the end, which the next rows go to, stays open.
    package func seal() throws(StorageError) -> ClusterTree {
        defer { transaction.endStretches(of: ObjectIdentifier(memory)) }
        countTail()
        defer { tailPlan = nil }
        let kept: OpenCluster?
        do throws(StorageError) {
            try mergeTail()
            if let root { try mergeSmall(root) }
            // One alone begins no stretch.
            if openOrder.count - openOrderHead > 1 || transaction.hasLongColumns {
                transaction.noteLast(newClusterCount, of: ObjectIdentifier(memory))
            }
            kept = try encodeRoot()
        } catch {
            // Some clusters have given their memory back already: nobody may look where they were.
            forgetOpenClusters()
            bumpGeneration()
            throw error
        }
        forgetOpenClusters()
        if let kept {
            tail = kept
            openOrder.append(kept)
        }
        bumpGeneration()
        return tree
    }

    /// The open clusters that have no pages yet.
    private var newClusterCount: Int {
        openOrder[openOrderHead...].count { $0.isOpen && $0.origin.isNone }
    }

    /// Has runs of any kind take what is left of the stretches of long columns so far.
    package func leaveRooms() { transaction.leaveRooms(of: ObjectIdentifier(memory)) }

    /// Goes back to what earlier transactions left, if it was settled: else it is still there, before the rows that came.
    package func revert() {
        guard let settledTree else { return }
        forgetOpenClusters()
        tree = settledTree
        root = tree.root.isNone ? nil : .sealed(tree.root)
        bumpGeneration()
    }

    /// Leaves out row keys, so that the next row gets this one, or a later one.
    package func skipKeys(to key: Int64) {
        tree.nextKey = max(tree.nextKey, key)
    }

    /// Takes the rows from a key on back; their keys are still not reused.
    package func truncate(from key: Int64) throws(StorageError) {
        countTail()
        while tree.rowCount > 0, let cluster = try open(for: .max), cluster.lastKey >= key {
            // Rows that were deleted have no key of their own.
            try cluster.compact()
            for row in (cluster.leaf.lowerBound(of: key)..<cluster.rowCount).reversed() {
                try cluster.forEachOverflow(row: row) { (run) throws(StorageError) in
                    Overflow.free(run, in: transaction)
                }
                let last = cluster.leaf.key(at: row)
                cluster.markDead(row: row)
                tree.rowCount &-= 1
                countDown(key: last, of: cluster)
            }
            if cluster.isOpen { try cluster.compact() }
        }
        bumpGeneration()
    }

    func forgetOpenClusters() {
        tail = nil
        current = nil
        uncountedTailRows = 0
        openOrder.removeAll(keepingCapacity: true)
        openOrderHead = 0
    }

    /// A cluster whose values in heaps take more than this is closed before it has all its rows.
    static let heapByteLimit = 256 << 10
}
