import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Processes that die within a flush of the realm file, of which nobody else knows whether it has brought anything to the disk.
extension DeadHolderTests {
    /// What a process is at when it dies.
    enum Flush: CaseIterable {
        case pagesOfCheckpoint, headerOfCheckpoint, length, pages, header, pagesOfClose, headerOfClose

        /// The flushes of the same step before it.
        fileprivate var flushesBefore: Int {
            switch self {
            case .pagesOfCheckpoint, .length, .pages, .pagesOfClose: 0
            case .headerOfCheckpoint, .header, .headerOfClose: 1
            }
        }

        /// What stands at the first place that is looked at, behind a power cut: a commit that was not acknowledged may be there.
        fileprivate var possibleValues: Set<UInt64> { self == .pages || self == .header ? [7, 8] : [7] }

        fileprivate func begin(in file: StorageFile) throws {
            switch self {
            case .pagesOfCheckpoint, .headerOfCheckpoint:
                file.beginCheckpoint()
                while file.takeCheckpointStep() {}
            case .length:
                let transaction = try file.beginWrite()
                try PageArray.setBallast(200, in: transaction)
                transaction.changes.recordModify(table: 1, key: 1, column: 1)
                transaction.record = .init(kind: .changes, content: LoggedFile.Change().content)
                try file.publish([PageArray.commit(transaction)])
            case .pages, .header: try LoggedFile.commit(file, 1, 8, recorded: false)
            case .pagesOfClose, .headerOfClose: try file.closeLog()
            }
        }
    }

    /// Keeps what each flush brings to the disk in another file, and ends the process in one of them, which brings nothing there.
    private final class DyingDevice: ForwardingDevice {
        let base: any StorageDevice
        let flushesLeft: Atomic<Int>

        init(_ base: any StorageDevice, _ flushesLeft: Int = .max) {
            self.base = base
            self.flushesLeft = Atomic(flushesLeft)
        }

        func synchronize() throws(StorageError) {
            if flushesLeft.load(ordering: .relaxed) == 0 {
                kill(getpid(), SIGKILL)
                while true { sleep(1) }
            }
            flushesLeft.subtract(1, ordering: .relaxed)
            let byteCount = try base.currentByteCount()
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 8)
            defer { bytes.deallocate() }
            let copy = open(base.path + ".disk", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            defer { close(copy) }
            guard pread(base.descriptor, bytes, byteCount, 0) == byteCount,
                Glibc.write(copy, bytes, byteCount) == byteCount
            else { throw StorageError(.io, "The disk of a test cannot be written") }
        }
    }

    /// Holds the device of a process.
    private final class Devices: Sendable {
        let last = Mutex<DyingDevice?>(nil)
    }

    /// A process that has committed seven times and says 1, and that dies within a flush when it is told to go on.
    private func process(at path: String, dyingIn flush: Flush) throws -> ForkedProcess {
        let process = try ForkedProcess { parent in
            let devices = Devices()
            var options = LoggedFile.options(blocks: 64, stepping: true)
            options.makeDevice = { base in
                let device = DyingDevice(base)
                devices.last.withLock { $0 = device }
                return device
            }
            let file = try StorageFile.open(path: path, options: options)
            try file.lockForWriting()
            for value in UInt64(1)...7 { try LoggedFile.commit(file, 1, value) }
            parent.send(1)
            _ = parent.receive()
            guard let device = devices.last.withLock({ $0 }) else { return }
            device.flushesLeft.store(flush.flushesBefore, ordering: .relaxed)
            try flush.begin(in: file)
        }
        #expect(process.connection.receive() == 1)
        return process
    }

