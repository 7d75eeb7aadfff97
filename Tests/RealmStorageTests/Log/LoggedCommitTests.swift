import Foundation
import Glibc
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Commits that a log makes durable, its checkpoints, and what opening makes of both.
@Suite("Commits by their records")
struct LoggedCommitTests {
    let folder = TemporaryDirectory()

    private func commit(
        _ file: StorageFile,
        _ values: [(index: Int, value: UInt64)],
        creates: Bool = false,
        recorded: Bool = true
    ) throws {
        let change = LoggedFile.Change(creates: creates, values: values)
        try file.publish([LoggedFile.prepare(change, in: file, recorded: recorded)])
    }

    private func syncs(_ operations: ArraySlice<LoggedFile.Operation>) -> [LoggedFile.Operation.Which] {
        operations.compactMap { if case .synchronize(let which) = $0 { which } else { nil } }
    }

    @Test("Rules 6 and 10: a commit flushes the log once, and neither writes a header nor flushes the realm file")
    func oneFlush() throws {
        let recorder = LoggedFile.Recorder()
        let options = LoggedFile.options(blocks: 64, recorder: recorder)
        let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try commit(file, [(1, 1)], creates: true)
        try commit(file, [(1, 2)])
        let before = recorder.operations.count
        for value in UInt64(3)...7 { try commit(file, [(1, value)]) }
        let operations = recorder.operations[before...]
        #expect(syncs(operations).count { $0 == .log } == 5)
        // That of a file that became longer.
        #expect(syncs(operations).count { $0 == .realm } <= 1)
        for case .write(.realm, let offset, _) in operations { #expect(offset >= 4 * pageByteCount) }
        #expect(try LoggedFile.values(of: file).values[1] == 7)
    }

    @Test("Rule 4: the log has its name, and the header that names it is flushed, before anything is appended")
    func creation() throws {
        let recorder = LoggedFile.Recorder()
        let file = try StorageFile.open(path: folder.path("a.realm"), options: LoggedFile.options(recorder: recorder))
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        #expect(!FileManager.default.fileExists(atPath: file.path + ".log"), "a log is made by the first write only")
        try commit(file, [(1, 1)], creates: true)
        var steps: [String] = []
        for operation in recorder.operations {
            switch operation {
            case .create: steps.append("create")
            case .write(.realm, 0..<4 * pageByteCount, _): steps.append("header")
            case .write(.realm, _, _): if steps.last != "pages" { steps.append("pages") }
            case .write(.log, _, _): steps.append("append")
            case .synchronize(let which): steps.append("flush \(which)")
            default: break
            }
        }
        let first = try #require(steps.firstIndex(of: "create"))
        #expect(Array(steps[first...].prefix(3)) == ["create", "header", "flush realm"])
        #expect(steps.suffix(2) == ["append", "flush log"])
    }

    @Test("Rules 14 and 44: a full log is emptied by a checkpoint: pages, their flush, the header, its flush")
    func checkpoints() throws {
        let recorder = LoggedFile.Recorder()
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 4, recorder: recorder))
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try commit(file, [(1, 1)], creates: true)
        var versions: Set<UInt64> = []
        for value in UInt64(2)...40 {
            try commit(file, [(1, value)])
            versions.insert(file.checkpointVersion.load(ordering: .relaxed))
        }
        #expect(versions.count > 5)
        var unflushed = false
        for operation in recorder.operations.drop(while: { if case .create = $0 { false } else { true } }).dropFirst(3)
        {
            switch operation {
            case .write(.realm, let offset, _) where offset < 4 * pageByteCount:
                #expect(!unflushed, "a header is written before the pages are flushed")
            case .write(.realm, _, _): unflushed = true
            case .synchronize(.realm): unflushed = false
            default: break
            }
        }
    }

    @Test("Rules 16 and 44: a log is emptied when half of it is used, and when there is no room: what fits is a record")
    func emptied() throws {
        let recorder = LoggedFile.Recorder()
        let options = LoggedFile.options(blocks: 8, recorder: recorder)
        let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try commit(file, [(1, 1)], creates: true)
        for round in 0..<30 {
            // Records of a bit less than so many blocks.
            let blocks = [1, 3, 6, 2, 5][round % 5]
            let before = recorder.operations.count
            try commit(file, (0..<blocks * 250).map { (index: $0 % PageArray.count, value: UInt64(round)) })
            #expect(syncs(recorder.operations[before...]).contains(.log), "round \(round) is kept as pages")
            #expect(try #require(file.openLog).usedByteCount <= 4 * LogHeader.blockByteCount, "round \(round)")
        }
    }

    @Test("Rule 12: pages of the checkpoint stay, whatever is written behind it")
    func checkpointPages() throws {
        let recorder = LoggedFile.Recorder()
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64, recorder: recorder))
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try commit(file, [(1, 1)], creates: true)
        try file.makeCheckpoint()
        let image = try Data(contentsOf: URL(fileURLWithPath: path))
        let checkpoint = file.checkpointVersion.load(ordering: .relaxed)
        for value in UInt64(2)...30 { try commit(file, [(Int(value), value)]) }
        #expect(file.checkpointVersion.load(ordering: .relaxed) == checkpoint)
        // As after a power cut that all of the pages and none of the records survived.
        let copy = folder.path("copy.realm")
        try Data(contentsOf: URL(fileURLWithPath: path)).write(to: URL(fileURLWithPath: copy))
        let log = try Data(contentsOf: URL(fileURLWithPath: path + ".log"))
        var empty = log
        empty.replaceSubrange(4096..., with: Data(count: log.count - 4096))
        try empty.write(to: URL(fileURLWithPath: copy + ".log"))
        let opened = try StorageFile.open(path: copy, options: LoggedFile.options(blocks: 64))
        let found = try LoggedFile.values(of: opened)
        #expect(found.version == checkpoint)
        #expect(found.values[1] == 1)
        #expect(found.values[30] == 0)
        #expect(image.count > 0)
    }

    @Test("Rule 32: a file that is closed is one file, and opens without a log and without the setting")
    func close() throws {
        let path = folder.path("a.realm")
        do {
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            try file.lockForWriting()
            try commit(file, [(1, 1)], creates: true)
            try commit(file, [(1, 7)])
            #expect(FileManager.default.fileExists(atPath: path + ".log"))
            file.unlockForWriting()
        }
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
        let found = try LoggedFile.values(of: StorageFile.open(path: path))
        #expect(found.values[1] == 7)
    }

    /// Steps of the two files, in words.
    private func steps(_ operations: some Sequence<LoggedFile.Operation>) -> [String] {
        operations.map { operation in
            switch operation {
            case .write(.realm, let offset, _) where offset < 4 * pageByteCount: "slot \(offset / (2 * pageByteCount))"
            case .write(.realm, _, _): "pages"
            case .write(.log, _, _): "append"
            case .synchronize(let which): "flush \(which)"
            case .setByteCount: "cut"
            case .create: "create"
            case .remove: "remove"
            case .acknowledged: "acknowledged"
            }
        }
    }

    @Test("Rule 32: at a close the pages are flushed, then the closed header, and only then is the log removed")
    func closingOrder() throws {
        let recorder = LoggedFile.Recorder()
        var before = 0
        do {
            let options = LoggedFile.options(recorder: recorder)
            let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
            try file.lockForWriting()
            try commit(file, [(1, 1)], creates: true)
            try commit(file, [(1, 7)])
            file.unlockForWriting()
            before = recorder.operations.count
        }
        let closing = steps(recorder.operations[before...])
        let slot = try #require(closing.first { $0.hasPrefix("slot") })
        #expect(Array(closing.prefix(4)) == ["flush realm", slot, "flush realm", "remove"])
    }

    @Test(
        "Rules 28 and 30: what is believed is flushed in its own slot before anything else is written; the log is removed last"
    )
    func recoveryOrder() throws {
        let (path, _) = try killed("a.realm")
        let recorder = LoggedFile.Recorder()
        let file = try StorageFile.open(path: path, options: LoggedFile.options(recorder: recorder))
        let opening = steps(recorder.operations)
        #expect(Array(opening.prefix(4)) == [opening[0], "flush realm", opening[2], "flush realm"])
        #expect(Set([opening[0], opening[2]]) == ["slot 0", "slot 1"])
        let removal = try #require(opening.firstIndex(of: "remove"))
        let header = try #require(opening[..<removal].lastIndex(of: opening[2]))
        try #require(header > 4)
        #expect(opening[header + 1] == "flush realm", "the closed header is flushed")
        #expect(opening[4..<header].contains("flush realm"), "the pages are flushed before it")
        #expect(try LoggedFile.values(of: file).values[1] == 4)
    }

    /// Two files as a power cut, or the death of the process, leaves them; what is in the system's memory is there.
    private func killed(_ name: String, commits: Int = 4) throws -> (path: String, version: UInt64) {
        let path = folder.path("victim.realm")
        for suffix in ["", ".log", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try commit(file, [(1, 1)], creates: true)
        for value in 2...commits { try commit(file, [(1, UInt64(value))]) }
        let copy = folder.path(name)
        for suffix in ["", ".log"] {
            try? FileManager.default.removeItem(atPath: copy + suffix)
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        return (copy, file.newestVersion)
    }

    @Test("Rules 29 and 30: opening replays the log as one commit, closes the header, and removes the log")
    func replay() throws {
        let (path, version) = try killed("a.realm")
        do {
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            let found = try LoggedFile.values(of: file)
            #expect(found.version == version)
            #expect(found.values[1] == 4)
            #expect(!FileManager.default.fileExists(atPath: path + ".log"))
        }
        #expect(try LoggedFile.values(of: StorageFile.open(path: path)).version == version)
    }

    @Test("Rule 33: an open header without its log, or with another one, is an error, and both files stay as they are")
    func missing() throws {
        let (path, _) = try killed("a.realm")
        let (other, _) = try killed("b.realm")
        let realm = try Data(contentsOf: URL(fileURLWithPath: path))
        try FileManager.default.removeItem(atPath: path + ".log")
        #expect(throws: StorageError.self) { try StorageFile.open(path: path, options: LoggedFile.options()) }
        try FileManager.default.copyItem(atPath: other + ".log", toPath: path + ".log")
        let foreign = try Data(contentsOf: URL(fileURLWithPath: path + ".log"))
        let error = #expect(throws: StorageError.self) {
            try StorageFile.open(path: path, options: LoggedFile.options())
        }
        #expect(error?.code == .corrupt)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == realm)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".log")) == foreign)
    }

    @Test("Rule 26: an older copy of a realm file beside its log opens with all that was acknowledged, or not at all")
    func olderCopies() throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 6))
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try commit(file, [(0, 1)], creates: true)
        var copies: [Data] = []
        for round in 1...40 {
            copies.append(try Data(contentsOf: URL(fileURLWithPath: path)))
            try commit(file, [(round, UInt64(round))])
        }
        let expected = try LoggedFile.values(of: file)
        var (whole, refused) = (0, 0)
        for (index, copy) in copies.enumerated() {
            let name = folder.path("copy-\(index).realm")
            try copy.write(to: URL(fileURLWithPath: name))
            try FileManager.default.copyItem(atPath: path + ".log", toPath: name + ".log")
            do {
                let opened = try StorageFile.open(path: name, options: LoggedFile.options(blocks: 6))
                let found = try LoggedFile.values(of: opened)
                #expect(found.version == expected.version, "copy \(index)")
                #expect(found.values == expected.values, "copy \(index)")
                whole += 1
            } catch let error as StorageError where error.code == .corrupt {
                #expect(FileManager.default.fileExists(atPath: name + ".log"))
                refused += 1
            }
        }
        #expect(whole > 0)
        #expect(refused > 30)
    }

    /// Notes at each call whether other processes that open the file are kept out, from the first write on.
    private final class WatchingDevice: ForwardingDevice {
        let base: any StorageDevice
        let notes: Mutex<[Bool]>

        init(_ base: any StorageDevice) {
            self.base = base
            notes = Mutex([])
        }

        private func note(_ begins: Bool) {
            let lockPath = path + ".lock"
            let other = Glibc.open(lockPath, O_RDWR | O_CLOEXEC)
            defer { Glibc.close(other) }
            let byte = LockFileLayout.initialisationByte
            let isHeld = (try? LockFile.lock(other, byte, 1, waits: false, lockPath)) == nil
            notes.withLock { if begins || !$0.isEmpty { $0.append(isHeld) } }
        }

        func currentByteCount() throws(StorageError) -> Int {
            note(false)
            return try base.currentByteCount()
        }
        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            note(true)
            try base.write(pieces, at: offset)
        }
        func synchronize() throws(StorageError) {
            note(false)
            try base.synchronize()
        }
        func setByteCount(_ byteCount: Int) throws(StorageError) {
            note(false)
            try base.setByteCount(byteCount)
        }
    }

    @Test("From the header that is believed to the removal of the log no other process opens the file")
    func openingsAreHeldOff() throws {
        let (path, _) = try killed("a.realm")
        let made = Mutex<WatchingDevice?>(nil)
        var options = LoggedFile.options()
        options.makeDevice = { base in
            let device = WatchingDevice(base)
            made.withLock { $0 = device }
            return device
        }
        let file = try StorageFile.open(path: path, options: options)
        let notes = try #require(made.withLock { $0 }).notes.withLock { $0 }
        #expect(notes.count > 6)
        #expect(notes.allSatisfy { $0 }, "\(notes)")
        // And not for longer.
        #expect(file.lock?.holdOffOpenings() == true)
        file.lock?.letOpenAgain()
        #expect(try LoggedFile.values(of: file).values[1] == 4)
    }

    @Test("Rule 43: a file with an open log is refused by name by whoever cannot apply it, and stays as it is")
    func refused() throws {
        let (path, _) = try killed("a.realm")
        func contents() throws -> [Data] {
            try ["", ".log"].map { try Data(contentsOf: URL(fileURLWithPath: path + $0)) }
        }
        let before = try contents()
        for isReadOnly in [false, true] {
            var options = StorageOptions()
            options.isReadOnly = isReadOnly
            let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path, options: options) }
            #expect(error?.code == .unsupportedFormat)
            #expect(error?.message.contains("log") == true)
            #expect(try contents() == before)
        }
    }

    @Test(
        "Rule 9: of calls that fail while commits are logged, nothing that failed comes back, and nothing else is lost"
    )
    func failures() throws {
        for failing in 0..<40 {
            let recorder = LoggedFile.Recorder()
            let path = folder.path("failing-\(failing).realm")
            var model = [UInt64](repeating: 0, count: PageArray.count)
            do {
                let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 6, recorder: recorder))
                try file.lockForWriting()
                try commit(file, [(0, 1)], creates: true)
                model[0] = 1
                recorder.state.withLock { $0.failing = failing }
                for round in 1...20 {
                    do {
                        try commit(file, [(round, UInt64(round))], recorded: round % 7 != 0)
                        model[round] = UInt64(round)
                    } catch {
                        #expect(recorder.state.withLock { $0.didFail })
                    }
                    #expect(try LoggedFile.values(of: file).values == model, "call \(failing)")
                }
                recorder.state.withLock { $0.failing = nil }
                file.unlockForWriting()
            }
            #expect(recorder.state.withLock { $0.didFail })
            let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 6))
            #expect(try LoggedFile.values(of: file).values == model, "call \(failing)")
        }
    }
}
