import Glibc

extension StorageFile {
    /// Deletes the log of a realm, when what stands there is one.
    ///
    /// - Returns: Whether it was deleted.
    @discardableResult
    package static func removeLog(ofRealmAt path: String) -> Bool {
        let log = LogFile(besides: path)
        guard let device = try? log.open(forReadingOnly: true) else { return false }
        switch try? LogReader.read(device.descriptor, path: log.path) {
        // A damaged one cannot be told from a file of the program's own.
        case nil, .damaged: return false
        case .log, .unsupported: return unlink(log.path) == 0
        }
    }
}
