import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// What outlives the processes in a lock file, when an opening makes it new.
@Suite("Lock files that are made new", .timeLimit(.minutes(60)))
struct LockFileRenewalTests {
    let directory = TemporaryDirectory()

    /// A file whose newest commit failed, and whose header page could not be brought back: everything of the commit stands in
    /// the file, and nobody was told that it was durable.
    private func makeFile(_ name: String) throws -> (path: String, version: UInt64) {
        let path = directory.path(name)
        let log = RecordingDevice.Log()
        var options = StorageOptions()
        options.makeDevice = { RecordingDevice($0, log: log) }
        let file = try StorageFile.open(path: path, options: options)
        try commit(1, to: file, creates: true)
        try commit(2, to: file)
        // Zeros and pages with their flushes, and the header; then its flush fails, and so does bringing back the header page.
        log.fail(at: 4, forever: true)
        #expect(throws: StorageError.self) { try commit(3, to: file) }
        #expect(file.newestVersion == 3)
        let byteCount = try file.data.currentByteCount()
        let found = try HeaderRecovery.recover(mapping: file.reservation.mapping, byteCount: byteCount, path: path)
        try #require(found.header.version == 4, "The commit must stand in the file whole.")
        return (path, file.newestVersion)
    }

    private func commit(_ value: UInt64, to file: StorageFile, creates: Bool = false) throws {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        if creates { try PageArray.create(in: transaction) }
        try PageArray.set(0, to: value, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
    }

    private func value(_ file: StorageFile) throws -> UInt64 {
        let snapshot = try file.beginRead()
        return try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[0]
    }

    private func expectOldState(_ path: String, version: UInt64, _ what: String) throws {
        let file = try StorageFile.open(path: path)
        #expect(file.newestVersion == version, "\(what)")
        #expect(try value(file) == 2, "\(what)")
        try commit(4, to: file)
        #expect(try value(file) == 4, "\(what)")
    }

    @Test("a commit that failed does not come to life after openings for reading only", arguments: 1...3)
    func readOnly(count: Int) throws {
        let (path, version) = try makeFile("read.realm")
        var options = StorageOptions()
        options.isReadOnly = true
        for _ in 0..<count {
            let reader = try StorageFile.open(path: path, options: options)
            #expect(reader.newestVersion == version)
            #expect(try value(reader) == 2)
        }
        try expectOldState(path, version: version, "\(count) openings")
    }

    @Test("nor after openings, for reading or writing, that fail at any step", arguments: [true, false])
    func failingOpenings(isReadOnly: Bool) throws {
        for step in 0..<60 {
            let (path, version) = try makeFile("failing-\(isReadOnly)-\(step).realm")
            var options = StorageOptions()
            options.isReadOnly = isReadOnly
            options.failures = StepFailures()
            options.failures?.arm(after: step)
            let newest = try? StorageFile.open(path: path, options: options).newestVersion
            if let newest { #expect(newest == version, "step \(step)") }
            let isOver = options.failures?.outcome.failed == nil
            // One of which no step fails succeeds.
            #expect(newest != nil || !isOver, "step \(step)")
            try expectOldState(path, version: version, "step \(step)")
            if isOver { return }
        }
        Issue.record("An opening has more than 60 steps.")
    }

    @Test("a writer that comes beside a reader stands where the reader does")
    func writerBesideReader() throws {
        let (path, version) = try makeFile("beside.realm")
        let data = try StorageFile.openData(path: path, options: StorageOptions())
        var options = StorageOptions()
        options.isReadOnly = true
        let reader = try StorageFile.openUnshared(data: data, path: path, options: options)
        #expect(reader.newestVersion == version)
        try withExtendedLifetime(reader) { try expectOldState(path, version: version, "beside a reader") }
    }

    @Test("the same commit made again, and acknowledged, is there after a crash")
    func madeAgain() throws {
        let (path, version) = try makeFile("again.realm")
        let copy = directory.path("copy.realm")
        do {
            let file = try StorageFile.open(path: path)
            #expect(file.newestVersion == version)
            // The same pages, values and version as those of the commit that failed.
            try commit(3, to: file)
            #expect(file.newestVersion == version + 1)
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            try FileManager.default.copyItem(atPath: path + ".lock", toPath: copy + ".lock")
        }
        #expect(try value(StorageFile.open(path: copy)) == 3)
    }

    @Test("an opening that fails keeps the row keys that were given out", arguments: 0..<6)
    func rowKeys(step: Int) throws {
        let path = directory.path("keys-\(step).realm")
        do {
            let file = try StorageFile.open(path: path)
            try commit(1, to: file, creates: true)
            file.lock?.noteRowKeys(before: 77, of: 3)
        }
        var options = StorageOptions()
        options.failures = StepFailures()
        options.failures?.arm(after: step)
        _ = try? StorageFile.open(path: path, options: options)
        #expect(try StorageFile.open(path: path).lock?.leastRowKey(of: 3) == 77)
    }
}
