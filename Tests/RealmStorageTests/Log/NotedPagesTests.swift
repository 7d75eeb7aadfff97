import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// A commit that is kept as pages beside a log, and the note that says so in the log.
@Suite("A commit that is kept as pages, whose writer dies", .serialized)
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

    private struct DyingDirectory: ForwardingDirectory {
        let base: LogFile

        func makeDevice(_ log: any StorageDevice) -> any StorageDevice { DyingDevice(base: log) }
    }

    /// Ends the process behind a flush that brings a header to the disk, once it is told to.
    private final class HeaderDevice: ForwardingDevice {
        struct State {
            var isArmed = false
            var hasHeader = false
        }

        let base: any StorageDevice
        let state = Mutex(State())

        init(_ base: any StorageDevice) { self.base = base }

        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            try base.write(pieces, at: offset)
            guard offset < FileHeader.slotPageCount * pageByteCount else { return }
            state.withLock { $0.hasHeader = $0.isArmed }
        }

        func synchronize() throws(StorageError) {
            try base.synchronize()
            if state.withLock({ $0.hasHeader }) { _exit(0) }
        }
    }

    /// Holds the device of a process.
    private final class HeaderDevices: Sendable {
        let last = Mutex<HeaderDevice?>(nil)
    }

    // Nothing announces such a commit here: the published image says which slot is the checkpoint's, and the other one is written over.
    @Test("Rule 21: a header that was flushed and never published is written over before anybody goes on")
    func unpublishedHeader() throws {
        let path = folder.path("a.realm")
        let child = try ForkedProcess { parent in
            let devices = HeaderDevices()
            var options = LoggedFile.options(blocks: 64)
            options.makeDevice = { base in
                let device = HeaderDevice(base)
                devices.last.withLock { $0 = device }
                return device
            }
            let file = try StorageFile.open(path: path, options: options)
            try LoggedFile.write(file, 1)
            parent.send(1)
            _ = parent.receive()
            guard let device = devices.last.withLock({ $0 }) else { return }
            device.state.withLock { $0.isArmed = true }
            try file.lockForWriting()
            try LoggedFile.commit(file, 1, 2, recorded: false)
            // It was not flushed.
            _exit(2)
        }
        #expect(child.connection.receive() == 1)
        let recorder = LoggedFile.Recorder()
        let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64, recorder: recorder))
        child.connection.send(1)
        #expect(child.end() == 0)
        // An opening that is alone would take it for the newest version: it is whole.
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == 2)
        var disk = PowerCutDisk(
            realm: try LoggedFile.bytes(of: path),
            log: try LoggedFile.bytes(of: path + ".log")
        )
        let before = recorder.operations.count
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try LoggedFile.commit(file, 2, 2)
        #expect(try LoggedFile.values(of: file).values[1...2] == [1, 2])

        func values(_ path: String) throws -> [UInt64] {
            // Nothing is flushed for it.
            let options = LoggedFile.options(blocks: 64, recorder: LoggedFile.Recorder())
            return Array(try LoggedFile.values(of: StorageFile.open(path: path, options: options)).values[1...2])
        }
        var random = SplitMix64(seed: 21)
        let operations = Array(recorder.operations[before...])
        let isWhole = try disk.forEachSurvivor(of: operations, in: folder, using: &random) { path, state in
            let found = try values(path)
            // With it or without it, as long as nobody was told of what comes behind, and never both.
            #expect([[1, 0], [2, 0], [1, 2]].contains(found), "\(state): \(found)")
        }
        #expect(isWhole)
        // Everybody was told.
        let others = TemporaryDirectory()
        _ = try disk.forEachSurvivor(of: [.acknowledged(version: 0)], in: others, using: &random) { path, state in
            let found = try values(path)
            #expect(found == [1, 2], "\(state)")
        }
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
