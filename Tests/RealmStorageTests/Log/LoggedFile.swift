import Foundation
import RealmTestSupport

@testable import RealmStorage

/// A realm of numbers that is written with a log.
enum LoggedFile {
    typealias Operation = RecordedFiles.Operation
    typealias Recorder = RecordedFiles.Recorder

    /// How it is opened: with a log from its first commit on.
    ///
    /// - Parameters:
    ///   - blocks: How long the log is.
    ///   - recorder: Notes what is done to the files.
    ///   - stepping: Whether the steps of a checkpoint are the test's to take.
    /// - Returns: The options.
    static func options(blocks: Int = 8, recorder: Recorder? = nil, stepping: Bool = false) -> StorageOptions {
        var options = StorageOptions()
        var log = LogOptions(forEachPage: PageArray.forEachPage) { records, transaction in
            for record in records { try apply(record.content, to: transaction) }
            return try PageArray.commit(transaction)
        }
        log.ringByteCount = blocks * LogHeader.blockByteCount
        log.pageCommitCount = 0
        if stepping { log.runBeside = { if $0 == .space { $1() } } }
        options.log = log
        if let recorder { RecordedFiles.record(&options, with: recorder) }
        return options
    }

    /// What a transaction does: creates the array, and sets numbers.
    struct Change {
        var creates = false
        var values: [(index: Int, value: UInt64)] = []

        var content: [UInt8] {
            var words: [UInt64] = [creates ? 1 : 0]
            for (index, value) in values { words += [UInt64(index), value] }
            return words.flatMap { word in withUnsafeBytes(of: word.littleEndian, Array.init) }
        }

        func apply(to transaction: WriteTransaction) throws {
            if creates { try PageArray.create(in: transaction) }
            for (index, value) in values { try PageArray.set(index, to: value, in: transaction) }
        }

        func apply(to model: inout [UInt64]) { for (index, value) in values { model[index] = value } }
    }

    private static func apply(_ content: [UInt8], to transaction: WriteTransaction) throws {
        let words = content.withUnsafeBytes { bytes in
            (0..<bytes.count / 8).map { bytes.baseAddress!.little(UInt64.self, at: $0 * 8) }
        }
        var change = Change(creates: words[0] == 1)
        for index in stride(from: 1, to: words.count, by: 2) {
            change.values.append((Int(words[index]), words[index + 1]))
        }
        try change.apply(to: transaction)
    }

    /// Prepares a commit, with its record or without one.
    static func prepare(_ change: Change, in file: StorageFile, recorded: Bool = true) throws -> PreparedCommit {
        let transaction = try file.beginWrite()
        try change.apply(to: transaction)
        transaction.changes.recordModify(table: 1, key: 1, column: 1)
        if recorded { transaction.record = .init(kind: .changes, content: change.content) }
        return try PageArray.commit(transaction)
    }

    /// Sets a number, in a commit of its own; the first one creates the array.
    ///
    /// - Parameters:
    ///   - file: The file, to which the caller may write.
    ///   - index: Which number.
    ///   - value: What it is to be; the index by default.
    ///   - recorded: Whether the commit has its record.
    /// - Throws: What preparing and publishing it throw.
    static func commit(_ file: StorageFile, _ index: Int, _ value: UInt64? = nil, recorded: Bool = true) throws {
        let change = Change(creates: file.newestVersion == 1, values: [(index, value ?? UInt64(index))])
        try file.publish([prepare(change, in: file, recorded: recorded)])
    }

    /// Sets the number that most tests look at, in a turn of its own.
    static func write(_ file: StorageFile, _ value: UInt64) throws {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try commit(file, 1, value)
    }

    /// Copies the files as they are, as a kill leaves them, without a lock file.
    static func copy(of path: String, in folder: TemporaryDirectory) throws -> String {
        let copy = folder.path("copy-\(UInt64.random(in: 0 ... .max)).realm")
        for suffix in ["", ".log"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        return copy
    }

    /// What an opening finds in copies of the files as they are.
    static func valuesOfCopy(of path: String, in folder: TemporaryDirectory) throws -> [UInt64] {
        try values(of: StorageFile.open(path: copy(of: path, in: folder), options: options())).values
    }

    /// What a file holds.
    static func bytes(of path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    static func values(of file: StorageFile) throws -> (version: UInt64, values: [UInt64]) {
        let snapshot = try file.beginRead()
        try PageArray.audit(snapshot)
        return (snapshot.version, try PageArray.values(of: snapshot.catalog.root, in: snapshot.view))
    }
}
