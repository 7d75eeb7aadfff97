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
            ? "and this process may not bring them to it: open it for writing once, as a user who may write the file, its lock file and "
                + "its folder, and close it, or salvage it to a new file"
            : "and was not opened to use logs"
        var error = StorageError(
            .unsupportedFormat,
            "The realm file has a log that holds newer commits, \(reason)",
            path: path
        )
        // To whoever only reads, a feature that keeps him from writing matters no more than that.
        error.namesUnreadLog = !isReadOnly || features.unwritable == nil
        throw error
    }
}
