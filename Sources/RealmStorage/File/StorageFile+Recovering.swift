import Glibc

/// Opening a file that a kill has left with commits in its log, for whoever uses no log: for reading only, without one, or without
/// durability.
extension StorageFile {
    /// So many logs at most are applied by one opening: behind each another process may have begun the next one, and been killed.
    private static let recoveryLimit = 8

    /// An instance of a file that is this caller's alone.
    ///
    /// Where the file's log holds newer commits, and is not to be used, an opening that uses it comes first: it leaves one closed file. Who reads
    /// only, and may not write to it or finds no space for them, reads them in memory.
    static func openUnshared(
        data: DataFile,
        path: String,
        options: StorageOptions,
        besideOwn isBesideOwn: Bool = true
    ) throws(StorageError) -> StorageFile {
        var recoveriesLeft = recoveryLimit
        var byteCount: Int? = data.byteCountWhenOpened
        while true {
            do throws(StorageError) {
                return try openOnce(
                    data: data,
                    byteCount,
                    path: path,
                    options: options,
                    besideOwn: isBesideOwn,
                    // Somebody who lives has no space for their pages.
                    readingOwed: recoveriesLeft < recoveryLimit
                )
            } catch {
                guard error.namesUnreadLog, recoveriesLeft > 0, let log = options.log ?? options.recovery else {
                    throw error
                }
                let isApplied = try applyLog(log, of: data, path: path, options: options, besideOwn: isBesideOwn)
                if !isApplied, data.isReadOnly,
                    let file = try openBesideLog(data: data, path: path, options: options, log)
                {
                    return file
                }
                // Where this process may not do so, another one has done it meanwhile.
                recoveriesLeft = isApplied || data.isReadOnly ? recoveriesLeft - 1 : 0
                // What was applied has made it longer.
                byteCount = nil
            }
        }
    }

    /// What a reader begins at that has no lock file, and was announced: waits until a process that lives has ended its log.
    ///
    /// Who writes sees such a reader, and ends the log with its next commit; one that rests does so in any case. So it is a matter of some
    /// seconds, unless a transaction is open for longer.
    ///
    /// - Throws: `StorageError`: `timedOut` where the log is open for longer than that; where nobody has the file who could end it, the same as
    ///   without waiting.
    static func recoverWithoutLock(
        _ data: any StorageDevice,
        _ reservation: Reservation,
        _ path: String,
        waiting wait: Duration
    ) throws(StorageError) -> HeaderRecovery.Result {
        let end = ContinuousClock.now + wait
        var pause: useconds_t = 1_000
        while true {
            // Asked before: who goes meanwhile has ended its log.
            let isAnybodyPresent = LockFile.isAnybodyPresent(in: data)
            do throws(StorageError) {
                return try recover(data, reservation, path)
            } catch {
                guard error.namesUnreadLog, isAnybodyPresent else { throw error }
            }
            guard ContinuousClock.now < end else {
                throw StorageError(
                    .timedOut,
                    "Another process has a log of the realm that holds newer commits, and has not ended it for \(wait): it has been in a "
                        + "write transaction, or has stopped. Open the realm again when that is over; where the process that wrote has "
                        + "died, open it for writing once, with a lock file",
                    path: path
                )
            }
            usleep(pause)
            pause = min(pause * 2, 20_000)
        }
    }

    /// Opens a file as whoever writes with a log, and closes it: what the log holds is in the file then, and nothing else has changed.
    ///
    /// - Returns: false where this process may only read, the file has lost its name, or, for who is to read only and is alone, there is no space.
    ///   Beside a process that lives and has no space for them, its commits are as they were, too, and it is true.
    private static func applyLog(
        _ log: LogOptions,
        of data: DataFile,
        path: String,
        options: StorageOptions,
        besideOwn isBesideOwn: Bool
    ) throws(StorageError) -> Bool {
        // The log is removed in the end: where that cannot be, nothing is begun.
        if data.isReadOnly, !DataFile.mayChangeDirectory(of: path) { return false }
        var writing = options
        writing.isReadOnly = false
        writing.createsIfMissing = false
        writing.durability = .flushed
        writing.log = log
        do throws(StorageError) {
            // With locks of its own, which go with it.
            let own = try DataFile.open(path: path, isReadOnly: false)
            guard own.identity == data.identity else { return false }
            _ = try openOnce(
                data: own,
                own.byteCountWhenOpened,
                path: path,
                options: writing,
                besideOwn: isBesideOwn
            )
            return true
        } catch {
            // The log stays, with all that it has. Beside a process that lives nobody who has no place in the lock file reads it.
            let isFull = error.code == .full && !LockFile.isAnybodyPresent(in: data)
            guard data.isReadOnly, error.code == .permissionDenied || isFull else { throw error }
            return false
        }
    }
}
