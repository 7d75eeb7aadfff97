import Synchronization

/// Opening and creating files.
extension StorageFile {
    /// Whether any process has a file open, as its lock file tells, or may have it open, where that may not be read; opens nothing.
    package static func isOpenAnywhere(path: String) -> Bool { (try? LockFile.isInUse(path: path + ".lock")) ?? true }

    /// Whether somebody else has the file open: another process, or another instance in this one.
    package var isOpenElsewhere: Bool { lock?.isSharedWithOtherProcesses ?? false }

    /// A file, if this process has it open and writing has stopped there.
    package static func stopped(_ identity: FileIdentity) -> StorageFile? {
        guard let file = StorageFileRegistry.shared.file(of: identity) else { return nil }
        return file.hasStopped ? file : nil
    }

    /// Opens or creates a file.
    ///
    /// Opening the same file again in a process returns the same instance.
    package static func open(path: String, options: StorageOptions = StorageOptions()) throws(StorageError)
        -> StorageFile
    {
        try StorageFileRegistry.shared.file(path: path, options: options)
    }

    /// The descriptor of a file that exists, or was created now.
    static func openData(path: String, options: StorageOptions) throws(StorageError) -> DataFile {
        do throws(StorageError) {
            return try DataFile.open(path: path, isReadOnly: options.isReadOnly)
        } catch {
            guard error.code == .notFound, options.createsIfMissing, !options.isReadOnly else { throw error }
        }
        // Before anything is created.
        try LockFile.checkPlace(path + ".lock")
        try withNewFileContent(options) { (content) throws(StorageError) in
            try DataFile.create(path: path, content: content)
        }
        return try DataFile.open(path: path, isReadOnly: false)
    }

    /// The same as ``openUnshared(data:path:options:besideOwn:)``, for a file whose log is to be used, or that has none with newer commits.
    ///
    /// Room is reserved for the length that the caller knows of, nil for none: what that is worth is looked at behind the lock. With
    /// `readingOwed` who reads only reads in memory what another process owes the pages of, also where nobody is about to make them.
    ///
    /// - Throws: `StorageError`, which says so of itself where there is such a log; then nothing has changed.
    static func openOnce(
        data file: DataFile,
        _ knownByteCount: Int?,
        path: String,
        options: StorageOptions,
        besideOwn isBesideOwn: Bool,
        readingOwed readsOwed: Bool = false
    ) throws(StorageError) -> StorageFile {
        var data = options.makeDevice?(file) ?? file
        if let failures = options.failures { data = FailingStepDevice(base: data, failures: failures) }
        // A device of a test answers for itself.
        let isPlain = options.makeDevice == nil && options.failures == nil
        let byteCount: Int
        if isPlain, let knownByteCount { byteCount = knownByteCount } else { byteCount = try data.currentByteCount() }
        let reservation = try Reservation(
            descriptor: data.descriptor,
            byteCount: byteCount,
            path: path,
            isWritable: !data.isReadOnly,
            reservedByteCount: options.reservedByteCount,
            failures: options.failures
        )
        reservation.willNeed(0..<PageNumber(FileHeader.slotPageCount))
        var recovered: HeaderRecovery.Result?
        var lock: LockFile?
        var unread: UnreadLog?
        do throws(StorageError) {
            lock = try LockFile(
                path: path + ".lock",
                data: data,
                of: isPlain && !data.isReadOnly ? file.identity : nil,
                options: options,
                besideOwn: isBesideOwn
            ) { (past) throws(StorageError) in
                var byteCount = try data.currentByteCount()
                if HeaderRecovery.isUnfinished(mapping: reservation.mapping, byteCount: byteCount) {
                    if past.isOfThisFile || past.version > 1 && past.isSameNumber {
                        throw .corrupt(
                            "The file was cut short: it held version \(past.version). Bring it back from a copy; or, to begin anew, delete "
                                + "it and the lock file",
                            page: 0,
                            path: path
                        )
                    }
                    if !data.isReadOnly {
                        try withNewFileContent(options) { (content) throws(StorageError) in
                            try data.write([(content.baseAddress!, content.count)], at: 0)
                            try data.synchronize()
                        }
                        byteCount = try data.currentByteCount()
                    }
                }
                let readsLog = options.log != nil && !data.isReadOnly && options.durability == .flushed
                var result = try recover(
                    data,
                    reservation,
                    path,
                    of: byteCount,
                    refused: past.refused,
                    readsLog: readsLog
                )
                if !data.isReadOnly {
                    try result.header.features.requireWritable(path)
                    // What cannot be opened stays as it is.
                    let found = try findLog(of: result.header, options, path)
                    if case .replay(let reader) = found {
                        unread = UnreadLog(reader: reader, past: past.log)
                        try settleBeforeReplay(&result, in: data, flushing: data.synchronize)
                    } else {
                        if case .remove = found { try settleBeforeRemoval(of: result, in: data) }
                        // Without durability, too: others may have been told that the version before is durable, and whoever joins takes this
                        // one for that. What is found is flushed, where it was not closed; what this instance commits itself is not.
                        try HeaderRecovery.settle(&result, mapping: reservation.mapping, in: data)
                        if case .remove = found { try removeLog(besides: result, options, path, in: data) }
                    }
                }
                result.header.sequence = max(result.header.sequence, result.sequence)
                recovered = result
                return (result.header.fileID, result.header.version)
            } holdsOffOpenings: {
                // Others would find a version that stands in no closed header.
                unread != nil
            }
        } catch {
            // A file in a folder that cannot be written can still be read: nobody can write it either.
            guard options.isReadOnly, error.code == .permissionDenied || error.code == .notFound else { throw error }
            try LockFile.announceOutsider(in: data)
        }
        do throws(StorageError) {
            if lock == nil {
                recovered = try recoverWithoutLock(data, reservation, path, waiting: options.owedPagesWait)
            }
            let file = try open(data, reservation, lock, recovered, path: path, options: options)
            if let unread { try file.replay(unread) }
            try file.waitForOwedPages(inMemory: readsOwed)
            file.checkLockFileIfAsked()
            return file
        } catch {
            if lock == nil { LockFile.endOutsider(in: data) }
            throw error
        }
    }

