import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// What was acknowledged without pages, made in memory beside an open transaction.
@Suite("Acknowledged versions in memory")
struct ReplayedVersionTests {
    private let folder = TemporaryDirectory()
    private let failures = StepFailures()

    /// A file with five commits without pages and a transaction that stands on them; nobody makes pages.
    private func withOpenTransaction(_ body: (StorageFile, WriteTransaction) throws -> Void) throws {
        var options = OwedPagesTests.options()
        options.failures = failures
        let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
        try OwedPagesTests.begin(file)
        defer { file.unlockForWriting() }
        #expect(try OwedPagesTests.acknowledge(5, in: file))
        let transaction = try file.beginWrite(joining: true)
        try LoggedFile.Change(values: [(1, 7), (9, 9)]).apply(to: transaction)
        file.pageMaker.attach { _ = $0() }
        try body(file, transaction)
    }

    private func values(of snapshot: Snapshot) throws -> [UInt64] {
        try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)
    }

    @Test("It has all that was acknowledged, keeps its space in order, and says what has changed since the one below")
    func contents() throws {
        try withOpenTransaction { file, transaction in
            let published = try file.beginRead(asking: .published)
            let snapshot = try file.beginRead()
            #expect(snapshot.isInMemory)
            #expect(snapshot.version == published.version + 5)
            #expect(try values(of: snapshot) == OwedPagesTests.model(5))
            try PageArray.audit(snapshot)
            #expect(try values(of: published) == OwedPagesTests.model(0))
            #expect(try file.changes(after: published.version, through: snapshot) != nil)
            // Who reads the file has what the file has.
            #expect(try file.beginRead(asking: .inFile).version == published.version)
            let again = file.beginRead(at: snapshot)
            #expect(again.isSame(as: snapshot))
            transaction.rollback()
        }
    }

    @Test("It stays as it is when the transaction and later ones are published, which write where it has nothing")
    func lasting() throws {
        try withOpenTransaction { file, transaction in
            let snapshot = try file.beginRead()
            try file.publish([PageArray.commit(transaction)])
            let version = file.newestVersion
            for round in 0..<30 {
                let change = LoggedFile.Change(values: (0..<20).map { ($0, UInt64(1_000 * round + $0)) })
                try file.publish([LoggedFile.prepare(change, in: file)])
            }
            #expect(file.newestVersion == version + 30)
            file.doubtEveryPage()
            #expect(try values(of: snapshot) == OwedPagesTests.model(5))
        }
    }

    @Test("The log tells nobody what has changed since it, unless it was published as it was")
    func changes() throws {
        for isRolledBack in [true, false] {
            try? FileManager.default.removeItem(atPath: folder.path("a.realm"))
            try withOpenTransaction { file, transaction in
                let version = try file.beginRead().version
                if isRolledBack { transaction.rollback() } else { try file.publish([PageArray.commit(transaction)]) }
                if isRolledBack {
                    try file.publish([#require(try file.sealGroup())])
                    #expect(file.newestVersion == version)
                    try file.publish([LoggedFile.prepare(LoggedFile.Change(values: [(3, 3)]), in: file)])
                }
                let newest = try file.beginRead()
                #expect(newest.version == version + 1)
                #expect(!newest.isInMemory)
                #expect(try (file.changes(after: version, through: newest) == nil) == !isRolledBack)
                let unheld = try file.changes(afterUnheld: version, through: newest, byteLimit: .max)
                #expect((unheld == nil) == !isRolledBack)
            }
        }
    }

    @Test("The version below is pinned as long as it is read, by whoever reads it")
    func pins() throws {
        try withOpenTransaction { file, transaction in
            let published = file.newestVersion
            #expect(file.activeVersions().isEmpty)
            var snapshot: Snapshot? = try file.beginRead(from: ReaderOrigin(fileID: "A/A.swift", line: 1))
            #expect(file.activeVersions().map(\.version) == [published])
            #expect(file.activeVersions().map(\.origins) == [["A/A.swift:1"]])
            var other = snapshot.map { file.beginRead(at: $0) }
            #expect(other?.isInMemory == true)
            snapshot = nil
            #expect(file.activeVersions().map(\.version) == [published])
            other = nil
            #expect(other == nil)
            #expect(file.activeVersions().isEmpty)
            transaction.rollback()
        }
    }

    @Test("Whoever asks waits where a step of making it fails, and holds nothing")
    func failing() throws {
        try withOpenTransaction { file, transaction in
            let published = file.newestVersion
            var refusals = 0
            for step in 0..<10_000 {
                failures.arm(after: step)
                // Where nobody makes pages, whoever has waited finds the published version.
                let found = Result { try file.beginRead() }
                let failed = failures.outcome.failed
                failures.arm(after: nil)
                if failed == nil {
                    #expect(try found.get().isInMemory)
                    break
                }
                if let snapshot = try? found.get() {
                    #expect(!snapshot.isInMemory)
                    #expect(snapshot.version == published)
                }
                refusals += 1
            }
            #expect(refusals > 5)
            #expect(file.activeVersions().isEmpty)
            // And is told nothing else than before.
            try file.publish([PageArray.commit(transaction)])
            #expect(try LoggedFile.values(of: file).values == OwedPagesTests.model(5, more: [1: 7, 9: 9]))
        }
    }
}
