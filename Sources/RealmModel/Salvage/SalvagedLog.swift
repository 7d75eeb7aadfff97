import RealmStorage

/// The records behind the best version of a damaged file, applied in memory as far as each fits on top of those before it.
///
/// None is left out in between: what stands behind a record that does not fit was made on top of something else than what is there, and
/// a step in a list would be taken in the wrong place without anybody's noticing.
struct SalvagedLog {
    private(set) var report = SalvageReport.LogReport()
    /// The version that they make; nil where none was applied.
    private(set) var root: DamagedFile.Root?
    private var transaction: WriteTransaction?

    /// Applies the records of a file's log.
    ///
    /// - Complexity: Once through the records; where one does not fit, once more. Where only sealing shows it, the first that does not
    ///   is searched for by halves.
    init(of file: DamagedFile) {
        let records = file.log.records
        report.problem = file.log.problem
        report.recordsLeftOut = records.count
        // So many are known to fit, and so many not to.
        var fitting = 0
        var failing = records.count + 1
        var count = records.count
        while count > 0 {
            switch SalvagedLog.attempt(records.prefix(count), upTo: records[count - 1], on: file) {
            case .fits(let transaction, let root):
                fitting = count
                guard fitting + 1 == failing else {
                    transaction.rollback()
                    count = (fitting + failing) / 2
                    continue
                }
                self.transaction = transaction
                self.root = root
                report.recordsApplied = count
                report.recordsLeftOut = records.count - count
                return
            case .fails(let done, let error):
                report.problem = error
                failing = min(done + 1, count)
                // What fitted before may not do so again: the device fails.
                fitting = min(fitting, failing - 1)
                count = done < count ? done : (fitting + failing) / 2
            }
        }
    }

    /// Forgets what was applied.
    func end() { transaction?.rollback() }

    private enum Attempt {
        case fits(WriteTransaction, DamagedFile.Root)
        /// The number of records that could be applied, which is all of them where they cannot be sealed, and why no more.
        case fails(applied: Int, StorageError)
    }

    private static func attempt(
        _ records: ArraySlice<CommitRecord>,
        upTo last: CommitRecord,
        on file: DamagedFile
    ) -> Attempt {
        let transaction = file.beginReplay(upTo: last)
        var applied = 0
        do {
            var course = LogReplay.Course(in: transaction)
            for record in records {
                try course.apply(record)
                applied += 1
            }
            try course.model?.sealTables()
            return .fits(transaction, try file.root(of: transaction))
        } catch {
            transaction.rollback()
            let reason = error as? StorageError
            return .fails(
                applied: applied,
                reason ?? StorageError(.corrupt, "The log of the realm cannot be applied: \(error)")
            )
        }
    }
}
