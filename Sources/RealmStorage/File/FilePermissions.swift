import CRealmShims
import Glibc

/// Who may do what with a file.
struct FilePermissions: Equatable {
    private let owner: uid_t
    private let group: gid_t
    private let mode: mode_t

    /// Those of an open file.
    init(of descriptor: Int32, _ path: String) throws(StorageError) {
        var status = stat()
        _ = try SystemCall.retrying(path, "Cannot examine the realm file") { Int(fstat(descriptor, &status)) }
        owner = status.st_uid
        group = status.st_gid
        mode = status.st_mode & 0o777
    }

    /// The mode for a file whose group is another one, or which lacks an access list: nobody may do more than before, whatever
    /// groups that user is in.
    ///
    /// A list may refuse somebody what the mode, which has the most that anybody in it may, gives to the group and to all others.
    private func narrowed(leavingList hasList: Bool) -> mode_t {
        if hasList { return mode & 0o700 }
        let common = mode >> 3 & mode & 0o7
        return mode & 0o700 | common << 3 | common
    }

    /// Gives a new file, which is its owner's alone, what another one has, as far as this process may.
    ///
    /// Nobody may do more at any moment than with the other file: the owner and the group come first.
    ///
    /// - Parameters:
    ///   - source: The other file.
    ///   - descriptor: The new file.
    ///   - path: Its path.
    /// - Returns: Whether it has all of it: who may use the other file may use this one.
    /// - Throws: `StorageError` when one of the files cannot be examined, or the system fails to set the mode.
    @discardableResult
    static func copy(from source: Int32, to descriptor: Int32, _ path: String) throws(StorageError) -> Bool {
        let wanted = try FilePermissions(of: source, path)
        let new = try FilePermissions(of: descriptor, path)
        if new.owner != wanted.owner || new.group != wanted.group {
            // Who may not give it away may be in the group.
            if fchown(descriptor, wanted.owner, wanted.group) != 0 { _ = fchown(descriptor, uid_t.max, wanted.group) }
        }
        let isOfGroup = try FilePermissions(of: descriptor, path).group == wanted.group
        // A list is not for another group: whoever is in that may be in one that the list refuses.
        let isWhole = isOfGroup && crealm_copy_access_list(source, descriptor) == 0
        // What cannot be told counts as a list.
        let mode = isWhole ? wanted.mode : wanted.narrowed(leavingList: crealm_has_access_list(source) != 0)
        do throws(StorageError) {
            _ = try SystemCall.retrying(path, "Cannot set the mode of the new file") {
                Int(fchmod(descriptor, mode))
            }
        } catch {
            // Who may give it away, and no more: it is its owner's alone.
            guard error.errorNumber == EPERM else { throw error }
        }
        let given = try FilePermissions(of: descriptor, path)
        return isWhole && given == wanted
    }
}
