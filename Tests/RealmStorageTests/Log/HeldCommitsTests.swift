import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Commits whose pages stay in memory; the test lets openings through, and takes the steps of checkpoints.
@Suite("Commits whose pages come to the file later", .serialized)
struct HeldCommitsTests {
    let folder = TemporaryDirectory()

    private func commit(_ file: StorageFile, _ values: [(index: Int, value: UInt64)], recorded: Bool = true) throws {
        let change = LoggedFile.Change(creates: file.newestVersion == 1, values: values)
        try file.publish([LoggedFile.prepare(change, in: file, recorded: recorded)])
    }

    /// A file that has a log and its length; the caller has the write lock.
    private func open(
        _ name: String = "a",
        blocks: Int = 256,
        recorder: LoggedFile.Recorder? = nil
    ) throws -> StorageFile {
        let options = LoggedFile.options(blocks: blocks, recorder: recorder, holds: true)
        let file = try StorageFile.open(path: folder.path(name + ".realm"), options: options)
        try file.lockForWriting()
        try commit(file, [(1, 1)])
        for index in 2..<60 { try commit(file, [(index, 1)]) }
        #expect(file.letOpeningsThrough())
        file.holdAgain()
        return file
    }

    private func isShut(_ file: StorageFile) throws -> Bool {
        let other = Glibc.open(file.path + ".lock", O_RDWR)
        try #require(other >= 0)
        defer { close(other) }
        do {
            try LockFile.lock(other, LockFileLayout.initialisationByte, 1, waits: false, file.path)
            return false
        } catch {
            return true
        }
    }

    private func recovered(_ path: String, withoutRecords: Bool = false) throws -> (version: UInt64, values: [UInt64]) {
        let copy = folder.path("copy-\(UInt64.random(in: 0 ... .max)).realm")
        for suffix in ["", ".log"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        if withoutRecords {
            var log = try Data(contentsOf: URL(fileURLWithPath: copy + ".log"))
            log.replaceSubrange(4096..., with: Data(count: log.count - 4096))
            try log.write(to: URL(fileURLWithPath: copy + ".log"))
        }
        return try LoggedFile.values(of: StorageFile.open(path: copy, options: LoggedFile.options()))
    }

    private func pageBytes(_ operations: some Sequence<LoggedFile.Operation>) -> Int {
        operations.reduce(0) { sum, operation -> Int in
            if case .write(.realm, let offset, let bytes) = operation, offset >= 4 * pageByteCount {
                sum + bytes.count
            } else {
                sum
            }
        }
    }

    @Test("Rule 10: a commit writes its record and nothing else, is read at once, and is there after a kill")
    func onlyRecords() throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(recorder: recorder)
        defer { file.unlockForWriting() }
        var model = try LoggedFile.values(of: file).values
        let before = recorder.operations.count
        for round in 0..<20 {
            try commit(file, [(3 + round % 4, UInt64(round)), (9, 9)])
            model[3 + round % 4] = UInt64(round)
            model[9] = 9
            #expect(try LoggedFile.values(of: file).values == model)
        }
        for operation in recorder.operations[before...] {
            switch operation {
            case .write(.log, _, _), .synchronize(.log): break
            default: Issue.record("\(operation)")
            }
        }
        #expect(try isShut(file))
        #expect(try recovered(file.path).values == model)
    }

