import Atomics

/// The row keys that were given out.
///
/// A rollback takes rows back and leaves no trace in the file, but accessors and references that were made for them are
/// still held. Their keys are noted here, so that no process gives one out a second time. Tables whose numbers are equal
/// modulo the number of words share one, and then skip keys.
extension LockFile {
    /// No key above this one is believed: what a damaged lock file says may cost keys, but never use them up.
    static let greatestRowKey: UInt64 = 1 << 60

    /// Where the keys of a table are noted; read and written by the holder of the write lock only.
    private func rowKey(of table: UInt32) -> UnsafeAtomic<UInt64> {
        memory.word64(LockFileLayout.Word.rowKeys + Int(table) % LockFileLayout.Word.rowKeyCount * 8)
    }

    /// The least row key that a table may still give out, as far as it is noted here.
    func leastRowKey(of table: UInt32) -> Int64 {
        let key = rowKey(of: table).load(ordering: .relaxed)
        return key <= LockFile.greatestRowKey ? Int64(key) : 0
    }

    /// Notes that a table has given out the row keys below one.
    func noteRowKeys(before key: Int64, of table: UInt32) {
        let word = rowKey(of: table)
        let key = UInt64(max(0, key))
        if word.load(ordering: .relaxed) < key { word.store(key, ordering: .relaxed) }
    }
}

extension WriteTransaction {
    /// The least row key that a table may still give out: those below it were given out, if only to rows that a rollback
    /// has taken back.
    package func leastRowKey(of table: UInt32) -> Int64 {
        recording == .replay ? 0 : file.lock?.leastRowKey(of: table) ?? 0
    }

    /// Notes, for all processes and whatever becomes of the transaction, that a table has given out the row keys below one.
    package func noteRowKeys(before key: Int64, of table: UInt32) {
        file.lock?.noteRowKeys(before: key, of: table)
    }
}
