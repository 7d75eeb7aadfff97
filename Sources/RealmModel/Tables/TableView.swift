import RealmStorage

/// The rows of one class, read at the version where its `ModelView` stands, and written while that is in a transaction.
///
/// Every operation takes property *ordinals* (see `ClassSchema`). A table view belongs to its model view, which must
/// outlive it, and follows it from version to version.
package final class TableView {
    /// The model view that this table belongs to.
    package unowned(unsafe) let model: ModelView
    /// The number under which the file knows the table.
    package let id: UInt32
    /// The class as the file stores it.
    package private(set) var schema: ClassSchema
    /// The properties that link to this class.
    package private(set) var linkOrigins: [DatabaseSchema.LinkOrigin] = []

    @exclusivity(unchecked) @usableFromInline var slots: UnsafeMutablePointer<PropertySlot>
    private(set) var slotCount = 0
    /// The index and backlink trees, in the order of their properties, then the compound indexes.
    @exclusivity(unchecked) private(set) var trees: UnsafeMutablePointer<ByteTree>
    private(set) var treeCount = 0
    /// The trees' numbers in the table's entry.
    private(set) var treeTags: [Int] = []
    /// What the trees that are functions of the rows are made from.
    private(set) var sources: [TreeSource] = []
    /// The compound indexes among them.
    private(set) var compoundSources: [TreeSource] = []
    /// The indexes, those of single properties first.
    package private(set) var indexes: [TableIndex] = []
    /// The unique indexes among them, the primary key's left out.
    private(set) var uniqueSources: [TreeSource] = []
    /// Per tree: the rows from this key on are not in it yet (see `TableView+Deferring`).
    @exclusivity(unchecked) private(set) var pendingFrom: UnsafeMutablePointer<Int64>
    /// Per tree: whether it lags behind in another way.
    @exclusivity(unchecked) private(set) var lagsBehind: UnsafeMutablePointer<Bool>
    /// Per tree: what is to become of entries of rows below `pendingFrom`.
    @exclusivity(unchecked) var pendingChanges: [PendingChanges?] = []
    /// By tree: entries of rows below `pendingFrom` that have been put aside, sorted.
    var asideTrees: [Int: [ByteTree]] = [:]
    /// The ordinals of link properties.
    private(set) var linkProperties: [Int] = []
    /// The ordinals of list properties.
    private(set) var listProperties: [Int] = []
    @exclusivity(unchecked) private(set) var primaryKeyProperty = -1

    /// The rows as loaded or as last sealed.
    @exclusivity(unchecked) var clusters = ClusterTree()
    /// Where pages are read.
    @exclusivity(unchecked) private(set) var view: PageView
    /// The rows inside a transaction, from the first write on.
    @exclusivity(unchecked) var writer: ClusterWriter?
    /// What is given back when the transaction ends, from the first write on.
    @exclusivity(unchecked) var session: TableSession?
    /// Whether its class is not in the file any more.
    var isOrphan = false
    /// Whether earlier transactions of the group left something unsealed in it.
    var wasDirty = false
    /// Whether that has to be sealed before one of its rows is changed.
    @exclusivity(unchecked) var mustSettle = false
    /// What it was sealed to.
    var settledTree: ClusterTree?
    /// The roots outside the transaction, to be read again when it ends.
    private var savedClusters: ClusterTree?
    private var savedTrees: [ByteTree] = []
    /// The class outside the transaction, when it is another one there.
    private var savedSchema: ClassSchema?
    private var wasOrphan = false
    /// The roots that are read next: taken over when nothing can fail any more.
    private var nextClusters = ClusterTree()
    private var nextTrees: [ByteTree] = []
    /// Rows from this key on were created by the open transaction.
    @exclusivity(unchecked) var firstNewKey = Int64.max
    /// A row that is known to exist in the open transaction, -1 for none.
    @exclusivity(unchecked) var liveKey: Int64 = -1
    /// The number of rows that may wait for their index entries; a power of two.
    @exclusivity(unchecked) var pendingRowLimit: Int64 = 1 << 20
    /// The greatest int primary key, pending ones included, while `knowsMaximum`.
    @exclusivity(unchecked) var maximumPrimaryKey = Int64.min
    @exclusivity(unchecked) var knowsMaximum = false
    /// What the open transaction has checked of the unique indexes; nil where there are none.
    @exclusivity(unchecked) var uniqueness: Uniqueness?
    /// Whether unique strings may be longer than an index can tell apart: what an earlier version stored is salvaged.
    @exclusivity(unchecked) var acceptsLongKeys = false
    /// How often the class as stored was taken over: what was noted of its properties is stale when this changes.
    package var configurationCount: Int { configurations }
    // Read through a function: for other modules, the exclusivity of a variable is checked whatever stands here.
    @exclusivity(unchecked) private var configurations = 0

    /// A table without rows.
    init(emptyIn model: ModelView, schema: ClassSchema, database: DatabaseSchema, view: PageView) {
        self.model = model
        id = schema.tableID
        self.schema = schema
        self.view = view
        slots = .allocate(capacity: 1)
        trees = .allocate(capacity: 1)
        pendingFrom = .allocate(capacity: 1)
        lagsBehind = .allocate(capacity: 1)
        configure(schema, in: database)
    }

    /// A table with the roots of a session, where there is one; those of a catalog may have been gone on from then.
    convenience init(
        model: ModelView,
        schema: ClassSchema,
        database: DatabaseSchema,
        catalog: ByteTree,
        view: PageView,
        session: TableSession? = nil
    ) throws(StorageError) {
        self.init(emptyIn: model, schema: schema, database: database, view: view)
        if let session { read(session, in: view) } else { try load(from: catalog, view: view) }
    }

    deinit {
        slots.deallocate()
        trees.deallocate()
        pendingFrom.deallocate()
        lagsBehind.deallocate()
    }

    /// Takes over a class as stored, at first and when another process changed the schema.
    func configure(_ schema: ClassSchema, in database: DatabaseSchema) {
        configurations += 1
        isOrphan = false
        slots.deallocate()
        trees.deallocate()
        pendingFrom.deallocate()
        lagsBehind.deallocate()
        self.schema = schema
        linkOrigins = database.linkOrigins(to: schema.name)
        slotCount = schema.properties.count
        treeCount = schema.properties.count(where: \.hasTree) + schema.compoundIndexes.count
        slots = .allocate(capacity: max(1, slotCount))
        trees = .allocate(capacity: max(1, treeCount))
        pendingFrom = .allocate(capacity: max(1, treeCount))
        lagsBehind = .allocate(capacity: max(1, treeCount))
        pendingChanges = Array(repeating: nil, count: treeCount)
        asideTrees = [:]
        linkProperties = []
        listProperties = []
        var tree = 0
        for (ordinal, property) in schema.properties.enumerated() {
            (slots + ordinal).initialize(to: PropertySlot(property, tree: property.hasTree ? tree : -1, in: database))
            if property.hasTree { tree += 1 }
            if property.makesLinks { linkProperties.append(ordinal) }
            if property.collection != .none && property.isStored { listProperties.append(ordinal) }
        }
        (treeTags, sources) = schema.treeSources(
            slots: Array(UnsafeBufferPointer(start: slots, count: slotCount))
        )
        compoundSources = sources.filter(\.isCompound)
        uniqueSources = sources.filter(\.isUnique)
        indexes = sources.filter { !$0.slots[0].isLink }.map { TableIndex($0) }
        for source in compoundSources {
            for ordinal in source.ordinals {
                slots[ordinal].isInCompoundIndex = true
                if source.isUnique { slots[ordinal].isInUniqueIndex = true }
            }
        }
        for tree in 0..<treeCount {
            (trees + tree).initialize(to: ByteTree())
            (pendingFrom + tree).initialize(to: .max)
            (lagsBehind + tree).initialize(to: false)
        }
        primaryKeyProperty = schema.primaryKeyOrdinal ?? -1
    }

    /// Reads the table's roots.
    private func load(from catalog: ByteTree, view: PageView) throws(StorageError) {
        try prepare(from: catalog, view: view)
        takePrepared(view)
    }

    /// Reads the roots that `takePrepared` takes over; nothing changes until then.
    func prepare(from catalog: ByteTree, view: PageView) throws(StorageError) {
        guard let bytes = try CatalogKey.value(CatalogKey.table, id, in: catalog, view: view) else {
            throw TableEntry.damaged(schema)
        }
        let next = try TableEntry.clusters(bytes, orThrow: TableEntry.damaged(schema))
        if next.root != clusters.root || next.rowCount != clusters.rowCount { try next.checkRowCount(in: view) }
        nextClusters = next
        nextTrees.removeAll(keepingCapacity: true)
        try TableEntry.forEachTree(bytes, orThrow: TableEntry.damaged(schema)) {
            (index, tag, root) throws(StorageError) in
            guard index < treeCount, treeTags[index] == tag else { throw TableEntry.damaged(schema) }
            nextTrees.append(ByteTree(root: root))
        }
        guard nextTrees.count == treeCount else { throw TableEntry.damaged(schema) }
    }

    /// Reads from the roots that were prepared.
    func takePrepared(_ view: PageView) {
        forgetTransaction()
        self.view = view
        clusters = nextClusters
        for tree in 0..<treeCount { trees[tree] = nextTrees[tree] }
    }

    /// Reads what another table view of the same class was made for.
    func take(_ other: TableView, in database: DatabaseSchema) {
        configure(other.schema, in: database)
        forgetTransaction()
        view = other.view
        clusters = other.clusters
        for tree in 0..<treeCount { trees[tree] = other.trees[tree] }
    }

    /// Reads the same roots through another view of the same pages.
    func move(to view: PageView) {
        self.view = view
    }

    /// Drops what belongs to a transaction.
    func forgetTransaction() {
        writer = nil
        session = nil
        mustSettle = false
        settledTree = nil
        firstNewKey = .max
        liveKey = -1
        knowsMaximum = false
        uniqueness = nil
        forgetPending()
    }

    /// Drops what the trees lag behind with.
    func forgetPending() {
        for tree in 0..<treeCount {
            pendingFrom[tree] = .max
            lagsBehind[tree] = false
            pendingChanges[tree] = nil
        }
        asideTrees = [:]
    }

    /// Keeps the roots that are read outside the transaction that begins.
    func saveRoots() {
        savedClusters = clusters
        savedTrees.removeAll(keepingCapacity: true)
        savedTrees.append(contentsOf: UnsafeBufferPointer(start: trees, count: treeCount))
    }

    /// Keeps the class as well: the transaction has another one.
    func saveClass() {
        if savedSchema == nil { (savedSchema, wasOrphan) = (schema, isOrphan) }
    }

    /// Keeps the roots of a version, for a table that is asked for first inside a transaction.
    ///
    /// - Parameters:
    ///   - snapshot: The version outside the transaction.
    ///   - database: Its schema, when it is not the transaction's.
    /// - Throws: `StorageError` when the roots of that version cannot be read.
    func saveRoots(of snapshot: Snapshot, in database: DatabaseSchema?) throws(StorageError) {
        guard let database else {
            try prepare(from: snapshot.catalog, view: snapshot.view)
            savedClusters = nextClusters
            savedTrees = nextTrees
            return
        }
        guard let schema = database.schema(of: id) else {
            (savedSchema, wasOrphan, savedClusters, savedTrees) = (self.schema, true, ClusterTree(), [])
            return
        }
        let outside = try TableView(
            model: model,
            schema: schema,
            database: database,
            catalog: snapshot.catalog,
            view: snapshot.view
        )
        (savedSchema, wasOrphan, savedClusters) = (schema, false, outside.clusters)
        savedTrees = Array(UnsafeBufferPointer(start: outside.trees, count: outside.treeCount))
    }

    /// Reads the roots again that were kept.
    ///
    /// - Parameters:
    ///   - view: Where their pages are read.
    ///   - database: The schema outside the transaction.
    func restoreRoots(view: PageView, in database: DatabaseSchema) {
        forgetTransaction()
        guard let savedClusters else { return move(to: view) }
        if let savedSchema {
            configure(savedSchema, in: database)
            isOrphan = wasOrphan
        }
        dropSaved()
        clusters = savedClusters
        for tree in 0..<min(treeCount, savedTrees.count) { trees[tree] = savedTrees[tree] }
        self.view = view
    }

    /// Forgets what was kept for the end of the transaction.
    private func dropSaved() {
        savedClusters = nil
        savedSchema = nil
    }

    /// Reads what the last transaction sealed.
    func read(_ session: TableSession, in view: PageView) {
        clusters = session.writer.tree
        for tree in 0..<treeCount { trees[tree] = session.trees[tree] }
        self.view = view
    }

    /// Becomes a table without rows: its class is no longer in the file.
    func becomeEmpty() {
        forgetTransaction()
        clusters = ClusterTree()
        for tree in 0..<treeCount { trees[tree] = ByteTree() }
    }

    /// The physical column of a property, for `LeafView.column(_:isNullable:)`; -1 for computed properties.
    @inlinable
    @inline(__always)
    package func column(_ property: Int) -> Int { Int(slots[property].column) }

    /// Whether a property's column is nullable, for `LeafView.column(_:isNullable:)`.
    @inlinable
    @inline(__always)
    package func isNullable(_ property: Int) -> Bool { slots[property].isNullable }

    /// The number of rows.
    package var count: Int { writer?.tree.rowCount ?? clusters.rowCount }

    /// The key that the next row will get; keys are never reused.
    package var nextKey: Int64 { writer?.tree.nextKey ?? clusters.nextKey }

    /// The corruption error for something of this table.
    func corrupt(_ what: String) -> StorageError {
        StorageError(.corrupt, "The table of class '\(schema.name)' is damaged: \(what)")
    }
}
