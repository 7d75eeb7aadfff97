import Foundation
import RealmStorage
import Synchronization

/// Devices that note in one order what is done to a realm and to its log.
package enum RecordedFiles {
    /// What is done to the two files.
    package enum Operation: Sendable {
        package enum Which: Sendable { case realm, log }

        case write(Which, offset: Int, bytes: [UInt8])
        case synchronize(Which)
        case setByteCount(Int)
        /// The log has its name, durably, and what it begins with.
        case create([UInt8])
        case remove
        /// Put in by the test.
        case acknowledged(version: UInt64)
    }

    package final class Recorder: Sendable {
        package struct State {
            package var operations: [Operation] = []
            /// The call that fails, counted from now on; writes, flushes, creating and removing are calls.
            package var failing: Int?
            package var didFail = false
            /// The file whose next flush fails.
            package var failingFlush: Operation.Which?
            /// Whether the process is killed at that call.
            package var isKilled = false
        }

        package let state = Mutex(State())

        package init() {}

        package func append(_ operation: Operation) { state.withLock { $0.operations.append(operation) } }

        package var operations: [Operation] { state.withLock { $0.operations } }

        func step(_ what: String) throws(StorageError) {
            let fails = state.withLock { state in
                guard let failing = state.failing else { return false }
                state.failing = failing - 1
                if failing == 0 {
                    if state.isKilled { kill(getpid(), SIGKILL) }
                    state.didFail = true
                }
                return failing == 0
            }
            if fails { throw StorageError(.io, "Injected failure of \(what)", errorNumber: 5) }
        }
    }

    /// Has what is done to a realm, and to its log where it has one, noted; nothing is flushed.
    package static func record(_ options: inout StorageOptions, with recorder: Recorder) {
        options.makeDevice = { Device($0, .realm, recorder) }
        options.log?.makeDirectory = { Directory(base: LogFile(besides: $0), recorder: recorder) }
    }

    private final class Device: ForwardingDevice {
        let base: any StorageDevice
        let which: Operation.Which
        let recorder: Recorder

        init(_ base: any StorageDevice, _ which: Operation.Which, _ recorder: Recorder) {
            self.base = base
            self.which = which
            self.recorder = recorder
        }

        func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
            try recorder.step("a write")
            var bytes: [UInt8] = []
            for (pointer, count) in pieces { bytes += UnsafeRawBufferPointer(start: pointer, count: count) }
            recorder.append(.write(which, offset: offset, bytes: bytes))
            try base.write(pieces, at: offset)
        }

        func synchronize() throws(StorageError) {
            try recorder.step("a flush")
            let fails = recorder.state.withLock { state in
                guard state.failingFlush == which else { return false }
                state.failingFlush = nil
                state.didFail = true
                return true
            }
            if fails { throw StorageError(.io, "Injected failure of a flush", errorNumber: 5) }
            recorder.append(.synchronize(which))
        }

        func setByteCount(_ byteCount: Int) throws(StorageError) {
            recorder.append(.setByteCount(byteCount))
            try base.setByteCount(byteCount)
        }
    }

    private struct Directory: ForwardingDirectory {
        let base: LogFile
        let recorder: Recorder

        func create(
            _ header: LogHeader,
            in space: UnnamedFile?,
            forUsersOf realm: (any StorageDevice)?
        ) throws(StorageError) -> any StorageDevice {
            try recorder.step("creating the log")
            let device = try base.create(header, in: nil, forUsersOf: realm)
            recorder.append(.create(Array(FileManager.default.contents(atPath: path) ?? Data())))
            return Device(device, .log, recorder)
        }

        func remove() throws(StorageError) {
            try recorder.step("removing the log")
            try base.remove()
            recorder.append(.remove)
        }
    }
}

