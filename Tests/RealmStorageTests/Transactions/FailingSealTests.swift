import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite("Commits that fail while they are sealed")
struct FailingSealTests {
    private func write(_ keys: Range<UInt64>, in transaction: WriteTransaction) throws {
        for key in keys { try transaction.catalog.set(key.key, key.key, in: transaction) }
    }

    private func commit(_ keys: Range<UInt64>, in file: StorageFile) throws {
        let transaction = try file.beginWrite()
        try write(keys, in: transaction)
        try file.publish([try transaction.prepareCommit()])
    }

    @Test("A commit that finds no page for its record is not sealed a second time, without its other pages")
    func secondAttempt() throws {
        let directory = TemporaryDirectory()
        let failures = StepFailures()
        var options = StorageOptions()
        options.durability = .none
        options.failures = failures
        options.invariantWasBroken = { Issue.record("A structure is broken: \($0)") }
        options.invariantScope = .whole
        let file = try StorageFile.open(path: directory.path("test.realm"), options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try commit(0..<10, in: file)

        let transaction = try file.beginWrite()
        try write(10..<3_000, in: transaction)
        try transaction.catalog.seal(in: transaction)
        // A picture takes a page, whatever changed.
        transaction.state.writesPicture = true
        failures.arm(after: 0)
        #expect(throws: StorageError.self) { try transaction.prepareCommit() }
        #expect(failures.outcome.failed == .pageMemory)
        failures.arm(after: nil)
        #expect(throws: StorageError.self) { try transaction.prepareCommit() }
        transaction.rollback()

        try commit(3_000..<3_010, in: file)
        let snapshot = try file.beginRead()
        let keys = try snapshot.catalog.entries(in: snapshot.view).filter { $0.key == $0.value }.map { $0.key }
        #expect(keys == (Array(0..<10) + Array(3_000..<3_010) as [UInt64]).map(\.key))
    }
}
