import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Who waits for the write lock, told by lock files on one realm: each is what a process has of its own.
@Suite("The write lock between processes", .timeLimit(.minutes(60)))
struct WriteLockTests {
    let directory = TemporaryDirectory()

    private func open() throws -> LockFile {
        let path = directory.path("shared.realm")
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: Data())
        }
        let data = try DataFile.open(path: path, isReadOnly: false)
        return try LockFile(path: path + ".lock", data: data) { _ in (1, 1) }
    }

    @Test("a lock that is not waited for is an error while another process has it")
    func refused() throws {
        let writer = try open()
        let other = try open()
        try writer.lockForWriting()
        let byte = LockFileLayout.writeByte
        #expect(throws: StorageError.self) {
            try LockFile.lock(other.descriptor, byte, 1, waits: false, "shared")
        }
        writer.unlockForWriting()
        try LockFile.lock(other.descriptor, byte, 1, waits: false, "shared")
    }

    @Test("a process that waits stays counted when it does not come in time")
    func slowWaiter() throws {
        let writer = try open()
        let slow = try open()
        #expect(!writer.hasWaitingProcesses)
        try writer.lockForWriting()
        // Counted, and then without a processor for a while.
        slow.waitingThreads(slow.processSlot).store(1, ordering: .sequentiallyConsistent)
        #expect(writer.hasWaitingProcesses)
        #expect(!slow.hasWaitingProcesses, "a process does not wait for itself")
        for _ in 0..<3 {
            writer.unlockForWriting()
            try writer.lockForWriting()
            #expect(writer.hasWaitingProcesses)
        }
        writer.unlockForWriting()
        #expect(try slow.tryLockForWriting())
        slow.waitingThreads(slow.processSlot).store(0, ordering: .sequentiallyConsistent)
        #expect(!writer.hasWaitingProcesses)
        slow.unlockForWriting()
    }

    @Test("a process that died waiting is forgotten when it does not come")
    func deadWaiter() throws {
        let writer = try open()
        var dead: LockFile? = try open()
        let slot = try #require(dead?.processSlot)
        dead = nil
        try writer.lockForWriting()
        writer.waitingThreads(slot).store(2, ordering: .sequentiallyConsistent)
        #expect(writer.hasWaitingProcesses)
        writer.unlockForWriting()
        try writer.lockForWriting()
        #expect(!writer.hasWaitingProcesses)
        // What a dead process left does not count for the next one with its slot.
        writer.waitingThreads(slot).store(2, ordering: .sequentiallyConsistent)
        let next = try open()
        #expect(next.processSlot == slot)
        #expect(!writer.hasWaitingProcesses)
        writer.unlockForWriting()
    }

    @Test("A closed file has its mark twice, though a process was killed while it waited for the lock")
    func deadWaiterAtClose() throws {
        let path = directory.path("closed.realm")
        var options = LoggedFile.options()
        options.log = nil
        do {
            let file = try StorageFile.open(path: path, options: options)
            let slot: Int
            do {
                let data = try StorageFile.openData(path: path, options: options)
                let other = try StorageFile.openUnshared(data: data, path: path, options: options)
                slot = try #require(other.lock).processSlot
            }
            try file.lockForWriting()
            try #require(file.lock).waitingThreads(slot).store(1, ordering: .sequentiallyConsistent)
            try LoggedFile.commit(file, 1, 2)
            file.unlockForWriting()
        }
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        let markCount = bytes.withUnsafeBytes { bytes in
            (0..<FileHeader.slotPageCount)
                .count { page in
                    let place = bytes.baseAddress! + page * pageByteCount
                    guard case .valid(let header) = FileHeader.read(place, page: PageNumber(page)) else { return false }
                    return header.confirmedVersion == header.version
                }
        }
        #expect(markCount == 2)
    }

    @Test("whoever gives the lock back while others wait does not take it again before they had it")
    func takingTurns() throws {
        let locks = [try open(), try open(), try open()]
        let rounds = 200
        let order = Mutex<[Int]>([])
        let threads = locks.indices.map { index in
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                for _ in 0..<rounds {
                    do {
                        try locks[index].lockForWriting()
                        order.withLock { $0.append(index) }
                        locks[index].unlockForWriting()
                    } catch { Issue.record(error) }
                }
                ended.signal()
            }
            return ended
        }
        for thread in threads { thread.wait() }
        #expect(order.withLock { $0.count } == locks.count * rounds)
        for lock in locks { #expect(!lock.hasWaitingProcesses) }
    }
}
