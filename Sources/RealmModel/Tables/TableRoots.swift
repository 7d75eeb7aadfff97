import RealmStorage

/// Where the rows and trees of a table begin at one version.
struct TableRoots {
    var clusters = ClusterTree()
    /// The index and backlink trees, in the order of their properties, then the compound indexes.
    var trees: [ByteTree]

    /// Those of a table without rows.
    init(emptyFor layout: TableLayout) {
        trees = Array(repeating: ByteTree(), count: layout.treeCount)
    }

    init(clusters: ClusterTree, trees: [ByteTree]) {
        self.clusters = clusters
        self.trees = trees
    }

    /// Reads the table's entry in a catalog.
    ///
    /// - Parameters:
    ///   - layout: The class as stored.
    ///   - catalog: The catalog of the version.
    ///   - view: Where its pages are read.
    ///   - known: The rows of a version that was checked before.
    /// - Throws: `StorageError` when the entry is damaged, or does not fit the layout.
    init(
        of layout: TableLayout,
        in catalog: ByteTree,
        view: PageView,
        known: ClusterTree = ClusterTree()
    ) throws(StorageError) {
        let schema = layout.schema
        guard let bytes = try CatalogKey.value(CatalogKey.table, schema.tableID, in: catalog, view: view) else {
            throw TableEntry.damaged(schema)
        }
        clusters = try TableEntry.clusters(bytes, orThrow: TableEntry.damaged(schema))
        if clusters.root != known.root || clusters.rowCount != known.rowCount { try clusters.checkRowCount(in: view) }
        var trees: [ByteTree] = []
        trees.reserveCapacity(layout.treeCount)
        try TableEntry.forEachTree(bytes, orThrow: TableEntry.damaged(schema)) {
            (index, tag, root) throws(StorageError) in
            // The trees of indexes of kinds that this release does not know stand behind the others.
            if index >= layout.treeCount, index < layout.treeCount + schema.furtherIndexCount { return }
            guard index < layout.treeCount, layout.treeTags[index] == tag else { throw TableEntry.damaged(schema) }
            trees.append(ByteTree(root: root))
        }
        guard trees.count == layout.treeCount else { throw TableEntry.damaged(schema) }
        self.trees = trees
    }
}

/// What a table view reads at one version: the class as stored, and where its rows begin.
struct TableVersion {
    var layout: TableLayout
    var roots: TableRoots
    /// Whether the file has no such class at that version.
    var isDetached = false
}
