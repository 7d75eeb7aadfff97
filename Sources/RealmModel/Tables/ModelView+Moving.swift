package import RealmStorage

/// From version to version: what is read next is read whole, and only then taken over.
extension ModelView {
    /// Where a view goes next.
    private struct Move {
        let catalog: ByteTree
        let view: PageView
        /// The schema there, when it is another one.
        var schema: DatabaseSchema?
        /// Whether it differs in more than place.
        var changesSchema = false
        /// What each open table reads next, nil for what it reads now; none when all of them do.
        var tables: [(table: TableView, version: TableVersion?)] = []
    }

    /// Moves to another version; not inside a transaction.
    ///
    /// - Parameters:
    ///   - snapshot: The version.
    ///   - known: A view that stands there for good, if there is one: what it has read is not read again.
    /// - Throws: `StorageError` when it cannot be read; then the view stands where it stood, and pins it.
    package func advance(to snapshot: Snapshot, as known: ModelView? = nil) throws(StorageError) {
        precondition(!isInTransaction, "End the transaction before moving to another version.")
        if let pinned, snapshot.isSame(as: pinned) { return pin(snapshot) }
        if let known, takesOver(known, at: snapshot) {
            pin(snapshot)
            return checkInvariantsIfAsked()
        }
        let move = try plan(to: snapshot.catalog, view: snapshot.view)
        take(move)
        pin(snapshot)
        checkInvariantsIfAsked()
    }

    /// Reads what another view reads at a version; false when that does not have everything which is open here, or stands elsewhere.
    ///
    /// Many realms are taken to a version at the same time by what they observe.
    private func takesOver(_ known: ModelView, at snapshot: Snapshot) -> Bool {
        guard case .reading(let version) = known.state, version === snapshot, schema.stamp != 0,
            known.schema.stamp == schema.stamp
        else { return false }
        let open = openTables
        let there = known.openTables
        func other(_ table: TableView) -> TableView? { there.first { $0.id == table.id && !$0.isDetached } }
        guard open.allSatisfy({ !$0.isDetached && other($0) != nil }) else { return false }
        generation.pointee &+= 1
        committed = nil
        catalog = snapshot.catalog
        view = snapshot.view
        for table in open {
            if let other = other(table) { table.read(other.roots, in: view) }
        }
        return true
    }

    private func pin(_ snapshot: Snapshot) {
        if case .suspended(let transaction) = state {
            transaction.outside = ModelTransaction.Outside(snapshot: snapshot)
        } else {
            state = .reading(snapshot)
        }
    }

    /// Begins to read and write through a transaction, which may stand on a newer version than the snapshot.
    ///
    /// - Throws: `StorageError` when something that the transaction builds on cannot be read; then nothing has changed.
    package func begin(_ transaction: WriteTransaction) throws(StorageError) {
        guard case .reading(let snapshot) = state else {
            preconditionFailure("A transaction is open already, or no version is pinned.")
        }
        let known = ModelSession.current(of: transaction)
        let move = try plan(to: transaction.catalog, view: transaction.view, session: known)
        let open = ModelTransaction(storage: transaction, session: session(known, move))
        enter(move, open, over: ModelTransaction.Outside(snapshot: snapshot))
    }

    /// Sets the transaction aside: reads see the snapshot again, until `resume()`.
    ///
    /// - Throws: `StorageError` when what is in memory cannot be put where the transaction keeps it; the transaction can
    ///   only be rolled back then.
    package func suspend() throws(StorageError) {
        guard let transaction, let outside = transaction.outside else { return }
        precondition(!transaction.storage.isJoined, "What is set aside could not be told from what it builds on.")
        try leave(transaction, isSuspended: true)
        transaction.outside?.schema = nil
        state = .suspended(transaction)
        readOutside(outside)
    }

    /// Goes on with the transaction that was set aside.
    package func resume() throws(StorageError) {
        guard case .suspended(let transaction) = state else { return }
        let storage = transaction.storage
        do throws(StorageError) {
            let move = try plan(to: storage.catalog, view: storage.view, session: transaction.session)
            enter(move, transaction, over: transaction.outside)
        } catch {
            state = .reading(snapshot)
            // What it left in the session cannot be told from what earlier members did.
            storage.abandonGroup(because: error)
            throw error
        }
    }

    /// Changes the schema inside the open transaction, and the tables of this view with it.
    ///
    /// Roll back after an error: a part may have been done.
    ///
    /// - Parameter plan: The steps.
    /// - Throws: `invalidArgument` in a transaction that builds on others which are not sealed yet, and what a step throws.
    package func changeSchema(_ plan: SchemaPlan) throws {
        guard let transaction else {
            preconditionFailure("The schema changes inside a transaction.")
        }
        if plan.isEmpty { return }
        let storage = transaction.storage
        // What earlier ones left would be sealed here, and could not be told from what is rolled back then.
        guard !storage.isJoined else {
            throw StorageError(
                .invalidArgument,
                "The schema cannot change in a transaction that shares its commit with others: begin one of its own",
                path: storage.file.path
            )
        }
        let unchecked = try transaction.touched.map { (table: $0, keys: try $0.keysToCheck()) }
        try sealTables()
        try SchemaReconciler.apply(plan, in: storage)
        // The stamp is the transaction's before and after.
        let move = try self.plan(to: storage.catalog, view: storage.view, rereading: true)
        enter(move, ModelTransaction(storage: storage, session: session(nil, move)), over: transaction.outside)
        // What knew of them went with the writers; an index that was made anew has been checked, and one that was kept has not.
        for (table, keys) in unchecked where !table.isDetached { try table.checkLater(keys) }
    }

