/// The log's side of a write transaction: its record, what the commit counts, and the pages that it may owe.
///
/// The transaction knows pages, the catalog and what it changes. It says here that it ends, and what belongs to the log is done. Nobody keeps
/// such a value: whoever asks makes one.
package struct LoggedCommit {
    let transaction: WriteTransaction
    /// The memory of what is not in pages yet, as far as whoever writes has said so: what needs space is estimated by it.
    package var openByteCount: Int

    /// That of a transaction.
    ///
    /// - Parameters:
    ///   - transaction: The transaction.
    ///   - openByteCount: The memory of what is not in pages yet.
    package init(of transaction: WriteTransaction, openByteCount: Int = 0) {
        self.transaction = transaction
        self.openByteCount = openByteCount
    }

    var file: StorageFile { transaction.file }
    var group: WriterGroup { transaction.group }
    var state: WriterState { transaction.state }

    // MARK: Its record

    /// The longest content of a record that is of use; 0 where the transaction is kept as pages, whatever it changes.
    package var contentByteLimit: Int {
        guard case .record = transaction.recording, !transaction.changesSchema, !group.hasSpilled, group.entries != nil
        else { return 0 }
        return file.options.log?.contentByteLimit ?? 0
    }

    /// The time of the newest record before.
    package var newestRecordTime: Int64 { state.numbers.recordTime }

    /// Notes the time of a record that the transaction has applied.
    package func noteReplayed(_ time: Int64) {
        guard let known = transaction.changed.replayedNumbers?.recordTime else { return }
        transaction.changed.replayedNumbers?.recordTime = max(known, time)
    }

    /// Does what belongs to the log where the transaction ends, as a member of its group or sealed.
    func noteEnd() {
        count()
        leaveRecord()
    }

    /// Counts what the transaction changed as a record, whether or not one is written.
    ///
    /// A sealer changes nothing.
    private func count() {
        if let numbers = transaction.changed.replayedNumbers {
            state.numbers = numbers
            return
        }
        let changesSchema = transaction.changesSchema
        if changesSchema { state.numbers.schemaGeneration += 1 }
        if changesSchema || !transaction.changes.isEmpty { state.numbers.position += 1 }
        if let record = transaction.record { state.numbers.recordTime = max(state.numbers.recordTime, record.time) }
    }

    /// Leaves its record to the group, which is kept as pages when one of its members has none.
    private func leaveRecord() {
        if transaction.isSealer { return }
        guard let record = transaction.record else {
            group.entries = nil
            return
        }
        group.entries?.append(entry(for: record, at: state.numbers.position))
    }

    private func entry(for record: TransactionRecord, at position: UInt64) -> CommitLog.Entry {
        CommitLog.Entry(kind: record.kind, position: position, version: transaction.version, content: record.content)
    }

    // MARK: The pages that it may owe

    /// The length of its record, where that may make it durable as far as its group can tell.
    private var owingByteCount: Int? {
        guard let record = transaction.record, transaction.changed.refusal == nil, group.damage == nil else {
            return nil
        }
        return file.mayJoinOwing(record.content.count, group) ? record.content.count : nil
    }

    /// Whether its record may make it durable, and its pages be made later.
    package var mayOwePages: Bool {
        guard let byteCount = owingByteCount else { return false }
        return file.mayOwePages(byteCount, owedSpace)
    }

    /// Makes the record durable, which acknowledges it, and ends the transaction as ``WriteTransaction/join()`` does: the pages are made later,
    /// with those of others, by whoever seals the group.
    ///
    /// - Returns: Whether it is durable; false where the log has been deleted, and the group has to be sealed and published for that.
    /// - Throws: What stands in the way of a commit, or the failure of the log, behind which writing has stopped.
    package func acknowledge() throws(StorageError) -> Bool {
        guard let record = transaction.record else { preconditionFailure("What has no record is kept as pages") }
        try transaction.checkJoin()
        let isDurable = try file.acknowledge(nextEntry(for: record), of: group.number)
        // Behind this nothing can fail: it is there after a kill.
        transaction.joinGroup()
        if isDurable { noteOwed(record) }
        return isDurable
    }

    /// Whether it may end by ``joinOwing()``; blocks no thread.
    package var mayJoinOwing: Bool {
        guard owingByteCount != nil else { return false }
        // Where it is not long enough for more of them, the pages of all are made, for which it is.
        return !file.hasAcknowledged(group) || file.isLongEnough(for: owedSpace.withEnd)
    }

    /// Ends the transaction as ``WriteTransaction/join()`` does, and leaves its record to be made durable
    /// (``StorageFile/acknowledge(_:of:)``), which acknowledges it: its pages are made later.
    ///
    /// - Returns: The record, with the space for the pages up to it.
    /// - Throws: What ``WriteTransaction/join()`` throws.
    package func joinOwing() throws(StorageError) -> OwingRecord {
        guard let record = transaction.record else { preconditionFailure("What has no record is kept as pages") }
        let owing = OwingRecord(entry: nextEntry(for: record), space: owedSpace)
        try transaction.join()
        noteOwed(record)
        return owing
    }

    /// What a record says in the log that this transaction, which has not ended, leaves.
    private func nextEntry(for record: TransactionRecord) -> CommitLog.Entry {
        entry(for: record, at: state.numbers.position + (transaction.changes.isEmpty ? 0 : 1))
    }

    private func noteOwed(_ record: TransactionRecord) {
        group.owedCount += 1
        group.owedByteCount += record.content.count
    }

    /// Whether it is sealed with commits that were acknowledged by their records, or are about to be.
    package var isBesideOwing: Bool { transaction.isJoined && !transaction.isSealer && group.owedCount > 0 }

    /// Secures the space of such a transaction, before anything of it is sealed or left to its group: where there is none, it can be rolled
    /// back alone.
    ///
    /// - Throws: What stands in the way of a commit, or the failure to make the file longer.
    package func secureSpace() throws(StorageError) {
        // In a forked child the file is the parent's.
        try file.checkWriting(in: group)
        try file.secure(owedSpace.needed, for: group)
    }
}
