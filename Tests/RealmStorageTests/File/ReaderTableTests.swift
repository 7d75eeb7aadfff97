import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Each process has a table of readers of its own, with an entry kept for each of its writers.
@Suite("The tables of readers", .timeLimit(.minutes(60)))
struct ReaderTableTests {
    let directory = TemporaryDirectory()

    private func open(_ name: String, readerLimit: Int = 4096) throws -> StorageFile {
        var options = StorageOptions()
        options.durability = .none
        options.readerLimit = readerLimit
        return try StorageFile.open(path: directory.path(name), options: options)
    }

    private func commit(_ value: UInt64, to file: StorageFile) throws {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        if file.newestVersion == 1 { try PageArray.create(in: transaction) }
        try PageArray.set(0, to: value, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
    }

    @Test(
        "a write that may begin can stand at the version that it wrote, and one that could not is refused before it writes"
    )
    func entryOfWriter() throws {
        let file = try open("writers.realm", readerLimit: 8)
        try commit(1, to: file)
        file.countWriter(true)
        var kept: [Snapshot] = []
        // One entry is the writer's.
        for value in 2..<9 {
            try commit(UInt64(value), to: file)
            kept.append(try file.beginRead(asWriter: true))
        }
        #expect(kept.count == 7)
        try commit(9, to: file)
        #expect(throws: StorageError.self) { try file.beginRead() }
        let own = try file.beginRead(asWriter: true)
        let version = file.newestVersion
        #expect(own.version == version)
        let error = #expect(throws: StorageError.self) { try commit(10, to: file) }
        #expect(error?.code == .limit)
        #expect(file.newestVersion == version, "what was refused was not written")
        kept.removeFirst()
        try commit(11, to: file)
        #expect(try file.beginRead(asWriter: true).version == version + 1)
        kept = []
        file.countWriter(false)
        try withExtendedLifetime(own) { try commit(12, to: file) }
    }

    @Test("a process that uses up its table leaves that of another one alone")
    func tablesOfTheirOwn() throws {
        let path = directory.path("shared.realm")
        _ = FileManager.default.createFile(atPath: path, contents: Data())
        let locks = try (0..<12)
            .map { _ in
                let data = try DataFile.open(path: path, isReadOnly: false)
                return try LockFile(path: path + ".lock", data: data) { _ in (1, 1) }
            }
        for version in 0..<4096 { _ = try locks[0].register(version: UInt64(version)) }
        #expect(throws: StorageError.self) { try locks[0].register(version: 5000) }
        for (index, lock) in locks.enumerated().dropFirst() {
            let entry = try lock.register(version: UInt64(10_000 + index))
            #expect(try locks[1].pinnedVersions().contains(UInt64(10_000 + index)))
            lock.unregister(entry)
        }
        let pinned = try locks[11].pinnedVersions()
        // The table goes with its process.
        withExtendedLifetime(locks) {}
        #expect(pinned == (0..<4096).map { UInt64($0) })
    }

    @Test("two threads that find a process dead do not clear the one that took its slot meanwhile")
    func clearingOnce() throws {
        let path = directory.path("dead.realm")
        _ = FileManager.default.createFile(atPath: path, contents: Data())
        func open() throws -> LockFile {
            let data = try DataFile.open(path: path, isReadOnly: false)
            return try LockFile(path: path + ".lock", data: data) { _ in (1, 1) }
        }
        let living = try open()
        var dying: LockFile? = try open()
        let slot = try #require(dying?.processSlot)
        dying = nil
        let isFirst = Atomic(true)
        let inside = DispatchSemaphore(value: 0)
        let goesOn = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        living.didTakeDeadSlot = { _ in
            if isFirst.exchange(false, ordering: .sequentiallyConsistent) {
                inside.signal()
                goesOn.wait()
            }
        }
        let threads = Mutex<[WatchedThread]>([])
        for number in 0..<2 {
            Thread.detachNewThread {
                if let thread = try? WatchedThread() { threads.withLock { $0.append(thread) } }
                living.forgetIfDead(slot: slot)
                ended.signal()
            }
            if number == 0 { inside.wait() }
        }
        while threads.withLock({ $0.count }) < 2 { sched_yield() }
        let second = threads.withLock { $0[1] }
        // The second one waits for the first; without that it would let a new process in now, whose entries the first clears.
        var hasEnded = false
        while !hasEnded, !second.isAsleep { hasEnded = ended.wait(timeout: .now()) == .success }
        #expect(!hasEnded)
        goesOn.signal()
        ended.wait()
        if !hasEnded { ended.wait() }
        let new = try open()
        #expect(new.processSlot == slot)
        _ = try new.register(version: 77)
        #expect(!living.forgetIfDead(slot: slot))
        #expect(try living.pinnedVersions() == [77])
    }

    @Test("who has the write lock is named with its process, since when, and where the program opened the realm")
    func holder() throws {
        let file = try open("holder.realm")
        #expect(file.writeLockHolder == nil)
        let before = ContinuousClock.now
        try file.lockForWriting()
        let transaction = try file.beginWrite(from: ReaderOrigin(fileID: "Program/Main.swift", line: 12))
        let holder = try #require(file.writeLockHolder)
        #expect(holder.process == getpid())
        #expect(holder.place == "Program/Main.swift:12")
        // However long this thread had no processor meanwhile, and no minute more.
        let longest = ContinuousClock.now - before + .seconds(60)
        #expect(Duration.nanoseconds(holder.nanoseconds) < longest)
        transaction.rollback()
        file.unlockForWriting()
        #expect(file.writeLockHolder == nil)
    }

    @Test("no file of a realm has one of the descriptors 0 to 2, though they are free")
    func standardDescriptors() async throws {
        let path = directory.path("standard.realm")
        await #expect(processExitsWith: .success) { [path = path as String] in
            for descriptor in Int32(0)...2 { close(descriptor) }
            guard let file = try? StorageFile.open(path: path), (try? file.tryLockForWriting()) == true else { exit(1) }
            withExtendedLifetime(file) {
                for name in [path, path + ".lock"] {
                    var known = stat()
                    guard stat(name, &known) == 0 else { exit(2) }
                    for descriptor in Int32(0)...2 {
                        var status = stat()
                        if fstat(descriptor, &status) == 0, status.st_ino == known.st_ino { exit(3) }
                    }
                }
            }
            exit(0)
        }
    }
}
