import Synchronization

/// The records behind the best version of a damaged file, and a transaction that applies them in memory.
extension DamagedFile {
    /// What a log holds behind a header.
    package struct Log: Sendable {
        /// The records that follow the header, and each other.
        package var records: [CommitRecord] = []
        /// Why there may have been more; nil where the log was read to its end, and where there is none to be read.
        package var problem: StorageError?
    }

    /// The newest version that there is anything of.
    package var newestVersion: UInt64 { max(roots[0].version, log.records.last?.version ?? 0) }

    /// Reads the log that a header names as open, which is changed as little as the file.
    ///
    /// - Parameters:
    ///   - header: The header.
    ///   - data: The file.
    ///   - past: What the lock file says of the log: what must not be believed of it, and how much has to be there.
    /// - Returns: The records, and what is wrong with the log.
    static func readLog(behind header: FileHeader, of data: DataFile, past: LockFile.PastLog) -> Log {
        do throws(StorageError) {
            let found = try StorageFile.findLog(of: header, StorageOptions(), data.path)
            guard case .replay(let reader) = found else { return Log() }
            let (tail, damage) = reader.readableTail(
                from: header.mark.point,
                version: header.version,
                durable: past.durableOffset(of: reader.header.log),
                refused: past.refused(in: reader.header.log)
            )
            return Log(records: tail.records, problem: damage)
        } catch {
            return Log(problem: error)
        }
    }

    /// Begins to apply records on top of the best version.
    ///
    /// Its pages stand in memory only, behind all that the file has, and free space is not looked at. Nothing else may be
    /// begun before it is rolled back, which is how it ends.
    ///
    /// - Parameter last: The last one of the records.
    /// - Returns: The transaction.
    package func beginReplay(upTo last: CommitRecord) -> WriteTransaction {
        let header = roots[0].header
        var options = StorageOptions()
        options.isReadOnly = true
        // What is damaged keeps no order.
        options.invariantWasBroken = nil
        let file = StorageFile(
            path: data.path,
            options: options,
            data: data,
            reservation: reservation,
            lock: nil,
            recovered: HeaderRecovery.Result(header: header, slot: 0),
            byteCount: pageCount * pageByteCount
        )
        DamagedFile.limitReferences(to: pageCount, in: reservation)
        let end = UInt32(clamping: max(UInt64(pageCount), header.pageCount))
        let state = WriterState(header: header, space: SpaceMap(pageCount: end))
        // The one version that is made of all of them is the last one's.
        state.version = max(last.version, header.version + 1) - 1
        return file.beginReplay(on: state)
    }

    /// The version that a transaction has made of records, all of its tables sealed.
    ///
    /// It can be read as long as the transaction is open.
    package func root(of transaction: WriteTransaction) throws(StorageError) -> Root {
        try transaction.checkCommit()
        try transaction.catalog.seal(in: transaction)
        try transaction.group.checkDamage()
        return Root(version: transaction.version, catalog: transaction.catalog, header: roots[0].header)
    }

    /// Says how many pages may be referred to in the file.
    static func limitReferences(to pageCount: Int, in reservation: Reservation) {
        reservation.verified[0].store(UInt32(min(pageCount, reservation.pageCapacity)), ordering: .releasing)
    }
}