/// A disk with a realm and its log, of which a power cut keeps any part of what was not flushed: in sectors, and of headers in words.
package struct PowerCutDisk {
    /// A file with what is durable of it, and what was done to it since.
    package struct File {
        package var durable: [UInt8]
        package var pending: [(offset: Int, bytes: [UInt8])] = []
        /// Where it was cut, among what is pending.
        package var cuts: [(index: Int, byteCount: Int)] = []

        package init(durable: [UInt8] = []) { self.durable = durable }

        mutating func synchronize() {
            durable = image { _ in true }
            pending = []
            cuts = []
        }

        /// What is there when a part of each write arrived; the closure decides for each piece.
        func image(words: Bool = false, _ arrives: (Int) -> Bool) -> [UInt8] {
            var image = durable
            for (index, write) in pending.enumerated() {
                for cut in cuts where cut.index == index && arrives(index) {
                    if cut.byteCount < image.count { image.removeSubrange(cut.byteCount...) }
                }
                let step = words && write.offset < 4 * 4096 ? 8 : 512
                for start in stride(from: 0, to: write.bytes.count, by: step) where arrives(index) {
                    let end = min(start + step, write.bytes.count)
                    let range = write.offset + start..<write.offset + end
                    if image.count < range.upperBound {
                        image.append(contentsOf: repeatElement(0, count: range.upperBound - image.count))
                    }
                    image.replaceSubrange(range, with: write.bytes[start..<end])
                }
            }
            for cut in cuts where cut.index == pending.count && arrives(pending.count) {
                if cut.byteCount < image.count { image.removeSubrange(cut.byteCount...) }
            }
            return image
        }

        /// What is there when some writes arrived whole, and the others not at all, in whatever order they came.
        func imageOfWholeWrites(using random: inout SplitMix64) -> [UInt8] {
            let arrivals = (0...pending.count).map { _ in Bool.random(using: &random) }
            return image { arrivals[$0] }
        }
    }

    package var realm: File
    package var log: File?
    package var acknowledged: UInt64 = 0

    package init(realm: [UInt8] = [], log: [UInt8]? = nil, acknowledged: UInt64 = 0) {
        self.realm = File(durable: realm)
        self.log = log.map { File(durable: $0) }
        self.acknowledged = acknowledged
    }

    package mutating func perform(_ operation: RecordedFiles.Operation) {
        switch operation {
        case .write(.realm, let offset, let bytes): realm.pending.append((offset, bytes))
        case .write(.log, let offset, let bytes): log?.pending.append((offset, bytes))
        case .synchronize(.realm): realm.synchronize()
        case .synchronize(.log): log?.synchronize()
        case .setByteCount(let count): realm.cuts.append((realm.pending.count, count))
        case .create(let bytes): log = File(durable: bytes)
        case .remove: log = nil
        case .acknowledged(let version): acknowledged = max(acknowledged, version)
        }
    }

    package var isClean: Bool { realm.pending.isEmpty && realm.cuts.isEmpty && log?.pending.isEmpty != false }

    /// The number of ways in which a power cut is tried.
    package var variantCount: Int { isClean ? 1 : 7 }

    /// What one power cut leaves: nothing that was not flushed, all of one of the files or both, or any part.
    package func survivor(variant: Int, using random: inout SplitMix64) -> (realm: [UInt8], log: [UInt8]?) {
        var random2 = random
        defer { random = random2 }
        switch variant {
        case 0: return (realm.image { _ in false }, log?.image { _ in false })
        case 1: return (realm.image { _ in true }, log?.image { _ in false })
        case 2: return (realm.image { _ in false }, log?.image { _ in true })
        case 3: return (realm.image { _ in true }, log?.image { _ in true })
        default:
            let realm = realm.image(words: variant == 4) { _ in Bool.random(using: &random2) }
            return (realm, log?.image { _ in Bool.random(using: &random2) })
        }
    }

    /// What one power cut leaves that tears no write: each is there whole, or not at all.
    ///
    /// A header is whole then where pages are missing that it leads to, which hardly ever happens where each sector is there or not.
    package func survivorOfWholeWrites(using random: inout SplitMix64) -> (realm: [UInt8], log: [UInt8]?) {
        let realm = realm.imageOfWholeWrites(using: &random)
        return (realm, log?.imageOfWholeWrites(using: &random))
    }
}
