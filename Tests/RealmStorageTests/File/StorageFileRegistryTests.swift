import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Openings of several files at once.
@Suite("Files of one process", .timeLimit(.minutes(60)))
struct StorageFileRegistryTests {
    let directory = TemporaryDirectory()

    @Test("While the opening of one waits for another process, others are opened")
    func besideOneThatWaits() throws {
        let (held, other) = (directory.path("held.realm"), directory.path("other.realm"))
        for path in [held, other] { _ = try StorageFile.open(path: path) }
        // As a process does that opens the file, or replaces it.
        let descriptor = open(held + ".lock", O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try LockFile.lock(descriptor, LockFileLayout.initialisationByte, 1, waits: true, held + ".lock")
        let (begun, heldIsOpen) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            var options = StorageOptions()
            options.makeDevice = { device in
                begun.signal()
                return device
            }
            do {
                _ = try StorageFile.open(path: held, options: options)
            } catch {
                Issue.record(error)
            }
            heldIsOpen.signal()
        }
        begun.wait()
        let otherIsOpen = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do {
                _ = try StorageFile.open(path: other)
            } catch {
                Issue.record(error)
            }
            otherIsOpen.signal()
        }
        #expect(otherIsOpen.wait(timeout: .now() + 60) == .success)
        #expect(heldIsOpen.wait(timeout: .now()) == .timedOut)
        LockFile.unlockAll(descriptor)
        heldIsOpen.wait()
    }

    @Test("Of threads that open one file at once, all have the same one")
    func atOnce() throws {
        let path = directory.path("shared.realm")
        let files = Mutex<[StorageFile]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            do {
                let file = try StorageFile.open(path: path)
                files.withLock { $0.append(file) }
            } catch {
                Issue.record(error)
            }
        }
        let all = files.withLock { $0 }
        #expect(all.count == 8 && all.allSatisfy { $0 === all[0] })
    }
}
