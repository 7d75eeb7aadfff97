import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// What is written, and made longer, under a limit of the length of files: the system would end these processes by a signal.
@Suite("A limit of the length of files, by file")
struct WriteLimitTests {
    /// Limits the length of this process's files, and has the signal end it.
    private static func limit(to byteCount: Int) {
        signal(SIGXFSZ, SIG_DFL)
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        var limit = rlimit()
        #expect(getrlimit(resource, &limit) == 0)
        limit.rlim_cur = rlim_t(byteCount)
        #expect(setrlimit(resource, &limit) == 0)
    }

    /// A device that counts the bytes that it is to write.
    private final class CountingDevice: ForwardingDevice {
        final class Count: Sendable {
            private let sum = Atomic<Int>(0)

            var byteCount: Int { sum.load(ordering: .relaxed) }

            func add(_ byteCount: Int) { sum.wrappingAdd(byteCount, ordering: .relaxed) }
        }

        let base: any StorageDevice
        private let written: Count

        init(_ base: any StorageDevice, _ written: Count) {
            self.base = base
            self.written = written
        }

        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            written.add(pieces.reduce(0) { $0 + $1.1 })
            try base.write(pieces, at: offset)
        }
    }

    @Test("A file is made longer up to it at once, and no zeros are written for a length that it does not allow")
    func growing() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let written = WriteLimitTests.CountingDevice.Count()
            var options = StorageOptions()
            options.durability = .none
            options.makeDevice = { WriteLimitTests.CountingDevice($0, written) }
            let file = try StorageFile.open(path: directory.path("a.realm"), options: options)
            let byteCount = try file.data.currentByteCount()
            let most = byteCount + (1 << 20)
            WriteLimitTests.limit(to: most)
            let before = written.byteCount
            var step = PublishingPlan.Step.writing
            // What is needed is too much, and where nothing less is enough, what is wanted.
            for needed in [most + 1, 0] {
                var code: StorageError.Code?
                do throws(StorageError) {
                    _ = try file.grow(from: byteCount, to: most + (8 << 20), flushing: false, atLeast: needed, &step)
                } catch {
                    code = error.code
                }
                #expect(code == .full)
            }
            #expect(written.byteCount == before)
            let needed = byteCount + pageByteCount
            let grown = try file.grow(from: byteCount, to: most + (8 << 20), flushing: false, atLeast: needed, &step)
            #expect(grown == most & ~65535)
            #expect(written.byteCount - before == grown - byteCount)
            let reached = try file.data.currentByteCount()
            #expect(reached == grown)
            withExtendedLifetime(directory) {}
        }
    }

    @Test("No space is made for a log that it does not allow")
    func logs() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let path = directory.path("a.log")
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 4_096, alignment: 16)
            defer { bytes.deallocate() }
            bytes.initializeMemory(as: UInt8.self, repeating: 1, count: 4_096)
            let content = UnsafeRawBufferPointer(start: bytes, count: 4_096)
            WriteLimitTests.limit(to: 1 << 20)
            let named = #expect(throws: StorageError.self) {
                try DataFile.create(path: path, content: content, zeros: 1 << 20, as: .log)
            }
            let unnamed = #expect(throws: StorageError.self) {
                _ = try DataFile.makeUnnamed(for: path, byteCount: 2 << 20, as: .log)
            }
            for error in [named, unnamed] {
                #expect(error?.code == .full)
                // It was refused before anything was written.
                #expect(error?.message.hasPrefix("Cannot create the log of the realm") == true)
            }
            withExtendedLifetime(directory) {}
        }
    }

    @Test("A lock file is written up to it, and not beyond")
    func lockFiles() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let path = directory.path("a.lock")
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            defer { close(descriptor) }
            WriteLimitTests.limit(to: 4_096)
            FileSizeLimit.ask()
            try LockFile.write([UInt8](repeating: 1, count: 16), at: 4_080, to: descriptor, path)
            let error = #expect(throws: StorageError.self) {
                try LockFile.write([1, 2], at: 4_095, to: descriptor, path)
            }
            #expect(error?.code == .full)
            #expect(error?.errorNumber == EFBIG)
            // Where it was lowered since.
            WriteLimitTests.limit(to: 2_048)
            let lowered = #expect(throws: StorageError.self) {
                try LockFile.write([1, 2], at: 2_047, to: descriptor, path, asking: true)
            }
            #expect(lowered?.code == .full)
            withExtendedLifetime(directory) {}
        }
    }

    @Test("A lock file gets no room for more readers beyond a limit that was lowered since")
    func readers() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let file = try StorageFile.open(path: directory.path("a.realm"))
            let lock = try #require(file.lock)
            // So long it is with the room for the first readers.
            let readers = LockFileLayout.area(0) + LockFileLayout.Area.readers
            WriteLimitTests.limit(to: readers + LockFileLayout.readerStep * LockFileLayout.Reader.byteCount)
            let error = #expect(throws: StorageError.self) {
                for _ in 0...LockFileLayout.readerStep { _ = try lock.register(version: nil) }
            }
            #expect(error?.code == .full)
            #expect(error?.message.hasPrefix("Cannot write the lock file") == true)
            withExtendedLifetime((directory, file)) {}
        }
    }

    @Test("A lock file gets no first rules and no first place beyond a limit that was lowered since it was opened")
    func firstNotes() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let file = try StorageFile.open(path: directory.path("a.realm"))
            let lock = try #require(file.lock)
            WriteLimitTests.limit(to: LockFileLayout.area(0) + LockFileLayout.Area.places)
            lock.declare([1, 2], only: { false })
            // They have no room, so that every rule counts as declared.
            let rules = lock.declaredRules()
            #expect(rules == .every)
            withExtendedLifetime((directory, file)) {}
        }
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let file = try StorageFile.open(path: directory.path("a.realm"))
            let lock = try #require(file.lock)
            WriteLimitTests.limit(to: LockFileLayout.area(0) + LockFileLayout.Area.places)
            let number = lock.place(of: ReaderOrigin(fileID: #fileID, line: #line))
            #expect(number > 0)
            withExtendedLifetime((directory, file)) {}
        }
    }

    @Test("A file that is only read, as the first of its process, has no lock file beyond it")
    func readOnlyFiles() async {
        let directory = TemporaryDirectory()
        let path = directory.path("a.realm")
        await #expect(processExitsWith: .success) { [path = path as String] in
            let file = try StorageFile.open(path: path)
            withExtendedLifetime(file) {}
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            WriteLimitTests.limit(to: 4_096)
            var options = StorageOptions()
            options.isReadOnly = true
            options.createsIfMissing = false
            let reading = options
            let error = #expect(throws: StorageError.self) { _ = try StorageFile.open(path: path, options: reading) }
            #expect(error?.code == .full)
        }
        withExtendedLifetime(directory) {}
    }

    @Test("A file is made no longer than it, and may be cut where it is")
    func lengths() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let path = directory.path("a.realm")
            try Data(repeating: 1, count: 20_000).write(to: URL(fileURLWithPath: path))
            let data = try DataFile.open(path: path, isReadOnly: false)
            WriteLimitTests.limit(to: 10_000)
            let error = #expect(throws: StorageError.self) { try data.setByteCount(30_000) }
            #expect(error?.code == .full)
            try data.setByteCount(15_000)
            try data.setByteCount(5_000)
            try data.setByteCount(10_000)
            let byteCount = try data.currentByteCount()
            #expect(byteCount == 10_000)
            withExtendedLifetime(directory) {}
        }
    }

    @Test("What another process has cut is made longer up to it, and not beyond")
    func cutFiles() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let path = directory.path("a.realm")
            try Data(repeating: 1, count: 20_000).write(to: URL(fileURLWithPath: path))
            let data = try DataFile.open(path: path, isReadOnly: false)
            let isCut = truncate(path, 5_000) == 0
            #expect(isCut)
            WriteLimitTests.limit(to: 10_000)
            let byteCount = try data.currentByteCount()
            #expect(byteCount == 5_000)
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 4_096, alignment: 16)
            defer { bytes.deallocate() }
            bytes.initializeMemory(as: UInt8.self, repeating: 1, count: 4_096)
            let piece = (UnsafeRawPointer(bytes), 4_096)
            let error = #expect(throws: StorageError.self) { try data.write([piece], at: 8_000) }
            #expect(error?.code == .full)
            try data.write([piece], at: 5_000)
            withExtendedLifetime(directory) {}
        }
    }

    @Test("What was refused is asked for anew when the limit has been raised")
    func raising() async {
        await #expect(processExitsWith: .success) {
            WriteLimitTests.limit(to: 10_000)
            FileSizeLimit.ask()
            let allowed = [FileSizeLimit.allows(10_000), FileSizeLimit.allows(10_001)]
            #expect(allowed == [true, false])
            WriteLimitTests.limit(to: 20_000)
            let raised = [FileSizeLimit.allows(20_000), FileSizeLimit.allows(20_001)]
            #expect(raised == [true, false])
        }
    }
}
