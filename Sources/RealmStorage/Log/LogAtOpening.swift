/// What an opening that is alone does with the log that it finds, or does not find, beside a realm.
///
/// Nothing but a closed header without a log counts as a file that was closed. A log that is missing, or another file's, is never a
/// reason to open an older state.
enum LogAtOpening {
    /// The file was closed cleanly, and there is nothing beside it but, at most, a file of the program's own.
    case clean
    /// The log holds what was committed behind the header's version, as far as it goes.
    case replay(LogReader)
    /// The log is of no use any more, or never was: it is removed.
    case remove

    /// Decides.
    ///
    /// - Parameters:
    ///   - mark: What the header says.
    ///   - version: Its version.
    ///   - file: The identifier of the realm file.
    ///   - found: What stands at the log's name; nil for nothing.
    ///   - path: The path of the log.
    /// - Returns: What to do.
    /// - Throws: `corrupt`, with a remedy, and `unsupportedFormat` for a log of another layout; then both files are to stay as they are.
    static func decide(
        _ mark: LogMark,
        version: UInt64,
        file: FileIdentifier,
        found: LogReader.Found?,
        path: String
    ) throws(StorageError) -> LogAtOpening {
        guard let found else {
            if mark.isOpen { throw missing(mark, path) }
            return .clean
        }
        let reader: LogReader
        switch found {
        case .unsupported(let what):
            throw StorageError(
                .unsupportedFormat,
                "The log of the realm has \(what), which this version of the library cannot read",
                path: path
            )
        case .noLog where !mark.isOpen: return .clean
        case .noLog, .damaged:
            let remedy =
                mark.isOpen
                ? "bring the log \(name(mark.log)) back, or salvage the realm to a new file, which loses what it held"
                : "move it away: the realm was closed, and needs no log"
            throw StorageError(
                .corrupt,
                "What stands where the log of the realm belongs is no log, or a damaged one: \(remedy)",
                path: path
            )
        case .log(let log): reader = log
        }
        let header = reader.header
        if header.file == file, header.log == mark.log { return mark.isOpen ? .replay(reader) : .remove }
        if mark.isOpen { throw foreign(header, mark, file, path) }
        // The header that is to name it was never written, or failed. What was committed since was committed without a log; one that begins at
        // a later version is of a newer state of the file.
        if header.file == file, header.version <= version, reader.isUnused { return .remove }
        throw foreign(header, mark, file, path)
    }

    private static func missing(_ mark: LogMark, _ path: String) -> StorageError {
        StorageError(
            .corrupt,
            "The log \(name(mark.log)) of the realm is missing, which may hold newer commits: bring it back, or salvage the realm to a new "
                + "file, which loses them",
            path: path
        )
    }

    private static func foreign(
        _ header: LogHeader,
        _ mark: LogMark,
        _ file: FileIdentifier,
        _ path: String
    ) -> StorageError {
        let own = mark.isOpen ? "which needs the log \(name(mark.log))" : "which was closed"
        return StorageError(
            .corrupt,
            "The log \(name(header.log)) of the file \(name(header.file)) stands beside the realm file \(name(file)), \(own): bring the two "
                + "that belong together back, or move the log away if it is of no use",
            path: path
        )
    }

    private static func name(_ log: LogIdentifier) -> String { hex(log.high) + hex(log.low) }

    private static func name(_ file: FileIdentifier) -> String { hex(file.high) + hex(file.low) }

    private static func hex(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
