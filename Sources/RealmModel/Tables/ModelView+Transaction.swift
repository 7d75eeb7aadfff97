package import RealmStorage

/// The end of a transaction.
extension ModelView {
    /// Seals every touched table into the catalog and prepares the commit.
    ///
    /// Reads still see the transaction, until `endTransaction` or `rollback`.
    package func prepareCommit() throws(StorageError) -> PreparedCommit {
        guard let transaction else { preconditionFailure("There is no transaction to commit.") }
        try transaction.storage.checkCommit()
        try secureSpace()
        checkInvariantsIfAsked()
        generation.pointee &+= 1
        // Where that fails, it is rolled back alone. Sealing goes on from what the writers have left; where sealing
        // fails, nobody goes back to what they had left before: the session goes with the group, or with the rollback.
        try leave(transaction)
        let prepared: PreparedCommit
        do throws(StorageError) {
            try storeLeft(transaction)
            prepared = try transaction.storage.prepareCommit()
        } catch {
            // What is sealed by half is not sealed again.
            transaction.storage.refuseCommit(because: error)
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
        try secureSpace()
        return try join { (storage) throws(StorageError) in try storage.join() }.group
    }

    /// Secures the space of what is to be sealed with commits that were acknowledged, before a step that cannot be undone alone.
    private func secureSpace() throws(StorageError) {
        guard let transaction else { return }
        var commit = LoggedCommit(of: transaction.storage)
        guard commit.isBesideOwing else { return }
        commit.openByteCount = openByteCount(in: transaction)
        try commit.secureSpace()
    }

    /// The memory of what is not in pages yet.
    private func openByteCount(in transaction: ModelTransaction) -> Int {
        transaction.session.tables.values.reduce(0) { $0 + $1.rows.openByteCount }
    }

    /// The log's side of the open transaction, which knows how much is not in pages yet; asked behind ``keepRecord(_:)``.
    package var loggedCommit: LoggedCommit? {
        guard let transaction else { return nil }
        return LoggedCommit(of: transaction.storage, openByteCount: openByteCount(in: transaction))
    }

    /// Ends the transaction as ``join()`` does, and leaves its record to be made durable.
    ///
    /// - Parameter commit: What ``loggedCommit`` has said of it, which may end so.
    /// - Returns: The number of its group, and the record.
    /// - Throws: What ``join()`` throws.
    package func joinOwing(_ commit: LoggedCommit) throws(StorageError) -> (group: UInt64, record: OwingRecord) {
        try join { (_) throws(StorageError) in try commit.joinOwing() }
    }

    private func join<Left>(
        by end: (WriteTransaction) throws(StorageError) -> Left
    ) throws(StorageError) -> (group: UInt64, Left) {
        guard let transaction else { preconditionFailure("There is no transaction to commit.") }
        try transaction.storage.checkCommit()
        checkInvariantsIfAsked()
        try prepareToLeave(transaction)
        let left: Left
        do throws(StorageError) {
            left = try end(transaction.storage)
        } catch {
            // Only what no earlier member survives is thrown here: the group is lost or damaged, or writing has stopped.
            transaction.storage.abandonGroup(because: error)
            throw error
        }
        leavePrepared(transaction)
        transaction.isPrepared = true
        try endTransaction()
        return (transaction.storage.groupNumber, left)
    }

    /// Ends the transaction as ``join()`` does, once its record is durable.
    ///
    /// - Parameter commit: What ``loggedCommit`` has said of it, which may end so.
    /// - Returns: The number of its group, and whether it is acknowledged; otherwise the group has to be published for that.
    /// - Throws: What ``join()`` throws, or the failure of the log.
    package func acknowledge(_ commit: LoggedCommit) throws(StorageError) -> (group: UInt64, isDurable: Bool) {
        try join { (_) throws(StorageError) in try commit.acknowledge() }
    }

    /// The number of the group that the open transaction, or the one that was set aside, belongs to.
    package var groupNumber: UInt64? {
        switch state {
        case .writing(let transaction), .suspended(let transaction): transaction.storage.groupNumber
        case .reading, .ended: nil
        }
    }

    /// Leaves what the transaction changed in the session: everything, or nothing when that fails.
    func leave(_ transaction: ModelTransaction, isSuspended: Bool = false) throws(StorageError) {
        try prepareToLeave(transaction)
        leavePrepared(transaction, isSuspended: isSuspended)
    }

    /// Does all of that which can fail: what a rollback goes back to stays as it is.
    private func prepareToLeave(_ transaction: ModelTransaction) throws(StorageError) {
        // Of all tables, before a step that can fail.
        for table in transaction.touched { table.writer?.noteRowKeys(in: transaction.storage) }
        try transaction.sealSequences(in: self)
        // That may have touched more of them.
        for table in transaction.touched { try table.writer?.prepareToLeave() }
    }

    /// Leaves in the session what has been prepared for that; the transaction itself may have ended.
    private func leavePrepared(_ transaction: ModelTransaction, isSuspended: Bool = false) {
        for table in transaction.touched { table.writer?.leave(isSuspended: isSuspended) }
    }

    /// Stores every touched table in the transaction's catalog.
    func sealTables() throws(StorageError) {
        guard let transaction else { return }
        generation.pointee &+= 1
        try leave(transaction)
        try storeLeft(transaction)
    }

    /// Stores every table that the transaction has left, and has them be read from what is sealed.
    private func storeLeft(_ transaction: ModelTransaction) throws(StorageError) {
        try sealLeft(transaction)
        for table in transaction.touched { table.readSealed() }
        transaction.touched.removeAll(keepingCapacity: true)
    }

    /// Stores every table that the transaction has left.
    private func sealLeft(_ transaction: ModelTransaction) throws(StorageError) {
        transaction.isSealing = true
        try transaction.session.seal(in: transaction.storage)
    }

    /// Throws when the open transaction can only be rolled back.
    package func checkCommit() throws(StorageError) {
        try transaction?.storage.checkCommit()
        try transaction?.storage.checkBase()
    }

    /// Whether the open transaction may be sealed before its end: it does not stand on commits that are not sealed yet.
    package var canSealEarly: Bool { transaction.map { !$0.storage.isJoined } ?? false }

    /// What a copy begins with that is made of what the open transaction sees.
    package var beginningOfCopy: FileBeginning {
        transaction?.storage.beginningOfCopy ?? FileBeginning(version: version)
    }

    /// Seals what the open transaction changed so far, so that its catalog tells everything; the transaction goes on.
    ///
    /// - Throws: `StorageError`; then the transaction can be read and written as before, and only be rolled back.
    func sealEarly() throws(StorageError) -> WriteTransaction {
        guard let transaction, canSealEarly else { preconditionFailure("This transaction cannot be sealed early.") }
        let storage = transaction.storage
        generation.pointee &+= 1
        do throws(StorageError) {
            try leave(transaction, isSuspended: true)
        } catch {
            storage.refuseCommit(because: error)
            throw error
        }
        let touched = transaction.touched
        // Rows that were new are so still, unique values are still to be checked, and the record has to tell of these tables. Where a
        // step fails, each of them is still read through its writer, which has detached it from the transaction.
        defer {
            catalog = storage.catalog
            transaction.touched.removeAll(keepingCapacity: true)
            for table in touched {
                table.readSealed()
                guard let writer = transaction.session.tables[table.id] else { continue }
                table.resume(writer, in: transaction)
            }
        }
        do throws(StorageError) {
            try sealLeft(transaction)
            // Sealed as well, so that who goes on from here finds the session to be that of this catalog: it knows the roots that the
            // transaction goes on from, and the catalog does not.
            try storage.catalog.seal(in: storage)
        } catch {
            // Part of it is sealed, and would be given up twice.
            storage.refuseCommit(because: error)
            throw error
        }
        transaction.session.didSeal(catalog: storage.catalog.root)
        return storage
    }

    /// Forgets the transaction; reads see the snapshot again.
    package func rollback() {
        // What cannot be resumed is rolled back thereby.
        try? resume()
        guard let transaction else { return }
        let storage = transaction.storage
        // Of all tables, before a step that can fail.
        for table in transaction.touched { table.writer?.noteRowKeys(in: storage) }
        do throws(StorageError) {
            if storage.isOpen, transaction.isSealing {
                // The session holds roots that nobody goes on from.
                storage.session = nil
                if storage.isJoined { throw StorageError(.io, "A commit that others share was sealed by half") }
            } else if storage.isOpen {
                for table in transaction.touched {
                    guard let writer = table.writer, try !writer.rollBack(storage) else { continue }
                    transaction.session.tables[table.id] = nil
                }
            }
            storage.rollback(sessionIsClean: true)
        } catch {
            // What earlier members of the group wrote cannot be had back: they fail when the group is sealed.
            storage.abandonGroup(because: error)
        }
        leave(over: transaction.outside)
    }

    /// Leaves the transaction after `prepareCommit`.
    ///
    /// - Parameter snapshot: The version to stand on, normally the one just committed; nil to read the old snapshot
    ///   until the commit is durable and `advance(to:)` is called.
    /// - Throws: `StorageError` when that version cannot be read; then the old snapshot is read.
    package func endTransaction(advancingTo snapshot: Snapshot? = nil) throws(StorageError) {
        guard let transaction else { return }
        precondition(transaction.isPrepared, "Prepare the commit or roll back before ending the transaction.")
        noteCommitted(transaction)
        leave(over: transaction.outside)
        if let snapshot { try advance(to: snapshot) }
    }

    /// Keeps where a transaction has left the tables, when it is sealed and their classes are as they were before it.
    private func noteCommitted(_ transaction: ModelTransaction) {
        let root = transaction.storage.catalog.root
        committed = nil
        if root.isDirty { return }
        guard let outside = transaction.outside, outside.schema == nil else { return }
        committed = Committed(catalog: root, roots: openTables.map(\.roots))
    }

    /// Stands outside the transaction again.
    private func leave(over outside: ModelTransaction.Outside?) {
        guard let outside else {
            state = .ended(version)
            for table in openTables { table.leaveTransaction(view: view) }
            return
        }
        state = .reading(outside.snapshot)
        readOutside(outside)
        checkInvariantsIfAsked()
    }
}
