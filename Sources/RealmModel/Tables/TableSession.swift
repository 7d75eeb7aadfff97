import RealmStorage

/// What write transactions keep of a table from one to the next: its writer and the roots of its trees.
///
/// A transaction works on copies of the roots and gives them back when it ends; the writer is shared.
final class TableSession {
    let id: UInt32
    let writer: ClusterWriter
    private let sources: [TreeSource]
    /// The trees' numbers in the table's entry.
    private let tags: [Int]
    // Unchecked: a session is used by the holder of the write lock only, and nothing here calls back into it.
    @exclusivity(unchecked) var trees: [ByteTree]
    /// Per tree: the rows from this key on are not in it yet.
    @exclusivity(unchecked) var pendingFrom: [Int64]
    @exclusivity(unchecked) var maximumPrimaryKey = Int64.min
    @exclusivity(unchecked) var knowsMaximum = false
    /// Whether something is not in the catalog yet.
    @exclusivity(unchecked) var isDirty = false

    init(
        id: UInt32,
        writer: ClusterWriter,
        sources: [TreeSource],
        tags: [Int],
        trees: [ByteTree],
        pendingFrom: [Int64]
    ) {
        self.id = id
        self.writer = writer
        self.sources = sources
        self.tags = tags
        self.trees = trees
        self.pendingFrom = pendingFrom
    }

    /// Brings the trees up to date, and stores rows, trees and their roots in the transaction's catalog.
    func seal(in transaction: WriteTransaction) throws(StorageError) {
        writer.resume(in: transaction, generation: nil)
        defer { writer.detach() }
        for index in sources.indices {
            let tree = sources[index].tree
            let first = pendingFrom[tree]
            guard first < writer.tree.nextKey else { continue }
            pendingFrom[tree] = writer.tree.nextKey
            let source = sources[index]
            if source.hasKeyRuns {
                try writer.insertRuns(source.slots[0], from: first, into: &trees[tree])
            } else {
                var entries = PendingEntries(source)
                try writer.collect(from: first, into: &entries)
                try entries.insert(into: &trees[tree], in: transaction)
            }
        }
        let clusters = try writer.seal()
        var roots: [(column: Int, root: PageReference)] = []
        roots.reserveCapacity(trees.count)
        for (tree, tag) in tags.enumerated() {
            try trees[tree].seal(in: transaction)
            roots.append((tag, trees[tree].root))
        }
        try CatalogKey.store(
            TableEntry.bytes(clusters: clusters, trees: roots),
            CatalogKey.table,
            id,
            in: transaction
        )
        isDirty = false
    }
}
