import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// A log that one process writes, and others that read, write and are killed beside it.
@Suite("A log beside other processes", .serialized)
struct LogProcessesTests {
    let folder = TemporaryDirectory()

    /// Sets one number, creating the array first where asked to, in a turn of its own.
    private static func commit(_ file: StorageFile, _ index: Int, _ value: UInt64, creates: Bool = false) throws {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try file.publish([LoggedFile.prepare(.init(creates: creates, values: [(index, value)]), in: file)])
    }

    private func hasLog(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path + ".log") }

    @Test("Rules 10 and 17: another process reads what stands in no header slot, and the log goes on")
    func readsBeside() throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64))
        try Self.commit(file, 1, 1, creates: true)
        try Self.commit(file, 1, 2)
        let child = try ForkedProcess { parent in
            var options = LoggedFile.options(blocks: 64)
            options.log = nil
            let file = try StorageFile.open(path: path, options: options)
            while parent.receive() != nil {
                parent.send(UInt8(try LoggedFile.values(of: file).values[1]))
            }
        }
        #expect(child.ask() == 2)
        for value in UInt64(3)...9 {
            try Self.commit(file, 1, value)
            #expect(child.ask() == UInt8(value))
        }
        #expect(file.openLog != nil)
        #expect(file.checkpointVersion.load(ordering: .relaxed) < file.newestVersion)
        // Nor has it written to the slots when it closed the file.
        let slots = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(4 * pageByteCount)
        #expect(child.end() == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).prefix(4 * pageByteCount) == slots)
        #expect(hasLog(path))
    }

    @Test("Rule 17: the newest version goes to the place that does not count, and the one before stays in the other")
    func twoPlaces() throws {
        let file = try StorageFile.open(path: folder.path("a.realm"), options: LoggedFile.options(blocks: 64))
        for value in UInt64(1)...3 { try Self.commit(file, 1, value, creates: value == 1) }
        let lock = try #require(file.lock)
        /// The versions that stand in the two places.
        func versions() -> Set<UInt64> {
            var found: Set<UInt64> = []
            for place in 0..<2 {
                let bytes = lock.memory.address(LockFileLayout.images + place * LockFileLayout.imageByteCount)
                if case .valid(let header) = FileHeader.read(bytes, page: 0) { found.insert(header.version) }
            }
            return found
        }
        for value in UInt64(4)...9 {
            // Whoever dies between the place and the word leaves this one.
            let before = file.newestVersion
            try Self.commit(file, 1, value)
            #expect(versions() == [before, before + 1])
            #expect(lock.image?.header.version == before + 1)
        }
        withExtendedLifetime(file) {}
    }

    @Test("Rule 7: whoever is to write beside a log ends it first, and the log's process goes on without it")
    func writesBeside() throws {
        let path = folder.path("a.realm")
        var model = [UInt64](repeating: 0, count: PageArray.count)
        do {
            let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64))
            try Self.commit(file, 1, 1, creates: true)
            model[1] = 1
            let child = try ForkedProcess { parent in
                let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64))
                while let byte = parent.receive() {
                    try Self.commit(file, 2, UInt64(byte))
                    parent.send(byte)
                }
            }
            for round in UInt64(2)...12 {
                try Self.commit(file, 1, round)
                #expect(child.ask(UInt8(round)) == UInt8(round))
                model[1] = round
                model[2] = round
                #expect(try LoggedFile.values(of: file).values == model)
                #expect(!hasLog(path))
                #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == model)
            }
            #expect(child.end() == 0)
            // Alone again.
            try Self.commit(file, 3, 3)
            model[3] = 3
            #expect(hasLog(path))
            #expect(file.openLog != nil)
        }
        #expect(!hasLog(path))
        #expect(try LoggedFile.values(of: StorageFile.open(path: path)).values == model)
    }

    @Test("Rules 11 and 14: a log is ended by the pages' flush and a closed header, not in the checkpoint's slot")
    func endingOrder() throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64))
        for value in UInt64(1)...4 { try Self.commit(file, 1, value, creates: value == 1) }
        let checkpoint = file.state.withLock { $0.slot }
        let child = try ForkedProcess { _ in
            let recorder = LoggedFile.Recorder()
            let options = LoggedFile.options(recorder: recorder)
            let file = try StorageFile.open(path: path, options: options)
            let before = recorder.operations.count
            try file.lockForWriting()
            _ = try file.beginWrite()
            let steps = recorder.operations[before...]
                .map { operation in
                    switch operation {
                    case .write(.realm, let offset, _): "write to slot \(offset / (2 * pageByteCount))"
                    case .synchronize(let which): "flush \(which)"
                    case .remove: "remove"
                    default: "something else"
                    }
                }
            _exit(steps == ["flush realm", "write to slot \(1 - checkpoint)", "flush realm", "remove"] ? 0 : 2)
        }
        #expect(child.end() == 0)
    }

    @Test("Rule 6: what a process acknowledged that is killed at any call is found by those beside it")
    func loggerIsKilled() throws {
        for call in 0..<90 {
            let path = folder.path("killed-\(call).realm")
            let child = try ForkedProcess { parent in
                let recorder = LoggedFile.Recorder()
                var options = LoggedFile.options(blocks: 6, recorder: recorder)
                // In the way of the commits, or beside them.
                if call % 2 == 1, ForkedProcess.mayStartThreads {
                    options.log?.runBeside = { if $0 == .space { $1() } else { Thread.detachNewThread($1) } }
                }
                let file = try StorageFile.open(path: path, options: options)
                try Self.commit(file, 0, 1, creates: true)
                parent.send(1)
                _ = parent.receive()
                recorder.state.withLock { state in
                    state.failing = call
                    state.isKilled = true
                }
                for round in 1...60 {
                    try file.lockForWriting()
                    let change = LoggedFile.Change(values: [(round, UInt64(round))])
                    try file.publish([LoggedFile.prepare(change, in: file, recorded: round % 7 != 0)])
                    file.unlockForWriting()
                    parent.send(UInt8(round))
                }
            }
            #expect(child.connection.receive() == 1)
            var model = [UInt64](repeating: 0, count: PageArray.count)
            model[0] = 1
            do {
                let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 6))
                #expect(try LoggedFile.values(of: file).values == model)
                child.connection.send(1)
                var acknowledged = 0
                while let round = child.connection.receive() { acknowledged = Int(round) }
                #expect(child.end() == SIGKILL)
                for round in 1...60 where round <= acknowledged { model[round] = UInt64(round) }
                var next = model
                next[acknowledged + 1] = UInt64(acknowledged + 1)
                let found = try LoggedFile.values(of: file).values
                #expect(found == model || found == next, "call \(call)")
                // Also where it was killed within a flush of the realm file.
                try Self.commit(file, 100, 100)
                if try LoggedFile.values(of: file).values[acknowledged + 1] != 0 { model = next }
                model[100] = 100
                #expect(try LoggedFile.values(of: file).values == model, "call \(call)")
                #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == model, "call \(call)")
            }
            let found = try LoggedFile.values(of: StorageFile.open(path: path, options: LoggedFile.options(blocks: 6)))
                .values
            #expect(found == model, "call \(call)")
        }
    }

    @Test("A process is killed while it ends the log of another: nobody goes on in a log that may be closed")
    func takerIsKilled() throws {
        var stopped = 0
        for call in 0..<8 {
            let path = folder.path("taken-\(call).realm")
            var model = [UInt64](repeating: 0, count: PageArray.count)
            do {
                let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64))
                for value in UInt64(1)...4 { try Self.commit(file, 1, value, creates: value == 1) }
                model[1] = 4
                let child = try ForkedProcess { parent in
                    let recorder = LoggedFile.Recorder()
                    let file = try StorageFile.open(path: path, options: LoggedFile.options(recorder: recorder))
                    recorder.state.withLock { state in
                        state.failing = call
                        state.isKilled = true
                    }
                    try Self.commit(file, 2, 2)
                    parent.send(2)
                }
                let isAcknowledged = child.connection.receive() == 2
                let status = child.end()
                #expect(status == SIGKILL || status == 0)
                if isAcknowledged { model[2] = 2 }
                do {
                    for value in UInt64(5)...8 { try Self.commit(file, 3, value) }
                    model[3] = 8
                    let found = try LoggedFile.values(of: file).values
                    if !isAcknowledged, found[2] == 2 { model[2] = 2 }
                    #expect(found == model, "call \(call)")
                    #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == model, "call \(call)")
                } catch let error as StorageError {
                    #expect(error.code == .writingStopped)
                    stopped += 1
                }
            }
            let found = try LoggedFile.values(of: StorageFile.open(path: path, options: LoggedFile.options())).values
            #expect(found == model, "call \(call)")
        }
        #expect(stopped <= 2)
    }

    @Test("Rule 8: where a flush of the realm file failed beside a log, no process writes until all have closed it")
    func failedFlush() throws {
        let path = folder.path("a.realm")
        do {
            let recorder = LoggedFile.Recorder()
            let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64, recorder: recorder))
            for value in UInt64(1)...4 { try Self.commit(file, 1, value, creates: value == 1) }
            recorder.state.withLock { $0.failing = 0 }
            try file.lockForWriting()
            #expect(throws: StorageError.self) { try file.makeCheckpoint() }
            file.unlockForWriting()
            recorder.state.withLock { $0.failing = nil }
            let child = try ForkedProcess { _ in
                let file = try StorageFile.open(path: path, options: LoggedFile.options())
                guard try LoggedFile.values(of: file).values[1] == 4 else { _exit(2) }
                do {
                    try Self.commit(file, 2, 2)
                    _exit(3)
                } catch let error as StorageError where error.code == .writingStopped {
                    _exit(0)
                }
            }
            #expect(child.end() == 0)
        }
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        #expect(try LoggedFile.values(of: file).values[1] == 4)
        try Self.commit(file, 2, 2)
        #expect(try LoggedFile.values(of: file).values[2] == 2)
    }
}
