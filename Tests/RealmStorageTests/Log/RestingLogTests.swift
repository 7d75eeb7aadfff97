import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Files with a log that nobody commits to for a while, by a clock that the test moves.
@Suite("A log behind the last commit", .serialized, .timeLimit(.minutes(60)))
struct RestingLogTests {
    let folder = TemporaryDirectory()
    let clock = HandClock()

    /// A file with a log and three commits; the caller has the write lock.
    private func open(
        _ name: String = "a",
        blocks: Int = 64,
        recorder: LoggedFile.Recorder? = nil,
        stepping: Bool = false,
        adjusting adjust: (inout StorageOptions) -> Void = { _ in }
    ) throws -> StorageFile {
        var options = LoggedFile.options(blocks: blocks, recorder: recorder, stepping: stepping)
        options.log?.clock = clock.clock
        // What comes behind these has tests of its own.
        options.log?.endPatience = nil
        adjust(&options)
        let file = try StorageFile.open(path: folder.path(name + ".realm"), options: options)
        try file.lockForWriting()
        for value in UInt64(1)...3 { try LoggedFile.commit(file, 1, value) }
        return file
    }

    /// Lets the last commit be long ago, for the log and for a checkpoint.
    private func rest() { clock.pass(1_000) }

    private func isCheckpointed(_ file: StorageFile) -> Bool {
        file.checkpointVersion.load(ordering: .sequentiallyConsistent) == file.newestVersion
    }

    /// The kinds of the records that were written to the log, and what else was done.
    private func steps(_ operations: some Sequence<LoggedFile.Operation>) -> [String] {
        operations.map { operation in
            switch operation {
            case .write(.log, _, let bytes): "record \(bytes[CommitRecord.Frame.kind])"
            case .write(.realm, let offset, _) where offset < 4 * pageByteCount: "header"
            case .write(.realm, _, _): "pages"
            case .synchronize(let which): "flush \(which)"
            default: "\(operation)"
            }
        }
    }

