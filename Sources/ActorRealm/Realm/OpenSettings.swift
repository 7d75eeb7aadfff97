import Foundation
import Logging
import RealmModel
import RealmStorage

/// What a configuration means for the file system: which file, and how to open it.
struct OpenSettings: Sendable {
    /// Where the file is; for one that vanishes, the stem of its name and of those that follow it.
    let path: String
    /// Whether the file vanishes when its last user closes it.
    let isTemporary: Bool
    let isReadOnly: Bool
    let options: StorageOptions
    let logger: Logger?
    let clock: WriteScheduler.Clock

    /// Checks a configuration, and finds the file that it means.
    init(_ configuration: Realm.Configuration) throws(Realm.Error) {
        func invalid(_ message: String) -> Realm.Error {
            Realm.Error(.invalidInput, message, fileURL: configuration.fileURL)
        }
        (path, isTemporary) = try Self.place(of: configuration)
        if let key = configuration.encryptionKey {
            guard key.count == 64 else { throw invalid("Encryption key must be exactly 64 bytes long.") }
            throw invalid("Encrypted realms are not supported by this build.")
        }
        if configuration.readOnly, configuration.deleteRealmIfMigrationNeeded {
            throw invalid("Cannot set `deleteRealmIfMigrationNeeded` for a read-only realm.")
        }
        if configuration.readOnly, configuration.shouldCompactOnLaunch != nil {
            throw invalid("Cannot set `shouldCompactOnLaunch` for a read-only realm.")
        }
        if !configuration.migrationSteps.isEmpty,
            configuration.migrationBlock != nil || configuration.throwingMigrationBlock != nil
        {
            throw invalid("Cannot set both `migrationSteps` and a migration block: make the block one of the steps.")
        }
        isReadOnly = configuration.readOnly
        logger = configuration.logger
        clock = configuration.clock
        var options = StorageOptions()
        options.isReadOnly = configuration.readOnly
        options.createsIfMissing = !configuration.readOnly
        options.durability = isTemporary || configuration.durability == .unflushed ? .none : .flushed
        options.maximumNumberOfActiveVersions = configuration.maximumNumberOfActiveVersions.map { Int(clamping: $0) }
        options.makeDevice = configuration.makeDevice
        options.failures = configuration.failures
        var log = LogOptions(forEachPage: ModelVerifier.forEachReachablePage, replay: LogReplay.apply)
        // What a kill has left in one is applied, whoever opens the file.
        options.recovery = log
        if configuration.keepsLog, !configuration.readOnly, options.durability == .flushed {
            let thread = DedicatedThread(name: "realm-log")
            log.runBeside = { thread.performOrRun($1) }
            log.clock = LogOptions.Clock(now: configuration.clock.now, wake: configuration.clock.wake)
            log.wasRefused = { [path, logger, clock] reason in
                Self.warn(of: reason, path: path, logger, clock)
            }
            configuration.adjustLog?(&log)
            options.log = log
        }
        self.options = options
    }

    /// Says in the log of the program why a realm keeps none, on a thread that no writer waits for.
    private static func warn(
        of reason: StorageError,
        path: String,
        _ logger: Logger?,
        _ clock: WriteScheduler.Clock
    ) {
        let say: @Sendable () -> Void = {
            (logger ?? .shared)
                .warning(
                    "Commits are made durable by their pages, without a log, which takes longer: \(reason.message).",
                    metadata: ["realm.path": "\(path)", "realm.log": "\(reason.path ?? path)"]
                )
        }
        if !clock.wake(0, say) { say() }
    }

    /// Which file a configuration means, whatever it says of how to open it.
    static func place(of configuration: Realm.Configuration) throws(Realm.Error) -> (path: String, isTemporary: Bool) {
        if let name = configuration.inMemoryIdentifier { return (TemporaryFiles.stem(for: name), true) }
        guard let url = configuration.fileURL else {
            throw Realm.Error(.invalidInput, "A configuration needs a `fileURL` or an `inMemoryIdentifier`.")
        }
        return (try checkedPath(of: url, "The `fileURL` of a configuration"), false)
    }

    /// The path of a file URL.
    ///
    /// - Throws: `invalidInput`, which calls the URL by its name.
    static func checkedPath(of url: URL, _ name: String) throws(Realm.Error) -> String {
        guard url.isFileURL else { throw Realm.Error(.invalidInput, "\(name) must be a file URL.", fileURL: url) }
        let path = path(of: url)
        guard !path.utf8.contains(0), !path.isEmpty else {
            throw Realm.Error(.invalidInput, "\(name) has no path, or one with a zero byte in it.", fileURL: url)
        }
        return path
    }

    /// Where the file of a URL is.
    ///
    /// `..` behind a symbolic link leads to the directory above the one that the link stands for, as everywhere in the system,
    /// and not to the one above the link: taken out of the path as text, it would name another file.
    private static func path(of url: URL) -> String {
        // Each opening asks twice, and nearly every path is what it says.
        let text = url.path
        if isPlain(text) { return text }
        let standardized = url.standardizedFileURL
        let name = standardized.lastPathComponent
        let directory = url.absoluteURL.deletingLastPathComponent().path
        // By bytes: a mark that begins a name makes one character with the separator before it.
        let leadsUp = directory.utf8.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
        guard url.lastPathComponent == name, leadsUp,
            let resolved = realpath(directory, nil)
        else { return standardized.path }
        defer { free(resolved) }
        let parent = String(cString: resolved)
        return parent == "/" ? "/" + name : parent + "/" + name
    }

    /// Whether a path begins at the root, and no name in it is empty or begins with a point: there is nothing to take out of it.
    private static func isPlain(_ path: String) -> Bool {
        var last: UInt8?
        for byte in path.utf8 {
            switch last {
            case nil: if byte != UInt8(ascii: "/") { return false }
            case UInt8(ascii: "/"): if byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") { return false }
            default: break
            }
            last = byte
        }
        return last != nil && last != UInt8(ascii: "/")
    }

    /// The files that belong to a realm, its own first.
    static func files(of path: String) -> [String] {
        [path, path + ".lock"]
    }

    /// Removes a realm's files; true when there was one.
    ///
    /// - Throws: `filePermissionDenied` or `fileAccess` where they cannot be removed.
    @discardableResult
    static func removeFiles(at path: String) throws(Realm.Error) -> Bool {
        do throws(StorageError) {
            return try StorageFile.removeFiles(ofRealmAt: path)
        } catch {
            throw Realm.Error(storage: error, path: path)
        }
    }
}
