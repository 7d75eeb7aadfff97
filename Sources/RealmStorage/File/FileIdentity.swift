import CRealmShims
import Glibc

/// What makes two paths the same file: two hard links are one realm.
package struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    /// Not an initializer: the layers above would look at its C type, which they have from another module.
    static func of(_ status: stat) -> FileIdentity {
        FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// That of the file that a path leads to; nil where there is none.
    package static func ofFile(at path: String) -> FileIdentity? {
        var status = stat()
        return stat(path, &status) == 0 ? of(status) : nil
    }
}
