import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Somebody else makes a file shorter while it is open: who asks for its length hears of it before touching a page that is gone.
@Suite("A file that is cut short while it is open")
struct CutFileTests {
    let directory = TemporaryDirectory()

    private func create(_ path: String) throws -> StorageFile {
        var options = StorageOptions()
        options.durability = .none
        return try StorageFile.open(path: path, options: options)
    }

    /// As another process opens it.
    private func openUnshared(_ path: String) throws -> StorageFile {
        var options = StorageOptions()
        options.durability = .none
        return try StorageFile.openUnshared(
            data: try DataFile.open(path: path, isReadOnly: false),
            path: path,
            options: options
        )
    }

    private func write(_ file: StorageFile, ballast: Int) throws {
        #expect(try file.tryLockForWriting())
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        if transaction.catalog.root.isNone { try PageArray.create(in: transaction) }
        // The newest pages are the last of the file: what is cut off below is in them.
        try PageArray.setBallast(ballast, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
    }

    /// Cuts the last page that is in use off; returns its number.
    private func cut(_ path: String, pageCount: Int) throws -> PageNumber {
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.truncate(atOffset: UInt64((pageCount - 1) * pageByteCount))
        try handle.close()
        return PageNumber(pageCount - 1)
    }

    @Test(
        "Whoever opens it as another process, or closes it, hears of it, be it cut to nothing",
        arguments: [0, 1, 3, 8]
    )
    func opening(pageCount: Int) throws {
        let path = directory.path("opening.realm")
        var file: StorageFile? = try create(path)
        try write(try #require(file), ballast: 40)
        try write(try #require(file), ballast: 80)
        let snapshot = try #require(file).beginRead()
        _ = try cut(path, pageCount: pageCount + 1)
        expectCut(PageNumber(pageCount)) { _ = try openUnshared(path) }
        expectCut(PageNumber(pageCount)) { try HeaderAudit.check(snapshot) }
        withExtendedLifetime(snapshot) {}
        // Its end marks the newest version, where there is room for it.
        file = nil
    }

    @Test("Whoever opens it as another process hears of the first page that its version lacks")
    func openingShort() throws {
        let (file, page) = try cutFile(directory.path("short.realm"))
        expectCut(page) { _ = try openUnshared(file.path) }
        withExtendedLifetime(file) {}
    }

    @Test("A reader that would move hears of a file that was cut to nothing, and so does who cuts free pages off")
    func readingNothing() throws {
        let path = directory.path("nothing.realm")
        let writer = try create(path)
        let reader = try openUnshared(path)
        try write(writer, ballast: 1)
        _ = try cut(path, pageCount: 1)
        expectCut(0) { _ = try reader.beginRead() }
        #expect(try writer.tryLockForWriting())
        defer { writer.unlockForWriting() }
        expectCut(0) { try writer.returnTrailingSpace() }
    }

    /// A file with one commit, open, and the number of its last page, which has been cut off.
    private func cutFile(_ path: String) throws -> (StorageFile, PageNumber) {
        let file = try create(path)
        try write(file, ballast: 40)
        return (file, try cut(path, pageCount: pageCount(file)))
    }

    private func pageCount(_ file: StorageFile) -> Int { Int(file.state.withLock { $0.published.pageCount }) }

    private func expectCut(_ page: PageNumber, _ body: () throws -> Void) {
        let error = #expect(throws: StorageError.self) { try body() }
        #expect(error?.code == .corrupt && error?.page == page, "\(String(describing: error))")
        #expect(error.map { "\($0)".contains("cut short while it was open") } == true)
    }

    @Test("A writer is refused, and told the first page that is missing")
    func writing() throws {
        let (file, page) = try cutFile(directory.path("writing.realm"))
        #expect(try file.tryLockForWriting())
        defer { file.unlockForWriting() }
        expectCut(page) { _ = try file.beginWrite() }
    }

    @Test("A reader that would move to a version of another process is refused, and stays at its own")
    func reading() throws {
        let path = directory.path("reading.realm")
        let writer = try create(path)
        let reader = try openUnshared(path)
        try write(writer, ballast: 1)
        let before = try reader.beginRead()
        try write(writer, ballast: 80)
        let page = try cut(path, pageCount: pageCount(writer))
        expectCut(page) { _ = try reader.beginRead() }
        #expect(try PageArray.values(of: before.catalog.root, in: before.view).count == PageArray.count)
    }
}
