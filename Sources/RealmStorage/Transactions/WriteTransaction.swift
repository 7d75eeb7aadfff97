/// The one open write transaction of a file: private page buffers on top of the newest prepared version.
///
/// Transactions that will share a flush may be members of one ``WriterGroup``: then a later one builds on the unsealed
/// pages of those before it, and everything is sealed once.
///
/// It has one user, the holder of the write lock; what its functions call out to (``settle(_:)``) is never reached while a
/// property is being changed, so that exclusive access needs no checks at run time.
package final class WriteTransaction {
    /// The file being written.
    package let file: StorageFile
    /// The version being written.
    package let version: UInt64
    /// Reads see the base version and this transaction's own pages.
    package let view: PageView
    /// What it changes: its group takes it over when it commits, and it is dropped when it is rolled back.
    @exclusivity(unchecked) var changed: TransactionChanges
    /// The recorder of that: each row that is written asks for it here.
    package let changes: ChangeRecorder
    let isSealer: Bool
    /// Whether it builds on the unsealed pages of earlier transactions.
    package let isJoined: Bool

    let state: WriterState
    let reservation: Reservation
    let group: WriterGroup
    /// The end of the file before it.
    private let firstPageCount: UInt32
    /// The number of sealed pages that may wait in memory for the commit.
    @exclusivity(unchecked) package var unspilledPageLimit = 4096
    /// The memory that the open clusters of a table may take before the oldest are encoded, in bytes.
    @exclusivity(unchecked) package var openByteLimit = 128 << 20
    /// What records have to do with it.
    @exclusivity(unchecked) package var recording = TransactionRecording.pages
    /// The number of commits that have changed the schema, this one included.
    package var schemaGeneration: UInt64 { state.numbers.schemaGeneration + (changesSchema ? 1 : 0) }
    /// Whether it has not been committed, joined, rolled back or lost.
    @exclusivity(unchecked) package private(set) var isOpen = true
    /// While what earlier members left is being sealed, so that it stays when this one is rolled back.
    @exclusivity(unchecked) private(set) var isSettling = false
    /// Whether its group has taken over what it changed: what is sealed and given up from then on is the group's at once.
    @exclusivity(unchecked) private(set) var isAbsorbed = false

    /// As a sealer it only seals what earlier members left, under the version of the last of them.
    init(
        file: StorageFile,
        state: WriterState,
        view: PageView,
        reservation: Reservation,
        group: WriterGroup,
        isSealer: Bool = false
    ) {
        self.file = file
        self.state = state
        self.view = view
        self.reservation = reservation
        self.group = group
        isJoined = group.memberCount > 0
        self.isSealer = isSealer
        firstPageCount = state.space.pageCount
        version = isSealer ? state.version : state.version + 1
        let changed = TransactionChanges(catalog: state.catalog, in: group)
        changes = changed.recorder
        self.changed = changed
    }

    deinit {
        if isOpen { rollback() }
    }

    /// The root of everything in the file.
    package var catalog: ByteTree {
        @inline(__always) get { changed.catalog }
        @inline(__always) _modify { yield &changed.catalog }
    }

    /// What it changed as the content of a commit record, set before it is committed or joined; nil where it can only be kept as pages.
    package var record: TransactionRecord? {
        get { changed.record }
        set { changed.record = newValue }
    }

    /// Whether the schema that it stores is another one than before.
    package var changesSchema: Bool {
        get { changed.changesSchema }
        set { changed.changesSchema = newValue }
    }

    /// The number of the group that it belongs to.
    package var groupNumber: UInt64 { group.number }

    /// What a copy begins with that is made of what the transaction sees: it is no commit.
    package var beginningOfCopy: FileBeginning {
        var beginning = FileBeginning(version: version)
        beginning.numbers = state.numbers
        return beginning
    }

    /// What the layer above keeps between the transactions of this process; gone when another process wrote.
    package var session: (any WriterSession)? {
        get { state.session }
        set { state.session = newValue }
    }

    /// Seals something as earlier members of the group left it: what is allocated, freed and sealed meanwhile stays so
    /// when this transaction is rolled back.
    ///
    /// - Throws: What `body` throws; then nobody can tell any more what earlier members left, and the group is lost. Of a group that is
    ///   lost nothing is settled any more: it throws why.
    package func settle<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        precondition(!isSettling, "Settling does not nest")
        if let damage = group.damage { throw damage }
        isSettling = isJoined
        defer { isSettling = false }
        do throws(StorageError) {
            return try body()
        } catch {
            group.fail(with: error)
            throw error
        }
    }

    /// Notes that something is half changed after a step that failed: the transaction cannot be committed any more, whatever
    /// becomes of the error.
    package func refuseCommit(because error: StorageError) {
        if changed.refusal == nil { changed.refusal = error }
    }

    /// Throws when the transaction can only be rolled back.
    package func checkCommit() throws(StorageError) {
        if let refusal = changed.refusal { throw refusal }
    }

    /// Throws when writing has stopped, or a commit that the transaction was built on was lost.
    package func checkBase() throws(StorageError) { try file.checkWriting(in: group) }

    /// Seals everything, with what earlier members of the group left, and builds the space record: pure memory, no I/O.
    ///
    /// Afterwards the transaction is over, and the next one may begin on top of it. The commit is to be published, unless one before
    /// it fails.
    package func prepareCommit() throws(StorageError) -> PreparedCommit {
        precondition(isOpen, "The write transaction is over: begin another one")
        try checkCommit()
        try file.checkWriting(in: group)
        let changeSet: ChangeSet
        do throws(StorageError) {
            changeSet = try sealAll()
        } catch {
            // Its group has taken over what it changed, and would take it over a second time.
            refuseCommit(because: error)
            // What earlier members left is sealed in part.
            if isJoined { group.fail(with: error) }
            throw error
        }
        checkGroupIfAsked()
        let runs = group.takeLiveRuns(in: reservation)
        isOpen = false
        giveSpareBack()
        state.space.endCommit()
        state.space.retire(group.retired)
        state.version = version
        state.catalog = catalog.root
        LoggedCommit(of: self).noteEnd()
        state.noteCommit(from: group.firstVersion)
        let prepared = PreparedCommit(
            version: version,
            group: group.number,
            firstVersion: group.firstVersion,
            catalog: catalog.root,
            spaceSegment: state.segments.last?.reference ?? .none,
            records: state.recordBytes,
            oldestLogVersion: state.oldestLogVersion,
            numbers: state.numbers,
            pageCount: state.space.pageCount,
            runs: runs,
            retired: group.retired,
            hasSpilled: group.hasSpilled,
            changes: changeSet,
            entries: group.entries
        )
        do throws(StorageError) {
            // The state says all this already: where this throws, a commit below was lost meanwhile, and with it the
            // state, which nobody else has.
            try file.endGroup(of: state, with: prepared)
        } catch {
            for extent in group.taken {
                reservation.dropBuffers(page: Int(extent.page), pageCount: Int(extent.pageCount))
            }
            throw error
        }
        checkInvariantsIfAsked()
        #if DEBUG
        if recording != .replay {
            file.assertInvariants { () throws(BrokenInvariant) in try changeSet.checkInvariants() }
        }
        #endif
        return prepared
    }

    /// Seals the catalog, hands everything over to the group, and writes the space record.
    ///
    /// The record tells what the group gives up and keeps, so it is written last. Where that fails, nobody goes on from
    /// the group: a transaction that is alone can only be rolled back, and the members of another group are lost.
    private func sealAll() throws(StorageError) -> ChangeSet {
        if catalog.root.isDirty { try catalog.seal(in: self) }
        absorb()
        try group.checkDamage()
        if isJoined { group.changes.absorb(changed.recorder) }
        let changeSet = isJoined ? group.changes.changeSet : changed.recorder.changeSet
        try SpaceRecordWriter(for: self, of: changeSet).write()
        return changeSet
    }

    private func absorb() {
        group.absorb(&changed, in: reservation)
        isAbsorbed = true
    }

    /// Ends the transaction without sealing it: the next one builds on it, and the last one of the group seals for all.
    package func join() throws(StorageError) {
        try checkJoin()
        joinGroup()
    }

    /// Throws what stands in the way of a commit that joins the group.
    func checkJoin() throws(StorageError) {
        precondition(isOpen, "The write transaction is over: begin another one")
        try checkCommit()
        try file.checkWriting(in: group)
        if let damage = group.damage { throw damage }
    }

    /// Does the same as ``join()`` where nothing stands in the way: it cannot fail.
    func joinGroup() {
        absorb()
        LoggedCommit(of: self).noteEnd()
        group.changes.absorb(changed.recorder)
        group.memberCount += 1
        state.version = version
        state.catalog = catalog.root
        end()
        checkInvariantsIfAsked()
    }

    /// Forgets everything this transaction did, and leaves what earlier members of its group did.
    ///
    /// - Parameter isSessionClean: Whether whoever wrote has taken out of the session what the transaction left there; else those
    ///   that follow begin with a new one.
    package func rollback(sessionIsClean isSessionClean: Bool = false) {
        guard isOpen else { return }
        defer { checkInvariantsIfAsked() }
        if isJoined {
            if group.isSealedInPart {
                group.fail(with: StorageError(.io, "A commit that others share was sealed by half", path: file.path))
            }
            if group.damage == nil {
                group.drop(changed, in: reservation)
                giveEndBack()
                if group.hasSpilled, file.leavesPages { file.cutBack(group, to: state.space.pageCount) }
                return end()
            }
            // What earlier members wrote cannot be had back: they fail with the group.
            state.session = nil
        }
        if !isSessionClean { state.session = nil }
        discardGroup()
    }

    /// Forgets the group with all its members, when what this transaction did cannot be undone.
    ///
    /// - Parameter error: Why.
    package func abandonGroup(because error: StorageError) {
        guard isOpen else { return }
        group.fail(with: error)
        state.session = nil
        discardGroup()
    }

    /// Forgets the group with all its members: the commits that it was built on are lost, or it cannot be sealed.
    func discardGroup() {
        if group.memberCount > 0 {
            state.session = nil
            file.giveUp(group)
        }
        for extent in group.taken {
            reservation.dropBuffers(page: Int(extent.page), pageCount: Int(extent.pageCount))
        }
        state.space.abandonCommit()
        state.space.release(group.taken)
        state.space.resetEnd(to: group.firstPageCount)
        state.version = group.firstVersion - 1
        state.catalog = group.firstCatalog
        state.numbers = group.firstNumbers
        file.cutBack(group, to: group.firstPageCount)
        isOpen = false
        file.endGroup(of: state)
    }

    @inline(__always)
    private func checkInvariantsIfAsked() {
        #if DEBUG
        file.assertInvariants { () throws(BrokenInvariant) in
            if file.checksWholeStructures { try checkInvariants() } else { try checkInvariantsOfChange() }
        }
        #endif
    }

    /// Checks the whole group, which is sealed.
    @inline(__always)
    private func checkGroupIfAsked() {
        #if DEBUG
        file.assertInvariants { () throws(BrokenInvariant) in try checkInvariantsOfGroup() }
        #endif
    }

    /// Ends the member; the group is forgotten when commits that it was built on were lost meanwhile.
    private func end() {
        isOpen = false
        if !file.endMember(of: group, in: state) { discardGroup() }
    }

    /// Gives back the end of the file that nothing of the group needs which the transaction, when it is rolled back, has not taken: otherwise
    /// the commit of the others would be as long.
    private func giveEndBack() {
        guard state.space.pageCount > firstPageCount else { return }
        let end = max(firstPageCount, group.endOfKept)
        if end == state.space.pageCount { return }
        group.forget(behind: end)
        state.space.endChunk()
        state.space.resetEnd(to: end)
    }

    private func giveSpareBack() {
        state.space.release(group.spare.extents)
        group.spare = SparePages()
    }
}
