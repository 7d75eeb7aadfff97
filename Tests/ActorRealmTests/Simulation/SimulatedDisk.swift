import Foundation
import RealmStorage
import RealmTestSupport

/// A disk with a realm and its log that has what was flushed, and after a power cut any part of what was not, in any order, torn in sectors.
// Unchecked because the simulation's one thread has it.
final class SimulatedDisk: @unchecked Sendable {
    private enum Operation {
        case write(offset: Int, bytes: [UInt8])
        case setByteCount(Int)
    }

    /// What is durable of a file, and what was done to it since.
    private struct File {
        var durable: [UInt8]
        var pending: [Operation] = []

        mutating func apply(_ operation: Operation, _ keepsSector: () -> Bool) {
            switch operation {
            case .setByteCount(let count):
                if !keepsSector() { return }
                durable.removeLast(max(0, durable.count - count))
                durable += Array(repeating: 0, count: max(0, count - durable.count))
            case .write(let offset, let bytes):
                for start in stride(from: 0, to: bytes.count, by: 512) where keepsSector() {
                    let end = min(bytes.count, start + 512)
                    durable += Array(repeating: 0, count: max(0, offset + end - durable.count))
                    durable.replaceSubrange(offset + start..<offset + end, with: bytes[start..<end])
                }
            }
        }

        /// All of what was done to it reaches the disk.
        mutating func synchronize() {
            for operation in pending { apply(operation) { true } }
            pending = []
        }

        /// Any part of what was not flushed reaches the disk, and the rest never will.
        mutating func losePart(_ world: Simulation) {
            for operation in pending {
                switch world.choose(4) {
                case 0: break
                case 1: apply(operation) { world.isOneOf(2) }
                default: apply(operation) { true }
                }
            }
            pending = []
        }
    }

    /// Which of the two files.
    enum Which {
        case realm
        case log
    }

    private let world: Simulation
    private var realm: File
    /// Nil while there is none: it comes and goes durably.
    private var log: File?
    /// How many flushes succeed before one fails.
    private var goodFlushes: Int
    private(set) var hasFailed = false
    private var isHeaderWritten = false

    init(_ world: Simulation, content: [UInt8], goodFlushes: Int) {
        self.world = world
        realm = File(durable: content)
        self.goodFlushes = goodFlushes
    }

    /// Writes to the file as well, which is where pages are read.
    struct Device: ForwardingDevice {
        let disk: SimulatedDisk
        let which: Which
        let base: any StorageDevice

        /// What the real disk has left is no matter.
        var freeByteCount: Int? { nil }

        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            var bytes: [UInt8] = []
            for (start, count) in pieces { bytes += UnsafeRawBufferPointer(start: start, count: count) }
            disk.note(.write(offset: offset, bytes: bytes), in: which)
            try base.write(pieces, at: offset)
            if which == .realm { disk.isHeaderWritten = offset < 4 * 4096 && bytes.count == 2 * 4096 }
        }

        func setByteCount(_ byteCount: Int) throws(StorageError) {
            disk.note(.setByteCount(byteCount), in: which)
            try base.setByteCount(byteCount)
        }

        func synchronize() throws(StorageError) { try disk.synchronize(which) }
    }

    /// Where the log stands.
    struct Directory: ForwardingDirectory {
        let disk: SimulatedDisk
        let base: LogFile

        func makeDevice(_ log: any StorageDevice) -> any StorageDevice {
            disk.log = File(durable: Array(FileManager.default.contents(atPath: path) ?? Data()))
            return Device(disk: disk, which: .log, base: log)
        }

        func remove() throws(StorageError) {
            try base.remove()
            disk.log = nil
        }
    }

    private func note(_ operation: Operation, in which: Which) {
        switch which {
        case .realm: realm.pending.append(operation)
        case .log: log?.pending.append(operation)
        }
    }

    private func synchronize(_ which: Which) throws(StorageError) {
        // While the file grows, its writer has a lock that others may ask for; so has whoever flushes the realm file beside a log.
        let pauses = which == .log || isHeaderWritten && log == nil
        if which == .realm { isHeaderWritten = false }
        if pauses { world.pause(100_000) }
        if goodFlushes == 0 {
            hasFailed = true
            losePart(of: which)
            throw StorageError(.io, "Injected failure", errorNumber: 5)
        }
        goodFlushes -= 1
        switch which {
        case .realm: realm.synchronize()
        case .log: log?.synchronize()
        }
    }

    private func losePart(of which: Which) {
        switch which {
        case .realm: realm.losePart(world)
        case .log: log?.losePart(world)
        }
    }

    /// What is there after a power cut.
    func cutPower() -> (realm: [UInt8], log: [UInt8]?) {
        losePart(of: .realm)
        losePart(of: .log)
        return (realm.durable, log?.durable)
    }
}
