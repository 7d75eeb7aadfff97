import Glibc

extension StorageFile {
    /// Deletes the log of a realm, when what stands there is one, and not that of another realm: a file that was moved away may need it.
    ///
    /// Where nothing can be read of the realm that says which one it is, its log is taken for its own.
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
        case .log(let reader): if try !mayBeLog(of: reader.header.file, ofRealmAt: path) { return false }
        // Nor can it be told whose it is.
        case .unsupported: break
        }
        let isRemoved = try remove(log.path, "Cannot delete the log")
        // Else a power cut may leave it without its realm, by which it is known.
        if isRemoved { try? DataFile.synchronizeDirectory(of: path) }
        return isRemoved
    }

    /// Whether the log of a file may be that of the realm at a path.
    private static func mayBeLog(
        of file: FileIdentifier,
        ofRealmAt path: String
    ) throws(StorageError) -> Bool {
        let data: DataFile
        do throws(StorageError) {
            data = try DataFile.open(path: path, isReadOnly: true)
        } catch {
            switch error.code {
            case .notFound: return false
            case .notADatabase, .permissionDenied, .impossiblePath: return true
            // As where the process has no descriptor left: the realm is whole, and may be another one.
            default: throw error
            }
        }
        let known = try fileIDs(in: data)
        return known.isEmpty || known.contains(file.low)
    }

    /// What the headers of a realm call it.
    private static func fileIDs(in data: DataFile) throws(StorageError) -> [UInt64] {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: pageByteCount, alignment: pageByteCount)
        defer { bytes.deallocate() }
        var known: [UInt64] = []
        for page in 0..<FileHeader.slotPageCount {
            let count = try SystemCall.retrying(data.path, "Cannot read the realm file") {
                pread(data.descriptor, bytes, pageByteCount, off_t(page * pageByteCount))
            }
            if count == pageByteCount, case .valid(let header) = FileHeader.read(bytes, page: PageNumber(page)) {
                known.append(header.fileID)
            }
        }
        return known
    }
}
