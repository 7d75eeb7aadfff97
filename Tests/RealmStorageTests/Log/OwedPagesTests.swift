import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Commits that are acknowledged by their records, and whose pages somebody else makes.
@Suite("Commits without pages, and other processes", .serialized)
struct OwedPagesTests {
    let folder = TemporaryDirectory()

    static func options(_ recorder: LoggedFile.Recorder? = nil) -> StorageOptions {
        var options = LoggedFile.options(blocks: 64, recorder: recorder)
        options.log?.pagesOnDemand = true
        return options
    }

    /// A member of the group that is not sealed, which sets a number.
    static func member(_ file: StorageFile, _ index: Int, _ value: UInt64) throws -> WriteTransaction {
        let transaction = try file.beginWrite(joining: true)
        let change = LoggedFile.Change(values: [(index, value)])
        try change.apply(to: transaction)
        transaction.catalog = ByteTree(root: transaction.seal(transaction.catalog.root))
        transaction.changes.recordModify(table: 1, key: 1, column: 1)
        transaction.record = .init(kind: .changes, content: change.content)
        return transaction
    }

    /// Sets a number in a commit that has no pages.
    static func acknowledge(_ file: StorageFile, _ index: Int, _ value: UInt64) throws -> Bool {
        let transaction = try member(file, index, value)
        guard LoggedCommit(of: transaction).mayOwePages else {
            transaction.rollback()
            return false
        }
        return try LoggedCommit(of: transaction).acknowledge()
    }

    /// The numbers behind the first commit and so many that have no pages.
    static func model(_ count: Int, more: [Int: UInt64] = [:]) -> [UInt64] {
        var model = [UInt64](repeating: 0, count: PageArray.count)
        model[0] = 1
        for index in 0..<count { model[index + 1] = UInt64(100 + index) }
        for (index, value) in more { model[index] = value }
        return model
    }

    static func begin(_ file: StorageFile) throws {
        try file.lockForWriting()
        let change = LoggedFile.Change(creates: true, values: [(0, 1)])
        try file.publish([LoggedFile.prepare(change, in: file)])
    }

    static func acknowledge(_ count: Int, in file: StorageFile) throws -> Bool {
        try (0..<count).allSatisfy { try acknowledge(file, $0 + 1, UInt64(100 + $0)) }
    }

    /// A process that begins the file and says 1; that acknowledges five commits when it is told to, and says 2; and that kills itself then.
    static func acknowledgingProcess(at path: String) throws -> ForkedProcess {
        try ForkedProcess { parent in
            let file = try StorageFile.open(path: path, options: options())
            try begin(file)
            parent.send(1)
            _ = parent.receive()
            // As where it has not seen that another one has come.
            parent.send(try acknowledge(5, in: file) ? 2 : 0)
            _ = parent.receive()
            kill(getpid(), SIGKILL)
        }
    }

