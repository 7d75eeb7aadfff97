import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// A log to which nobody commits for some seconds, by a clock that the test moves.
// One after the other: children are forked.
@Suite("A log at rest", .serialized, .timeLimit(.minutes(60)))
struct LogAtRestTests {
    let folder = TemporaryDirectory()
    let clock = HandClock()
    private var path: String { folder.path("a.realm") }
    private var hasLog: Bool { FileManager.default.fileExists(atPath: path + ".log") }

    /// A file with three commits, in turns of their own.
    private func open(
        recorder: LoggedFile.Recorder? = nil,
        adjusting adjust: (inout StorageOptions) -> Void = { _ in }
    ) throws -> StorageFile {
        var options = LoggedFile.options(blocks: 64, recorder: recorder)
        options.log?.clock = clock.clock
        adjust(&options)
        let file = try StorageFile.open(path: path, options: options)
        for value in UInt64(1)...3 { try LoggedFile.write(file, value) }
        return file
    }

    @Test("Rule 32: some seconds behind the last commit it ends as by a close, and the next burst begins one again")
    func end() throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(recorder: recorder) { $0.log?.pageCommitCount = 2 }
        for value in UInt64(4)...8 {
            clock.pass(4_999)
            #expect(hasLog)
            let checkpoint = file.state.withLock { $0.slot }
            let before = recorder.operations.count
            clock.pass(1)
            #expect(!hasLog && file.openLog == nil)
            let steps = recorder.operations[before...]
                .map { operation in
                    switch operation {
                    case .write(.realm, let offset, _): "write to slot \(offset / (2 * pageByteCount))"
                    case .synchronize(let which): "flush \(which)"
                    case .remove: "remove"
                    default: "something else"
                    }
                }
            #expect(steps == ["flush realm", "write to slot \(1 - checkpoint)", "flush realm", "remove"])
            #expect(clock.alarmCount == 0)
            #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == value - 1)
            for _ in 0..<2 {
                try LoggedFile.write(file, 100)
                #expect(!hasLog)
            }
            try LoggedFile.write(file, value)
            #expect(hasLog)
            #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == value)
        }
    }

    @Test("Behind a commit that is kept as pages, too")
    func pages() throws {
        let file = try open()
        clock.pass(3_000)
        try file.lockForWriting()
        try LoggedFile.commit(file, 1, 4, recorded: false)
        file.unlockForWriting()
        clock.pass(4_999)
        #expect(hasLog)
        clock.pass(1)
        #expect(!hasLog)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == 4)
    }

    @Test("Each commit puts it off, and so does whoever has the turn to write, who is not waited for")
    func putOff() throws {
        let file = try open()
        clock.pass(3_000)
        try LoggedFile.write(file, 4)
        clock.pass(4_999)
        #expect(hasLog)
        try file.lockForWriting()
        let transaction = try file.beginWrite()
        clock.pass(1)
        #expect(hasLog && file.openLog != nil)
        transaction.rollback()
        file.unlockForWriting()
        clock.pass(4_999)
        #expect(hasLog)
        clock.pass(1)
        #expect(!hasLog)
        #expect(clock.alarmCount == 0)
        #expect(try LoggedFile.values(of: file).values[1] == 4)
    }

    @Test("It does not end while commits have no pages, nor where another process writes, and has ended it")
    func others() throws {
        let file = try open { $0.log?.pagesOnDemand = true }
        try file.lockForWriting()
        let isOwed = try OwedPagesTests.acknowledge(file, 2, 2)
        #expect(isOwed)
        clock.pass(5_000)
        #expect(hasLog && file.openLog != nil)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1...2] == [3, 2])
        try file.publish([#require(try file.sealGroup())])
        file.unlockForWriting()
        #expect(try LoggedFile.values(of: file).values[1...2] == [3, 2])

        let options = LoggedFile.options(blocks: 64)
        let data = try StorageFile.openData(path: path, options: options)
        let other = try StorageFile.openUnshared(data: data, path: path, options: options)
        try other.lockForWriting()
        let transaction = try other.beginWrite()
        #expect(!hasLog)
        clock.pass(10_000)
        transaction.rollback()
        try LoggedFile.commit(other, 3, 3)
        other.unlockForWriting()
        clock.pass(10_000)
        #expect(clock.alarmCount == 0)
        #expect(try LoggedFile.values(of: file).values[1...3] == [3, 2, 3])
        try LoggedFile.write(file, 4)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1...3] == [4, 2, 3])
    }

    @Test(
        "One that was killed while it waited for the turn to write puts off neither the end nor a close",
        arguments: [false, true]
    )
    func deadWaiter(isClose: Bool) throws {
        let file = try open()
        let lock = try #require(file.lock)
        let slot: Int
        do {
            let options = LoggedFile.options(blocks: 64)
            let data = try StorageFile.openData(path: path, options: options)
            let other = try StorageFile.openUnshared(data: data, path: path, options: options)
            slot = try #require(other.lock).processSlot
        }
        try file.lockForWriting()
        // As it stands in the lock file behind a kill.
        lock.waitingThreads(slot).store(1, ordering: .sequentiallyConsistent)
        try LoggedFile.commit(file, 1, 4)
        file.unlockForWriting()
        #expect(hasLog)
        if isClose { file.closeLogUnlessWritten() } else { clock.pass(10_000) }
        #expect(!hasLog)
        if !isClose { #expect(clock.alarmCount == 0) }
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == 4)
    }

    @Test("Whoever reads beside its end, in this process or another one, goes on behind the next commits, too")
    func readers() throws {
        let file = try open()
        let before = try file.beginRead()
        try LoggedFile.write(file, 4)
        let child = try ForkedProcess { parent in
            var options = LoggedFile.options(blocks: 64)
            options.log = nil
            let file = try StorageFile.open(path: path, options: options)
            while parent.receive() != nil {
                parent.send(UInt8(try LoggedFile.values(of: file).values[1]))
            }
        }
        #expect(child.ask() == 4)
        clock.pass(5_000)
        #expect(!hasLog)
        #expect(child.ask() == 4)
        for value in UInt64(5)...8 {
            try LoggedFile.write(file, value)
            #expect(child.ask() == UInt8(value))
        }
        #expect(try PageArray.values(of: before.catalog.root, in: before.view)[1] == 3)
        #expect(child.end() == 0)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == 8)
    }

    @Test("Rule 8: an end that fails stops writing, loses no commit, and is not begun again", arguments: 0..<3)
    func failing(call: Int) throws {
        do {
            let recorder = LoggedFile.Recorder()
            let file = try open(recorder: recorder)
            clock.pass(4_999)
            recorder.state.withLock { $0.failing = call }
            clock.pass(1)
            #expect(recorder.state.withLock { $0.didFail })
            recorder.state.withLock { $0.failing = nil }
            #expect(file.hasStopped)
            let before = recorder.operations.count
            clock.pass(3_600_000)
            #expect(recorder.operations.count == before)
            #expect(clock.alarmCount == 0)
            let error = #expect(throws: StorageError.self) { try LoggedFile.write(file, 4) }
            #expect(error?.code == .writingStopped)
            #expect(try LoggedFile.values(of: file).values[1] == 3)
        }
        #expect(hasLog)
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        #expect(try LoggedFile.values(of: file).values[1] == 3)
    }

    @Test("A log that is closed and cannot be removed is in nobody's way")
    func leftover() throws {
        let recorder = LoggedFile.Recorder()
        let file = try open(recorder: recorder)
        clock.pass(4_999)
        recorder.state.withLock { $0.failing = 3 }
        clock.pass(1)
        #expect(recorder.state.withLock { $0.didFail })
        #expect(hasLog && file.openLog == nil && !file.hasStopped)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == 3)
        for value in UInt64(4)...6 {
            try LoggedFile.write(file, value)
            #expect(file.openLog != nil)
            #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == value)
        }
        clock.pass(5_000)
        #expect(!hasLog)
    }

    // MARK: What comes in the midst of it

    /// Stops a flush.
    private final class Gate: Sendable {
        let isArmed = Mutex(false)
        let isThere = DispatchSemaphore(value: 0)
        let mayGoOn = DispatchSemaphore(value: 0)
    }

    private final class GatedDevice: ForwardingDevice {
        let base: any StorageDevice
        let gate: Gate

        init(_ base: any StorageDevice, _ gate: Gate) {
            self.base = base
            self.gate = gate
        }

        func synchronize() throws(StorageError) {
            let stops = gate.isArmed.withLock { isArmed in
                defer { isArmed = false }
                return isArmed
            }
            if stops {
                gate.isThere.signal()
                gate.mayGoOn.wait()
            }
            try base.synchronize()
        }
    }

    /// Does something on a thread of its own while the pages' flush of the end is under way.
    private func whileEnding(_ file: StorageFile, _ gate: Gate, _ body: @escaping @Sendable () throws -> Void) throws {
        let clock = self.clock
        clock.pass(4_999)
        gate.isArmed.withLock { $0 = true }
        let time = OtherThread { clock.pass(1) }
        guard gate.isThere.wait(timeout: .now() + 30) == .success else {
            gate.isArmed.withLock { $0 = false }
            Issue.record("nothing is flushed at rest")
            return try time.end()
        }
        let isOver = Atomic(false)
        let other = OtherThread {
            try body()
            isOver.store(true, ordering: .sequentiallyConsistent)
        }
        other.waitUntilItWaits()
        let wasOver = isOver.load(ordering: .sequentiallyConsistent)
        #expect(!wasOver)
        gate.mayGoOn.signal()
        try other.end()
        try time.end()
    }

    @Test("A close that comes in the midst of it waits for it: there is one file when it returns")
    func close() throws {
        let gate = Gate()
        let file = try open { $0.makeDevice = { GatedDevice($0, gate) } }
        let log = path + ".log"
        try whileEnding(file, gate) {
            file.closeLogUnlessWritten()
            let isLeft = FileManager.default.fileExists(atPath: log)
            #expect(!isLeft)
        }
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == 3)
    }

    @Test("An end that is due in the midst of a close waits for that: neither begins beside the other")
    func dueBesideClose() throws {
        let gate = Gate()
        let clock = self.clock
        let file = try open { $0.makeDevice = { GatedDevice($0, gate) } }
        clock.pass(4_999)
        gate.isArmed.withLock { $0 = true }
        let closing = OtherThread { file.closeLogUnlessWritten() }
        guard gate.isThere.wait(timeout: .now() + 30) == .success else {
            gate.isArmed.withLock { $0 = false }
            Issue.record("nothing is flushed by the close")
            return try closing.end()
        }
        let time = OtherThread { clock.pass(1) }
        time.waitUntilItWaits()
        gate.mayGoOn.signal()
        try closing.end()
        try time.end()
        #expect(!hasLog)
        // It was not put off.
        #expect(clock.alarmCount == 0)
    }

    @Test("What is due in the midst of a close on the thread of all alarms waits for nobody, and comes again")
    func alarmsBesideClose() throws {
        let gate = Gate()
        let clock = self.clock
        let file = try open { $0.makeDevice = { GatedDevice($0, gate) } }
        gate.isArmed.withLock { $0 = true }
        let closing = OtherThread { file.closeLogUnlessWritten() }
        guard gate.isThere.wait(timeout: .now() + 30) == .success else {
            gate.isArmed.withLock { $0 = false }
            Issue.record("nothing is flushed by the close")
            return try closing.end()
        }
        let haveCome = DispatchSemaphore(value: 0)
        // A note and a checkpoint are due.
        let time = OtherThread {
            clock.pass(1_500)
            haveCome.signal()
        }
        let didWait = haveCome.wait(timeout: .now() + 30) != .success
        #expect(!didWait)
        // One for each, and one for the end.
        #expect(clock.alarmCount == 3)
        gate.mayGoOn.signal()
        try closing.end()
        try time.end()
        #expect(!hasLog)
        clock.pass(10_000)
        #expect(clock.alarmCount == 0)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == 3)
    }

    @Test("So does the end of a file's use, as before it is deleted or replaced")
    func endOfUse() throws {
        let gate = Gate()
        let file = try open { $0.makeDevice = { GatedDevice($0, gate) } }
        let log = path + ".log"
        try whileEnding(file, gate) {
            file.endUse(because: StorageError(.ended, "The file was closed"))
            let isLeft = FileManager.default.fileExists(atPath: log)
            #expect(!isLeft)
        }
        #expect(file.closeUnlessRead())
        #expect(try LoggedFile.values(of: StorageFile.open(path: path)).values[1] == 3)
    }

    @Test("A commit that comes in the midst of it waits for its flushes, and is there")
    func commit() throws {
        let gate = Gate()
        let file = try open { $0.makeDevice = { GatedDevice($0, gate) } }
        try whileEnding(file, gate) { try LoggedFile.write(file, 4) }
        #expect(try LoggedFile.values(of: file).values[1] == 4)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1] == 4)
    }

    @Test("Beside a writer on another thread it ends at any moment, and a kill at any moment loses nothing")
    func threads() throws {
        let file = try open { options in
            options.invariantWasBroken = { Issue.record("A structure is broken: \($0)") }
            options.invariantScope = .whole
        }
        let isDone = Atomic(false)
        let clock = self.clock
        let time = OtherThread {
            while !isDone.load(ordering: .sequentiallyConsistent) {
                clock.pass(2_500)
                sched_yield()
            }
        }
        var random = SplitMix64(seed: 32)
        var model = try LoggedFile.values(of: file).values
        var endCount = 0
        let deadline = ContinuousClock.now + .seconds(60)
        for round in 0... {
            if round >= 40, endCount > 5 || ContinuousClock.now > deadline { break }
            let index = 2 + Int.random(in: 0..<40, using: &random)
            try file.lockForWriting()
            if file.openLog == nil { endCount += 1 }
            try LoggedFile.commit(file, index, UInt64(round), recorded: round % 23 != 22)
            model[index] = UInt64(round)
            if round % 10 == 0 {
                // Nobody ends it meanwhile, though a header or a note may come.
                #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == model, "round \(round)")
            }
            file.unlockForWriting()
            for _ in 0..<Int.random(in: 0..<200, using: &random) { sched_yield() }
            // It comes, since nobody has the turn to write meanwhile.
            if round % 10 == 9 { while hasLog, ContinuousClock.now < deadline { sched_yield() } }
        }
        isDone.store(true, ordering: .sequentiallyConsistent)
        try time.end()
        #expect(endCount > 5)
        #expect(try LoggedFile.values(of: file).values == model)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == model)
    }

    // MARK: Commits before the next one

    @Test("Commits that come one by one, each behind such a rest, have no log")
    func oneByOne() throws {
        var options = LoggedFile.options(blocks: 64)
        options.log?.clock = clock.clock
        options.log?.pageCommitCount = 3
        let file = try StorageFile.open(path: path, options: options)
        for value in UInt64(1)...20 {
            try LoggedFile.write(file, value)
            #expect(!hasLog)
            clock.pass(5_000)
        }
        for value in UInt64(1)...4 {
            #expect(!hasLog)
            try LoggedFile.write(file, value)
        }
        #expect(hasLog)
    }

    @Test("A log that was refused comes in a later burst, though none of them is as long as what the refusals ask for")
    func refusedBefore() throws {
        var options = LoggedFile.options(blocks: 64)
        options.log?.clock = clock.clock
        options.log?.pageCommitCount = 2
        let file = try StorageFile.open(path: path, options: options)
        let taken = URL(fileURLWithPath: path + ".log")
        try Data("a log of the program".utf8).write(to: taken)
        // More than 32 are needed behind the last refusal.
        for value in UInt64(1)...40 { try LoggedFile.write(file, value) }
        #expect(file.openLog == nil)
        try FileManager.default.removeItem(at: taken)
        for burst in UInt64(0)..<20 where !hasLog {
            clock.pass(5_000)
            for value in UInt64(0)..<20 { try LoggedFile.write(file, 100 * burst + value) }
        }
        #expect(hasLog)
        // Nor is each commit a burst.
        clock.pass(5_000)
        #expect(!hasLog)
        for value in UInt64(1)...20 {
            try LoggedFile.write(file, value)
            #expect(!hasLog)
            clock.pass(5_000)
        }
    }

    @Test("Space that was made for a log is given back where no commit takes it before such a rest")
    func space() throws {
        let made = Made()
        var options = LoggedFile.options(blocks: 64)
        options.log?.clock = clock.clock
        options.log?.runBeside = { kind, body in
            if kind == .space { made.bodies.withLock { $0.append(body) } } else { body() }
        }
        let file = try StorageFile.open(path: path, options: options)
        try LoggedFile.write(file, 1)
        for body in made.bodies.withLock({ $0 }) { body() }
        #expect(file.logSpace.isMade)
        clock.pass(5_000)
        try LoggedFile.write(file, 2)
        #expect(!hasLog)
        #expect(!file.logSpace.isMade)
    }

    private final class Made: Sendable { let bodies = Mutex<[@Sendable () -> Void]>([]) }
}
