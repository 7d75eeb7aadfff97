public import Foundation
import Logging
import RealmModel
import RealmStorage

extension Realm {
    /// Writes the file of a configuration anew, without free space.
    ///
    /// The new file is written under another name, flushed, and put into the place of the old one in a single step: a crash
    /// at any moment leaves one of the two, whole. It keeps mode, owner, group and access list as far as the process may set
    /// them. Not needed in general: an open file gives free space back by itself, up to a small rest.
    ///
    /// What a kill has left in a log (`<file>.log`) is applied first,
    /// and the log is removed: the new file is one closed file. Where the
    /// log cannot be removed, the old file stays.
    ///
    /// ```swift
    /// let (before, after) = try Realm.compact(configuration)
    /// ```
    ///
    /// - Parameter configuration: The file; it must exist.
    /// - Returns: the bytes of the file before and after.
    /// - Throws: `Realm.Error` with the code `.alreadyOpen` while the realm is open in another process, or needed in this one, as
    ///   ``deleteFiles(for:)`` says; `.invalidInput` when the file has a second name (a hard link), which would keep
    ///   the old file;
    ///   `.invalidDatabase` where its log is missing or damaged, for which ``salvage(from:to:)`` is the remedy.
    @discardableResult
    public static func compact(
        _ configuration: Configuration = .defaultConfiguration
    ) throws -> (before: Int, after: Int) {
        let settings = try OpenSettings(configuration)
        return try RealmRegistry.shared.whileClosed(at: settings.path, toReplace: true) { isOpen in
            if isOpen {
                throw Realm.Error(
                    .alreadyOpen,
                    "The realm at path '\(settings.path)' is open: close every instance, and let go of frozen copies and "
                        + "references, before compacting it.",
                    fileURL: configuration.fileURL
                )
            }
            var options = settings.options
            options.createsIfMissing = false
            do {
                let file = try StorageFile.open(path: settings.path, options: options)
                let before = file.byteCount
                try file.compact()
                let status = try FileManager.default.attributesOfItem(atPath: settings.path)
                return (before, status[.size] as? Int ?? 0)
            } catch {
                throw Realm.Error.wrap(error, path: settings.path)
            }
        }
    }

    /// Writes a compact copy to a file that does not exist yet: of the newest durable version, or, inside a write
    /// transaction, of what the transaction sees.
    ///
    /// Readers and writers go on meanwhile. The copy appears under its name when it is complete and durable.
    ///
    /// This is the way to copy a realm that is open. A log need not
    /// be copied: what was acknowledged is in the copy, also where only the log has it. The copy is one file, and
    /// another one for every log: it has an identifier of its own. With `cp` or `rsync` copy a realm only while no
    /// process has it open, and `<file>.log` with it where there is one.
    ///
    /// - Parameters:
    ///   - fileURL: Where the copy shall be.
    ///   - encryptionKey: Must be nil in this build.
    /// - Throws: `Realm.Error` with the code `.fileExists` when the destination exists; `.alreadyOpen` while another call or process makes a
    ///   file there; `.alreadyInWriteTransaction` in the block of
    ///   `asyncWrite`, whose commit may be one with those of other writers: copy behind it, or in `write` or
    ///   `beginAsyncWrite()`, unless what these stand on is in the log alone;
    ///   inside a write transaction what its commit would throw, such as `.duplicateValue`: a copy holds nothing that must not be
    ///   committed. Where what the transaction has changed could not be sealed, it can still be read and written, but a look-up by key or by an
    ///   index may miss objects in it, and its commit throws the same error: cancel it.
    public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
        try core.requireAccess()
        if encryptionKey != nil {
            throw core.error(.invalidInput, "Encrypted realms are not supported by this build.")
        }
        let path = try OpenSettings.checkedPath(of: fileURL, "The destination of `writeCopy`")
        if FileManager.default.fileExists(atPath: path) {
            throw Realm.Error(.fileExists, "The destination of `writeCopy` exists already.", fileURL: fileURL)
        }
        do {
            if core.isInWriteTransaction {
                try copyTransaction(to: path)
                return
            }
            let snapshot = try core.coordinator.file.beginRead()
            try StorageFile.build(at: path, replaces: false, beginning: FileBeginning(copyOf: snapshot)) {
                try FileCompactor.copy(snapshot, to: $0)
            }
        } catch {
            throw Realm.Error.wrap(error, path: path)
        }
    }

    private func copyTransaction(to path: String) throws {
        let model = core.model
        guard !core.blockRules.isGrouped, model.canSealEarly else {
            throw core.error(
                .alreadyInWriteTransaction,
                "The commit of this `asyncWrite` may be one with those of other writers, so that what it sees cannot be copied "
                    + "alone: copy the realm behind it, or in the transaction of `write` or `beginAsyncWrite`."
            )
        }
        // What must not be committed must not get into a file of its own either.
        try core.checkCommit()
        // Rows may lie elsewhere, also where that fails.
        defer { core.noteWrite() }
        try StorageFile.build(at: path, replaces: false, beginning: model.beginningOfCopy) {
            try FileCompactor.copy(transactionOf: model, to: $0)
        }
    }

    /// Writes a compact copy to the file of a configuration, as ``writeCopy(toFile:encryptionKey:)`` does.
    public func writeCopy(configuration: Configuration) throws {
        guard let url = configuration.fileURL else {
            throw core.error(.invalidInput, "The destination of `writeCopy` needs a `fileURL`.")
        }
        try writeCopy(toFile: url, encryptionKey: configuration.encryptionKey)
    }
}

extension StorageFile {
    /// Writes the file anew without free space; this instance must not be used afterwards.
    func compact() throws {
        try replace { snapshot, destination in try FileCompactor.copy(snapshot, to: destination) }
    }

    /// Compacts the file when the configuration wants it, and nobody else has it open; true when this instance must not be used any more.
    ///
    /// Where no new file can be made, the old one stays.
    ///
    /// - Throws: What is wrong with the file itself.
    func compactOnLaunch(_ configuration: Realm.Configuration) throws -> Bool {
        guard let decides = configuration.shouldCompactOnLaunch, !options.isReadOnly else { return false }
        let (total, used) = try byteCounts()
        guard decides(total, used) else { return false }
        do {
            try compact()
            return true
        } catch let error as StorageError where error.code == .alreadyOpen || error.code == .invalidArgument {
            let reason = error.code == .alreadyOpen ? "another process has it open" : "it has another name, a hard link"
            (configuration.logger ?? .shared)
                .notice(
                    "A realm was not compacted when it was opened: \(reason).",
                    metadata: ["realm.path": "\(path)"]
                )
            return false
        } catch let error as StorageError where !error.isOfReplacedFile {
            // The disk may be full, the folder another user's, or something in the place of the new file.
            (configuration.logger ?? .shared)
                .warning(
                    "A realm was not compacted when it was opened: no new file could be made.",
                    metadata: ["realm.path": "\(path)", "realm.error": "\(error)"]
                )
            // How far that came need not be known.
            return true
        }
    }
}

extension StorageError {
    /// Whether it says what is wrong with a file that was to be replaced, and not with the new one or its place.
    fileprivate var isOfReplacedFile: Bool {
        switch code {
        case .corrupt, .writingStopped, .ended: true
        default: false
        }
    }
}