    @Test(
        "Rule 27: some milliseconds behind the last commit the log says how far it is durable, unflushed; a checkpoint follows"
    )
    func both() throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(recorder: recorder)
        defer { file.unlockForWriting() }
        // Each commit puts both off.
        for value in UInt64(4)...6 {
            let before = recorder.operations.count
            clock.pass(19)
            #expect(recorder.operations.count == before)
            try LoggedFile.commit(file, 1, value)
        }
        var before = recorder.operations.count
        clock.pass(20)
        #expect(steps(recorder.operations[before...]) == ["record 4"])
        before = recorder.operations.count
        clock.pass(979)
        #expect(recorder.operations.count == before)
        #expect(!isCheckpointed(file))
        clock.pass(1)
        #expect(steps(recorder.operations[before...]) == ["flush realm", "header", "flush realm"])
        #expect(isCheckpointed(file))
        #expect(file.openLog != nil)
    }

    @Test("Where nothing was committed since, nothing is done, and nobody asks for an alarm")
    func nothingCommitted() throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(recorder: recorder)
        defer { file.unlockForWriting() }
        #expect(clock.alarmCount == 2)
        rest()
        #expect(isCheckpointed(file))
        let (before, asked) = (recorder.operations.count, clock.askCount)
        clock.pass(3_600_000)
        #expect(recorder.operations.count == before)
        #expect(clock.askCount == asked)
        #expect(clock.alarmCount == 0)
        // Nor behind a checkpoint that somebody else has made, or a commit that is one.
        try LoggedFile.commit(file, 1, 4)
        try file.makeCheckpoint()
        var now = recorder.operations.count
        rest()
        #expect(recorder.operations.count == now)
        try LoggedFile.commit(file, 1, 5)
        try LoggedFile.commit(file, 1, 6, recorded: false)
        now = recorder.operations.count
        rest()
        #expect(recorder.operations.count == now)
        #expect(clock.alarmCount == 0)
    }

    @Test("Commits in a row ask for no alarm: those of the first one find them")
    func row() throws {
        let file = try open()
        defer { file.unlockForWriting() }
        let asked = clock.askCount
        for value in UInt64(0)..<20 { try LoggedFile.commit(file, 1, value) }
        #expect(asked == 2)
        #expect(clock.askCount == asked)
    }

    @Test("Rule 27: behind the note damage to the last record is an error, and before it like a torn end")
    func damage() throws {
        let file = try open()
        defer { file.unlockForWriting() }
        let end = try #require(file.openLog).end
        for isNoted in [false, true] {
            if isNoted { clock.pass(20) }
            let copy = try LoggedFile.copy(of: file.path, in: folder)
            var log = try Data(contentsOf: URL(fileURLWithPath: copy + ".log"))
            log[LogHeader.blockByteCount + Int(end.offset) - 1] ^= 1
            try log.write(to: URL(fileURLWithPath: copy + ".log"))
            if isNoted {
                let error = #expect(throws: StorageError.self) {
                    try StorageFile.open(path: copy, options: LoggedFile.options())
                }
                #expect(error?.code == .corrupt)
            } else {
                let found = try LoggedFile.values(of: StorageFile.open(path: copy, options: LoggedFile.options()))
                #expect(found.values[1] == 2)
            }
        }
    }

    @Test("The next record takes the place of a note: what was noted costs nothing, and loses nothing")
    func place() throws {
        let file = try open()
        defer { file.unlockForWriting() }
        for value in UInt64(4)...9 {
            let end = try #require(file.openLog).end
            clock.pass(20)
            #expect(file.openLog?.end == end)
            #expect(try LoggedFile.valuesOfCopy(of: file.path, in: folder)[1] == value - 1)
            try LoggedFile.commit(file, 1, value)
            #expect(file.openLog?.end.offset ?? 0 < end.atNewBlock.offset + UInt64(LogHeader.blockByteCount))
            #expect(try LoggedFile.valuesOfCopy(of: file.path, in: folder)[1] == value)
        }
    }

    @Test("A full log has no place for a note, and loses nothing")
    func full() throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(blocks: 4, recorder: recorder, stepping: true)
        defer { file.unlockForWriting() }
        try LoggedFile.commit(file, 1, 4)
        #expect(file.openLog?.hasRoom(forContents: [0]) == false)
        let before = recorder.operations.count
        clock.pass(20)
        #expect(recorder.operations.count == before)
        #expect(try LoggedFile.valuesOfCopy(of: file.path, in: folder)[1] == 4)
    }

    @Test("A note that cannot be written is none: commits go on")
    func failingNote() throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(recorder: recorder)
        defer { file.unlockForWriting() }
        recorder.state.withLock { $0.failing = 0 }
        clock.pass(20)
        #expect(recorder.state.withLock { $0.didFail })
        #expect(!file.hasStopped)
        try LoggedFile.commit(file, 2, 2)
        rest()
        #expect(isCheckpointed(file))
        #expect(try LoggedFile.valuesOfCopy(of: file.path, in: folder)[1...2] == [3, 2])
    }

    @Test(
        "Rule 8: a checkpoint behind the last commit that fails stops writing, loses no commit, and is not begun again",
        arguments: 0..<3
    )
    func failingCheckpoint(step: Int) throws {
        let path: String
        do {
            let recorder = LoggedFile.Recorder()
            let file = try open(recorder: recorder)
            defer { file.unlockForWriting() }
            path = file.path
            clock.pass(20)
            recorder.state.withLock { $0.failing = step }
            rest()
            #expect(recorder.state.withLock { $0.didFail })
            #expect(file.hasStopped)
            let before = recorder.operations.count
            clock.pass(3_600_000)
            #expect(recorder.operations.count == before)
            #expect(clock.alarmCount == 0)
        }
        #expect(FileManager.default.fileExists(atPath: path + ".log"))
        #expect(try LoggedFile.values(of: StorageFile.open(path: path, options: LoggedFile.options())).values[1] == 3)
    }

    @Test("While a checkpoint is being made no other one is begun, and behind it one of what came since")
    func besideCheckpoint() throws {
        let file = try open(stepping: true)
        defer { file.unlockForWriting() }
        rest()
        let candidate = file.newestVersion
        #expect(file.candidateVersion.load(ordering: .relaxed) == candidate)
        #expect(file.takeCheckpointStep())
        try LoggedFile.commit(file, 2, 2)
        rest()
        #expect(file.candidateVersion.load(ordering: .relaxed) == candidate)
        #expect(clock.alarmCount == 1)
        while file.takeCheckpointStep() {}
        #expect(file.checkpointVersion.load(ordering: .relaxed) == candidate)
        rest()
        #expect(file.candidateVersion.load(ordering: .relaxed) == candidate + 1)
        while file.takeCheckpointStep() {}
        #expect(isCheckpointed(file))
        rest()
        #expect(clock.alarmCount == 0)
    }

    @Test("Nothing is done while somebody publishes or ends the log, and nobody waits: it is put off")
    func busy() throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(recorder: recorder)
        defer { file.unlockForWriting() }
        let before = recorder.operations.count
        try file.logTurn.withLock { _ in try OtherThread { rest() }.end() }
        #expect(recorder.operations.count == before)
        #expect(clock.alarmCount == 2)
        rest()
        #expect(isCheckpointed(file))
    }

    @Test("Where nobody calls later, each commit asks again, and all goes on as it was")
    func brokenClock() throws {
        clock.isBroken = true
        let file = try open()
        defer { file.unlockForWriting() }
        #expect(clock.askCount == 6)
        clock.isBroken = false
        try LoggedFile.commit(file, 1, 4)
        #expect(clock.alarmCount == 2)
        rest()
        #expect(isCheckpointed(file))
    }

    @Test("Rule 32: whoever lets go of a file last closes it himself, though an alarm is set, which finds nothing")
    func lastUser() throws {
        let recorder = LoggedFile.Recorder()
        let path: String
        do {
            let file = try open(recorder: recorder)
            path = file.path
            file.unlockForWriting()
        }
        #expect(clock.alarmCount == 2)
        #expect(!StorageFile.isOpenAnywhere(path: path))
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
        let before = recorder.operations.count
        rest()
        #expect(recorder.operations.count == before)
        #expect(try LoggedFile.values(of: StorageFile.open(path: path)).values[1] == 3)
    }

    @Test(
        "Behind the last use no alarm calls anything of the file, and where it is used again the next commit asks anew"
    )
    func usedAgain() throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(recorder: recorder)
        defer { file.unlockForWriting() }
        file.endCheckpoint()
        let before = recorder.operations.count
        rest()
        #expect(recorder.operations.count == before)
        #expect(clock.alarmCount == 0)
        try LoggedFile.commit(file, 1, 4)
        #expect(clock.alarmCount == 2)
        rest()
        #expect(isCheckpointed(file))
    }

    @Test("Rule 11: behind the end of a file's use nothing is done to it", arguments: [false, true])
    func ended(isChosen: Bool) throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(recorder: recorder, stepping: true)
        file.unlockForWriting()
        if isChosen { rest() }
        file.endUse(because: StorageError(.ended, "The file was closed"))
        #expect(file.closeUnlessRead())
        let before = recorder.operations.count
        rest()
        #expect(recorder.operations.count == before)
        #expect(!file.takeCheckpointStep())
        #expect(try LoggedFile.values(of: StorageFile.open(path: file.path)).values[1] == 3)
    }

    @Test(
        "Rule 11: no checkpoint is begun, and nothing noted, where another process has ended the log, or is about to",
        arguments: [false, true]
    )
    func otherProcess(isEnding: Bool) throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(recorder: recorder)
        file.unlockForWriting()
        let options = LoggedFile.options()
        let data = try StorageFile.openData(path: file.path, options: options)
        let other = try StorageFile.openUnshared(data: data, path: file.path, options: options)
        if isEnding {
            // As one that dies there leaves it.
            #expect(try other.lock?.tryLockForWriting() == true)
            other.lock?.beginEndOfLog()
        } else {
            try other.lockForWriting()
            try LoggedFile.commit(other, 2, 2)
            other.unlockForWriting()
        }
        let before = recorder.operations.count
        rest()
        #expect(recorder.operations.count == before)
        #expect(file.candidateVersion.load(ordering: .relaxed) == 0)
        #expect(try other.lock?.tryLockForCheckpoint() == true)
        other.lock?.unlockForCheckpoint()
        if isEnding { other.lock?.unlockForWriting() }
        try other.lockForWriting()
        try LoggedFile.commit(other, 3, 3)
        other.unlockForWriting()
        #expect(try LoggedFile.values(of: file).values[1...3] == (isEnding ? [3, 0, 3] : [3, 2, 3]))
        #expect(try LoggedFile.valuesOfCopy(of: file.path, in: folder)[1] == 3)
    }

    @Test("A child that was forked while an alarm is looked at leaves the file to its parent, and waits for nobody")
    func forked() throws {
        final class Gate: Sendable {
            let isArmed = Mutex(false)
            let isThere = DispatchSemaphore(value: 0)
            let mayGoOn = DispatchSemaphore(value: 0)
        }
        let gate = Gate()
        let time = clock.clock
        let file = try open { options in
            options.log?.clock?.now = {
                let stops = gate.isArmed.withLock { isArmed in
                    defer { isArmed = false }
                    return isArmed
                }
                if stops {
                    gate.isThere.signal()
                    gate.mayGoOn.wait()
                }
                return time.now()
            }
        }
        defer { file.unlockForWriting() }
        try #require(clock.alarmCount == 2)
        gate.isArmed.withLock { $0 = true }
        let thread = OtherThread { rest() }
        gate.isThere.wait()
        let child = try ForkedProcess { _ in
            file.endCheckpoint()
            file.endUse(because: StorageError(.ended, "The file was closed"))
            _exit(0)
        }
        #expect(child.end() == 0)
        gate.mayGoOn.signal()
        try thread.end()
        #expect(isCheckpointed(file))
    }

    @Test(
        "Beside a writer on another thread checkpoints are made and notes written, and a kill at any moment loses nothing",
        arguments: [false, true]
    )
    func threads(hasOwnThread: Bool) throws {
        let file = try open(blocks: 16) { options in
            options.invariantWasBroken = { Issue.record("A structure is broken: \($0)") }
            options.invariantScope = .whole
            options.log?.notePatience = 1_000_000
            options.log?.checkpointPatience = 3_000_000
            if hasOwnThread {
                options.log?.runBeside = { if $0 == .space { $1() } else { Thread.detachNewThread($1) } }
            }
        }
        let isDone = Atomic(false)
        let clock = self.clock
        let time = OtherThread {
            while !isDone.load(ordering: .sequentiallyConsistent) {
                clock.pass(1)
                sched_yield()
            }
        }
        var random = SplitMix64(seed: 27)
        var model = try LoggedFile.values(of: file).values
        var checkpoints: Set<UInt64> = []
        let deadline = ContinuousClock.now + .seconds(1_800)
        for round in 0... {
            if round >= 200, checkpoints.count > 20 || ContinuousClock.now > deadline { break }
            let index = 2 + Int.random(in: 0..<40, using: &random)
            try LoggedFile.commit(file, index, UInt64(round), recorded: round % 23 != 22)
            model[index] = UInt64(round)
            if round % 3 == 0 { for _ in 0..<Int.random(in: 0..<200, using: &random) { sched_yield() } }
            checkpoints.insert(file.checkpointVersion.load(ordering: .sequentiallyConsistent))
            // Between its copies nobody appends, though a header or a note may come.
            if round % 40 == 0 {
                #expect(try LoggedFile.valuesOfCopy(of: file.path, in: folder) == model, "round \(round)")
            }
        }
        isDone.store(true, ordering: .sequentiallyConsistent)
        try time.end()
        file.endCheckpoint()
        #expect(checkpoints.count > 20)
        #expect(try LoggedFile.values(of: file).values == model)
        #expect(try LoggedFile.valuesOfCopy(of: file.path, in: folder) == model)
        file.unlockForWriting()
    }

    @Test(
        "Rule 20: an older copy of the file beside its log is not opened at the version before a commit that is kept as pages"
    )
    func olderCopy() throws {
        let file = try open()
        defer { file.unlockForWriting() }
        try file.makeCheckpoint()
        let old = try Data(contentsOf: URL(fileURLWithPath: file.path))
        try LoggedFile.commit(file, 1, 4, recorded: false)
        #expect(try LoggedFile.valuesOfCopy(of: file.path, in: folder)[1] == 4)
        let copy = try LoggedFile.copy(of: file.path, in: folder)
        try old.write(to: URL(fileURLWithPath: copy))
        let error = #expect(throws: StorageError.self) {
            try StorageFile.open(path: copy, options: LoggedFile.options())
        }
        #expect(error?.code == .corrupt)
        // The next record takes the place of the one that says so, and tells of it, too.
        try LoggedFile.commit(file, 1, 5)
        #expect(try LoggedFile.valuesOfCopy(of: file.path, in: folder)[1] == 5)
    }

    @Test("Rule 20: the record of a commit that is kept as pages is written behind the flush of its header, unflushed")
    func pagesRecord() throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(recorder: recorder)
        defer { file.unlockForWriting() }
        let before = recorder.operations.count
        try LoggedFile.commit(file, 1, 4, recorded: false)
        // The last one is the mark, over the header before it.
        #expect(steps(recorder.operations[before...]).suffix(4) == ["header", "flush realm", "record 3", "header"])
        let written = recorder.operations.compactMap { if case .write(.log, _, let bytes) = $0 { bytes } else { nil } }
        let bytes = try #require(written.last)
        let version = bytes.withUnsafeBytes { $0.baseAddress!.little(UInt64.self, at: CommitRecord.Frame.version) }
        #expect(version == file.newestVersion)
        #expect(bytes.count == LogHeader.blockByteCount)
    }
}
