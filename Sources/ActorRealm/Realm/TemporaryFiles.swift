import Foundation
import Glibc
import RealmStorage

/// The files of in-memory realms, in a folder that is in memory where the system has one.
///
/// Each belongs to one process, which its name tells, and is removed by it. The rest of the name is nothing that anybody could guess: other
/// users may write to the folder, and containers that share it have processes of one number. Those of processes that were killed, or
/// that ended with such a realm open, are removed by the next process of the same user that opens an in-memory realm.
enum TemporaryFiles {
    private static let prefix = "actor-realm-\(getuid())-"

    private static let directory: String = {
        let manager = FileManager.default
        return manager.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : manager.temporaryDirectory.path
    }()

    private static let removeAbandonedOnce: Void = removeAbandoned(in: directory)

    /// The path of an in-memory realm, without what each of its lives adds to it.
    static func stem(for name: String) -> String {
        let safe = name.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                String(UnicodeScalar(byte))
            default:
                // Two digits, so that no two names are one.
                "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return "\(directory)/\(prefix)\(getpid())-\(safe.joined()).realm"
    }

    /// The path of a new life of an in-memory realm, at which nothing is.
    ///
    /// All of one realm are of one length: whether an identifier is too long for the file system is nothing that changes.
    static func newPath(stem: String) -> String {
        let digits = String(UInt64.random(in: 0 ... .max), radix: 36)
        return "\(stem)-\(String(repeating: "0", count: 13 - digits.utf8.count))\(digits)"
    }

    /// The files of a new life of an in-memory realm.
    static func make(stem: String) throws(StorageError) -> TemporaryRealmFile {
        removeAbandonedOnce
        // A name that is taken is none that was guessed, unless what makes them is broken.
        for _ in 0..<8 {
            if let file = try TemporaryRealmFile.make(at: newPath(stem: stem)) { return file }
        }
        throw StorageError(.exists, "No file of its own could be made for an in-memory realm", path: stem)
    }

    /// Removes the files of processes that are gone, and those that others with the number of this one have left.
    ///
    /// A file is left alone that somebody has open, and so is a young one: what counts as a process that is gone here may be
    /// one of another container that shares the folder, and have this number there.
    ///
    /// - Complexity: O(the files in the folder).
    static func removeAbandoned(in directory: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let rest = name.dropFirst(prefix.count)
            guard let process = pid_t(rest.prefix { $0 != "-" }), process > 0,
                process == getpid() || kill(process, 0) != 0 && errno == ESRCH
            else {
                continue
            }
            let path = directory + "/" + (name.hasSuffix(".lock") ? String(name.dropLast(5)) : name)
            if isYoung(directory + "/" + name) || StorageFile.isOpenAnywhere(path: path) { continue }
            // What cannot be removed now is in nobody's way.
            _ = try? OpenSettings.removeFiles(at: path)
        }
    }

    /// Whether a file was written to in the last minute, or cannot be examined.
    private static func isYoung(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return true }
        return time(nil) - status.st_mtim.tv_sec < 60
    }
}
