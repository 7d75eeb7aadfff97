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
        case .log(let reader): if !mayBeLog(of: reader.header.file, ofRealmAt: path) { return false }
        // Nor can it be told whose it is.
        case .unsupported: break
        }
        return try remove(log.path, "Cannot delete the log")
    }

    /// Whether the log of a file may be that of the realm at a path.
    private static func mayBeLog(of file: FileIdentifier, ofRealmAt path: String) -> Bool {
        let data: DataFile
        do throws(StorageError) {
            data = try DataFile.open(path: path, isReadOnly: true)
        } catch {
            return error.code != .notFound
        }
        let known = fileIDs(in: data)
        return known.isEmpty || known.contains(file.low)
    }

    /// What the headers of a realm call it.
    private static func fileIDs(in data: DataFile) -> [UInt64] {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: pageByteCount, alignment: pageByteCount)
        defer { bytes.deallocate() }
        return (0..<FileHeader.slotPageCount)
            .compactMap { page in
                guard pread(data.descriptor, bytes, pageByteCount, off_t(page * pageByteCount)) == pageByteCount,
                    case .valid(let header) = FileHeader.read(bytes, page: PageNumber(page))
                else { return nil }
                return header.fileID
            }
    }
}
