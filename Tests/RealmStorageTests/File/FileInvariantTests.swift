import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

#if DEBUG
@Suite("The checks of what the locks of a file guard, and of the lock file", .serialized)
struct FileInvariantTests {
    let directory = TemporaryDirectory()

    /// What a check says; nil when it finds nothing.
    private func complaint(_ check: () throws(BrokenInvariant) -> Void) -> String? {
        do throws(BrokenInvariant) { try check() } catch { return error.description }
        return nil
    }

    /// A file whose steps check nothing, unless somebody is to be told.
    private func open(
        readerLimit: Int = 4096,
        telling tell: (@Sendable (BrokenInvariant) -> Void)? = nil
    ) throws -> StorageFile {
        var options = StorageOptions()
        options.durability = .none
        options.readerLimit = readerLimit
        options.invariantWasBroken = tell
        options.invariantScope = .whole
        return try StorageFile.open(path: directory.path("test.realm"), options: options)
    }

    private func prepare(_ value: UInt64, creating isFirst: Bool, in file: StorageFile) throws -> PreparedCommit {
        let transaction = try file.beginWrite()
        if isFirst { try PageArray.create(in: transaction) }
        try PageArray.set(0, to: value, in: transaction)
        return try PageArray.commit(transaction)
    }

    // MARK: The holder of the write lock

