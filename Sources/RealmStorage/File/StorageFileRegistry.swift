import Synchronization

/// The open realm files of this process, by device and inode: two hard links are one realm.
final class StorageFileRegistry: Sendable {
    /// This process's: a forked child opens its files anew.
    static var shared: StorageFileRegistry { processes.value }

    private static let processes = PerProcess { StorageFileRegistry() }

    private let entries = Mutex<[FileIdentity: WeakReference<StorageFile>]>([:])

    /// A file that somebody holds.
    func file(of identity: FileIdentity) -> StorageFile? { entries.withLock { $0[identity]?.object } }

    /// The open file, or one opened now.
    func file(path: String, options: StorageOptions) throws(StorageError) -> StorageFile {
        var data = try StorageFile.openData(path: path, options: options)
        var replacements = 0
        while true {
            do throws(StorageError) {
                return try file(data: data, path: path, options: options)
            } catch {
                // Another process may have put a compacted file into the place of this one meanwhile.
                let other = try StorageFile.openData(path: path, options: options)
                guard other.identity != data.identity, replacements < 8 else { throw error }
                data = other
                replacements += 1
            }
        }
    }

    private func file(data: DataFile, path: String, options: StorageOptions) throws(StorageError) -> StorageFile {
        let result = entries.withLock { (entries) -> Result<StorageFile, StorageError> in
            // One on which writing has stopped may live on for its readers, and so may one that can only read, for the time of a
            // look at the file; whoever opens the file to write gets a new one, beside them as beside another process.
            var isBesideOwn = false
            if let file = entries[data.identity]?.object {
                if !file.hasStopped, options.isReadOnly || !file.options.isReadOnly { return .success(file) }
                // Nobody can write beside a stopped file with a log. Its last user is waited for, unless somebody reads a version: who does
                // so for a moment was waited for before.
                let closesSoon = file.hasStopped && file.keepsLog && !options.isReadOnly && file.pinnedVersionCount == 0
                isBesideOwn = !file.isClosed && !closesSoon
            }
            do throws(StorageError) {
                let file = try StorageFile.openUnshared(
                    data: data,
                    path: path,
                    options: options,
                    besideOwn: isBesideOwn
                )
                entries = entries.filter { $0.value.object != nil }
                entries[data.identity] = WeakReference(file)
                return .success(file)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
