/// The rows of a table at one version: a copy-on-write B+ tree from row keys to clusters of rows in columns.
///
/// Row keys ascend, are appended at the end and never reused. This is the read side; `ClusterWriter` changes the table.
package struct ClusterTree: Sendable, Equatable {
    /// The root page; `.none` for an empty table.
    package var root: PageReference
    /// The number of rows.
    package var rowCount: Int
    /// The key that the next row gets.
    package var nextKey: Int64

    package init(root: PageReference = .none, rowCount: Int = 0, nextKey: Int64 = 0) {
        self.root = root
        self.rowCount = rowCount
        self.nextKey = nextKey
    }

    /// The bytes that a tree takes in the catalog: root, row count `u64`, next key `i64`.
    package static var byteCount: Int { 32 }

    /// Reads a tree from the catalog.
    package init(load bytes: UnsafeRawPointer) {
        root = PageReference(load: bytes)
        rowCount = Int(truncatingIfNeeded: bytes.loadUnaligned(fromByteOffset: 16, as: Int64.self))
        nextKey = bytes.loadUnaligned(fromByteOffset: 24, as: Int64.self)
    }

    /// Writes the tree into the catalog.
    package func store(to bytes: UnsafeMutableRawPointer) {
        root.store(to: bytes)
        bytes.storeBytes(of: Int64(rowCount), toByteOffset: 16, as: Int64.self)
        bytes.storeBytes(of: nextKey, toByteOffset: 24, as: Int64.self)
    }

    /// The row of a key, nil when there is no such row.
    package func leaf(containing key: Int64, in view: PageView) throws(StorageError) -> RowLocation? {
        guard !root.isNone else { return nil }
        var next: Int64?
        let leaf = try ClusterDescent.leaf(for: key, from: root, level: nil, next: &next, in: view)
        guard let row = leaf.row(of: key) else { return nil }
        return RowLocation(leaf: leaf, row: row)
    }

    /// The leaf whose key range holds a key; nil when it lies below a node that is known, or there is none.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - known: The checksum of a node below which a leaf was found, 0 for none; what it is now when a leaf is returned. The
    ///     checksum of a page covers its number and the version that wrote it, so that what was found below a node stays
    ///     where it is in every version that has the node.
    ///   - view: Where the version's pages are read.
    /// - Returns: the leaf, or nil.
    /// - Throws: `StorageError` when a page on the way is damaged.
    package func leaf(
        for key: Int64,
        unlessBelow known: inout UInt64,
        in view: PageView
    ) throws(StorageError) -> LeafView? {
        guard !root.isNone else {
            known = 0
            return nil
        }
        return try ClusterDescent.leaf(for: key, from: root, unlessBelow: &known, in: view)
    }

    /// The row at a position in key order, nil beyond the end.
    package func position(at index: Int, in view: PageView) throws(StorageError) -> RowLocation? {
        guard !root.isNone, index >= 0 else { return nil }
        return try ClusterDescent.row(at: index, from: root, level: nil, in: view)
    }

    /// The position of a key in key order, nil when there is no such row.
    package func index(of key: Int64, in view: PageView) throws(StorageError) -> Int? {
        guard !root.isNone else { return nil }
        let (rank, isPresent) = try ClusterDescent.rank(of: key, from: root, level: nil, in: view)
        return isPresent ? rank : nil
    }

    /// The leaves in key order, from the one that holds the first row with a key of at least `key`.
    package func leaves(in view: PageView, from key: Int64 = .min) -> LeafCursor {
        LeafCursor(tree: self, view: view, from: key)
    }

    /// Visits every run of the tree: inner nodes, cluster nodes, columns and overflow values.
    package func forEachPage(
        in view: PageView,
        _ body: (PageReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        var visited = VisitedPages()
        try forEachPage(in: view, &visited, body)
    }

    /// The same as a part of a longer walk, of the pages that this goes down into; each leaf among them goes to a function, too.
    package func forEachPage(
        in view: PageView,
        _ visited: inout VisitedPages,
        _ body: (PageReference) throws(StorageError) -> Void,
        eachLeaf: (LeafView, inout VisitedPages) throws(StorageError) -> Void = { _, _ in }
    ) throws(StorageError) {
        guard !root.isNone else { return }
        try ClusterDescent.forEachPage(from: root, level: nil, in: view, &visited, body, eachLeaf: eachLeaf)
    }

    /// Checks the row count against the root, and against what a file of that size has room for.
    package func checkRowCount(in view: PageView) throws(StorageError) {
        guard !root.isNone else {
            if rowCount != 0 { throw StorageError(.corrupt, "A table without pages claims \(rowCount) rows.") }
            return
        }
        let (base, level) = try ClusterDescent.load(root, level: nil, in: view)
        let found = ClusterDescent.rowCount(of: base, level: level, in: view)
        guard found == rowCount else {
            throw .corrupt("A table has \(found) rows instead of \(rowCount).", page: root.page)
        }
        guard !view.isInFile(base) || rowCount <= view.pageLimit &* ClusterFormat.rowLimit else {
            throw .corrupt("A table counts more rows than its file has room for.", page: root.page)
        }
    }
}
