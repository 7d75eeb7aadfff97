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
    @exclusivity(unchecked) private var pinned: Snapshot?
    /// The open transaction; reads see it.
    @exclusivity(unchecked) package private(set) var transaction: ModelTransaction? {
        didSet { transactionFlag.pointee = transaction == nil ? 0 : 1 }
    }
    /// The schema as the file stores it at this version.
    @exclusivity(unchecked) package private(set) var schema: DatabaseSchema
    /// A word whose value changes whenever row locations, leaf views and list views read before may be stale: when the
    /// view moves to another version, a transaction begins or ends, or rows move inside one.
    package let generation: UnsafeMutablePointer<UInt64>
    /// Who maps names to what is stored here, and lives as long as the view moves.
    package unowned(unsafe) var follower: (any SchemaFollower)?
    /// A word that is 1 while a transaction is open, else 0.
    package let transactionFlag: UnsafeMutablePointer<UInt64>
    /// Where pages are read.
    @exclusivity(unchecked) package private(set) var view: PageView
    @exclusivity(unchecked) private var catalog: ByteTree
    private let tables = Mutex(TableCache())
    /// The transaction that was set aside, and what it had open.
    @exclusivity(unchecked) private var parked: (transaction: ModelTransaction, tables: [ParkedTable])?
    @exclusivity(unchecked) private var unpinnedVersion: UInt64 = 0
    /// Whether the view has let go of its version for good: all tables are empty.
    private var isEnded: Bool { pinned == nil && transaction == nil }
    /// The schema outside the open transaction, when it is another one there.
    @exclusivity(unchecked) private var outerSchema: DatabaseSchema?

    /// What a table knows of the transaction that was set aside.
    private struct ParkedTable {
        let table: TableView
        let firstNewKey: Int64
        let uniqueness: Uniqueness?
    }

    // Reached through a mutex; a table belongs to whom the view belongs, or is of a version that never changes.
    private struct TableCache: @unchecked Sendable {
        var tables: [UInt32: TableView] = [:]
        var list: [TableView] = []
    }

    /// Stands a view on a snapshot.
    ///
    /// - Parameters:
    ///   - snapshot: The version.
    ///   - schema: The schema of another view of the same file, to be shared when it still is this version's.
    /// - Throws: `StorageError` when the catalog is damaged.
    package init(snapshot: Snapshot, schema: DatabaseSchema? = nil) throws(StorageError) {
        pinned = snapshot
        view = snapshot.view
        catalog = snapshot.catalog
        self.schema = try DatabaseSchema(in: snapshot.catalog, view: snapshot.view, known: schema) ?? .empty
        (generation, transactionFlag) = Self.makeWords()
    }

    private init(snapshot: Snapshot, sharing schema: DatabaseSchema) {
        pinned = snapshot
        view = snapshot.view
        catalog = snapshot.catalog
        self.schema = schema
        (generation, transactionFlag) = Self.makeWords()
    }

    /// A view on the schema of one that has let go of its version, with no rows.
    private init(ended other: ModelView) {
        view = other.view
        catalog = ByteTree()
        schema = other.schema
        unpinnedVersion = other.version
        (generation, transactionFlag) = Self.makeWords()
    }

    /// Stands a view in a transaction, without a snapshot to go back to.
    init(transaction: WriteTransaction) throws(StorageError) {
        view = transaction.view
        catalog = transaction.catalog
        schema = try DatabaseSchema(in: transaction.catalog, view: transaction.view) ?? .empty
        (generation, transactionFlag) = Self.makeWords()
        let session = ModelSession.current(of: transaction) ?? ModelSession(catalog: catalog.root, schema: schema)
        transaction.session = session
        self.transaction = ModelTransaction(storage: transaction, session: session)
        transactionFlag.pointee = 1
    }

    private static func makeWords() -> (UnsafeMutablePointer<UInt64>, UnsafeMutablePointer<UInt64>) {
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: 2)
        words.initialize(to: 1)
        (words + 1).initialize(to: 0)
        return (words, words + 1)
    }

    deinit {
        generation.deallocate()
    }

    /// The version that is read outside a transaction.
    package var snapshot: Snapshot {
        guard let pinned else { preconditionFailure("This view pins no version.") }
        return pinned
    }

    /// A view of its own on the version that this one reads outside a transaction: for freezing, or for another thread.
    ///
    /// That of a view which has let go of its version is as empty as that.
    package func duplicate() throws(StorageError) -> ModelView {
        if isEnded { return ModelView(ended: self) }
        if transaction == nil { return ModelView(snapshot: snapshot, sharing: schema) }
        return try ModelView(snapshot: snapshot, schema: schema)
    }

    /// The version that is read: the transaction's own inside one.
    package var version: UInt64 { transaction?.storage.version ?? pinned?.version ?? unpinnedVersion }

    /// Lets go of the version for good, with no transaction open: from here on all tables are empty.
    package func unpin() {
        unpinnedVersion = version
        generation.pointee &+= 1
        for table in openTables { table.becomeEmpty() }
        catalog = ByteTree()
        pinned = nil
    }

    /// The stamp of the schema at this version.
    package var schemaStamp: UInt64 { schema.stamp }

    /// Whether a transaction is open.
    package var isInTransaction: Bool { transaction != nil }

    /// The table of a class; nil when the file has no such class.
    package func table(named className: String) throws(StorageError) -> TableView? {
        guard let tableID = schema[className]?.tableID else { return nil }
        return try table(id: tableID)
    }

    /// The table of a number; nil when the file has no such table.
    package func table(id: UInt32) throws(StorageError) -> TableView? {
        if let known = tables.withLock({ TableReference(table: $0.tables[id]) }).table { return known }
        guard let schema = schema.schema(of: id) else { return nil }
        let session = transaction?.session.tables[id]
        let created = TableReference(
            table: isEnded
                ? TableView(emptyIn: self, schema: schema, database: self.schema, view: view)
                : try TableView(
                    model: self,
                    schema: schema,
                    database: self.schema,
                    catalog: catalog,
                    view: view,
                    session: session
                )
        )
        if let transaction {
            // Here it may fail, and not where the transaction ends.
            if let pinned { try created.table?.saveRoots(of: pinned, in: outerSchema) }
            if let session, session.isDirty { created.table?.resume(session, in: transaction) }
        }
        return
            tables.withLock { cache in
                if let other = cache.tables[id] { return TableReference(table: other) }
                cache.tables[id] = created.table
                if let table = created.table { cache.list.append(table) }
                return created
            }
            .table
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
    private var openTables: [TableView] {
        tables.withLock { TableReferences(tables: $0.list) }.tables
    }

    // MARK: - Setting a transaction aside

    /// Whether a transaction is open and set aside.
    package var isParked: Bool { parked != nil }

    /// Sets the transaction aside: reads see the snapshot again, until `unpark()`.
    ///
    /// - Throws: `StorageError` when what is in memory cannot be put where the transaction keeps it; the transaction can
    ///   only be rolled back then.
    package func park() throws(StorageError) {
        guard let transaction else { return }
        precondition(!transaction.storage.isJoined, "What is set aside could not be told from what it builds on.")
        try giveBack(transaction)
        let tables = transaction.touched.map {
            ParkedTable(table: $0, firstNewKey: $0.firstNewKey, uniqueness: $0.uniqueness)
        }
        parked = (transaction, tables)
        self.transaction = nil
        returnToSnapshot()
    }

    /// Goes on with the transaction that was set aside.
    package func unpark() throws(StorageError) {
        guard let parked else { return }
        self.parked = nil
        let storage = parked.transaction.storage
        let session = parked.transaction.session
        do throws(StorageError) {
            if session.schema.stamp == schema.stamp {
                try resume(session, in: storage)
            } else {
                try move(to: storage.catalog, view: storage.view, keeping: .rootsAndClasses, session: session)
                enter(storage, session)
            }
        } catch {
            // What it gave back to the session cannot be told from what earlier members did.
            storage.abandonGroup(because: error)
            throw error
        }
        // Rows that were new, or not checked, before are so still.
        for item in parked.tables {
            item.table.firstNewKey = item.firstNewKey
            item.table.uniqueness = item.uniqueness
        }
    }

    // MARK: - Moving

    /// Moves to another version; not inside a transaction.
    ///
    /// - Throws: `StorageError` when it cannot be read; then the view stands where it stood, and pins it.
    package func advance(to snapshot: Snapshot) throws(StorageError) {
        precondition(transaction == nil, "End the transaction before moving to another version.")
        guard snapshot.version != pinned?.version || snapshot.file !== pinned?.file else {
            pinned = snapshot
            return
        }
        try move(to: snapshot.catalog, view: snapshot.view)
        pinned = snapshot
    }

    /// Begins to read and write through a transaction, which may stand on a newer version than the snapshot.
    ///
    /// - Throws: `StorageError` when something that the transaction builds on cannot be read; then nothing has changed.
    package func begin(_ transaction: WriteTransaction) throws(StorageError) {
        precondition(self.transaction == nil, "A transaction is open already.")
        let current = ModelSession.current(of: transaction)
        if let current, current.schema.stamp == schema.stamp {
            try resume(current, in: transaction)
            return
        }
        try move(to: transaction.catalog, view: transaction.view, keeping: .rootsAndClasses, session: current)
        enter(transaction, current)
    }

    /// Goes on in a transaction after moving to where it begins.
    private func enter(_ transaction: WriteTransaction, _ current: ModelSession?) {
        let session = current ?? ModelSession(catalog: catalog.root, schema: schema)
        transaction.session = session
        let model = ModelTransaction(storage: transaction, session: session)
        for table in openTables {
            if let kept = session.tables[table.id], kept.isDirty { table.resume(kept, in: model) }
        }
        self.transaction = model
    }

    /// Begins to read and write through a transaction that goes on where earlier ones of this process ended.
    private func resume(_ session: ModelSession, in transaction: WriteTransaction) throws(StorageError) {
        let tables = openTables
        let isSame = catalog.root == transaction.catalog.root
        if !isSame {
            for table in tables where !table.isOrphan && session.tables[table.id] == nil {
                try table.prepare(from: transaction.catalog, view: transaction.view)
            }
        }
        // Nothing fails from here on.
        generation.pointee &+= 1
        catalog = transaction.catalog
        view = transaction.view
        let model = ModelTransaction(storage: transaction, session: session)
        for table in tables {
            table.saveRoots()
            if let kept = session.tables[table.id] {
                if kept.isDirty { table.resume(kept, in: model) } else { table.read(kept, in: view) }
            } else if isSame || table.isOrphan {
                table.move(to: view)
            } else {
                table.takePrepared(view)
            }
        }
        self.transaction = model
    }

    /// What a move into a transaction keeps for the end of it.
    private enum Keeping {
        case nothing
        case rootsAndClasses
        /// The roots are those of a version that was left before.
        case classes
    }

    /// Reads from other roots: reads them all, and only then takes them over.
    ///
    /// Tables whose catalog is the same keep theirs. Those of a session have their roots there: it may have gone on from what the
    /// catalog says.
    private func move(
        to catalog: ByteTree,
        view: PageView,
        keeping: Keeping = .nothing,
        session: ModelSession? = nil
    ) throws(StorageError) {
        let tables = openTables
        let isSame = catalog.root == self.catalog.root && !catalog.root.isDirty
        if !isSame {
            // Neither the schema nor a class of it is copied when only rows changed: this happens at every commit.
            let stamp = schema.stamp
            guard stamp != 0, keeping != .classes, let entry = try DatabaseEntry(in: catalog, view: view),
                entry.stamp == stamp
            else { return try moveToOtherSchema(in: catalog, view: view, keeping: keeping, session: session) }
            for table in tables where !table.isOrphan { try table.prepare(from: catalog, view: view) }
        }
        // Nothing fails from here on.
        generation.pointee &+= 1
        self.catalog = catalog
        self.view = view
        for table in tables {
            if keeping == .rootsAndClasses { table.saveRoots() }
            if isSame || table.isOrphan { table.move(to: view) } else { table.takePrepared(view) }
        }
    }

    private func moveToOtherSchema(
        in catalog: ByteTree,
        view: PageView,
        keeping: Keeping,
        session: ModelSession?
    ) throws(StorageError) {
        let next = try DatabaseSchema(in: catalog, view: view, previous: schema) ?? .empty
        let isChanged = next.stamp != schema.stamp
        if isChanged { try follower?.checkSchema(next, after: schema) }
        var moves: [(table: TableView, made: TableView?)] = []
        for table in openTables {
            var made: TableView?
            if let current = next.schema(of: table.id) {
                made = try TableView(
                    model: self,
                    schema: current,
                    database: next,
                    catalog: catalog,
                    view: view,
                    session: session?.tables[table.id]
                )
            }
            moves.append((table, made))
        }
        // Nothing fails from here on.
        generation.pointee &+= 1
        self.catalog = catalog
        self.view = view
        if keeping != .nothing, outerSchema == nil { outerSchema = schema }
        schema = next
        for (table, made) in moves {
            if keeping == .rootsAndClasses { table.saveRoots() }
            if keeping != .nothing { table.saveClass() }
            if let made {
                table.take(made, in: next)
            } else {
                table.becomeEmpty()
                table.isOrphan = true
            }
        }
        if isChanged { follower?.schemaDidChange() }
    }

    /// Seals every touched table into the catalog and prepares the commit.
    ///
    /// Reads still see the transaction, until `endTransaction` or `rollback`.
    package func prepareCommit() throws(StorageError) -> PreparedCommit {
        guard let transaction else { preconditionFailure("There is no transaction to commit.") }
        let prepared: PreparedCommit
        do throws(StorageError) {
            try sealTables()
            prepared = try transaction.storage.prepareCommit()
        } catch {
            // A group that cannot be sealed cannot be taken apart either. Alone it is rolled back by the caller.
            if transaction.storage.isJoined { transaction.storage.abandonGroup(because: error) }
            throw error
        }
        transaction.session.didSeal(catalog: transaction.storage.catalog.root)
        transaction.isPrepared = true
        catalog = transaction.storage.catalog
        return prepared
    }

    /// Ends the transaction without sealing it: the next one of this process builds on it, and the last one seals for all.
    ///
    /// Reads see the snapshot again.
    ///
    /// - Returns: The number of its group.
    @discardableResult
    package func join() throws(StorageError) -> UInt64 {
        guard let transaction else { preconditionFailure("There is no transaction to commit.") }
        try giveBack(transaction)
        do throws(StorageError) {
            try transaction.storage.join()
        } catch {
            transaction.storage.abandonGroup(because: error)
            throw error
        }
        transaction.isPrepared = true
        try endTransaction()
        return transaction.storage.groupNumber
    }

    /// The number of the group that the open transaction, or the one that was set aside, belongs to.
    package var groupNumber: UInt64? { (transaction ?? parked?.transaction)?.storage.groupNumber }

    /// Gives what the transaction changed back to the session: everything, or nothing when that fails.
    private func giveBack(_ transaction: ModelTransaction) throws(StorageError) {
        // Of all tables, before a step that can fail.
        for table in transaction.touched { table.spendRowKeys(in: transaction.storage) }
        try transaction.sealSequences(in: self)
        for table in transaction.touched { try table.prepareToGiveBack() }
        for table in transaction.touched { table.giveBack() }
    }

    /// Stores every touched table in the transaction's catalog.
    func sealTables() throws(StorageError) {
        guard let transaction else { return }
        generation.pointee &+= 1
        try giveBack(transaction)
        transaction.isSealing = true
        try transaction.session.seal(in: transaction.storage)
        for table in transaction.touched { table.takeSealed() }
        transaction.touched.removeAll(keepingCapacity: true)
    }

    /// Whether the open transaction may be sealed before its end: it does not stand on commits that are not sealed yet.
    package var canSealEarly: Bool { transaction.map { !$0.storage.isJoined } ?? false }

    /// Seals what the open transaction changed so far, so that its catalog tells everything; the transaction goes on.
    func sealEarly() throws(StorageError) -> WriteTransaction {
        guard let transaction, canSealEarly else { preconditionFailure("This transaction cannot be sealed early.") }
        let storage = transaction.storage
        try sealTables()
        // Sealed as well, so that who goes on from here finds the session to be that of this catalog: it knows the roots that the
        // transaction goes on from, and the catalog does not.
        try storage.catalog.seal(in: storage)
        transaction.session.didSeal(catalog: storage.catalog.root)
        catalog = storage.catalog
        return storage
    }

    /// Forgets the transaction; reads see the snapshot again.
    package func rollback() {
        // What cannot be taken up again is rolled back thereby.
        try? unpark()
        guard let transaction else { return }
        let storage = transaction.storage
        // Of all tables, before a step that can fail.
        for table in transaction.touched { table.spendRowKeys(in: storage) }
        do throws(StorageError) {
            if storage.isOpen, transaction.isSealing {
                // The session holds roots that nobody goes on from.
                storage.session = nil
                if storage.isJoined { throw StorageError(.io, "A commit that others share was sealed by half") }
            } else if storage.isOpen {
                for table in transaction.touched { try table.undo(in: transaction) }
            }
            storage.rollback()
        } catch {
            // What earlier members of the group wrote cannot be had back: they fail when the group is sealed.
            storage.abandonGroup(because: error)
        }
        self.transaction = nil
        returnToSnapshot()
    }

    /// Leaves the transaction after `prepareCommit`.
    ///
    /// - Parameter snapshot: The version to stand on, normally the one just committed; nil to read the old snapshot
    ///   until the commit is durable and `advance(to:)` is called.
    /// - Throws: `StorageError` when that version cannot be read; then the old snapshot is read.
    package func endTransaction(advancingTo snapshot: Snapshot? = nil) throws(StorageError) {
        guard let transaction else { return }
        precondition(transaction.isPrepared, "Prepare the commit or roll back before ending the transaction.")
        self.transaction = nil
        returnToSnapshot()
        if let snapshot { try advance(to: snapshot) }
    }

    /// Reads the snapshot again after a transaction: from what was kept, so that nothing can fail.
    private func returnToSnapshot() {
        guard let pinned else {
            for table in openTables { table.forgetTransaction() }
            return
        }
        generation.pointee &+= 1
        let hadOtherSchema = outerSchema != nil
        if let outerSchema { schema = outerSchema }
        outerSchema = nil
        for table in openTables { table.restoreRoots(view: pinned.view, in: schema) }
        catalog = pinned.catalog
        view = pinned.view
        if hadOtherSchema { follower?.schemaDidChange() }
    }

    /// Whether no class has a row.
    package var isEmpty: Bool {
        get throws(StorageError) {
            for schema in schema.classes.values where try table(named: schema.name)?.count ?? 0 > 0 { return false }
            return true
        }
    }

    /// Changes the schema inside the open transaction, and the tables of this view with it.
    ///
    /// Roll back after an error: a part may have been done.
    package func changeSchema(_ plan: SchemaPlan) throws {
        guard let transaction else { preconditionFailure("The schema changes inside a transaction.") }
        if plan.isEmpty { return }
        try sealTables()
        try SchemaReconciler.apply(plan, in: transaction.storage)
        let storage = transaction.storage
        // The stamp is the transaction's before and after.
        try move(to: storage.catalog, view: storage.view, keeping: .classes)
        enter(storage, nil)
    }

    /// Deletes all rows of all classes, inside a transaction.
    package func deleteAll() throws {
        for schema in schema.classes.values {
            try table(named: schema.name)?.clear()
        }
    }
}
