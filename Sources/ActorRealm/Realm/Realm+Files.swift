public import Foundation

extension Realm {
    /// Whether the file of a configuration exists.
    public static func fileExists(for config: Configuration) -> Bool {
        guard let settings = try? OpenSettings(config) else { return false }
        return FileManager.default.fileExists(atPath: settings.path)
    }

    /// Deletes the files of a configuration.
    ///
    /// - Returns: whether there were any.
    /// - Throws: `Realm.Error.alreadyOpen` while the realm is open in this process.
    @discardableResult
    public static func deleteFiles(for config: Configuration) throws -> Bool {
        let path = try OpenSettings(config).path
        return try RealmRegistry.shared.whileClosed(at: path) { isOpen in
            if isOpen {
                throw Realm.Error(
                    .alreadyOpen,
                    "The realm at path '\(path)' is open: close every instance before deleting its files.",
                    fileURL: config.fileURL
                )
            }
            return OpenSettings.removeFiles(at: path)
        }
    }

    /// Writes a copy of the newest durable version to a file that does not exist yet.
    ///
    /// Blocks writers meanwhile.
    ///
    /// - Throws: `Realm.Error`: `fileExists` when the destination exists.
    public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
        core.checkAccess()
        if encryptionKey != nil {
            throw core.error(.invalidInput, "Encrypted realms are not supported by this build.")
        }
        if FileManager.default.fileExists(atPath: fileURL.path) {
            throw Realm.Error(.fileExists, "The destination of writeCopy exists already.", fileURL: fileURL)
        }
        if core.isInWriteTransaction {
            throw core.error(.alreadyInWriteTransaction, "Finish the write transaction before copying the realm.")
        }
        do {
            let turn = try core.coordinator.writes.acquireBlocking(for: core.isolation.key)
            defer { core.coordinator.writes.finish(turn) }
            core.coordinator.writes.waitForFlushes()
            try FileManager.default.copyItem(atPath: core.coordinator.path, toPath: fileURL.path)
        } catch let error as CocoaError {
            throw Realm.Error(
                error.code == .fileNoSuchFile || error.code == .fileReadNoSuchFile ? .fileNotFound : .fileAccess,
                "The realm could not be copied: \(error.localizedDescription)",
                fileURL: fileURL,
                underlyingError: error
            )
        } catch {
            throw Realm.Error.wrap(error, path: core.coordinator.path)
        }
    }

    /// Writes a copy of the newest durable version to the file of a configuration.
    public func writeCopy(configuration: Configuration) throws {
        guard let url = configuration.fileURL else {
            throw core.error(.invalidInput, "The destination of writeCopy needs a fileURL.")
        }
        try writeCopy(toFile: url, encryptionKey: configuration.encryptionKey)
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
        _ = try prepare(configuration, blocking: .none)
    }
}
