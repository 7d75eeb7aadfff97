import CRealmShims
import Glibc

/// Where the log of a realm stands: a file beside it.
///
/// Tests put a directory of their own before the real one, which forgets what was not flushed.
package protocol LogDirectory: Sendable {
    /// The path of the log, for messages.
    var path: String { get }

    /// Opens the log that is there, for reading and writing or for reading only; nil where there is nothing by that name.
    func open(forReadingOnly isReadOnly: Bool) throws(StorageError) -> (any StorageDevice)?

    /// Makes the space of a log, ahead of its need; nil where it is made with the log.
    func prepare(ringByteCount: Int) throws(StorageError) -> UnnamedFile?

    /// Makes a log of zeros behind its first block, durably and with its name; what stands there already is an error.
    ///
    /// - Parameters:
    ///   - header: What its first block says.
    ///   - space: Space that was made ahead.
    ///   - realm: The realm file, whose users are to be the log's: each of them may have to apply it. Without one it is its owner's alone.
    /// - Returns: The log.
    /// - Throws: `StorageError` when it cannot be made; `permissionDenied` when it cannot be given to all of those users.
    func create(
        _ header: LogHeader,
        in space: UnnamedFile?,
        forUsersOf realm: (any StorageDevice)?
    ) throws(StorageError) -> any StorageDevice

    /// Takes the log's name away, durably.
    func remove() throws(StorageError)
}

extension LogDirectory {
    package func prepare(ringByteCount: Int) throws(StorageError) -> UnnamedFile? { nil }

    package func create(_ header: LogHeader) throws(StorageError) -> any StorageDevice {
        try create(header, in: nil, forUsersOf: nil)
    }
}

/// `<file>.log`.
package struct LogFile: LogDirectory {
    package let path: String

    package init(besides realm: String) { path = realm + ".log" }

    package func open(forReadingOnly isReadOnly: Bool) throws(StorageError) -> (any StorageDevice)? {
        do throws(StorageError) {
            return try DataFile.open(path: path, isReadOnly: isReadOnly, as: .log)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    package func prepare(ringByteCount: Int) throws(StorageError) -> UnnamedFile? {
        let byteCount = LogHeader.blockByteCount + ringByteCount
        // The last space of a disk is for commits, and for what makes room.
        if let free = DataFile.freeByteCount(besides: path), free / 4 < byteCount {
            throw StorageError(.full, "The device has less than four times the space of a log left", path: path)
        }
        return try DataFile.makeUnnamed(for: path, byteCount: byteCount, as: .log)
    }

    package func create(
        _ header: LogHeader,
        in space: UnnamedFile?,
        forUsersOf realm: (any StorageDevice)?
    ) throws(StorageError) -> any StorageDevice {
        let block = UnsafeMutableRawPointer.allocate(byteCount: LogHeader.blockByteCount, alignment: pageByteCount)
        defer { block.deallocate() }
        header.store(to: block)
        let content = UnsafeRawBufferPointer(start: block, count: LogHeader.blockByteCount)
        var made: Bool?
        let users = realm?.descriptor
        if let space {
            made = try DataFile.create(path: path, content: content, from: space, forUsersOf: users, as: .log)
        }
        if made == nil {
            made = try DataFile.create(
                path: path,
                content: content,
                zeros: header.ringByteCount,
                forUsersOf: users,
                as: .log
            )
        }
        do throws(StorageError) {
            let device = try DataFile.open(path: path, isReadOnly: false, as: .log)
            guard case .log(let found) = try LogReader.read(device.descriptor, path: path), found.header == header
            else {
                throw StorageError(.exists, "Another file stands where the log of the realm is to be made", path: path)
            }
            return device
        } catch {
            // As above: no header will name it.
            if made == true, error.code != .exists { unlink(path) }
            throw error
        }
    }

    package func remove() throws(StorageError) {
        if unlink(path) != 0, errno != ENOENT { throw SystemCall.error(errno, "Cannot remove the log", path) }
        try DataFile.synchronizeDirectory(of: path)
    }
}
