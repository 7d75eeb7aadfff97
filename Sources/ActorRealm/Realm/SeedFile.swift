import Foundation
import Glibc
import RealmModel
import RealmStorage

/// The file that a new realm begins with.
enum SeedFile {
    /// Whether nothing has the name of a realm that has a seed.
    ///
    /// A link that leads nowhere is something: no copy would appear there.
    static func isNeeded(at path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) != 0 && errno == ENOENT
    }

    /// Copies what the newest version of a seed holds to where no file is yet.
    ///
    /// The copy appears under its name when it is complete and durable. Blocks in the device.
    static func copy(_ seed: URL, to path: String, for fileURL: URL?) throws {
        _ = try OpenSettings.checkedPath(of: seed, "The `seedFilePath` of a configuration")
        let snapshot: Snapshot
        do {
            // A link that leads to the seed of today is a name for it; a realm itself is never opened through one.
            let settings = try OpenSettings(
                Realm.Configuration(fileURL: seed.resolvingSymlinksInPath(), readOnly: true)
            )
            // One that is open in this process is found by what it is, and not by its path: that may lead to another one by now.
            snapshot = try StorageFile.open(path: settings.path, options: settings.options).beginRead()
        } catch let error as StorageError where error.code == .notFound {
            throw Realm.Error(
                .fileNotFound,
                "The seed file \(seed.path) could not be copied.",
                fileURL: fileURL,
                underlyingError: error
            )
        } catch {
            throw Realm.Error.wrap(error, path: seed.path)
        }
        do {
            try StorageFile.buildUnlessMade(at: path, beginning: FileBeginning(copyOf: snapshot)) {
                try FileCompactor.copy(snapshot, to: $0)
            }
        } catch let error as StorageError where error.code == .notFound {
            throw Realm.Error(
                .fileNotFound,
                "The realm at path '\(path)' could not be made: its folder is not there.",
                fileURL: fileURL,
                underlyingError: error
            )
        } catch {
            throw Realm.Error.wrap(error, path: path)
        }
    }
}
