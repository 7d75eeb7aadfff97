import Synchronization

/// A version that was acknowledged without pages, made in memory from its records, as a recovery makes it: on top of the published version,
/// which stays pinned.
///
/// What it shares with that one is read in the file, and what the records change stands in private memory, under numbers of pages that are
/// free there. Once made it does not change.
final class ReplayedVersion: Sendable {
    /// The published version that it was made on top of.
    let base: Snapshot
    /// What leads to its pages; it is written nowhere.
    let header: FileHeader
    /// Has its pages, and cannot be written to.
    private let memory: StorageFile

    /// Where its pages are read.
    var view: PageView { memory.view }

    /// Applies records.
    ///
    /// - Parameters:
    ///   - records: The records behind the published version, in their order, of which there are some.
    ///   - base: That version.
    ///   - log: How they are applied.
    /// - Throws: Why they cannot be applied, or where there is no memory for that.
    init(_ records: [CommitRecord], over base: Snapshot, _ log: LogOptions) throws(StorageError) {
        let file = base.file
        guard let last = records.last, records.allSatisfy({ $0.kind == .changes || $0.kind == .schema }) else {
            throw StorageError(.invalidArgument, "Only records of changes are applied in memory", path: file.path)
        }
        memory = try StorageFile.inMemory(over: base)
        try memory.requirePositions(of: records, behind: base.header.numbers.position)
        let state = try WriterState.load(from: base.header, in: memory.view, path: file.path)
        guard !state.space.isDamaged else {
            throw .corrupt("A page was given up twice: the file is damaged", page: 0, path: file.path)
        }
        // The one version that is made of all of them is the last one's.
        state.version = last.version - 1
        let transaction = memory.beginReplay(on: state, pinned: [base.version])
        transaction.changed.replayedNumbers = CommitNumbers(
            position: last.position,
            schemaGeneration: base.header.numbers.schemaGeneration + UInt64(records.count { $0.kind == .schema }),
            recordTime: base.header.numbers.recordTime
        )
        var header = base.header
        do {
            header.lead(to: try log.replay(records, transaction))
        } catch {
            transaction.rollback()
            throw error as? StorageError
                ?? StorageError(.corrupt, "The log of the realm cannot be applied: \(error)", path: file.path)
        }
        self.base = base
        self.header = header
        // Only the pages are needed, and what is free among them nobody asks for.
        memory.writer.withLock { $0.state = nil }
    }
}

extension StorageFile {
    /// So many pages more than the version has, twice, may stand in memory.
    private static let replayedPageCount = 1 << 16

    /// A file of which nothing comes to the disk, on top of a version.
    fileprivate static func inMemory(over base: Snapshot) throws(StorageError) -> StorageFile {
        let file = base.file
        let end = Int(base.header.pageCount)
        var options = file.options
        options.isReadOnly = true
        options.log = nil
        return StorageFile(
            path: file.path,
            options: options,
            data: MemoryDevice(path: file.path, byteCount: end * pageByteCount),
            reservation: try Reservation(
                over: file.reservation,
                pageCount: min(2 * end + replayedPageCount, Int(UInt32.max) - 1),
                path: file.path
            ),
            lock: nil,
            recovered: HeaderRecovery.Result(header: base.header, slot: 0),
            byteCount: end * pageByteCount
        )
    }

    /// Begins to apply records in a file that nobody else has, whose pages stand in memory only.
    ///
    /// Nothing else may be begun before it ends.
    ///
    /// - Parameters:
    ///   - base: What it builds on, and the version before that which it makes.
    ///   - pinned: The versions from which somebody may ask for changes.
    /// - Returns: The transaction.
    func beginReplay(on base: WriterState, pinned: [UInt64] = []) -> WriteTransaction {
        let group = WriterGroup(1, begunOn: base, pinned: pinned)
        writer.withLock { box in
            box.state = base
            box.groupCount = 1
        }
        let transaction = WriteTransaction(file: self, state: base, view: view, reservation: reservation, group: group)
        transaction.recording = .replay
        // There is no file for it.
        transaction.unspilledPageLimit = .max
        return transaction
    }
}

extension FileHeader {
    /// Has the header lead to what a commit has left.
    mutating func lead(to commit: PreparedCommit) {
        version = commit.version
        numbers = commit.numbers
        catalog = commit.catalog
        spaceSegment = commit.spaceSegment
        records = commit.records
        oldestLogVersion = commit.oldestLogVersion
        pageCount = UInt64(commit.pageCount)
    }
}
