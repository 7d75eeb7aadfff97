import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Checkpoints whose steps the test takes, between commits.
@Suite("Checkpoints beside commits", .serialized)
struct BackgroundCheckpointTests {
    let folder = TemporaryDirectory()

    /// A file with a log and two commits, the first of which is the checkpoint; the caller has the write lock.
    private func open(
        _ name: String = "a",
        blocks: Int = 64,
        recorder: LoggedFile.Recorder? = nil
    ) throws -> StorageFile {
        let options = LoggedFile.options(blocks: blocks, recorder: recorder, stepping: true)
        let file = try StorageFile.open(path: folder.path(name + ".realm"), options: options)
        try file.lockForWriting()
        try LoggedFile.commit(file, 1, 1)
        try file.makeCheckpoint()
        try LoggedFile.commit(file, 1, 7)
        return file
    }

    /// The same file once more, as another process has it.
    private static func openBeside(_ file: StorageFile, recorder: LoggedFile.Recorder? = nil) throws -> StorageFile {
        let options = LoggedFile.options(recorder: recorder)
        let data = try StorageFile.openData(path: file.path, options: options)
        return try StorageFile.openUnshared(data: data, path: file.path, options: options)
    }

    /// What an opening finds in copies of the files as they are, without a lock file.
    private func recovered(_ path: String, withoutRecords: Bool = false) throws -> (version: UInt64, values: [UInt64]) {
        let copy = folder.path("copy-\(UInt64.random(in: 0 ... .max)).realm")
        for suffix in ["", ".log"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        if withoutRecords {
            var log = try Data(contentsOf: URL(fileURLWithPath: copy + ".log"))
            log.replaceSubrange(4096..., with: Data(count: log.count - 4096))
            try log.write(to: URL(fileURLWithPath: copy + ".log"))
        }
        return try LoggedFile.values(of: StorageFile.open(path: copy, options: LoggedFile.options()))
    }

    private func steps(_ operations: some Sequence<LoggedFile.Operation>) -> [String] {
        operations.map { operation in
            switch operation {
            case .write(.realm, let offset, _) where offset < 4 * pageByteCount: "slot \(offset / (2 * pageByteCount))"
            case .write(.realm, _, _): "pages"
            case .write(.log, _, _): "append"
            case .synchronize(let which): "flush \(which)"
            default: "\(operation)"
            }
        }
    }

    @Test(
        "Rules 12 and 13: pages of the checkpoint and of the candidate stay, whatever is written beside",
        arguments: 0...3
    )
    func pagesStay(taken: Int) throws {
        let file = try open(blocks: 512)
        defer { file.unlockForWriting() }
        let before = file.checkpointVersion.load(ordering: .relaxed)
        let candidate = file.newestVersion
        file.beginCheckpoint()
        #expect(file.candidateVersion.load(ordering: .relaxed) == candidate)
        for _ in 0..<taken {
            for index in 2..<30 { try LoggedFile.commit(file, index, 5) }
            #expect(file.takeCheckpointStep())
        }
        for index in 2..<60 { try LoggedFile.commit(file, index, 9) }
        // As after a power cut that all pages and none of the records survived; before its second step the candidate is in no slot.
        let found = try recovered(file.path, withoutRecords: true)
        #expect(found.version == (taken < 2 ? before : candidate))
        #expect(found.values[1] == (taken < 2 ? 1 : 7))
        #expect(found.values[2..<60].allSatisfy { $0 == 0 })
        #expect(file.checkpointVersion.load(ordering: .relaxed) == (taken < 3 ? before : candidate))
        let whole = try recovered(file.path).values
        #expect(whole[1] == 7)
        #expect(whole[2..<60].allSatisfy { $0 == 9 })
    }

    @Test("Rule 12: a checkpoint keeps its pages for who registers there, though the next one comes right behind")
    func registeredAtCheckpoint() throws {
        let path = folder.path("a.realm")
        // Whoever takes the slot of a dead process has looked at those before it.
        let child = try ForkedProcess { parent in
            _ = parent.receive()
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            let snapshot = try file.beginRead()
            parent.send(1)
            _ = parent.receive()
            _ = withExtendedLifetime(snapshot) { kill(getpid(), SIGKILL) }
        }
        let file = try open()
        defer { file.unlockForWriting() }
        let lock = try #require(file.lock)
        #expect(child.ask() == 1)
        child.connection.send(1)
        #expect(child.end() == SIGKILL)
        let (before, candidate) = (file.checkpointVersion.load(ordering: .relaxed), file.newestVersion)
        try #require(before < candidate)
        file.beginCheckpoint()
        var pin: Snapshot?
        lock.didTakeDeadSlot = { _ in
            guard let beginning = file.beginningOfRecovery else { return }
            pin = try? file.pin(beginning.checkpoint)
            #expect(file.beginningOfRecovery?.checkpoint == beginning.checkpoint)
            for _ in 0..<3 { #expect(file.takeCheckpointStep()) }
        }
        let transaction = try file.beginWrite()
        lock.didTakeDeadSlot = nil
        #expect(pin?.version == before)
        #expect(file.checkpointVersion.load(ordering: .relaxed) == candidate)
        #expect(transaction.group.pinned.contains(before))
        transaction.rollback()
    }

    @Test("Rules 11 and 14: its steps flush pages, write to the other slot and flush it; commits between flush the log")
    func order() throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(recorder: recorder)
        defer { file.unlockForWriting() }
        let slot = file.state.withLock { $0.slot }
        // The file has its length.
        for index in 2..<30 { try LoggedFile.commit(file, index, 1) }
        file.beginCheckpoint()
        var own: [String] = []
        for index in 2..<5 {
            let before = recorder.operations.count
            try LoggedFile.commit(file, index, 3)
            let between = recorder.operations.count
            #expect(Set(steps(recorder.operations[before..<between])) == ["pages", "append", "flush log"])
            #expect(file.takeCheckpointStep())
            own += steps(recorder.operations[between...])
        }
        #expect(own == ["flush realm", "slot \(1 - slot)", "flush realm"])
        #expect(!file.takeCheckpointStep())
        #expect(file.state.withLock { $0.slot } == 1 - slot)
        #expect(file.lock?.image?.slot == 1 - slot)
    }

    @Test("Rule 16: the log is used again behind the last step only")
    func release() throws {
        let file = try open()
        defer { file.unlockForWriting() }
        let log = try #require(file.openLog)
        let point = log.end
        let start = log.start
        #expect(start != point)
        file.beginCheckpoint()
        for index in 2..<5 {
            try LoggedFile.commit(file, index, 3)
            #expect(log.start == start)
            #expect(file.takeCheckpointStep())
        }
        try LoggedFile.commit(file, 5, 3)
        #expect(log.start == point)
    }

    @Test("Rule 44: a writer who fills the log finishes the checkpoint itself, and a kill at any moment loses nothing")
    func fullLog() throws {
        let file = try open(blocks: 8)
        defer { file.unlockForWriting() }
        var model = try LoggedFile.values(of: file).values
        var checkpoints: Set<UInt64> = []
        for round in 0..<60 {
            try LoggedFile.commit(file, 2 + round % 9, UInt64(round))
            model[2 + round % 9] = UInt64(round)
            if round % 3 == 1 { _ = file.takeCheckpointStep() }
            checkpoints.insert(file.checkpointVersion.load(ordering: .relaxed))
            if round % 5 == 0 { #expect(try recovered(file.path).values == model, "round \(round)") }
        }
        #expect(checkpoints.count > 5)
        #expect(file.openLog != nil)
    }

    @Test("Rules 19 and 20: a commit that is kept as pages lets the checkpoint be finished first", arguments: 0...2)
    func pageCommit(taken: Int) throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(recorder: recorder)
        defer { file.unlockForWriting() }
        let slot = file.state.withLock { $0.slot }
        for index in 2..<30 { try LoggedFile.commit(file, index, 1) }
        file.beginCheckpoint()
        for _ in 0..<taken { #expect(file.takeCheckpointStep()) }
        let before = recorder.operations.count
        try LoggedFile.commit(file, 3, 3, recorded: false)
        let found = steps(recorder.operations[before...]).filter { $0 != "pages" }
        // The log says that the version is in the file when it is; the last one is the mark, over the header before it.
        let all = [
            "flush realm", "slot \(1 - slot)", "flush realm", "flush realm", "slot \(slot)", "flush realm",
            "append", "slot \(1 - slot)",
        ]
        #expect(found == Array(all[taken...]))
        #expect(file.checkpointVersion.load(ordering: .relaxed) == file.newestVersion)
        try LoggedFile.commit(file, 4, 4)
        #expect(try recovered(file.path).values[1..<6] == [7, 1, 3, 4, 1])
    }

    @Test("Rule 11: another process cannot end the log between the steps, and then it can")
    func otherProcess() throws {
        let file = try open()
        file.unlockForWriting()
        let path = file.path
        file.beginCheckpoint()
        #expect(file.takeCheckpointStep())
        let child = try ForkedProcess { parent in
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            let lock = file.lock!
            while let byte = parent.receive() {
                if byte == 1 {
                    let isFree = (try? lock.tryLockForCheckpoint()) == true
                    if isFree { lock.unlockForCheckpoint() }
                    parent.send(isFree ? 1 : 0)
                } else {
                    try file.lockForWriting()
                    let change = LoggedFile.Change(values: [(2, UInt64(byte))])
                    try file.publish([LoggedFile.prepare(change, in: file)])
                    file.unlockForWriting()
                    parent.send(byte)
                }
            }
        }
        #expect(child.ask(1) == 0)
        #expect(file.takeCheckpointStep())
        #expect(child.ask(1) == 0)
        #expect(file.takeCheckpointStep())
        #expect(child.ask(1) == 1)
        #expect(child.ask(9) == 9)
        #expect(try LoggedFile.values(of: file).values[1...2] == [7, 9])
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
        try file.lockForWriting()
        try LoggedFile.commit(file, 3, 3)
        file.unlockForWriting()
        #expect(try LoggedFile.values(of: file).values[1...3] == [7, 9, 3])
        #expect(child.end() == 0)
    }

    @Test("Rule 11: whoever is to end the log waits for the header of the checkpoint", arguments: 0...2)
    func ending(taken: Int) throws {
        let recorder = LoggedFile.Recorder()
        let file = try open("ending-\(taken)", recorder: recorder)
        file.unlockForWriting()
        let slot = file.state.withLock { $0.slot }
        file.beginCheckpoint()
        for _ in 0..<taken { #expect(file.takeCheckpointStep()) }
        let other = try Self.openBeside(file, recorder: recorder)
        let before = recorder.operations.count
        let thread = OtherThread {
            try other.lockForWriting()
            defer { other.unlockForWriting() }
            try LoggedFile.commit(other, 2, 2)
        }
        thread.waitUntilItWaits()
        while file.takeCheckpointStep() {}
        try thread.end()
        let headers = steps(recorder.operations[before...]).filter { $0.hasPrefix("slot") || $0 == "flush realm" }
        let own = ["flush realm", "slot \(1 - slot)", "flush realm"]
        // The header that says that the log is closed goes over that of the checkpoint before.
        #expect(headers.starts(with: own[taken...] + ["flush realm", "slot \(slot)", "flush realm"]))
        #expect(try LoggedFile.values(of: file).values[1...2] == [7, 2])
    }

    @Test("Rule 8: others are told of both flushes before they begin, and behind both that nothing has failed")
    func notes() throws {
        final class NotedFlushes: Sendable {
            let file = Mutex<StorageFile?>(nil)
            let notes = Mutex<[Bool]>([])
        }
        final class NotingDevice: ForwardingDevice {
            let base: any StorageDevice
            let flushes: NotedFlushes

            init(_ base: any StorageDevice, _ flushes: NotedFlushes) {
                self.base = base
                self.flushes = flushes
            }

            func synchronize() throws(StorageError) {
                if let lock = flushes.file.withLock({ $0 })?.lock {
                    flushes.notes.withLock { $0.append(lock.isPageFlushNoted) }
                }
                try base.synchronize()
            }
        }
        let flushes = NotedFlushes()
        var options = LoggedFile.options(blocks: 64, stepping: true)
        options.makeDevice = { NotingDevice($0, flushes) }
        let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        for value in UInt64(1)...3 { try LoggedFile.commit(file, 1, value) }
        flushes.file.withLock { $0 = file }
        defer { flushes.file.withLock { $0 = nil } }
        file.beginCheckpoint()
        while file.takeCheckpointStep() { #expect(file.lock?.isPageFlushNoted == false) }
        #expect(flushes.notes.withLock { $0 } == [true, true])
    }

    @Test("Rule 32: whoever lets go of a file last closes it himself, though a thread was told to make a checkpoint")
    func lastUser() throws {
        final class Work: Sendable { let bodies = Mutex<[@Sendable () -> Void]>([]) }
        let work = Work()
        let path = folder.path("a.realm")
        var options = LoggedFile.options(blocks: 64)
        options.log?.runBeside = { kind, body in
            if kind == .space { body() } else { work.bodies.withLock { $0.append(body) } }
        }
        try {
            let file = try StorageFile.open(path: path, options: options)
            try file.lockForWriting()
            for value in UInt64(1)...3 { try LoggedFile.commit(file, 1, value) }
            file.beginCheckpoint()
            file.unlockForWriting()
            file.endCheckpoint()
        }()
        #expect(!StorageFile.isOpenAnywhere(path: path))
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
        let bodies = work.bodies.withLock { $0 }
        #expect(bodies.count == 1)
        for body in bodies { body() }
        #expect(try LoggedFile.values(of: StorageFile.open(path: path)).values[1] == 3)
    }

    @Test("A child that was forked beside a checkpoint leaves it to its parent")
    func forked() throws {
        let file = try open()
        defer { file.unlockForWriting() }
        file.beginCheckpoint()
        let slots = try Data(contentsOf: URL(fileURLWithPath: file.path)).prefix(4 * pageByteCount)
        let child = try ForkedProcess { _ in
            file.finishCheckpoint()
            _exit(file.checkpoint.withLock { $0.isResting } ? 2 : 0)
        }
        #expect(child.end() == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)).prefix(4 * pageByteCount) == slots)
        for _ in 0..<3 { #expect(file.takeCheckpointStep()) }
        #expect(file.checkpointVersion.load(ordering: .relaxed) == file.newestVersion)
    }

    @Test("Rule 8: a step that fails stops writing, and loses no commit", arguments: 0..<3)
    func failure(of step: Int) throws {
        let path: String
        do {
            let recorder = LoggedFile.Recorder()
            let file = try open("failing-\(step)", recorder: recorder)
            defer { file.unlockForWriting() }
            path = file.path
            try LoggedFile.commit(file, 2, 2)
            file.beginCheckpoint()
            for _ in 0..<step { #expect(file.takeCheckpointStep()) }
            try LoggedFile.commit(file, 3, 3)
            recorder.state.withLock { $0.failing = 0 }
            #expect(!file.takeCheckpointStep())
            #expect(recorder.state.withLock { $0.didFail })
            #expect(file.hasStopped)
            #expect(file.lock?.hasStopped == true)
            // Nobody waits for it.
            let other = try Self.openBeside(file)
            #expect(try other.lock?.tryLockForCheckpoint() == true)
            other.lock?.unlockForCheckpoint()
            let error = #expect(throws: StorageError.self) { try LoggedFile.commit(file, 4, 4) }
            #expect(error?.code == .writingStopped)
            #expect(!file.takeCheckpointStep())
            #expect(try LoggedFile.values(of: file).values[1...4] == [7, 2, 3, 0])
        }
        #expect(FileManager.default.fileExists(atPath: path + ".log"))
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        #expect(try LoggedFile.values(of: file).values[1...4] == [7, 2, 3, 0])
    }

    @Test(
        "Rule 11: whoever ends the use of a file finishes the checkpoint first, though another process is about to end the log",
        arguments: 0...2
    )
    func endOfUse(taken: Int) throws {
        let file = try open("ended-\(taken)")
        file.unlockForWriting()
        file.beginCheckpoint()
        for _ in 0..<taken { #expect(file.takeCheckpointStep()) }
        let other = try Self.openBeside(file)
        #expect(try other.lock?.tryLockForWriting() == true)
        file.endUse(because: StorageError(.ended, "The file was closed"))
        #expect(file.closeUnlessRead())
        #expect(!file.takeCheckpointStep())
        #expect(try other.lock?.tryLockForCheckpoint() == true)
        other.lock?.unlockForCheckpoint()
        other.unlockForWriting()
        try other.lockForWriting()
        try LoggedFile.commit(other, 2, 2)
        other.unlockForWriting()
        #expect(try LoggedFile.values(of: other).values[1...2] == [7, 2])
        #expect(try LoggedFile.valuesOfCopy(of: file.path, in: folder)[1...2] == [7, 2])
    }

    @Test("Rule 32: a close finishes the checkpoint first, and its header is the newest one", arguments: 0...3)
    func close(taken: Int) throws {
        let recorder = LoggedFile.Recorder()
        let path: String
        let before: Int
        let slot: Int
        do {
            let file = try open("closing-\(taken)", recorder: recorder)
            path = file.path
            slot = file.state.withLock { $0.slot }
            file.beginCheckpoint()
            for _ in 0..<taken { #expect(file.takeCheckpointStep()) }
            // Behind a checkpoint that is over, both headers are of one version.
            if taken < 3 { try LoggedFile.commit(file, 2, 2) }
            file.unlockForWriting()
            before = recorder.operations.count
        }
        let own = ["flush realm", "slot \(1 - slot)", "flush realm"]
        let closing = ["flush realm", "slot \(slot)", "flush realm"]
        #expect(steps(recorder.operations[before...]).starts(with: own[taken...] + closing))
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
        let found = try LoggedFile.values(of: StorageFile.open(path: path)).values
        #expect(found[1...2] == (taken < 3 ? [7, 2] : [7, 0]))
    }

    @Test(
        "Rule 32: where a step fails in the close, the log stays: a flush behind one that failed says nothing",
        arguments: 0..<3
    )
    func failureInClose(step: Int) throws {
        let recorder = LoggedFile.Recorder()
        let path: String
        var before = 0
        do {
            let file = try open("closing-\(step)", recorder: recorder)
            path = file.path
            file.beginCheckpoint()
            for _ in 0..<step { #expect(file.takeCheckpointStep()) }
            try LoggedFile.commit(file, 2, 2)
            file.unlockForWriting()
            before = recorder.operations.count
            recorder.state.withLock { $0.failing = 0 }
        }
        #expect(recorder.state.withLock { $0.didFail })
        #expect(recorder.operations.count == before)
        #expect(FileManager.default.fileExists(atPath: path + ".log"))
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        #expect(try LoggedFile.values(of: file).values[1...2] == [7, 2])
    }
}