    @Test("Pages that died before a checkpoint are never written; those that it uses are")
    func neverWritten() throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(recorder: recorder)
        defer { file.unlockForWriting() }
        let before = recorder.operations.count
        for round in 0..<100 { try commit(file, [(3, UInt64(round))]) }
        file.beginCheckpoint()
        try commit(file, [(4, 4)])
        while file.takeCheckpointStep() {}
        let written = pageBytes(recorder.operations[before...]) / pageByteCount
        #expect(written > 0)
        // Root and number, and what records of space need.
        #expect(written < 12)
        let found = try recovered(file.path, withoutRecords: true)
        #expect(found.version == file.checkpointVersion.load(ordering: .relaxed))
        #expect(found.values[3...4] == [99, 1])
        #expect(try recovered(file.path).values[3...4] == [99, 4])
    }

    @Test("Openings wait while pages are held, and find all of them afterwards")
    func openings() throws {
        let file = try open()
        #expect(try !isShut(file))
        try commit(file, [(3, 33)])
        #expect(try isShut(file))
        #expect(file.letOpeningsThrough())
        #expect(try !isShut(file))
        file.unlockForWriting()
        let path = file.path
        let child = try ForkedProcess { parent in
            var options = LoggedFile.options()
            options.log = nil
            let file = try StorageFile.open(path: path, options: options)
            while parent.receive() != nil { parent.send(UInt8(try LoggedFile.values(of: file).values[3])) }
        }
        #expect(child.ask() == 33)
        file.holdAgain()
        for value in UInt64(34)...40 {
            // Beside another process pages come to the file before their version is published.
            try file.lockForWriting()
            try commit(file, [(3, value)])
            file.unlockForWriting()
            #expect(child.ask() == UInt8(value))
        }
        #expect(file.openLog != nil)
        #expect(child.end() == 0)
        try file.lockForWriting()
        try commit(file, [(3, 41)])
        #expect(try isShut(file))
        file.unlockForWriting()
    }

    @Test(
        "Rule 12: what readers see stays, in memory and in the file, while pages die and are used again",
        arguments: 1...6
    )
    func readers(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let file = try open("readers-\(seed)", blocks: seed % 2 == 0 ? 256 : 16)
        defer { file.unlockForWriting() }
        #if DEBUG
        file.reservation.pool.filling = 0xDD
        #endif
        var model = try LoggedFile.values(of: file).values
        var pinned: [(Snapshot, [UInt64])] = []
        for round in 0..<250 {
            let count = Int.random(in: 1...6, using: &random)
            var values: [(Int, UInt64)] = []
            for _ in 0..<count { values.append((Int.random(in: 1..<60, using: &random), random.next())) }
            try commit(file, values, recorded: Int.random(in: 0..<25, using: &random) > 0)
            for (index, value) in values { model[index] = value }
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2: pinned.append((try file.beginRead(), model))
            case 3...4: if !pinned.isEmpty { pinned.remove(at: Int.random(in: 0..<pinned.count, using: &random)) }
            case 5:
                #expect(file.letOpeningsThrough())
                if Bool.random(using: &random) { file.holdAgain() }
            case 6: file.beginCheckpoint()
            default: _ = file.takeCheckpointStep()
            }
            if pinned.count > 8 { pinned.removeFirst() }
            for (snapshot, values) in pinned {
                #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view) == values, "round \(round)")
            }
            #expect(try LoggedFile.values(of: file).values == model, "round \(round)")
            if round % 25 == 0 { #expect(try recovered(file.path).values == model, "round \(round)") }
        }
        pinned = []
        for value in UInt64(1)...3 {
            try commit(file, [(1, value)])
            #expect(file.letOpeningsThrough())
        }
        #expect(file.held.withLock { $0.pageCount } == 0)
        // Nothing is left behind of what readers saw, but for the last commit.
        #expect(file.writer.withLock { $0.pastBuffers.count } <= 1)
        #expect(file.reservation.pool.usedPageCount < 32)
    }

    @Test("Rule 20: a commit that is kept as pages finds those of the commits before it in the file")
    func pageCommit() throws {
        let file = try open()
        defer { file.unlockForWriting() }
        for index in 3..<9 { try commit(file, [(index, 7)]) }
        try commit(file, [(9, 9)], recorded: false)
        let found = try recovered(file.path, withoutRecords: true)
        #expect(found.version == file.newestVersion)
        #expect(Array(found.values[3...9]) == [7, 7, 7, 7, 7, 7, 9])
    }

    @Test("Rule 32: a close brings them to the file, and so does the replacing of the file")
    func closing() throws {
        let path: String
        do {
            let file = try open()
            path = file.path
            for index in 3..<9 { try commit(file, [(index, 7)]) }
            file.unlockForWriting()
        }
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
        #expect(try LoggedFile.values(of: StorageFile.open(path: path)).values[3..<9].allSatisfy { $0 == 7 })
    }

    @Test("Rule 22: pages that cannot be brought to the file stop writing, lose nothing, and keep others out")
    func failure() throws {
        let path: String
        do {
            let recorder = LoggedFile.Recorder()
            let file = try open(recorder: recorder)
            path = file.path
            for index in 3..<9 { try commit(file, [(index, 7)]) }
            recorder.state.withLock { $0.failing = 0 }
            #expect(file.letOpeningsThrough())
            #expect(recorder.state.withLock { $0.didFail })
            #expect(file.hasStopped)
            #expect(try !isShut(file))
            #expect(try LoggedFile.values(of: file).values[3..<9].allSatisfy { $0 == 7 })
            #expect(throws: StorageError.self) { try commit(file, [(9, 9)]) }
            file.unlockForWriting()
            let child = try ForkedProcess { _ in
                do {
                    _ = try StorageFile.open(path: path, options: LoggedFile.options())
                    _exit(2)
                } catch let error as StorageError where error.code == .writingStopped {
                    _exit(0)
                }
            }
            #expect(child.end() == 0)
        }
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        #expect(try LoggedFile.values(of: file).values[3..<9].allSatisfy { $0 == 7 })
    }
}

extension StorageFile {
    /// Has pages be held though openings were let through a moment ago.
    fileprivate func holdAgain() { held.withLock { $0.forgetOpening() } }
}
