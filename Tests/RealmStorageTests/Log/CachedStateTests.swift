import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// What an opening behind a kill finds in the system's memory, and the disk need not have.
@Suite("What only the system's memory has is not taken for durable")
struct CachedStateTests {
    let folder = TemporaryDirectory()
    private static let slots = FileHeader.slotPageCount

    private func open(
        _ path: String,
        recorder: LoggedFile.Recorder? = nil,
        stepping: Bool = false
    ) throws -> StorageFile {
        try StorageFile.open(
            path: path,
            options: LoggedFile.options(blocks: 128, recorder: recorder, stepping: stepping)
        )
    }

    @Test("Rule 31: pages that are younger than the header's version are garbage, however good they look")
    func youngPages() throws {
        let path = folder.path("a.realm")
        let file = try open(path)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        for index in 0..<20 { try LoggedFile.commit(file, index) }
        try file.makeCheckpoint()
        let version = file.checkpointVersion.load(ordering: .relaxed)
        let checkpoint = try LoggedFile.bytes(of: path)
        for index in 20..<50 { try LoggedFile.commit(file, index) }
        try #require(file.checkpointVersion.load(ordering: .relaxed) == version)
        let model = try LoggedFile.values(of: file).values
        let copy = try LoggedFile.copy(of: path, in: folder)
        var bytes = try LoggedFile.bytes(of: copy)
        var youngCount = 0
        for page in Self.slots..<bytes.count / pageByteCount {
            let range = page * pageByteCount..<(page + 1) * pageByteCount
            if range.upperBound <= checkpoint.count, checkpoint[range] == bytes[range] { continue }
            bytes.replaceSubrange(range, with: repeatElement(0xA5, count: pageByteCount))
            youngCount += 1
        }
        #expect(youngCount > 30)
        try Data(bytes).write(to: URL(fileURLWithPath: copy))
        #expect(try LoggedFile.values(of: open(copy)).values == model)
    }

    @Test("Rule 31: a header whose flush nobody knows of is flushed before pages go that the disk's header needs")
    func unflushedHeader() throws {
        let path = folder.path("a.realm")
        let file = try open(path, stepping: true)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        for index in 0..<10 { try LoggedFile.commit(file, index) }
        try file.makeCheckpoint()
        for index in 10..<20 { try LoggedFile.commit(file, index) }
        file.beginCheckpoint()
        // The pages are flushed, and the header is written: the process is killed before its flush, and behind some commits more.
        #expect(file.takeCheckpointStep())
        let durable = try LoggedFile.bytes(of: path)
        #expect(file.takeCheckpointStep())
        for index in 20..<30 { try LoggedFile.commit(file, index) }
        let model = try LoggedFile.values(of: file).values
        let copy = try LoggedFile.copy(of: path, in: folder)
        let headers = try LoggedFile.bytes(of: copy).prefix(Self.slots * pageByteCount)
        #expect(headers != durable.prefix(headers.count))
        var disk = PowerCutDisk(realm: durable, log: try LoggedFile.bytes(of: copy + ".log"))
        disk.perform(.write(.realm, offset: 0, bytes: Array(headers)))
        let recorder = LoggedFile.Recorder()
        do {
            let opened = try open(copy, recorder: recorder)
            #expect(try LoggedFile.values(of: opened).values == model)
        }
        var random = SplitMix64(seed: 31)
        let operations = recorder.operations
        let isWhole = try disk.forEachSurvivor(of: operations, in: folder, using: &random) { path, state in
            // Nothing is flushed for it.
            let found = try LoggedFile.values(of: open(path, recorder: LoggedFile.Recorder())).values
            #expect(found == model, "\(state)")
        }
        #expect(isWhole)
    }
}