    @Test("The log has them, they become one version, and a kill loses none")
    func oneVersion() throws {
        let path = folder.path("a.realm")
        do {
            let recorder = LoggedFile.Recorder()
            let file = try StorageFile.open(path: path, options: Self.options(recorder))
            try Self.begin(file)
            defer { file.unlockForWriting() }
            let version = file.newestVersion
            // It secures the space.
            #expect(try Self.acknowledge(1, in: file))
            let before = recorder.operations.count
            #expect(try Self.acknowledge(5, in: file))
            for operation in recorder.operations[before...] {
                switch operation {
                case .write(.realm, _, _), .synchronize(.realm): Issue.record("the realm file was touched")
                default: break
                }
            }
            #expect(file.newestVersion == version)
            #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Self.model(5))
            // Nobody makes them here, and the version before is read.
            #expect(try LoggedFile.values(of: file).values == Self.model(0))
            try file.publish([#require(try file.sealGroup())])
            #expect(try LoggedFile.values(of: file).values == Self.model(5))
            #expect(file.newestVersion == version + 6)
            let owes = file.owesPages.load(ordering: .relaxed)
            #expect(!owes)
            #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Self.model(5))
            // One that has its pages, behind others that have none.
            #expect(try Self.acknowledge(2, in: file))
            let last = try file.beginWrite(joining: true)
            let change = LoggedFile.Change(values: [(9, 9)])
            try change.apply(to: last)
            last.record = .init(kind: .changes, content: change.content)
            try file.publish([PageArray.commit(last)])
            #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Self.model(5, more: [9: 9]))
        }
        #expect(!FileManager.default.fileExists(atPath: path + ".log"))
        #expect(try LoggedFile.values(of: StorageFile.open(path: path)).values == Self.model(5, more: [9: 9]))
    }

    @Test("Rule 24: what is durable and what is published are two words, and the first one runs ahead")
    func durableAndPublished() throws {
        let file = try StorageFile.open(path: folder.path("a.realm"), options: Self.options())
        try Self.begin(file)
        defer { file.unlockForWriting() }
        let lock = try #require(file.lock)
        let log = try #require(file.openLog)
        func durable() -> UInt64 { lock.durableOffset(of: log.header.log) }
        func published() throws -> UInt64 { try #require(lock.image).header.mark.point.offset }
        let first = try published()
        #expect(durable() == first)
        for count in 1...3 {
            let before = durable()
            #expect(try Self.acknowledge(file, count, UInt64(count)))
            #expect(durable() > before)
            #expect(durable() == log.durable.offset)
            #expect(try published() == first)
        }
        try file.publish([#require(try file.sealGroup())])
        #expect(try published() == durable())
        #expect(durable() == log.durable.offset)
    }

    @Test(
        "A member that is rolled back leaves those before it; without a record, or where a commit is on its way, there is none"
    )
    func members() throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: Self.options())
        try Self.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Self.acknowledge(3, in: file))
        let member = try file.beginWrite(joining: true)
        try LoggedFile.Change(values: [(1, 7), (8, 8)]).apply(to: member)
        #expect(!LoggedCommit(of: member).mayOwePages)
        member.rollback()
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Self.model(3))
        let commit = try #require(try file.sealGroup())
        #expect(try !Self.acknowledge(file, 9, 9))
        try file.publish([commit])
        #expect(try LoggedFile.values(of: file).values == Self.model(3))
    }

    @Test("A commit that is kept as pages takes those before it with it")
    func pageCommit() throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: Self.options())
        try Self.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Self.acknowledge(3, in: file))
        let last = try file.beginWrite(joining: true)
        try LoggedFile.Change(values: [(9, 9)]).apply(to: last)
        try file.publish([PageArray.commit(last)])
        #expect(try LoggedFile.values(of: file).values == Self.model(3, more: [9: 9]))
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Self.model(3, more: [9: 9]))
        #expect(try Self.acknowledge(file, 10, 10))
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Self.model(3, more: [9: 9, 10: 10]))
    }

    @Test("Rule 22: a making of pages that fails stops writing, and the next opening applies the log", arguments: 0..<3)
    func failedMaking(call: Int) throws {
        let path = folder.path("a.realm")
        let copy: String
        do {
            let recorder = LoggedFile.Recorder()
            let file = try StorageFile.open(path: path, options: Self.options(recorder))
            try Self.begin(file)
            defer { file.unlockForWriting() }
            #expect(try Self.acknowledge(6, in: file))
            let commit = try #require(try file.sealGroup())
            recorder.state.withLock { $0.failing = call }
            do {
                try file.publish([commit])
                // It has as few calls as that.
                #expect(call > 0)
            } catch {
                #expect(file.hasStopped)
                let owes = file.owesPages.load(ordering: .relaxed)
                #expect(owes)
                let refusal = #expect(throws: StorageError.self) { try file.beginWrite() }
                #expect(refusal?.code == .writingStopped)
                #expect(refusal?.message.contains("acknowledged") == true)
                // Who reads the file itself, to verify it, gets what it has, and others what it has acknowledged.
                #expect(throws: Never.self) { try file.beginRead(asking: .inFile) }
                let snapshot = try file.beginRead()
                #expect(snapshot.isInMemory)
                #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view) == Self.model(6))
            }
            recorder.state.withLock { $0.failing = nil }
            copy = try LoggedFile.copy(of: path, in: folder)
        }
        for path in [path, copy] {
            #expect(
                try LoggedFile.values(of: StorageFile.open(path: path, options: Self.options())).values == Self.model(6)
            )
        }
    }

    /// Cannot be sealed.
    private final class BrokenSession: WriterSession {
        func seal(in transaction: WriteTransaction) throws(StorageError) {
            throw StorageError(.corrupt, "as a test has it")
        }

        func didSeal(catalog: PageReference) {}
    }

    @Test("Where pages cannot be sealed, the stop says why, and says it once")
    func reasonOfStop() throws {
        let file = try StorageFile.open(path: folder.path("a.realm"), options: Self.options())
        try Self.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Self.acknowledge(3, in: file))
        let member = try file.beginWrite(joining: true)
        member.session = BrokenSession()
        member.rollback(sessionIsClean: true)
        #expect(throws: StorageError.self) { try file.sealGroup() }
        let message = try #require(file.reasonOfStop).message
        #expect(message.contains("as a test has it"))
        file.stopWriting(after: StorageError(.io, "and what comes behind it"))
        #expect(file.reasonOfStop?.message == message)
    }

    @Test("Rule 22: space that was secured stays where a commit fails that was published with them")
    func securedSpace() throws {
        let path = folder.path("a.realm")
        let recorder = LoggedFile.Recorder()
        let file = try StorageFile.open(path: path, options: Self.options(recorder))
        try Self.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Self.acknowledge(3, in: file))
        let published = Int(try file.beginRead(asking: .published).header.pageCount) * pageByteCount
        #expect(file.byteCount > published)
        let last = try file.beginWrite(joining: true)
        try PageArray.setBallast(2_000, in: last)
        let commit = try PageArray.commit(last)
        recorder.state.withLock { $0.failing = 0 }
        #expect(throws: StorageError.self) { try file.publish([commit]) }
        recorder.state.withLock { $0.failing = nil }
        // It is longer than its newest version is, for theirs.
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count > published)
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Self.model(3))
    }

    @Test("A member that is rolled back gives back the end of the file that it took")
    func rolledBackEnd() throws {
        let path = folder.path("a.realm")
        let file = try StorageFile.open(path: path, options: Self.options())
        try Self.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Self.acknowledge(3, in: file))
        func end() -> UInt32? { file.writer.withLock { $0.state?.space.pageCount } }
        let before = try #require(end())
        for pageCount in [500, 1, 700] {
            let member = try file.beginWrite(joining: true)
            try PageArray.setBallast(pageCount, in: member)
            for _ in 0..<100 { _ = try member.allocate(pageCount: 2, kind: .overflow) }
            member.rollback()
            #expect(end() == before)
        }
        #expect(try Self.acknowledge(file, 5, 5))
        let commit = try #require(try file.sealGroup())
        #expect(commit.pageCount < before + 100)
        try file.publish([commit])
        #expect(try LoggedFile.values(of: file).values == Self.model(3, more: [5: 5]))
    }

    @Test("A file that has stopped while it owes pages asks for no alarm again and again")
    func stoppedAlarms() throws {
        let path = folder.path("a.realm")
        let clock = HandClock()
        let recorder = LoggedFile.Recorder()
        var options = Self.options(recorder)
        options.log?.clock = clock.clock
        let file = try StorageFile.open(path: path, options: options)
        try Self.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Self.acknowledge(3, in: file))
        try #require(clock.alarmCount > 0)
        let commit = try #require(try file.sealGroup())
        recorder.state.withLock { $0.failing = 0 }
        #expect(throws: StorageError.self) { try file.publish([commit]) }
        recorder.state.withLock { $0.failing = nil }
        #expect(file.hasStopped)
        clock.pass(5_000)
        #expect(clock.alarmCount == 0)
    }

    @Test("Rule 7: whoever takes over beside a dead process applies what it has acknowledged")
    func takenOver() throws {
        let path = folder.path("a.realm")
        let child = try Self.acknowledgingProcess(at: path)
        #expect(child.connection.receive() == 1)
        let file = try StorageFile.open(path: path, options: Self.options())
        let snapshot = try file.beginRead()
        child.connection.send(1)
        #expect(child.connection.receive() == 2)
        child.connection.send(1)
        #expect(child.end() == SIGKILL)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try file.publish([LoggedFile.prepare(.init(values: [(50, 50)]), in: file)])
        #expect(try LoggedFile.values(of: file).values == Self.model(5, more: [50: 50]))
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view) == Self.model(0))
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Self.model(5, more: [50: 50]))
    }

    @Test("Rule 29: one that is killed at any call while it takes over leaves that to the next one")
    func killedTakingOver() throws {
        var (killed, published) = (0, 0)
        for call in 0..<24 {
            let path = folder.path("taken-\(call).realm")
            let logger = try Self.acknowledgingProcess(at: path)
            #expect(logger.connection.receive() == 1)
            do {
                // It keeps the lock file alive.
                let file = try StorageFile.open(path: path, options: Self.options())
                logger.connection.send(1)
                #expect(logger.connection.receive() == 2)
                let taker = try ForkedProcess { parent in
                    let recorder = LoggedFile.Recorder()
                    var options = Self.options(recorder)
                    options.owedPagesWait = .seconds(600)
                    parent.send(1)
                    _ = parent.receive()
                    recorder.state.withLock { state in
                        state.failing = call
                        state.isKilled = true
                    }
                    let file = try StorageFile.open(path: path, options: options)
                    _exit(try LoggedFile.values(of: file).values == Self.model(5) ? 0 : 2)
                }
                #expect(taker.connection.receive() == 1)
                logger.connection.send(1)
                #expect(logger.end() == SIGKILL)
                taker.connection.send(1)
                let end = taker.end()
                #expect(end == 0 || end == SIGKILL)
                if end == SIGKILL { killed += 1 }
                // Everything may be in the file, and the image before it still there: then it is read without anybody who writes.
                if let lock = file.lock, let image = lock.image, lock.newestVersion > image.header.version {
                    #expect(try LoggedFile.values(of: Self.openBeside(path, forReading: true)).values == Self.model(5))
                    published += 1
                }
                // A power cut then.
                #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Self.model(5))
                try file.lockForWriting()
                defer { file.unlockForWriting() }
                // Also where it was killed in a flush of the realm file.
                try file.publish([LoggedFile.prepare(.init(values: [(50, 50)]), in: file)])
                #expect(try LoggedFile.values(of: file).values == Self.model(5, more: [50: 50]))
            }
            let file = try StorageFile.open(path: path, options: Self.options())
            #expect(try LoggedFile.values(of: file).values == Self.model(5, more: [50: 50]))
        }
        #expect(killed > 5)
        #expect(published > 0)
    }

    /// Opens a file as another process does, which waits for nobody.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - forReading: Whether for reading only, and without anything that could apply a log.
    /// - Returns: An instance of its own.
    /// - Throws: `StorageError` where it cannot be opened.
    static func openBeside(_ path: String, forReading: Bool = false) throws -> StorageFile {
        var options = options()
        options.owedPagesWait = .zero
        options.isReadOnly = true
        options.recovery = forReading ? nil : options.log
        options.log = nil
        let data = try StorageFile.openData(path: path, options: options)
        return try StorageFile.openUnshared(data: data, path: path, options: options)
    }

    /// How somebody opens the file who cannot make their version in memory.
    private static func optionsWithoutMemory() -> StorageOptions {
        var options = options()
        options.log?.replay = { _, _ in throw StorageError(.io, "as a test has it") }
        return options
    }

    @Test(
        "Whoever opens the file beside them and cannot read them in memory waits for their pages, and until its patience ends"
    )
    func waits() throws {
        let path = folder.path("a.realm")
        let child = try ForkedProcess { parent in
            let file = try StorageFile.open(path: path, options: Self.options())
            try Self.begin(file)
            parent.send(try Self.acknowledge(5, in: file) ? 1 : 0)
            _ = parent.receive()
            parent.send(file.hasOtherReaders ? 2 : 0)
            _ = parent.receive()
            usleep(20_000)
            guard let commit = try file.sealGroup() else { return }
            try file.publish([commit])
            parent.send(3)
            _ = parent.receive()
        }
        #expect(child.connection.receive() == 1)
        var hasty = Self.optionsWithoutMemory()
        hasty.owedPagesWait = .milliseconds(50)
        let refusal = #expect(throws: StorageError.self) { try StorageFile.open(path: path, options: hasty) }
        #expect(refusal?.code == .timedOut)
        let opened = Mutex(false)
        let values = Mutex<[UInt64]>([])
        let thread = DispatchQueue(label: "opens")
        let group = DispatchGroup()
        thread.async(group: group) {
            do {
                let file = try StorageFile.open(path: path, options: Self.optionsWithoutMemory())
                opened.withLock { $0 = true }
                let found = try LoggedFile.values(of: file).values
                values.withLock { $0 = found }
            } catch {
                Issue.record(error)
            }
        }
        usleep(200_000)
        #expect(!opened.withLock { $0 })
        #expect(child.ask() == 2)
        #expect(child.ask() == 3)
        group.wait()
        #expect(values.withLock { $0 } == Self.model(5))
        #expect(child.end() == 0)
    }
}