    /// The file, once its lock file is open, or it was found that there is none for this process.
    static func open(
        _ data: any StorageDevice,
        _ reservation: Reservation,
        _ lock: LockFile?,
        _ recovered: HeaderRecovery.Result?,
        path: String,
        options: StorageOptions
    ) throws(StorageError) -> StorageFile {
        var recovered = recovered
        var byteCount = try data.currentByteCount()
        if let lock, recovered == nil {
            guard byteCount >= FileHeader.slotPageCount * pageByteCount else { throw cutShort(byteCount, path) }
            for _ in 0..<1000 where recovered == nil {
                if let image = lock.image {
                    recovered = HeaderRecovery.Result(header: image.header, slot: image.slot)
                } else {
                    recovered = try published(version: lock.newestVersion, reservation, path)
                }
            }
            guard let header = recovered?.header, header.fileID == lock.fileID else {
                throw StorageError(
                    .incompatibleLockFile,
                    "The lock file belongs to another realm file that is still open: the realm file was replaced",
                    path: path
                )
            }
            // It may have become longer meanwhile, and shorter behind a version that is newer still.
            byteCount = try data.currentByteCount()
            guard header.pageCount <= UInt64(byteCount / pageByteCount) || lock.newestVersion > header.version else {
                throw cutShort(byteCount, path)
            }
        }
        if recovered == nil { recovered = try recover(data, reservation, path) }
        if !data.isReadOnly { try recovered?.header.features.requireWritable(path) }
        if let pageCount = recovered?.header.pageCount, pageCount > UInt64(reservation.pageCapacity) {
            throw StorageError(
                .addressSpaceExhausted,
                "The realm file is larger than the address space that could be reserved for it",
                path: path
            )
        }
        return StorageFile(
            path: path,
            options: options,
            data: data,
            reservation: reservation,
            lock: lock,
            recovered: recovered!,
            byteCount: byteCount
        )
    }

    static func recover(
        _ data: any StorageDevice,
        _ reservation: Reservation,
        _ path: String,
        of knownByteCount: Int? = nil,
        refused: UInt64 = 0,
        readsLog: Bool = false
    ) throws(StorageError) -> HeaderRecovery.Result {
        let byteCount: Int
        if let knownByteCount { byteCount = knownByteCount } else { byteCount = try data.currentByteCount() }
        guard byteCount >= FileHeader.slotPageCount * pageByteCount else {
            throw StorageError(
                .notADatabase,
                "The file is not a realm file: it has only \(byteCount) bytes",
                path: path
            )
        }
        let result = try HeaderRecovery.recover(
            mapping: reservation.mapping,
            byteCount: byteCount,
            path: path,
            refused: refused
        )
        if !readsLog { try result.header.requireClosedLog(path, forReadingOnly: data.isReadOnly) }
        return result
    }

    /// The header of a version that another process has published.
    static func published(
        version: UInt64,
        _ reservation: Reservation,
        _ path: String
    ) throws(StorageError) -> HeaderRecovery.Result? {
        var found: HeaderRecovery.Result?
        var bestRank = 0
        for page in 0..<FileHeader.slotPageCount {
            switch FileHeader.read(reservation.mapping + page * pageByteCount, page: PageNumber(page)) {
            // While a log is open the newest version is in no slot, and behind it what began the log means nothing.
            case .valid(let header) where header.version == version && !header.mark.isOpen:
                // The mark of a closing need not be on the disk: the next commit is to overwrite the mark and not the header that it
                // marks. The same goes for what a file of the format before is being carried over to.
                let rank = (header.isFormer ? 2 : 0) + (header.confirmedVersion < version ? 1 : 0)
                if found != nil, rank < bestRank { continue }
                bestRank = rank
                found = HeaderRecovery.Result(header: header, slot: page / FileHeader.copiesPerSlot)
            case .unsupported(let what):
                throw StorageError(.unsupportedFormat, "The realm file has \(what)", path: path)
            default: break
            }
        }
        return found
    }

    static func withNewFileContent(
        _ options: StorageOptions,
        _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        let header = FileHeader(newFile: options.beginning)
        let byteCount = FileHeader.slotPageCount * pageByteCount
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: pageByteCount)
        defer { bytes.deallocate() }
        for page in 0..<FileHeader.slotPageCount {
            header.store(to: bytes + page * pageByteCount, page: PageNumber(page))
        }
        try body(UnsafeRawBufferPointer(start: bytes, count: byteCount))
    }
}
