import Glibc

extension StorageFile {
    /// Deletes the log of a realm, when what stands there is one.
    ///
    /// - Returns: Whether it was deleted.
    /// - Throws: `permissionDenied` or `io` where it cannot be deleted.
    @discardableResult
    package static func removeLog(ofRealmAt path: String) throws(StorageError) -> Bool {
        let log = LogFile(besides: path)
        guard let device = try? log.open(forReadingOnly: true) else { return false }
        switch try? LogReader.read(device.descriptor, path: log.path) {
        // A damaged one cannot be told from a file of the program's own.
        case nil, .noLog, .damaged: return false
        case .log, .unsupported: return try remove(log.path, "Cannot delete the log")
        }
    }
}