    // MARK: Two steps

    /// Reads what there is at a place; nothing changes.
    ///
    /// Tables of a session have their roots there: it may have gone on from what the catalog says.
    private func plan(
        to catalog: ByteTree,
        view: PageView,
        session: ModelSession? = nil,
        rereading: Bool = false
    ) throws(StorageError) -> Move {
        var move = Move(catalog: catalog, view: view)
        let isSame = catalog.root == self.catalog.root && !catalog.root.isDirty
        let known = session == nil && !rereading && committed?.catalog == catalog.root ? committed?.roots : nil
        var hasSchema = !rereading
        if hasSchema, !isSame, known == nil { hasSchema = try self.hasSchema(of: catalog, view, session) }
        if hasSchema {
            // Neither the schema nor a class of it is read when only rows changed: this happens at every commit.
            if isSame { return move }
            let tables = openTables
            move.tables.reserveCapacity(tables.count)
            for (index, table) in tables.enumerated() {
                let version: TableVersion?
                if table.isDetached {
                    version = nil
                } else if let known, index < known.count {
                    version = TableVersion(layout: table.layout, roots: known[index])
                } else {
                    version = try self.version(
                        of: table.layout,
                        in: catalog,
                        view: view,
                        known: table.roots.clusters,
                        writer: session?.tables[table.id]
                    )
                }
                move.tables.append((table, version))
            }
            return move
        }
        let next = try DatabaseSchema(in: catalog, view: view, previous: schema) ?? .empty
        move.schema = next
        move.changesSchema = next.stamp != schema.stamp
        if move.changesSchema { try follower?.checkSchema(next, after: schema) }
        for table in openTables {
            let version: TableVersion
            if let current = next.schema(of: table.id) {
                let layout = next.layout(of: current)
                version = try self.version(of: layout, in: catalog, view: view, writer: session?.tables[table.id])
            } else {
                version = TableVersion(
                    layout: table.layout,
                    roots: TableRoots(emptyFor: table.layout),
                    isDetached: true
                )
            }
            move.tables.append((table, version))
        }
        return move
    }

    /// Whether the schema at a place is the one that this view has.
    private func hasSchema(
        of catalog: ByteTree,
        _ view: PageView,
        _ session: ModelSession?
    ) throws(StorageError) -> Bool {
        if let session { return session.schema.stamp == schema.stamp }
        guard schema.stamp != 0 else { return false }
        return try DatabaseEntry(in: catalog, view: view)?.stamp == schema.stamp
    }

    /// Reads what was planned.
    private func take(_ move: Move) {
        generation.pointee &+= 1
        committed = nil
        catalog = move.catalog
        view = move.view
        if let next = move.schema { schema = next }
        if move.tables.isEmpty {
            for table in openTables { table.read(nil, in: view) }
        } else {
            for (table, version) in move.tables { table.read(version, in: view) }
        }
        if move.changesSchema { follower?.schemaDidChange() }
    }

    /// The session that a transaction goes on from, or one of its own.
    private func session(_ known: ModelSession?, _ move: Move) -> ModelSession {
        known ?? ModelSession(catalog: move.catalog.root, schema: move.schema ?? schema)
    }

    /// Enters a transaction, which may have been suspended, and reads what is there.
    private func enter(_ move: Move, _ transaction: ModelTransaction, over outside: ModelTransaction.Outside?) {
        transaction.outside = outside
        if outside != nil, outside?.schema == nil, move.schema != nil { transaction.outside?.schema = schema }
        transaction.storage.session = transaction.session
        let resumed = transaction.touched
        transaction.touched = []
        let tables = openTables
        // What is read outside is known from the beginning on, also where the schema changes later.
        if !isInTransaction { for table in tables { table.enterTransaction() } }
        take(move)
        for table in tables {
            guard let writer = transaction.session.tables[table.id], writer.isDirty else { continue }
            if resumed.contains(where: { $0 === table }) {
                table.resume(writer, in: transaction)
            } else {
                table.begin(writer, in: transaction)
            }
        }
        state = .writing(transaction)
        checkInvariantsIfAsked()
    }

    /// Reads the version outside the transaction again: from what was kept, so that nothing can fail.
    func readOutside(_ outside: ModelTransaction.Outside) {
        generation.pointee &+= 1
        if let other = outside.schema { schema = other }
        catalog = outside.snapshot.catalog
        view = outside.snapshot.view
        for table in openTables { table.leaveTransaction(view: view) }
        if outside.schema != nil { follower?.schemaDidChange() }
    }
}
