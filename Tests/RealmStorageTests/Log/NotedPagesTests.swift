import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// A commit that is kept as pages beside a log, and the note that says so in the log.
@Suite("A commit that is kept as pages, whose writer dies")
struct NotedPagesTests {
    let folder = TemporaryDirectory()

    /// Ends the process right behind the write of such a note.
    private struct DyingDevice: ForwardingDevice {
        let base: any StorageDevice

        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            try base.write(pieces, at: offset)
            let kind = pieces[0].0.load(fromByteOffset: CommitRecord.Frame.kind, as: UInt8.self)
            if kind == CommitRecord.Kind.pages.rawValue { _exit(0) }
        }
    }

    private struct DyingDirectory: LogDirectory {
        let base: LogFile

        var path: String { base.path }

        func open(forReadingOnly isReadOnly: Bool) throws(StorageError) -> (any StorageDevice)? {
            try base.open(forReadingOnly: isReadOnly)
        }

        func create(
            _ header: LogHeader,
            in space: UnnamedFile?,
            forUsersOf realm: (any StorageDevice)?
        ) throws(StorageError) -> any StorageDevice {
            try DyingDevice(base: base.create(header, in: nil, forUsersOf: realm))
        }

        func remove() throws(StorageError) { try base.remove() }
    }

    // Whoever ends the log of another process writes over a header that was not published. A note of it would ask for a place that the log
    // does not reach then, and a power cut in that write would leave a file that does not open.
    @Test("Rule 20: what the log says of it is said of a version that was published, and the file opens at it")
    func writerDies() throws {
        let path = folder.path("a.realm")
        let child = try ForkedProcess { parent in
            var options = LoggedFile.options(blocks: 64)
            options.log?.makeDirectory = { DyingDirectory(base: LogFile(besides: $0)) }
            let file = try StorageFile.open(path: path, options: options)
            try file.lockForWriting()
            try LoggedFile.commit(file, 1, 1)
            file.unlockForWriting()
            parent.send(1)
            _ = parent.receive()
            try file.lockForWriting()
            try LoggedFile.commit(file, 1, 2, recorded: false)
            // No note was written.
            _exit(2)
        }
        #expect(child.connection.receive() == 1)
        let recorder = LoggedFile.Recorder()
        let options = LoggedFile.options(blocks: 64, recorder: recorder)
        let file = try StorageFile.open(path: path, options: options)
        #expect(try LoggedFile.values(of: file).values[1] == 1)
        child.connection.send(1)
        #expect(child.end() == 0)
        // Of the end of the log, the flush of the pages and the write of the closed header; the flush of the header fails.
        recorder.state.withLock { $0.failing = 2 }
        try file.lockForWriting()
        #expect(throws: StorageError.self) { try file.beginWrite() }
        file.unlockForWriting()
        #expect(recorder.state.withLock { $0.didFail })
        let written = recorder.operations.compactMap {
            if case .write(.realm, let offset, _) = $0 { offset } else { nil }
        }
        #expect(written.count == 1)
        let slot = try #require(written.last)
        // As a power cut leaves it that tears both copies of that header, and nothing else.
        let copy = try LoggedFile.copy(of: path, in: folder)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: copy))
        for page in 0..<FileHeader.copiesPerSlot { bytes[slot + page * pageByteCount + 100] ^= 1 }
        try bytes.write(to: URL(fileURLWithPath: copy))
        let opened = try StorageFile.open(path: copy, options: LoggedFile.options(blocks: 64))
        #expect(try LoggedFile.values(of: opened).values[1] == 2)
    }
}
