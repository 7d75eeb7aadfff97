import Foundation
import RealmTestSupport
import Synchronization

@testable import RealmStorage

/// A realm of numbers that is written with a log, on devices that note in one order what is done to both files.
enum LoggedFile {
    /// What is done to the two files.
    enum Operation: Sendable {
        enum Which: Sendable { case realm, log }

        case write(Which, offset: Int, bytes: [UInt8])
        case synchronize(Which)
        case setByteCount(Int)
        /// The log has its name, durably, and what it begins with.
        case create([UInt8])
        case remove
        /// Put in by the test.
        case acknowledged(version: UInt64)
    }

    final class Recorder: Sendable {
        struct State {
            var operations: [Operation] = []
            /// The call that fails, counted from now on; writes, flushes, creating and removing are calls.
            var failing: Int?
            var didFail = false
            /// Whether the process is killed at that call.
            var isKilled = false
        }

        let state = Mutex(State())

        func append(_ operation: Operation) { state.withLock { $0.operations.append(operation) } }

        var operations: [Operation] { state.withLock { $0.operations } }

        func step(_ what: String) throws(StorageError) {
            let fails = state.withLock { state in
                guard let failing = state.failing else { return false }
                state.failing = failing - 1
                if failing == 0 {
                    if state.isKilled { kill(getpid(), SIGKILL) }
                    state.didFail = true
                }
                return failing == 0
            }
            if fails { throw StorageError(.io, "Injected failure of \(what)", errorNumber: 5) }
        }
    }

    private final class Device: StorageDevice {
        let base: any StorageDevice
        let which: Operation.Which
        let recorder: Recorder

        init(_ base: any StorageDevice, _ which: Operation.Which, _ recorder: Recorder) {
            self.base = base
            self.which = which
            self.recorder = recorder
        }

        var descriptor: Int32 { base.descriptor }
        var path: String { base.path }
        var isReadOnly: Bool { base.isReadOnly }

        func currentByteCount() throws(StorageError) -> Int { try base.currentByteCount() }

        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            try recorder.step("a write")
            var bytes: [UInt8] = []
            for (pointer, count) in pieces { bytes += UnsafeRawBufferPointer(start: pointer, count: count) }
            recorder.append(.write(which, offset: offset, bytes: bytes))
            try base.write(pieces, at: offset)
        }

        func synchronize() throws(StorageError) {
            try recorder.step("a flush")
            recorder.append(.synchronize(which))
        }

        func setByteCount(_ byteCount: Int) throws(StorageError) {
            recorder.append(.setByteCount(byteCount))
            try base.setByteCount(byteCount)
        }
    }

    private struct Directory: LogDirectory {
        let base: LogFile
        let recorder: Recorder

        var path: String { base.path }

        func open(forReadingOnly isReadOnly: Bool) throws(StorageError) -> (any StorageDevice)? {
            try base.open(forReadingOnly: isReadOnly)
        }

        func create(_ header: LogHeader) throws(StorageError) -> any StorageDevice {
            try recorder.step("creating the log")
            let device = try base.create(header)
            recorder.append(.create(Array(FileManager.default.contents(atPath: path) ?? Data())))
            return Device(device, .log, recorder)
        }

        func remove() throws(StorageError) {
            try recorder.step("removing the log")
            try base.remove()
            recorder.append(.remove)
        }
    }

    /// How it is opened.
    static func options(blocks: Int = 8, recorder: Recorder? = nil) -> StorageOptions {
        var options = StorageOptions()
        var log = LogOptions(replay: { records, transaction in
            for record in records { try apply(record.content, to: transaction) }
            return try PageArray.commit(transaction)
        })
        log.ringByteCount = blocks * LogHeader.blockByteCount
        if let recorder {
            options.makeDevice = { Device($0, .realm, recorder) }
            log.makeDirectory = { Directory(base: LogFile(besides: $0), recorder: recorder) }
        }
        options.log = log
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
        if recorded { transaction.record = (.changes, change.content) }
        return try PageArray.commit(transaction)
    }

    static func values(of file: StorageFile) throws -> (version: UInt64, values: [UInt64]) {
        let snapshot = try file.beginRead()
        try PageArray.audit(snapshot)
        return (snapshot.version, try PageArray.values(of: snapshot.catalog.root, in: snapshot.view))
    }
}
