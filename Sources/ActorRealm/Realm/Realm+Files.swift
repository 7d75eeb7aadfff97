import Foundation

extension Realm {
    /// Whether the file of a configuration exists, also where the configuration cannot be opened.
    ///
    /// Looks for the realm file alone. A log (`<file>.log`) or a lock
    /// file without it is no realm. A realm file whose log is missing exists, though an opening throws:
    /// ``salvage(from:to:)`` is the remedy.
    public static func fileExists(for config: Configuration) -> Bool {
        guard let place = try? OpenSettings.place(of: config) else { return false }
        if place.isTemporary { return RealmRegistry.shared.existing(at: place.path) != nil }
        return FileManager.default.fileExists(atPath: place.path)
    }

    /// Deletes the files of a configuration.
    ///
    /// These are the realm file, its lock file, its log, if a kill has left one, and what a kill has left of an
    /// unfinished copy. The log goes first: a kill in between leaves a realm file that is refused, and not a log
    /// without its realm. At the log's name the log of another realm stays, and so does a file that is no log, or a
    /// damaged one, and a log beside no realm file.
    ///
    /// A realm that was closed does not keep them, whoever still holds it or something that was reached from it. A frozen copy and a
    /// `ThreadSafeReference` do, as long as they exist, and so does whoever iterates changes.
    ///
    /// - Returns: whether there were any.
    /// - Throws: `Realm.Error.alreadyOpen` while the file is needed in this process; `filePermissionDenied` or `fileAccess` where it cannot be
    ///   deleted.
    @discardableResult
    public static func deleteFiles(for config: Configuration) throws -> Bool {
        let path = try OpenSettings.place(of: config).path
        return try RealmRegistry.shared.whileClosed(at: path) { isOpen in
            if isOpen { throw Realm.Error.needed(at: path, for: config) }
            return try OpenSettings.removeFiles(at: path)
        }
    }

    /// Opens the file of a configuration once, so that it is migrated.
    ///
    /// - Throws: `Realm.Error`: `alreadyOpen` while the realm is open in this process.
    public static func performMigration(for configuration: Configuration = .defaultConfiguration) throws {
        let path = try OpenSettings(configuration).path
        if RealmRegistry.shared.existing(at: path)?.hasOpenRealms == true {
            throw Realm.Error(
                .alreadyOpen,
                "Cannot migrate Realms that are already open: '\(path)'.",
                fileURL: configuration.fileURL
            )
        }
        _ = try prepare(configuration)
    }
}
