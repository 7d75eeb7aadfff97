import Synchronization

/// Reading a file whose log has newer commits, by a process that may not bring them to it: it has them in memory.
extension StorageFile {
    /// So often the header is looked at, where another process changes it meanwhile.
    private static let headerLookLimit = 16

    /// Opens a file for reading only, with what its log holds behind the header's version in memory; changes nothing.
    ///
    /// It takes no place in the lock file, so that whoever comes to write is alone, and applies the log. It announces itself instead, as one
    /// does that can read no lock file: from then on nobody uses a page again that is of the version which it finds. Where the header is
    /// another one behind the look at the log, it begins anew. It stays on that version.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - path: Its path.
    ///   - options: How it is opened.
    ///   - log: How records are applied.
    /// - Returns: The file; nil where its log has ended meanwhile.
    /// - Throws: `StorageError` where the log is missing or damaged, its records cannot be applied, or there is no memory for them.
    static func openBesideLog(
        data file: DataFile,
        path: String,
        options: StorageOptions,
        _ log: LogOptions
    ) throws(StorageError) -> StorageFile? {
        var data = options.makeDevice?(file) ?? file
        if let failures = options.failures { data = FailingStepDevice(base: data, failures: failures) }
        let reservation = try Reservation(
            descriptor: data.descriptor,
            byteCount: data.currentByteCount(),
            path: path,
            isWritable: false,
            reservedByteCount: options.reservedByteCount,
            failures: options.failures
        )
        try LockFile.announceOutsider(in: data)
        do throws(StorageError) {
            if let found = try newestBesideLog(data, reservation, path, options) {
                let opened = try open(data, reservation, nil, found.header, path: path, options: options)
                try opened.standOn(found.records, log)
                return opened
            }
        } catch {
            LockFile.endOutsider(in: data)
            throw error
        }
        LockFile.endOutsider(in: data)
        return nil
    }

    /// The header that names an open log, and the records behind its version; nil where none does.
    private static func newestBesideLog(
        _ data: any StorageDevice,
        _ reservation: Reservation,
        _ path: String,
        _ options: StorageOptions
    ) throws(StorageError) -> (header: HeaderRecovery.Result, records: [CommitRecord])? {
        let identity = try LockFile.identity(of: data)
        for _ in 0..<headerLookLimit {
            // What the processes before have left, as far as it may be read.
            let past = LockFile.past(at: path + ".lock", of: identity)
            let found = try recover(data, reservation, path, refused: past.refused, readsLog: true)
            guard found.header.mark.isOpen else { return nil }
            let records = Result { () throws(StorageError) in
                try recordsOfLog(behind: found.header, past.log, path, options)
            }
            // A log that ends, or goes on, while it is read is no damage.
            let again = try recover(data, reservation, path, refused: past.refused, readsLog: true)
            if again.header == found.header { return (header: found, records: try records.get()) }
        }
        throw StorageError(
            .timedOut,
            "Another process changes the realm again and again while its log is being read: open the realm again",
            path: path
        )
    }

    /// What the log holds behind a header that names it.
    private static func recordsOfLog(
        behind header: FileHeader,
        _ past: LockFile.PastLog,
        _ path: String,
        _ options: StorageOptions
    ) throws(StorageError) -> [CommitRecord] {
        // Beside such a header anything else is an error.
        guard case .replay(let reader) = try findLog(of: header, options, path) else { return [] }
        let log = reader.header.log
        let tail = try reader.tail(
            from: header.mark.point,
            version: header.version,
            durable: past.durableOffset(of: log),
            refused: past.refused(in: log)
        )
        return tail.records
    }

    /// Has whoever reads the newest version get the one that records make, in memory.
    private func standOn(_ records: [CommitRecord], _ log: LogOptions) throws(StorageError) {
        guard let last = records.last else { return }
        owed.lastReplayed.max(last.version, ordering: .sequentiallyConsistent)
        owedByOthers.append(records)
        // What cannot be applied is refused by the opening.
        let base = try beginRead(asking: .published)
        guard try owedByOthers.replayed(over: base, log) != nil else {
            throw StorageError(
                .corrupt,
                "The log of the realm begins with version \(records[0].version), and the file has version \(base.version)",
                path: path
            )
        }
        acknowledgedByOthers.store(last.version, ordering: .sequentiallyConsistent)
    }
}
