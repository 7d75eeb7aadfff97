import Synchronization

/// What stands at a log's name: a log of the file, or what keeps one from being begun.
extension StorageFile {
    /// Looks for the log of a file that nobody has open; changes nothing.
    static func findLog(
        of header: FileHeader,
        _ options: StorageOptions,
        _ path: String
    ) throws(StorageError) -> LogAtOpening {
        let directory = logDirectory(options, path)
        // The header says whether there is one to be expected, and not the setting: what it never named is the program's, mostly.
        let found =
            try header.mark == .none
            ? findUnexpectedLog(of: header.identifier, in: directory) : findLog(named: header.mark, in: directory)
        return try LogAtOpening.decide(
            header.mark,
            version: header.version,
            file: header.identifier,
            found: found,
            path: directory.path
        )
    }

    /// Removes a log that is of no use any more, unless this process may not: the header does without it, and a later opening removes it.
    static func unlessForbidden(_ remove: () throws(StorageError) -> Void) throws(StorageError) {
        do throws(StorageError) {
            try remove()
        } catch {
            guard error.code == .permissionDenied else { throw error }
        }
    }

    /// What stands where the log is that a header names.
    ///
    /// A closed one needs none: what is no file beside it is the program's, and what this process may not read stays for whoever may.
    private static func findLog(
        named mark: LogMark,
        in directory: any LogDirectory
    ) throws(StorageError) -> LogReader.Found? {
        let found: (any StorageDevice)?
        do throws(StorageError) {
            found = try mark.isOpen ? directory.open(forReadingOnly: true) : directory.openIfFile()
        } catch {
            guard !mark.isOpen, error.code == .permissionDenied else { throw error }
            return nil
        }
        guard let device = found else { return nil }
        return try LogReader.read(device.descriptor, path: directory.path)
    }

    /// The log of a file whose header never named one; whatever else stands there is the program's, and a log of another file stays.
    private static func findUnexpectedLog(
        of file: FileIdentifier,
        in directory: any LogDirectory
    ) -> LogReader.Found? {
        guard let device = try? directory.open(forReadingOnly: true),
            let found = try? LogReader.read(device.descriptor, path: directory.path),
            case .log(let reader) = found, reader.header.file == file
        else { return nil }
        return found
    }

    /// Why there can be no log at its name; nil where nothing stands there, or the log that this file's header calls closed, which goes first.
    ///
    /// Only the holder of the log's turn asks.
    func obstacle(in directory: any LogDirectory) -> StorageError? {
        let mark = state.withLock { $0.published.mark }
        do throws(StorageError) {
            guard let device = try directory.open(forReadingOnly: true) else { return nil }
            let header = try LogReader.header(of: device.descriptor, path: directory.path)
            if mark != .none, header?.log == mark.log { return nil }
        } catch {
            // Others, as too many open files, say nothing of what stands there.
            guard error.saysNoFile || error.code == .permissionDenied else { return nil }
        }
        return StorageError(
            .exists,
            "Another file stands where the log of the realm would be made. Give it another name",
            path: directory.path
        )
    }

    /// Says once why there is no log.
    func tell(_ log: LogOptions, whyThereIsNone reason: StorageError) {
        if hasToldOfNoLog { return }
        hasToldOfNoLog = true
        log.wasRefused(reason)
    }
}

extension LogDirectory {
    /// Opens what is there for reading; nil also where that is a folder, a link, or something else that is no log.
    func openIfFile() throws(StorageError) -> (any StorageDevice)? {
        do throws(StorageError) {
            return try open(forReadingOnly: true)
        } catch {
            guard error.saysNoFile else { throw error }
            return nil
        }
    }
}

extension StorageError {
    /// Whether it says that a name stands for something that is no regular file.
    fileprivate var saysNoFile: Bool { code == .notADatabase || code == .impossiblePath }
}
