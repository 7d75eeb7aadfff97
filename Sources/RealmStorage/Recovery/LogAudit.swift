import Glibc
import Synchronization

/// Checks what the log of an open file holds behind the checkpoint, at which an opening would begin behind a crash.
package enum LogAudit {
    /// What a recovery of an open file would begin with.
    struct Beginning {
        /// The header of the checkpoint, which names the log.
        let checkpoint: FileHeader
        /// Where the record of the published version ends.
        let published: LogPoint
        /// What the lock file says of the log.
        let past: LockFile.PastLog

        /// Up to where the log is durable; 0 where nobody says.
        var durable: UInt64 {
            let known = past.durableOffset(of: checkpoint.mark.log)
            return known == 0 ? 0 : max(known, published.offset)
        }
    }

    /// Checks that the records from the checkpoint on are whole and follow each other, up to where the log is durable, and that they can be
    /// applied to it.
    ///
    /// Commits and checkpoints go on meanwhile: what was read while the log was being written to, or used again, is read once more, and
    /// counts as damage when it was found so several times while the checkpoint stayed. They are applied in memory.
    ///
    /// - Parameter file: The file; nothing is done where it has no log, or nobody says how one is applied.
    /// - Throws: `StorageError` with the code `corrupt` that says what is wrong with the log, or where there is no memory for its records.
    package static func check(_ file: StorageFile) throws(StorageError) {
        var problem: StorageError?
        var looks = 0
        for _ in 0..<100 where looks < 5 {
            guard let beginning = file.beginningOfRecovery else { return }
            do throws(StorageError) {
                // Its pages stay from here on, where it is the checkpoint still.
                let base = try file.pin(beginning.checkpoint)
                guard file.beginningOfRecovery?.checkpoint == beginning.checkpoint else { continue }
                return try check(file, beginning, over: base)
            } catch {
                guard error.code == .corrupt else { throw error }
                // Where the checkpoint is another one by now, the log and the pages may be used again.
                if file.beginningOfRecovery?.checkpoint == beginning.checkpoint {
                    looks += 1
                    problem = error
                }
            }
            usleep(2_000)
        }
        // A file that has never stood still for so long is not called damaged.
        if looks == 5, let problem { throw problem }
    }

    private static func check(
        _ file: StorageFile,
        _ beginning: Beginning,
        over base: Snapshot
    ) throws(StorageError) {
        let header = beginning.checkpoint
        // Beside such a header anything else is an error.
        guard case .replay(let reader) = try StorageFile.findLog(of: header, file.options, file.path) else { return }
        var tail = try reader.tail(
            from: header.mark.point,
            version: header.version,
            durable: beginning.durable,
            refused: beginning.past.refused(in: header.mark.log)
        )
        // Nobody was told of what lies behind, and it may be being written.
        if beginning.durable > 0 { tail.cut(at: beginning.durable) }
        guard tail.reaches(beginning.published) else {
            throw StorageError(
                .corrupt,
                "The log of the realm has no record that ends at \(beginning.published.offset), as that of the newest version does",
                path: file.path
            )
        }
        guard !tail.records.isEmpty, let log = file.options.log ?? file.options.recovery else { return }
        _ = try ReplayedVersion(tail.records, over: base, log)
    }
}

extension StorageFile {
    /// The checkpoint at which a recovery would begin, and what is known of the log behind it; nil where no log is open.
    var beginningOfRecovery: LogAudit.Beginning? {
        guard let lock else {
            let (published, slot) = state.withLock { ($0.published, $0.slot) }
            // Whoever may write has ended that log, where the header is another one.
            guard published.mark.isOpen, headers(inSlot: slot).contains(published) else { return nil }
            let identity = try? LockFile.identity(of: data)
            let past = identity.map { LockFile.past(at: path + ".lock", of: $0).log } ?? LockFile.PastLog()
            return LogAudit.Beginning(checkpoint: published, published: published.mark.point, past: past)
        }
        // What is published later lies behind what is durable by now, and is not looked at.
        guard let image = lock.image else { return nil }
        let mark = image.header.mark
        let checkpoint = headers(inSlot: image.slot)
            .filter { $0.mark.isOpen && $0.mark.log == mark.log && $0.version <= image.header.version }
            .max { $0.sequence < $1.sequence }
        return checkpoint.map { LogAudit.Beginning(checkpoint: $0, published: mark.point, past: lock.pastLog) }
    }

    /// Pins a version whose header stands in a slot: its pages stay from then on, if they have until then.
    ///
    /// - Throws: `limit` when this process reads too many versions.
    func pin(_ header: FileHeader) throws(StorageError) -> Snapshot {
        try checkProcess()
        let version = header.version
        let result = state.withLock { (state) -> Result<Void, StorageError> in
            if let place = state.pins.index(forKey: version) {
                _ = state.pins.values[place].add(from: nil)
                return .success(())
            }
            do throws(StorageError) {
                let entry = try lock?.register(version: version)
                state.pins[version] = Pin(count: 1, entry: entry, origins: [], header: header)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
        return Snapshot(file: self, header: header, view: view)
    }
}
