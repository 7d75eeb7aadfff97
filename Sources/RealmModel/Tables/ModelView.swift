import OrderedCollections
package import RealmStorage
import Synchronization

/// A database at one version: of a snapshot, or of the write transaction that it is in.
///
/// It is moved in place (`advance`, `begin`, `endTransaction`), and its table views with it. It is not Sendable and
/// takes no locks, with one exception: a view that is never moved (a frozen one, or one made for a computation in the
/// background) may be read from any thread, several at once, because nothing but the list of its table views ever
/// changes and that is locked.
package final class ModelView {
    @exclusivity(unchecked) var state: State {
        didSet { transactionFlag.pointee = isInTransaction ? 1 : 0 }
    }
    /// The schema as the file stores it at this version.
    @exclusivity(unchecked) package internal(set) var schema: DatabaseSchema
    /// A word whose value changes whenever row locations, leaf views and list views read before may be stale: when the
    /// view moves to another version, a transaction begins or ends, or rows move inside one.
    package let generation: UnsafeMutablePointer<UInt64>
    /// A word that is 1 while a transaction is open, else 0.
    package let transactionFlag: UnsafeMutablePointer<UInt64>
    /// Who maps names to what is stored here, and lives as long as the view moves.
    package unowned(unsafe) var follower: (any SchemaFollower)?
    /// Where pages are read.
    @exclusivity(unchecked) package internal(set) var view: PageView
    @exclusivity(unchecked) var catalog: ByteTree
    /// What the transaction that ended last has committed, until the view moves: as a rule it moves there.
    @exclusivity(unchecked) var committed: Committed?
    private let tables = Mutex(TableCache())

    enum State {
        /// Reads a version, which it pins.
        case reading(Snapshot)
        /// Reads and writes through a transaction; afterwards it reads again what is outside, when there is anything.
        case writing(ModelTransaction)
        /// The transaction has been set aside: reads see the version outside of it.
        case suspended(ModelTransaction)
        /// Has let go of its version, the number of which is left: all tables are empty.
        case ended(UInt64)
    }

    /// A version that was written through the view itself, which need not be read again.
    struct Committed {
        let catalog: PageReference
        /// Where the tables that are open begin there, in their order.
        let roots: [TableRoots]
    }

    // Reached through a mutex; a table belongs to whom the view belongs, or is of a version that never changes.
    private struct TableCache: @unchecked Sendable {
        var tables: [UInt32: TableView] = [:]
        var list: [TableView] = []
    }

    private init(_ state: State, schema: DatabaseSchema, catalog: ByteTree, view: PageView) {
        self.state = state
        self.schema = schema
        self.catalog = catalog
        self.view = view
        generation = .allocate(capacity: 2)
        generation.initialize(to: 1)
        transactionFlag = generation + 1
        transactionFlag.initialize(to: 0)
    }

    /// Stands a view on a snapshot.
    ///
    /// - Parameters:
    ///   - snapshot: The version.
    ///   - schema: The schema of another view of the same file, to be shared when it still is this version's.
    /// - Throws: `StorageError` when the catalog is damaged.
    package convenience init(snapshot: Snapshot, schema: DatabaseSchema? = nil) throws(StorageError) {
        let stored = try DatabaseSchema(in: snapshot.catalog, view: snapshot.view, known: schema) ?? .empty
        self.init(.reading(snapshot), schema: stored, catalog: snapshot.catalog, view: snapshot.view)
    }

    /// Stands a view in a transaction, without a snapshot to go back to.
    convenience init(transaction: WriteTransaction) throws(StorageError) {
        let catalog = transaction.catalog
        let schema = try DatabaseSchema(in: catalog, view: transaction.view) ?? .empty
        let session = ModelSession.current(of: transaction) ?? ModelSession(catalog: catalog.root, schema: schema)
        transaction.session = session
        let open = ModelTransaction(storage: transaction, session: session)
        self.init(.writing(open), schema: schema, catalog: catalog, view: transaction.view)
        transactionFlag.pointee = 1
    }

    deinit {
        generation.deallocate()
    }

    // MARK: - What it stands on

    /// The open transaction; reads see it.
    @inline(__always)
    package var transaction: ModelTransaction? {
        if case .writing(let transaction) = state { transaction } else { nil }
    }

    /// Whether a transaction is open.
    package var isInTransaction: Bool {
        if case .writing = state { true } else { false }
    }

    /// Whether a transaction is open and set aside.
    package var isSuspended: Bool {
        if case .suspended = state { true } else { false }
    }

    /// The version that is pinned, if there is one.
    var pinned: Snapshot? {
        switch state {
        case .reading(let snapshot): snapshot
        case .writing(let transaction), .suspended(let transaction): transaction.outside?.snapshot
        case .ended: nil
        }
    }

    /// Whether it keeps a version in the file.
    package var pinsVersion: Bool { pinned != nil }

    /// The version that is read outside a transaction.
    package var snapshot: Snapshot {
        guard let pinned else { preconditionFailure("This view pins no version.") }
        return pinned
    }

    /// The version that is read: the transaction's own inside one.
    package var version: UInt64 {
        switch state {
        case .reading(let snapshot): snapshot.version
        case .writing(let transaction): transaction.storage.version
        case .suspended: snapshot.version
        case .ended(let version): version
        }
    }

    /// A view of its own on the version that this one reads outside a transaction: for freezing, or for another thread.
    ///
    /// That of a view which has let go of its version is as empty as that.
    package func duplicate() throws(StorageError) -> ModelView {
        switch state {
        case .ended(let version):
            return ModelView(.ended(version), schema: schema, catalog: ByteTree(), view: view)
        case .reading, .suspended:
            let snapshot = snapshot
            return ModelView(.reading(snapshot), schema: schema, catalog: snapshot.catalog, view: snapshot.view)
        case .writing:
            return try ModelView(snapshot: snapshot, schema: schema)
        }
    }

    /// Lets go of the version for good, with no transaction open: from here on all tables are empty.
    package func unpin() {
        state = .ended(version)
        generation.pointee &+= 1
        for table in openTables { table.becomeEmpty() }
        catalog = ByteTree()
        committed = nil
    }

    /// The stamp of the schema at this version.
    package var schemaStamp: UInt64 { schema.stamp }

    /// How many commits have changed the schema up to the version that is pinned; nil where none is.
    package var schemaGeneration: UInt64? { pinned?.schemaGeneration }

    /// Whether primary keys and unique strings of a class have at most ``PropertySchema/uniqueStringByteLimit`` bytes, because an
    /// earlier release has made its indexes.
    package func limitsUniqueStrings(of className: String) -> Bool {
        schema[className].map { !$0.longStrings.isHashed } ?? false
    }

    // MARK: - Tables

    /// The table of a class; nil when the file has no such class.
    package func table(named className: String) throws(StorageError) -> TableView? {
        guard let tableID = schema[className]?.tableID else { return nil }
        return try table(id: tableID)
    }

    /// The table of a number; nil when the file has no such table.
    package func table(id: UInt32) throws(StorageError) -> TableView? {
        if let known = tables.withLock({ TableReference(table: $0.tables[id]) }).table { return known }
        guard let schema = schema.schema(of: id) else { return nil }
        let created = TableReference(table: try makeTable(schema))
        return
            tables.withLock { cache in
                if let other = cache.tables[id] { return TableReference(table: other) }
                cache.tables[id] = created.table
                if let table = created.table { cache.list.append(table) }
                return created
            }
            .table
    }

    private func makeTable(_ schema: ClassSchema) throws(StorageError) -> TableView {
        let layout = self.schema.layout(of: schema)
        if case .ended = state {
            let version = TableVersion(layout: layout, roots: TableRoots(emptyFor: layout))
            return TableView(model: self, version, view: view)
        }
        guard let transaction else {
            return TableView(model: self, try version(of: layout, in: catalog, view: view), view: view)
        }
        let writer = transaction.session.tables[schema.tableID]
        let version = try version(of: layout, in: catalog, view: view, writer: writer)
        let table = TableView(model: self, version, view: view)
        // Here it may fail, and not where the transaction ends.
        if let outside = transaction.outside {
            table.enterTransaction(outside: try versionOutside(of: layout, outside))
        }
        if let writer, writer.isDirty { table.begin(writer, in: transaction) }
        return table
    }

    /// What a table reads in a catalog; what a writer has sealed may have been gone on from since.
    func version(
        of layout: TableLayout,
        in catalog: ByteTree,
        view: PageView,
        known: ClusterTree = ClusterTree(),
        writer: TableWriter? = nil
    ) throws(StorageError) -> TableVersion {
        if let writer { return TableVersion(layout: layout, roots: writer.roots) }
        return TableVersion(layout: layout, roots: try TableRoots(of: layout, in: catalog, view: view, known: known))
    }

    /// What a table that is asked for first inside a transaction reads outside of it.
    private func versionOutside(of layout: TableLayout, _ outside: ModelTransaction.Outside) throws(StorageError)
        -> TableVersion
    {
        let snapshot = outside.snapshot
        guard let database = outside.schema else {
            return try version(of: layout, in: snapshot.catalog, view: snapshot.view)
        }
        guard let schema = database.schema(of: layout.schema.tableID) else {
            return TableVersion(layout: layout, roots: TableRoots(emptyFor: layout), isDetached: true)
        }
        return try version(of: database.layout(of: schema), in: snapshot.catalog, view: snapshot.view)
    }

    // Take tables out of the mutex, for whom the view belongs to.
    private struct TableReference: @unchecked Sendable {
        let table: TableView?
    }

    // As above.
    private struct TableReferences: @unchecked Sendable {
        let tables: [TableView]
    }

    /// The tables that were asked for so far.
    var openTables: [TableView] {
        tables.withLock { TableReferences(tables: $0.list) }.tables
    }

    /// Whether no class has a row.
    package var isEmpty: Bool {
        get throws(StorageError) {
            for schema in schema.classes.values where try table(named: schema.name)?.count ?? 0 > 0 { return false }
            return true
        }
    }

    /// Deletes all rows of all classes, inside a transaction.
    package func deleteAll() throws {
        for schema in schema.classes.values {
            try table(named: schema.name)?.clear()
        }
    }
}
