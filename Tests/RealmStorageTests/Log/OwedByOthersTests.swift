import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// What another process has acknowledged without pages, read in memory beside its open transaction.
@Suite("Commits without pages, read beside another process's transaction", .serialized, .timeLimit(.minutes(60)))
struct OwedByOthersTests {
    typealias Owed = OwedPagesTests

    let folder = TemporaryDirectory()
    private var path: String { folder.path("a.realm") }

    /// How this process opens the file.
    private func options(isReadOnly: Bool = false) -> StorageOptions {
        var options = Owed.options()
        options.owedPagesWait = .seconds(20)
        if isReadOnly {
            options.isReadOnly = true
            options.recovery = options.log
            options.log = nil
        }
        return options
    }

    /// A process that acknowledges five commits, says 1 in the midst of a transaction that stands on them, and does something with that when
    /// it is told to.
    private func writer(_ body: (StorageFile, WriteTransaction) throws -> Void) throws -> ForkedProcess {
        let path = self.path
        let child = try ForkedProcess { parent in
            let file = try StorageFile.open(path: path, options: Owed.options())
            try Owed.begin(file)
            let isOwed = try Owed.acknowledge(5, in: file)
            let transaction = try file.beginWrite(joining: true)
            try LoggedFile.Change(values: [(1, 7), (9, 9)]).apply(to: transaction)
            parent.send(isOwed ? 1 : 0)
            _ = parent.receive()
            try body(file, transaction)
            parent.send(2)
            _ = parent.receive()
        }
        #expect(child.connection.receive() == 1)
        return child
    }

    private func values(of snapshot: Snapshot) throws -> [UInt64] {
        try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)
    }

    @Test(
        "Rule 7: whoever opens the file beside an open transaction reads what was acknowledged, and the file behind that",
        arguments: [true, false]
    )
    func opened(isReadOnly: Bool) throws {
        let child = try writer { file, transaction in try file.publish([PageArray.commit(transaction)]) }
        let file = try StorageFile.open(path: path, options: options(isReadOnly: isReadOnly))
        let published = file.newestVersion
        let snapshot = try file.beginRead()
        #expect(snapshot.isInMemory)
        #expect(snapshot.version == published + 5)
        #expect(try values(of: snapshot) == Owed.model(5))
        try PageArray.audit(snapshot)
        // Whoever comes later reads no older one, and who reads the file has what the file has.
        #expect(try file.beginRead().isSame(as: snapshot))
        #expect(try file.beginRead(asking: .inFile).version == published)
        #expect(!file.isAhead(of: snapshot))
        #expect(file.activeVersions().map(\.version) == [published])
        #expect(child.ask() == 2)
        #expect(file.isAhead(of: snapshot))
        let newest = try file.beginRead()
        #expect(!newest.isInMemory)
        #expect(newest.version == published + 6)
        #expect(try values(of: newest) == Owed.model(5, more: [1: 7, 9: 9]))
        // The log of the file has one entry for all of them.
        #expect(try file.changes(after: snapshot.version, through: newest) == nil)
        file.doubtEveryPage()
        #expect(try values(of: snapshot) == Owed.model(5))
        #expect(child.end() == 0)
    }

    @Test("Where the transaction is rolled back, the file has the same version a moment later")
    func rolledBack() throws {
        let child = try writer { file, transaction in
            transaction.rollback()
            guard let commit = try file.sealGroup() else { return }
            try file.publish([commit])
        }
        let file = try StorageFile.open(path: path, options: options())
        let snapshot = try file.beginRead()
        #expect(snapshot.isInMemory)
        #expect(child.ask() == 2)
        #expect(file.isAhead(of: snapshot))
        let newest = try file.beginRead()
        #expect(!newest.isInMemory)
        #expect(newest.version == snapshot.version)
        #expect(try values(of: newest) == Owed.model(5))
        #expect(child.end() == 0)
    }

    @Test("Where that process is killed, it is read in memory until somebody writes, who builds on it")
    func killed() throws {
        let child = try writer { _, _ in _ = kill(getpid(), SIGKILL) }
        let file = try StorageFile.open(path: path, options: options())
        let snapshot = try file.beginRead()
        #expect(snapshot.isInMemory)
        child.connection.send(1)
        #expect(child.end() == SIGKILL)
        #expect(try file.beginRead().version == snapshot.version)
        #expect(try LoggedFile.values(of: file).values == Owed.model(5))
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try file.publish([LoggedFile.prepare(.init(values: [(50, 50)]), in: file)])
        #expect(try LoggedFile.values(of: file).values == Owed.model(5, more: [50: 50]))
        #expect(try values(of: snapshot) == Owed.model(5))
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Owed.model(5, more: [50: 50]))
    }
}
