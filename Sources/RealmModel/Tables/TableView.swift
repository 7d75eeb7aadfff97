import RealmStorage

/// The rows of one class, read at the version where its `ModelView` stands, and written while that is in a transaction.
///
/// Every operation takes property *ordinals* (see `ClassSchema`). A table view belongs to its model view, which must
/// outlive it, and follows it from version to version; it stays the same object, so that accessors may keep it.
package final class TableView {
    /// The model view that this table belongs to.
    package unowned(unsafe) let model: ModelView
    /// The number under which the file knows the table.
    package let id: UInt32
    /// The class as stored.
    @exclusivity(unchecked) private(set) var layout: TableLayout
    /// The layout's, at hand.
    @exclusivity(unchecked) @usableFromInline private(set) var slots: UnsafeMutablePointer<PropertySlot>
    /// Where rows and trees begin; not looked at while the table is written.
    @exclusivity(unchecked) private(set) var roots: TableRoots
    /// Where pages are read.
    @exclusivity(unchecked) private(set) var view: PageView
    @exclusivity(unchecked) private(set) var state = State.reading
    /// What is read again when the open transaction ends.
    @exclusivity(unchecked) private var outside: TableVersion?
    /// How often the class as stored was taken over.
    // Read through a function: for other modules, the exclusivity of a variable is checked whatever stands here.
    @exclusivity(unchecked) private var layoutCount = 1
    /// The number of rows that may wait for their index entries; a power of two.
    @exclusivity(unchecked) var pendingRowLimit: Int64 = 1 << 20
    /// Whether unique strings may be longer than an index can tell apart: what an earlier version stored is salvaged.
    @exclusivity(unchecked) var acceptsLongKeys = false
    /// The same for what is written now: records tell of them, too.
    var takesLongKeys: Bool { acceptsLongKeys || model.transaction?.storage.recording == .replay }

    enum State {
        /// Reads the roots.
        case reading
        /// From the first write of the open transaction on, and where earlier ones left something unsealed.
        case writing(TableWriter)
        /// The file has no such class any more: there are no rows.
        case detached
    }

    /// A table that reads a version.
    init(model: ModelView, _ version: TableVersion, view: PageView) {
        self.model = model
        id = version.layout.schema.tableID
        layout = version.layout
        slots = version.layout.slots
        roots = version.roots
        self.view = view
        if version.isDetached { state = .detached }
    }

    // MARK: What it stands on

    /// The table inside the open transaction, from the first write on.
    @inline(__always)
    var writer: TableWriter? {
        if case .writing(let writer) = state { writer } else { nil }
    }

    /// Whether its class is not in the file any more.
    var isDetached: Bool {
        if case .detached = state { true } else { false }
    }

    /// Reads another version, or the same through another view of its pages.
    func read(_ version: TableVersion?, in view: PageView) {
        self.view = view
        guard let version else {
            if case .writing = state { state = .reading }
            return
        }
        roots = version.roots
        state = version.isDetached ? .detached : .reading
        if layout !== version.layout {
            layout = version.layout
            slots = layout.slots
            layoutCount += 1
        }
    }

    /// Reads from other roots, with the class as it was.
    func read(_ roots: TableRoots, in view: PageView) {
        self.view = view
        self.roots = roots
        state = .reading
    }

    /// What it reads now.
    private var version: TableVersion { TableVersion(layout: layout, roots: roots, isDetached: isDetached) }

    /// Keeps what it reads for the end of the transaction that begins.
    func enterTransaction() { outside = version }

    /// Keeps what it would read outside the open transaction.
    func enterTransaction(outside version: TableVersion) { outside = version }

    /// Reads again what it read outside the transaction.
    func leaveTransaction(view: PageView) {
        read(outside, in: view)
        outside = nil
    }

    /// Writes through a writer from here on.
    func write(through writer: TableWriter) { state = .writing(writer) }

    /// Reads what its writer has sealed; the transaction goes on.
    func readSealed() {
        guard let writer else { return }
        roots = writer.roots
        state = .reading
    }

    /// Becomes a table without rows, whose class is as it was.
    func becomeEmpty() {
        roots = TableRoots(emptyFor: layout)
        state = .reading
    }

    // MARK: The class

    /// The class as the file stores it.
    package var schema: ClassSchema { layout.schema }
    /// The properties that link to this class.
    package var linkOrigins: [DatabaseSchema.LinkOrigin] { layout.linkOrigins }
    /// The indexes, those of single properties first.
    package var indexes: [TableIndex] { layout.indexes }
    /// How often the class as stored was taken over: what was noted of its properties is stale when this changes.
    package var configurationCount: Int { layoutCount }
    @inline(__always) var primaryKeyProperty: Int { layout.primaryKeyProperty }

    /// The physical column of a property, for `LeafView.column(_:isNullable:)`; -1 for computed properties.
    @inlinable
    @inline(__always)
    package func column(_ property: Int) -> Int { Int(slots[property].column) }

    /// Whether a property's column is nullable, for `LeafView.column(_:isNullable:)`.
    @inlinable
    @inline(__always)
    package func isNullable(_ property: Int) -> Bool { slots[property].isNullable }

    // MARK: The rows

    /// The rows' root and their number.
    @inline(__always)
    var clusters: ClusterTree { writer?.rows.tree ?? roots.clusters }

    /// A tree as it is, which may lag behind the rows.
    @inline(__always)
    func tree(at index: Int) -> ByteTree { writer?.trees[index].tree ?? roots.trees[index] }

    /// A tree, up to date.
    @inline(__always)
    func currentTree(at index: Int) throws(StorageError) -> ByteTree {
        guard let writer else { return roots.trees[index] }
        try writer.catchUp(tree: index)
        return writer.trees[index].tree
    }

    /// The number of rows.
    package var count: Int { clusters.rowCount }

    /// The key that the next row will get; keys are never reused.
    package var nextKey: Int64 { clusters.nextKey }

    /// Rows from this key on were created by the open transaction.
    @inline(__always)
    var firstNewKey: Int64 { writer?.firstNewKey ?? .max }

    /// The corruption error for something of this table.
    func corrupt(_ what: String) -> StorageError {
        StorageError(.corrupt, "The table of class '\(schema.name)' is damaged: \(what)")
    }
}

#if DEBUG
extension TableView {
    /// The table reads and writes what its model view stands on.
    func checkInvariants() throws(BrokenInvariant) {
        let name = schema.name
        try Invariant.require(id == layout.schema.tableID, "The table of '\(name)' has another number")
        try Invariant.require(slots == layout.slots, "The table of '\(name)' has the slots of another layout")
        try Invariant.require(view.mapping == model.view.mapping, "The table of '\(name)' reads another file")
        switch state {
        case .reading: try roots.checkInvariants(layout)
        case .detached: try Invariant.require(roots.clusters.rowCount == 0, "'\(name)' is not in the file and has rows")
        case .writing(let writer):
            guard let transaction = model.transaction else {
                throw BrokenInvariant("The table of '\(name)' is written outside of a transaction")
            }
            try Invariant.require(writer.layout.schema == layout.schema, "'\(name)' is written as another class")
            let isKnown = transaction.session.tables[id] === writer
            try Invariant.require(isKnown, "The session has another writer for '\(name)'")
            let isTouched = transaction.touched.contains { $0 === self }
            try Invariant.require(isTouched, "'\(name)' is written, and would not be sealed")
            try writer.checkInvariantsOfChange()
        }
        let hasOutside = model.transaction?.outside != nil
        try Invariant.require((outside != nil) == hasOutside, "'\(name)' has forgotten what it reads again later")
    }
}
#endif
