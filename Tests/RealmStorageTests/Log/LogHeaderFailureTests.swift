import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Headers that are written by half before an error, and are on the disk by then.
@Suite("A header that failed does not come back behind records")
struct LogHeaderFailureTests {
    let folder = TemporaryDirectory()

    /// Writes the first copy of a header and fails, when it is asked to, and knows what the disk has of the headers: the system has just
    /// written back what failed, and later only what is flushed.
    private final class TearingDevice: ForwardingDevice {
        struct State {
            var tearsHeader = false
            var failsFlushBehindTear = false
            var failsFlush = false
            var headers: [UInt8] = []
        }

        let base: any StorageDevice
        let state: Mutex<State>

        init(_ base: any StorageDevice) {
            self.base = base
            state = Mutex(State())
        }

        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            let tears = state.withLock { state in
                guard state.tearsHeader, offset < 4 * pageByteCount else { return false }
                state.tearsHeader = false
                state.failsFlush = state.failsFlushBehindTear
                return true
            }
            guard tears else { return try base.write(pieces, at: offset) }
            try base.write([(pieces[0].0, pageByteCount)], at: offset)
            noteHeaders()
            throw StorageError(.full, "The second copy could not be written", path: path)
        }

        func synchronize() throws(StorageError) {
            if state.withLock({ $0.failsFlush }) { throw StorageError(.io, "The flush failed", path: path) }
            try base.synchronize()
            noteHeaders()
        }

        private func noteHeaders() {
            var bytes = [UInt8](repeating: 0, count: 4 * pageByteCount)
            let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
            state.withLock { $0.headers = Array(bytes[..<max(count, 0)]) }
        }
    }

    private final class Devices: Sendable {
        let made = Mutex<[TearingDevice]>([])

        func make(_ base: any StorageDevice) -> TearingDevice {
            let device = TearingDevice(base)
            made.withLock { $0.append(device) }
            return device
        }

        var device: TearingDevice { made.withLock { $0[0] } }
    }

    /// Nothing is written or flushed any more behind the next header.
    private final class BreakingDevice: ForwardingDevice {
        enum State { case whole, armed, broken }

        final class Switch: Sendable { let state = Mutex(State.whole) }

        let base: any StorageDevice
        let breaking: Switch

        init(_ base: any StorageDevice, _ breaking: Switch) {
            self.base = base
            self.breaking = breaking
        }

        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            try requireWhole()
            try base.write(pieces, at: offset)
            guard offset < 4 * pageByteCount else { return }
            breaking.state.withLock { if $0 == .armed { $0 = .broken } }
        }

        func synchronize() throws(StorageError) {
            try requireWhole()
            try base.synchronize()
        }

        private func requireWhole() throws(StorageError) {
            let isBroken = breaking.state.withLock { $0 == .broken }
            if isBroken { throw StorageError(.io, "The device is broken", path: path) }
        }
    }

    private func commit(_ file: StorageFile, _ index: Int, creates: Bool = false, recorded: Bool = true) throws {
        let change = LoggedFile.Change(creates: creates, values: [(index, UInt64(index))])
        try file.publish([LoggedFile.prepare(change, in: file, recorded: recorded)])
    }

    private func open(_ devices: Devices) throws -> StorageFile {
        var options = LoggedFile.options(blocks: 64)
        options.makeDevice = { devices.make($0) }
        let file = try StorageFile.open(path: folder.path("a.realm"), options: options)
        try file.lockForWriting()
        try commit(file, 1, creates: true)
        try commit(file, 2)
        return file
    }

    /// What an opening finds behind a power cut that lost of the headers whatever was not flushed, and nothing else.
    private func valuesAfterPowerCut(of file: StorageFile, _ devices: Devices) throws -> [UInt64] {
        let copy = folder.path("copy-\(UInt64.random(in: 0 ... .max)).realm")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let headers = devices.device.state.withLock { $0.headers }
        bytes.replaceSubrange(..<headers.count, with: headers)
        try bytes.write(to: URL(fileURLWithPath: copy))
        try FileManager.default.copyItem(atPath: file.path + ".log", toPath: copy + ".log")
        return try LoggedFile.values(of: StorageFile.open(path: copy, options: LoggedFile.options(blocks: 64))).values
    }

    @Test("Rule 28: a commit kept as pages whose header failed is not believed, and records behind it are not lost")
    func torn() throws {
        let devices = Devices()
        let file = try open(devices)
        defer { file.unlockForWriting() }
        devices.device.state.withLock { $0.tearsHeader = true }
        #expect(throws: StorageError.self) { try commit(file, 3, recorded: false) }
        #expect(!file.hasStopped)
        for index in 4..<8 {
            try commit(file, index)
            let expected = [0, 1, 2, 0] + (4...index).map { UInt64($0) } + [0]
            #expect(try Array(valuesAfterPowerCut(of: file, devices).prefix(index + 2)) == expected)
        }
        #expect(file.openLog != nil)
    }

    @Test("Rule 8: where what was restored of a header cannot be flushed, writing stops")
    func notFlushed() throws {
        let devices = Devices()
        let file = try open(devices)
        defer { file.unlockForWriting() }
        // The flush of the pages comes before the header, that of what was restored behind it.
        devices.device.state.withLock { state in
            state.tearsHeader = true
            state.failsFlushBehindTear = true
        }
        #expect(throws: StorageError.self) { try commit(file, 3, recorded: false) }
        #expect(file.hasStopped)
    }

    @Test("Rule 46: where what failed of a header cannot be restored, salvage takes the version that opening takes")
    func salvage() throws {
        let path = folder.path("a.realm")
        let breaking = BreakingDevice.Switch()
        var options = LoggedFile.options(blocks: 64)
        options.makeDevice = { BreakingDevice($0, breaking) }
        do {
            let file = try StorageFile.open(path: path, options: options)
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            try commit(file, 1, creates: true)
            try commit(file, 2)
            breaking.state.withLock { $0 = .armed }
            #expect(throws: StorageError.self) { try commit(file, 3, recorded: false) }
            #expect(file.hasStopped)
        }
        let salvaged: UInt64
        do {
            let damaged = try DamagedFile(path: path)
            salvaged = damaged.newestVersion
            #expect(damaged.log.records.map(\.version) == [2, 3])
            #expect(damaged.log.problem == nil)
            // It is there, and what nobody was to see comes last.
            #expect(damaged.roots.map(\.version) == [1, 4])
        }
        let file = try StorageFile.open(path: path, options: LoggedFile.options(blocks: 64))
        let (version, values) = try LoggedFile.values(of: file)
        #expect(salvaged == version)
        #expect(Array(values.prefix(5)) == [0, 1, 2, 0, 0])
    }
}
