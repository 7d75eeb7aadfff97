import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// A file that reaches the end of the address space that was reserved for it.
@Suite("The end of the address space", .serialized)
struct AddressSpaceTests {
    let directory = TemporaryDirectory()

    private func open(_ name: String) throws -> StorageFile {
        var options = StorageOptions()
        options.durability = .none
        options.reservedByteCount = 2 << 20
        return try StorageFile.open(path: directory.path(name), options: options)
    }

    @Test(
        "a transaction that does not fit throws, is rolled back, and what fits is written afterwards",
        arguments: [1, 3, 16, 255]
    )
    func growing(pageCount: Int) throws {
        let file = try open("full-\(pageCount).realm")
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        var transaction = try file.beginWrite()
        try PageArray.create(in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        for round in 0..<3 {
            transaction = try file.beginWrite()
            var error: StorageError?
            for _ in 0..<600 {
                do throws(StorageError) {
                    _ = try transaction.allocate(pageCount: pageCount, kind: .overflow)
                } catch let failure {
                    error = failure
                    break
                }
            }
            #expect(error?.code == .addressSpaceExhausted)
            transaction.rollback()
            transaction = try file.beginWrite()
            try PageArray.set(round, to: UInt64(round) + 5, in: transaction)
            try file.publish([try PageArray.commit(transaction)])
        }
        let snapshot = try file.beginRead()
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view).prefix(3) == [5, 6, 7])
    }

    /// Appends rows with a text of 60 bytes, whose column is a long one.
    private func append(_ count: Int, to writer: ClusterWriter) throws {
        for _ in 0..<count {
            let key = try writer.append()
            try writer.setInt(key, key: key, column: 0)
            let text = [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 60)
            try writer.set(.bytes(text), key: key, column: 1)
        }
    }

    @Test("so does one whose long columns lie in stretches, and the space is whole afterwards")
    func growingInStretches() throws {
        let columns = [ColumnLayout(kind: .int), ColumnLayout(kind: .bytes)]
        let fixture = try TableFixture(columns: columns, reservedByteCount: 4 << 20)
        for round in 1...3 {
            let transaction = try fixture.file.beginWrite()
            // Each cluster is encoded as soon as the next one begins.
            let writer = ClusterWriter(
                tree: fixture.tree,
                columns: columns,
                transaction: transaction,
                openByteLimit: 64 << 10
            )
            var failure: (any Error)?
            var hasTakenStretches = false
            for _ in 0..<200 where failure == nil {
                do { try append(1_000, to: writer) } catch { failure = error }
                if !transaction.group.stretches.unused.isEmpty { hasTakenStretches = true }
            }
            #expect((failure as? StorageError)?.code == .addressSpaceExhausted)
            #expect(hasTakenStretches, "no column has become long enough for a stretch")
            transaction.rollback()
            let snapshot = try fixture.write { try append(3_000, to: $0) }
            #expect(fixture.tree.rowCount == 3_000 * round)
            try fixture.tree.verify(columns: columns, in: snapshot.view)
            try fixture.audit(snapshot)
        }
    }

    @Test("what another process wrote behind the end is an error that says so, and the reader stays where it was")
    func grownElsewhere() throws {
        let file = try open("other.realm")
        try file.lockForWriting()
        let transaction = try file.beginWrite()
        try PageArray.create(in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        file.unlockForWriting()
        let old = try file.beginRead()
        // Another process: another name of the same file is one registry entry, so a child does it.
        let path = file.path
        let status = try ForkedChild.run {
            guard let own = try? StorageFile.open(path: path), (try? own.lockForWriting()) != nil,
                let transaction = try? own.beginWrite(), (try? PageArray.set(0, to: 9, in: transaction)) != nil
            else { return 1 }
            for _ in 0..<600 where (try? transaction.allocate(pageCount: 1, kind: .overflow)) == nil { return 2 }
            return (try? own.publish([PageArray.commit(transaction)])) == nil ? 3 : 0
        }
        #expect(status == 0)
        let error = #expect(throws: StorageError.self) { try file.beginRead() }
        #expect(error?.code == .addressSpaceExhausted)
        let writing = #expect(throws: StorageError.self) { try file.beginWrite() }
        #expect(writing?.code == .addressSpaceExhausted)
        #expect(file.pinnedVersionCount == 1)
        #expect(try PageArray.values(of: old.catalog.root, in: old.view)[0] == 0)
    }

    @Test("so is what a process with a log wrote behind it, for who has to end that log, which is left as it is")
    func grownInLog() throws {
        let path = directory.path("logged.realm")
        let child = try ForkedProcess { parent in
            let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64))
            func commit(pageCount: Int, creates: Bool = false) throws {
                try file.lockForWriting()
                defer { file.unlockForWriting() }
                let transaction = try file.beginWrite()
                if creates { try PageArray.create(in: transaction) }
                try PageArray.set(1, to: UInt64(pageCount), in: transaction)
                if pageCount > 0 { _ = try transaction.allocate(pageCount: pageCount, kind: .overflow) }
                let change = LoggedFile.Change(values: [(1, UInt64(pageCount))])
                transaction.record = .init(kind: .changes, content: change.content)
                try file.publish([PageArray.commit(transaction)])
            }
            try commit(pageCount: 0, creates: true)
            parent.send(1)
            while let byte = parent.receive() {
                for _ in 0..<40 { try commit(pageCount: 16) }
                parent.send(file.openLog == nil ? 0 : byte)
            }
        }
        #expect(child.connection.receive() == 1)
        let file = try open("logged.realm")
        let old = try file.beginRead()
        #expect(child.ask(7) == 7, "the other process has a log")
        for _ in 0..<2 {
            try file.lockForWriting()
            let error = #expect(throws: StorageError.self) { try file.beginWrite() }
            #expect(error?.code == .addressSpaceExhausted)
            file.unlockForWriting()
        }
        #expect(FileManager.default.fileExists(atPath: path + ".log"))
        #expect(try PageArray.values(of: old.catalog.root, in: old.view)[1] == 0)
        #expect(child.end() == 0)
    }
}
