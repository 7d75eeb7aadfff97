/// Which of two headers was written later.
extension FileHeader {
    /// Whether the header stands for a newer state than another one.
    ///
    /// Versions and sequence numbers have the same order, but for headers of one version: there one opens or closes a log.
    func isNewer(than other: FileHeader) -> Bool {
        version != other.version ? version > other.version : mark != other.mark && sequence > other.sequence
    }

    /// Fails where the log may hold newer commits, for whoever cannot look there.
    func requireClosedLog(_ path: String, forReadingOnly isReadOnly: Bool) throws(StorageError) {
        guard mark.isOpen else { return }
        let reason =
            isReadOnly
            ? "which nobody can apply who may only read: open it for writing once, to use logs, and close it, or salvage it to a new file"
            : "and was not opened to use logs"
        throw StorageError(
            .unsupportedFormat,
            "The realm file has a log that holds newer commits, \(reason)",
            path: path
        )
    }
}
