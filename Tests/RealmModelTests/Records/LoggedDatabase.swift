import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// A database whose commits a log makes durable, as a realm uses one.
final class LoggedDatabase {
    let file: StorageFile
    let model: ModelView
    let path: String
    private let folder: TemporaryDirectory
    private var copies = 0

    static func options(
        ringByteCount: Int = 4 << 20,
        recorder: RecordedFiles.Recorder? = nil,
        stepping: Bool = false
    ) -> StorageOptions {
        var options = StorageOptions()
        options.invariantWasBroken = { Issue.record("A structure is broken: \($0)") }
        options.invariantScope = .whole
        var log = LogOptions(forEachPage: ModelVerifier.forEachReachablePage, replay: LogReplay.apply)
        log.ringByteCount = ringByteCount
        log.pageCommitCount = 0
        // The test takes the steps of checkpoints.
        if stepping { log.runBeside = { if $0 == .space { $1() } } }
        options.log = log
        if let recorder { RecordedFiles.record(&options, with: recorder) }
        return options
    }

    init(
        _ classes: [ClassSchema],
        options: StorageOptions = LoggedDatabase.options(),
        in folder: TemporaryDirectory = TemporaryDirectory()
    ) throws {
        self.folder = folder
        path = folder.path("test.realm")
        file = try StorageFile.open(path: path, options: options)
        if try SchemaReconciler.storedSchema(of: file.beginRead()) == nil {
            try TestDatabase.reconcile(DatabaseSchema(classes: classes, version: 1), in: file)
        }
        model = try ModelView(snapshot: file.beginRead())
    }

    /// The database of a file that is there.
    init(at path: String) throws {
        folder = TemporaryDirectory()
        self.path = path
        file = try StorageFile.open(path: path, options: Self.options())
        model = try ModelView(snapshot: file.beginRead())
    }

    /// Another view on the file of a database.
    init(sharing other: LoggedDatabase) throws {
        (folder, path, file) = (other.folder, other.path, other.file)
        model = try ModelView(snapshot: file.beginRead())
    }

    /// Begins a transaction that becomes a record; the caller has the write lock.
    func begin(joining: Bool = false) throws {
        let transaction = try file.beginWrite(joining: joining)
        transaction.recording = file.keepsLog ? .record : .pages
        try model.begin(transaction)
    }

    /// Runs a transaction.
    func write(_ heading: RecordHeading = RecordHeading(), _ body: (ModelView) throws -> Void) throws {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try begin()
        do {
            try body(model)
            try model.checkUniqueness()
            try model.keepRecord(heading)
            try file.publish([model.prepareCommit()])
            try model.endTransaction(advancingTo: file.beginRead())
        } catch {
            model.rollback()
            throw error
        }
    }

    /// What a kill leaves, in files of other names.
    func killed() throws -> String {
        copies += 1
        let copy = folder.path("copy-\(copies).realm")
        for suffix in ["", ".log"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        return copy
    }

    /// Opens what a kill leaves, and requires that it holds what this database does.
    func requireRecovery(_ when: String, mayLackKeys: Bool = false) throws {
        let copy = try killed()
        defer { for suffix in ["", ".log", ".lock"] { try? FileManager.default.removeItem(atPath: copy + suffix) } }
        let opened = try StorageFile.open(path: copy, options: Self.options())
        try #require(!FileManager.default.fileExists(atPath: copy + ".log"), "\(when)")
        try #require(opened.newestVersion == file.newestVersion, "\(when)")
        let recovered = try ModelView(snapshot: opened.beginRead())
        try DatabaseComparison.requireEqual(model, recovered, when, mayLackKeys: mayLackKeys)
        try ModelVerifier.verify(recovered)
        try FileVerifier.verify(recovered.snapshot)
    }
}
