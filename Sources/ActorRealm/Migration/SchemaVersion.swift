public import Foundation
import RealmModel
import RealmStorage

/// The schema version of the file at a URL.
///
/// - Parameters:
///   - fileURL: The file.
///   - encryptionKey: The 64-byte key of an encrypted file.
/// - Returns: The version that the file was last opened with for writing.
/// - Throws: `Realm.Error` with the code `invalidDatabase` when there is no file, or it has no schema yet or is no realm file.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
    let settings = try OpenSettings(
        Realm.Configuration(fileURL: fileURL, encryptionKey: encryptionKey, readOnly: true)
    )
    func version(_ file: StorageFile) throws -> UInt64 {
        guard let schema = try SchemaReconciler.storedSchema(of: file.beginRead()) else {
            throw Realm.Error(
                .invalidDatabase,
                "The file has no schema yet: it was never opened as a realm.",
                fileURL: fileURL
            )
        }
        return schema.version
    }
    do {
        if let open = RealmRegistry.shared.existing(at: settings.path) { return try version(open.file) }
        return try version(StorageFile.open(path: settings.path, options: settings.options))
    } catch let error as StorageError where error.code == .notFound {
        throw Realm.Error(
            .invalidDatabase,
            "There is no file, and so no schema version: the realm was never opened.",
            fileURL: fileURL,
            underlyingError: error
        )
    } catch {
        throw Realm.Error.wrap(error, path: settings.path)
    }
}