    private func bytes(of path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    /// What is found behind a power cut.
    private func values(behind cut: (realm: [UInt8], log: [UInt8]?)) throws -> [UInt64] {
        let path = folder.path("cut-\(UInt64.random(in: 0 ... .max)).realm")
        try Data(cut.realm).write(to: URL(fileURLWithPath: path))
        if let log = cut.log { try Data(log).write(to: URL(fileURLWithPath: path + ".log")) }
        // Nothing is flushed for it.
        let options = LoggedFile.options(recorder: LoggedFile.Recorder())
        return try LoggedFile.values(of: StorageFile.open(path: path, options: options)).values
    }

    private func check(
        _ disk: PowerCutDisk,
        behind flush: Flush,
        variants: [Int],
        _ random: inout SplitMix64
    ) throws {
        for variant in variants {
            let found = try values(behind: disk.survivor(variant: variant, using: &random))
            #expect(flush.possibleValues.contains(found[1]))
            if disk.acknowledged > 0 { #expect(found[1...2] == [7, 2]) }
        }
    }

    @Test(
        "Rule 15: another one goes on at once behind a death within a flush, and no power cut loses anything",
        arguments: Flush.allCases
    )
    func withinFlush(flush: Flush) throws {
        let path = folder.path("a.realm")
        let process = try process(at: path, dyingIn: flush)
        let recorder = LoggedFile.Recorder()
        let file = try StorageFile.open(path: path, options: LoggedFile.options(recorder: recorder))
        let snapshot = try file.beginRead()
        process.connection.send(1)
        #expect(process.end() == SIGKILL)
        var disk = PowerCutDisk(realm: try bytes(of: path + ".disk"), log: try bytes(of: path + ".log"))
        let before = recorder.operations.count

        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try LoggedFile.commit(file, 2, 2)
        recorder.append(.acknowledged(version: 1))
        #expect(try LoggedFile.values(of: file).values[1...2] == [7, 2])
        // Who reads beside it has what he had.
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[1...2] == [7, 0])
        let isNoted = file.lock?.isPageFlushNoted
        #expect(isNoted == false)

        var random = SplitMix64(seed: 15)
        let operations = recorder.operations[before...]
        for operation in operations {
            switch operation {
            case .write: disk.perform(operation)
            case .synchronize:
                // Within the flush, and behind it.
                try check(disk, behind: flush, variants: [0, 4], &random)
                disk.perform(operation)
                try check(disk, behind: flush, variants: [0], &random)
            default:
                disk.perform(operation)
                try check(disk, behind: flush, variants: [0], &random)
            }
        }
        if flush == .length {
            // Of what the flush was to bring to the disk first, the system may have made holes for good.
            let isCut = operations.contains { if case .setByteCount = $0 { true } else { false } }
            #expect(isCut)
        }
    }

    @Test("Rule 15: a write that fails on the way stops nobody, and the next one begins anew", arguments: [0, 1, 50])
    func failingRewrite(call: Int) throws {
        let path = folder.path("a.realm")
        let process = try process(at: path, dyingIn: .pagesOfCheckpoint)
        let recorder = LoggedFile.Recorder()
        let file = try StorageFile.open(path: path, options: LoggedFile.options(recorder: recorder))
        process.connection.send(1)
        #expect(process.end() == SIGKILL)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        recorder.state.withLock { $0.failing = call }
        let error = #expect(throws: StorageError.self) { try LoggedFile.commit(file, 2, 2) }
        #expect(error?.code == .io)
        #expect(!file.hasStopped)
        recorder.state.withLock { $0.failing = nil }
        try LoggedFile.commit(file, 2, 2)
        #expect(try LoggedFile.values(of: file).values[1...2] == [7, 2])
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1...2] == [7, 2])
    }

    @Test("Rule 15: one that dies on the way leaves that to the next one", arguments: [0, 50])
    func killedRewriting(call: Int) throws {
        let path = folder.path("a.realm")
        let process = try process(at: path, dyingIn: .headerOfCheckpoint)
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        let next = try ForkedProcess { parent in
            let recorder = LoggedFile.Recorder()
            let file = try StorageFile.open(path: path, options: LoggedFile.options(recorder: recorder))
            parent.send(1)
            _ = parent.receive()
            recorder.state.withLock { state in
                state.failing = call
                state.isKilled = true
            }
            try LoggedFile.write(file, 9)
        }
        #expect(next.connection.receive() == 1)
        process.connection.send(1)
        #expect(process.end() == SIGKILL)
        next.connection.send(1)
        #expect(next.end() == SIGKILL)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try LoggedFile.commit(file, 2, 2)
        #expect(try LoggedFile.values(of: file).values[1...2] == [7, 2])
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder)[1...2] == [7, 2])
    }

    @Test("Whoever lets go of a file last behind a death within a flush leaves the log to the next opening")
    func letGo() throws {
        let path = folder.path("a.realm")
        do {
            let process = try process(at: path, dyingIn: .pagesOfCheckpoint)
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            process.connection.send(1)
            #expect(process.end() == SIGKILL)
            withExtendedLifetime(file) {}
        }
        #expect(FileManager.default.fileExists(atPath: path + ".log"))
        #expect(!StorageFile.isOpenAnywhere(path: path))
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        #expect(try LoggedFile.values(of: file).values[1] == 7)
    }

    @Test("Whoever opens the file once more behind a death within a flush waits for nobody")
    func openedBeside() throws {
        let path = folder.path("a.realm")
        let process = try process(at: path, dyingIn: .pagesOfCheckpoint)
        let options = LoggedFile.options()
        let file = try StorageFile.open(path: path, options: options)
        process.connection.send(1)
        #expect(process.end() == SIGKILL)
        // Who waits does so for a second. An opening may take as long on a slow machine, but not each time.
        var isShown = false
        for _ in 0..<20 where !isShown {
            let begin = ContinuousClock.now
            let data = try StorageFile.openData(path: path, options: options)
            let other = try StorageFile.openUnshared(data: data, path: path, options: options, besideOwn: false)
            isShown = ContinuousClock.now - begin < .milliseconds(900)
            withExtendedLifetime(other) {}
        }
        #expect(isShown)
        let isNoted = file.lock?.isPageFlushNoted
        #expect(isNoted == true)
    }

    @Test("Rule 15: a page that is not there any more stops writing, and the next opening takes all from the log")
    func lostPage() throws {
        let path = folder.path("a.realm")
        try {
            let process = try process(at: path, dyingIn: .pagesOfCheckpoint)
            let file = try StorageFile.open(path: path, options: LoggedFile.options())
            // The process knows the page, as it was.
            let root = try file.beginRead().catalog.root
            let values = try LoggedFile.values(of: file).values
            #expect(values[1] == 7)
            process.connection.send(1)
            #expect(process.end() == SIGKILL)
            // The system has let go of it behind a flush that failed, and reads what the disk has.
            let descriptor = open(path, O_WRONLY)
            defer { close(descriptor) }
            let zeros = [UInt8](repeating: 0, count: pageByteCount)
            let writtenCount = pwrite(descriptor, zeros, pageByteCount, off_t(root.page) * off_t(pageByteCount))
            #expect(writtenCount == pageByteCount)
            let error = #expect(throws: StorageError.self) { try LoggedFile.write(file, 9) }
            #expect(error?.code == .writingStopped)
            #expect(file.hasStopped)
        }()
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        #expect(try LoggedFile.values(of: file).values[1] == 7)
    }
}