    @Test("Commits that wait out of order, for nobody or twice, are told")
    func boxes() throws {
        let file = try open()
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let first = try prepare(1, creating: true, in: file)
        let second = try prepare(2, creating: false, in: file)
        let (one, two) = (first.version, second.version)
        let found = file.writer.withLock { $0 }
        func told(lost: UInt64 = 0, _ breaking: (inout StorageFile.WriterBox) -> Void) -> String? {
            var box = found
            breaking(&box)
            return complaint { () throws(BrokenInvariant) in
                try box.checkInvariants(lastLostGroup: lost)
                try box.checkRuns(in: file.reservation)
            }
        }
        #expect(told { _ in } == nil)
        #expect(told { $0.state = nil } == "Commits wait, and what they stand on is forgotten")
        #expect(told(lost: 9) { _ in } == "Group 9 was lost and never begun")
        #expect(told(lost: 1) { _ in } == "Version \(one) waits, and its group 1 is lost or was never begun")
        #expect(told { $0.groupCount = 1 } == "Version \(two) waits, and its group 2 is lost or was never begun")
        #expect(told { $0.prepared.swapAt(0, 1) } == "Version \(one) waits behind version \(two)")
        #expect(told { $0.givenUp = [(9, file.lostBase)] } == "Group 9 was given up and never begun")
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
        defer { memory.deallocate() }
        #expect(told { $0.withdrawnBuffers = [memory, memory] } == "Memory of a run waits twice to be used again")

        let transaction = try file.beginWrite()
        let standing = file.writer.withLock { $0 }
        transaction.rollback()
        func toldOfOpen(_ breaking: (inout StorageFile.WriterBox) -> Void) -> String? {
            // As it was before the rollback.
            standing.state?.group = transaction.group
            defer { standing.state?.group = nil }
            var box = standing
            breaking(&box)
            return complaint { () throws(BrokenInvariant) in try box.checkInvariants(lastLostGroup: 0) }
        }
        #expect(toldOfOpen { _ in } == nil)
        #expect(toldOfOpen { $0.groupCount = 4 } == "Group 3 is not the last that was begun")
        #expect(
            toldOfOpen { $0.state?.group?.lost = [first] }
                == "Commits that were lost are kept for who does not stand on them"
        )
        transaction.group.lost = []
        #expect(
            toldOfOpen { $0.prepared.removeLast() }
                == "The open group begins at version \(two + 1), behind version \(one)"
        )

        try file.publish([first, second])
        #expect(told { _ in }?.hasSuffix("waits and is not in memory") == true)
        let published = file.writer.withLock { $0 }
        let toldAtLast = complaint { () throws(BrokenInvariant) in try published.checkInvariants(lastLostGroup: 0) }
        #expect(toldAtLast == nil)
    }

    @Test("A page that waits in two commits, and a commit that ends before it begins, are told")
    func runs() throws {
        let file = try open()
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let commit = try prepare(1, creating: true, in: file)
        var box = file.writer.withLock { $0 }
        box.prepared.append(commit)
        let page = try #require(commit.runs.first).page
        let told = complaint { () throws(BrokenInvariant) in try box.checkRuns(in: file.reservation) }
        #expect(told == "Page \(page) waits in two commits")
        let version = commit.version
        let inverted = PreparedCommit(
            version: version,
            group: commit.group,
            firstVersion: version + 1,
            catalog: .none,
            spaceSegment: .none,
            records: [],
            oldestLogVersion: 0,
            numbers: CommitNumbers(),
            pageCount: commit.pageCount,
            runs: [],
            retired: [],
            hasSpilled: false,
            changes: ChangeSet()
        )
        box.prepared[0] = inverted
        let other = complaint { () throws(BrokenInvariant) in try box.checkInvariants(lastLostGroup: 0) }
        #expect(other == "Version \(version) ends before it begins")
        try file.publish([commit])
    }

    // MARK: Pins

    @Test("Versions that are pinned for nobody, or of which the table of readers says something else, are told")
    func pins() throws {
        let file = try open()
        let snapshot = try file.beginRead()
        let version = snapshot.version
        let lock = try #require(file.lock)
        func told(_ breaking: (inout StorageFile.State) -> Void) -> String? {
            var state = file.state.withLock { $0 }
            breaking(&state)
            return complaint { () throws(BrokenInvariant) in try state.checkPins(lock) }
        }
        let entry = try #require(file.state.withLock { $0.pins[version]?.entry })
        let origin = ReaderOrigin(fileID: #fileID, line: #line)
        #expect(told { _ in } == nil)
        #expect(told { $0.pins[version]?.count = 0 } == "Version \(version) is pinned by nobody")
        #expect(
            told { $0.pins[version]?.origins = [origin, origin] } == "More places than readers pin version \(version)"
        )
        #expect(
            told { $0.pins[version + 1] = $0.pins[version] }
                == "The pin of version \(version + 1) leads to \(version)"
        )
        #expect(
            told { $0.published.version = version - 1 }
                == "Version \(version) is pinned, and the newest one is \(version - 1)"
        )
        #expect(told { $0.pins[version]?.entry = nil } == "Other processes are not told of version \(version)")
        #expect(told { $0.spareEntries = [9] } == "1 entries are kept for 0 writers")
        #expect(
            told {
                $0.writerCount = 1
                $0.spareEntries = [entry]
            } == "Reader entry \(entry) stands at version \(version), not at no version"
        )
        #expect(
            told {
                $0.writerCount = 2
                $0.spareEntries = [9, 9]
            } == "Two readers share an entry"
        )
        #expect(told { $0.pins = [:] } == "1 reader entries are in use by 0")
        lock.clear(entry)
        #expect(told { _ in } == "Reader entry \(entry) stands at no version, not at version \(version)")
        lock.setVersion(version, ofEntry: entry)
        #expect(told { _ in } == nil)
        withExtendedLifetime(snapshot) {}
    }

    @Test("The step that meets a broken pin tells of it, and readers and writers that come and go break nothing")
    func steps() throws {
        let told = Mutex<[String]>([])
        let file = try open { broken in told.withLock { $0.append(broken.description) } }
        var kept: [Snapshot] = []
        var random = SplitMix64(seed: 6)
        for value in UInt64(1)..<120 {
            let begins = Bool.random(using: &random)
            if begins { file.countWriter(true) }
            try file.lockForWriting()
            let commit = try prepare(value, creating: value == 1, in: file)
            if let pinned = try file.publish([commit], pinning: value % 3 == 0) { kept.append(pinned) }
            file.unlockForWriting()
            kept.append(try file.beginRead(from: ReaderOrigin(fileID: #fileID, line: #line), asWriter: begins))
            if begins { file.countWriter(false) }
            while kept.count > Int.random(in: 0..<90, using: &random) { kept.remove(at: kept.count / 2) }
        }
        #expect(told.withLock { $0 } == [])
        let snapshot = try file.beginRead()
        let origin = ReaderOrigin(fileID: #fileID, line: #line)
        file.state.withLock { $0.pins[snapshot.version]?.origins = Array(repeating: origin, count: 9) }
        let other = try file.beginRead()
        let expected = "More places than readers pin version \(snapshot.version)"
        #expect(told.withLock { $0 } == [expected])
        file.state.withLock { $0.pins[snapshot.version]?.origins = [] }
        withExtendedLifetime((snapshot, other)) {}
    }

    // MARK: The log

    @Test("Records of commits without pages that do not lead from the published version to the last one are told")
    func owedRecords() {
        func record(_ version: UInt64, at position: UInt64, _ kind: CommitRecord.Kind = .changes) -> CommitRecord {
            CommitRecord(kind: kind, isLastOfVersion: true, position: position, version: version)
        }
        func told(
            _ records: [CommitRecord],
            isOwing: Bool = true,
            behind published: UInt64 = 5,
            replayed: UInt64 = 0,
            newest count: Int? = nil
        ) -> String? {
            let owed = OwedRecords()
            owed.append(records)
            owed.lastReplayed.store(replayed, ordering: .relaxed)
            return complaint { () throws(BrokenInvariant) in
                try owed.checkInvariants(isOwing: isOwing, behind: published, upTo: 8, newest: count)
            }
        }
        let good = [record(6, at: 3), record(7, at: 3), record(8, at: 4)]
        #expect(told(good) == nil)
        #expect(told(good, replayed: 8) == nil)
        #expect(told([], isOwing: false) == nil)
        #expect(told([]) == "Pages are owed, and nobody knows of what")
        #expect(told(good, isOwing: false) == "Nothing is owed, and 3 records are kept")
        #expect(told(good, behind: 6) == "Version 6 is owed behind version 6, which is published")
        #expect(
            told([record(6, at: 3), record(7, at: 4)])
                == "Version 8 is acknowledged, and the last one with a record is 7"
        )
        #expect(
            told(good, replayed: 9) == "Version 9 was made in memory, and 8 is the last that is acknowledged"
        )
        #expect(
            told([record(6, at: 3), record(7, at: 3, .schema), record(8, at: 4)])
                == "Version 7 cannot be made in memory"
        )
        let gap = [record(6, at: 3), record(8, at: 4)]
        #expect(told(gap) == "Version 8 is owed behind version 6")
        #expect(told(gap, newest: 1) == "Version 8 is owed behind version 6")
        #expect(told(gap, newest: 0) == nil, "only what a step added is looked at")
        #expect(
            told([record(6, at: 3), record(7, at: 5), record(8, at: 5)])
                == "The record at position 5 is owed behind the one at 3"
        )
    }

    @Test("The step that meets a broken record of a commit without pages tells of it, and whole ones break nothing")
    func owingSteps() throws {
        let told = Mutex<[String]>([])
        var options = OwedPagesTests.options()
        options.invariantWasBroken = { broken in told.withLock { $0.append(broken.description) } }
        options.invariantScope = .whole
        let file = try StorageFile.open(path: directory.path("owing.realm"), options: options)
        try OwedPagesTests.begin(file)
        defer { file.unlockForWriting() }
        #expect(try OwedPagesTests.acknowledge(5, in: file))
        #expect(told.withLock { $0 } == [])
        let last = file.newestVersion + 6
        file.owed.lastReplayed.store(last + 1, ordering: .relaxed)
        #expect(try OwedPagesTests.acknowledge(1, in: file))
        file.owed.lastReplayed.store(0, ordering: .relaxed)
        let first = "Version \(last + 1) was made in memory, and \(last) is the last that is acknowledged"
        #expect(told.withLock { $0 } == [first])
        try file.publish([#require(try file.sealGroup())])
        #expect(told.withLock { $0 } == [first])
        file.owed.append([CommitRecord(kind: .changes, isLastOfVersion: true, position: 1, version: last)])
        let change = LoggedFile.Change(values: [(9, 9)])
        try file.publish([LoggedFile.prepare(change, in: file)])
        #expect(told.withLock { $0 } == [first, "Nothing is owed, and 1 records are kept"])
        file.owed.removeAll()
    }

    /// Has the space of a log ready.
    private struct ReadyDirectory: ForwardingDirectory {
        let base: LogFile
        let space: UnnamedFile

        func prepare(ringByteCount: Int) throws(StorageError) -> UnnamedFile? { space }
    }

    @Test("Space of a log that is too short, or has a name, is told, and tells whoever publishes")
    func logSpace() throws {
        let path = directory.path("space.realm")
        let block = LogHeader.blockByteCount
        let unnamed = try #require(try DataFile.makeUnnamed(for: path + ".log", byteCount: 3 * block, as: .log))
        let told = Mutex<[String]>([])
        var options = LoggedFile.options(blocks: 2)
        options.invariantWasBroken = { broken in told.withLock { $0.append(broken.description) } }
        options.log?.makeDirectory = { ReadyDirectory(base: LogFile(besides: $0), space: unnamed) }
        let log = try #require(options.log)
        let space = LogSpace()
        func complaintOfRing(_ blocks: Int) -> String? {
            complaint { () throws(BrokenInvariant) in try space.checkInvariants(ringByteCount: blocks * block) }
        }
        #expect(complaintOfRing(2) == nil)
        _ = space.ask()
        #expect(complaintOfRing(2) == nil)
        space.make(log, besides: path)
        #expect(space.isMade)
        #expect(complaintOfRing(2) == nil)
        let short = "The space of a log has \(3 * block) bytes, and a log has \(5 * block)"
        #expect(complaintOfRing(4) == short)

        // The same space, for a file whose log is longer.
        options.log?.ringByteCount = 4 * block
        let file = try StorageFile.open(path: path, options: options)
        let longer = try #require(file.options.log)
        _ = file.logSpace.ask()
        file.logSpace.make(longer, besides: path)
        file.checkLogSpaceIfAsked(longer)
        #expect(told.withLock { $0 } == [short])
        _ = file.logSpace.take()
        file.checkLogSpaceIfAsked(longer)
        #expect(told.withLock { $0 } == [short])

        let content = [UInt8](repeating: 0, count: block)
        let hasName = try content.withUnsafeBytes { bytes in
            try DataFile.create(path: path + ".log", content: bytes, from: unnamed, forUsersOf: nil, as: .log)
        }
        try #require(hasName == true)
        #expect(complaintOfRing(2) == "The space of a log has a name before there is a log")
        space.end()
        #expect(complaintOfRing(2) == nil)
    }

    // MARK: The lock file

    @Test("A slot that is not the process's own, and threads that end to wait before they begin, are told")
    func slots() throws {
        let file = try open()
        let lock = try #require(file.lock)
        let slot = lock.processSlot
        #expect(complaint(lock.checkInvariants) == nil)
        let waiting = lock.waitingThreads(slot)
        waiting.wrappingDecrement(ordering: .sequentiallyConsistent)
        #expect(
            complaint(lock.checkInvariants) == "More threads have ended to wait for the write lock than have begun"
        )
        waiting.wrappingIncrement(ordering: .sequentiallyConsistent)
        lock.processID(slot).store(lock.process + 1, ordering: .relaxed)
        #expect(complaint(lock.checkInvariants) == "Slot \(slot) has the process number \(lock.process + 1)")
        lock.processID(slot).store(lock.process, ordering: .relaxed)
        let slotEnd = lock.memory.word32(LockFileLayout.Word.slotEnd)
        let end = slotEnd.load(ordering: .sequentiallyConsistent)
        slotEnd.store(UInt32(slot), ordering: .sequentiallyConsistent)
        #expect(complaint(lock.checkInvariants) == "Slot \(slot) lies behind the last one that is used")
        slotEnd.store(end, ordering: .sequentiallyConsistent)
        #expect(complaint(lock.checkInvariants) == nil)
    }

    @Test("Reader entries that are free and in use, or that others do not look at, are told")
    func entries() throws {
        let file = try open(readerLimit: 2)
        let lock = try #require(file.lock)
        let entry = try lock.register(version: 3)
        func told(_ breaking: (inout LockFile.Entries) -> Void) -> String? {
            let before = lock.entries.withLock { entries in
                let before = entries
                breaking(&entries)
                return before
            }
            defer { lock.entries.withLock { $0 = before } }
            return complaint(lock.checkInvariants)
        }
        let end = entry + 1
        #expect(told { _ in } == nil)
        #expect(told { $0.roomEnd = entry } == "Reader entry \(entry) has no room in the file")
        #expect(told { $0.end = 3 } == "3 reader entries are in use, and 2 may be")
        #expect(told { $0.end += 1 } == "Others look at \(end) of \(end + 1) reader entries")
        #expect(told { $0.free = [entry, entry] } == "A reader entry is free twice")
        #expect(told { $0.free = [end] } == "Reader entry \(end) is free and was never used")
        #expect(told { $0.free = [entry] } == "Reader entry \(entry) stands at version 3, not at no version")
        lock.unregister(entry)
        #expect(told { _ in } == nil)
    }

    @Test("A forked child owns nothing of the lock file, and checks nothing of it under locks that its parent had")
    func forkedChildren() throws {
        let file = try open()
        let lock = try #require(file.lock)
        // Whatever the runtime makes when it is first used is there before a child is made.
        #expect(complaint(lock.checkInvariants) == nil)
        let check: () -> Int32 = {
            // A child that waits for a lock waits for ever.
            alarm(60)
            do throws(BrokenInvariant) {
                try lock.checkInvariants()
                try lock.checkEntries(used: 9)
                try lock.checkRules()
            } catch {
                return 1
            }
            return 0
        }
        #expect(try lock.entries.withLock { _ in try ForkedChild.run(check) } == 0)
        #expect(try lock.rules.withLock { _ in try ForkedChild.run(check) } == 0)
        #expect(try lock.places.withLock { _ in try ForkedChild.run(check) } == 0)
    }

    @Test("Places and rules that others find otherwise than they were noted are told")
    func notes() throws {
        let file = try open()
        let lock = try #require(file.lock)
        let origin = ReaderOrigin(fileID: #fileID, line: #line)
        #expect(lock.place(of: origin) == 1)
        #expect(complaint(lock.checkInvariants) == nil)
        let places = lock.places.withLock { $0 }
        lock.places.withLock { $0.last = (origin, 5) }
        #expect(complaint(lock.checkInvariants) == "The last place is not the one with the number 5")
        lock.places.withLock { $0.all = Array(repeating: origin, count: 128) }
        #expect(complaint(lock.checkInvariants) == "128 places have a number")
        lock.places.withLock { $0 = places }
        file.declareRules([1, 2], only: { true })
        func told(_ breaking: (inout LockFile.Rules) -> Void) -> String? {
            let before = lock.rules.withLock { rules in
                let before = rules
                breaking(&rules)
                return before
            }
            defer { lock.rules.withLock { $0 = before } }
            return complaint(lock.checkInvariants)
        }
        #expect(told { _ in } == nil)
        #expect(told { $0.all.insert(3) } == "3 rules are declared as 2")
        #expect(told { $0.isEvery = true } == "2 rules are declared as 2")
        #expect(told { $0.roomEnd = 1 } == "2 rules have room for 1")
        #expect(told { $0.roomEnd = 1 << 20 } == "Rules reach into the table of readers")
        #expect(told { $0.all = [1, 9] } == "The rules that others find are not those that were declared")
    }

    @Test("Of a process that has left the file nothing is checked: its slot may be another one's")
    func left() throws {
        let path = directory.path("left.realm")
        _ = FileManager.default.createFile(atPath: path, contents: Data())
        let data = try DataFile.open(path: path, isReadOnly: false)
        let lock = try LockFile(path: path + ".lock", data: data) { _ in (1, 1) }
        _ = try lock.register(version: 3)
        #expect(complaint(lock.checkInvariants) == nil)
        lock.leave()
        #expect(lock.processID(lock.processSlot).load(ordering: .relaxed) == 0)
        #expect(complaint(lock.checkInvariants) == nil)
    }

    @Test("Words that overlap, or cannot be accessed atomically, are told")
    func layout() {
        func told(_ words: [(offset: Int, byteCount: Int)]) -> String? {
            complaint { () throws(BrokenInvariant) in try LockFileLayout.checkInvariants(words) }
        }
        #expect(told(LockFileLayout.allWords) == nil)
        #expect(told([(0, 8), (4, 4)]) == "The word at 4 begins before 8")
        #expect(told([(4, 8)]) == "The word at 4 is not aligned")
    }
}
#endif
