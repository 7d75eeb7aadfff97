import ActorRealm
import Foundation

@testable import RealmStorage

/// A file to which the log goes that an input describes, and which is read as an opening reads it.
///
/// What is refused is refused with an error. What is accepted says what stands there: each record that is read gives the same bytes
/// when it is made again, and the log ends behind the last one.
private final class Fuzzer {
    let path: String
    let descriptor: Int32

    init() {
        let path = NSTemporaryDirectory() + "/log-fuzz-\(getpid()).log"
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { fatalError("No file to put logs into: \(path), \(errno)") }
        unlink(path)
    }

    func run(_ input: UnsafeRawBufferPointer) {
        let log = ScriptedLog(input)
        let image = log.image
        let count = image.withUnsafeBytes { pwrite(descriptor, $0.baseAddress!, $0.count, 0) }
        guard count == image.count, ftruncate(descriptor, off_t(image.count)) == 0 else {
            fatalError("The log cannot be written: \(errno)")
        }
        do throws(StorageError) {
            let found = try LogReader.read(descriptor, path: path)
            decide(found, of: log)
            guard case .log(let reader) = found else {
                if log.isWhole { fatalError("A whole log is not read: \(found)") }
                return
            }
            checkHeader(reader.header, in: image)
            let tail = try reader.tail(
                from: log.start,
                version: log.version,
                durable: log.durable,
                refused: log.refused
            )
            let ring = Array(image[LogHeader.blockByteCount..<LogHeader.blockByteCount + reader.header.ringByteCount])
            check(tail, of: log, reader.header, in: ring)
            checkEffort(reader, tail.end, of: log, in: ring)
        } catch {
            guard error.code == .corrupt || error.code == .unsupportedFormat else { fatalError("\(error)") }
        }
    }

    /// What an opening does with the log: an open header has the log that it names applied, and no other one.
    private func decide(_ found: LogReader.Found, of log: ScriptedLog) {
        let mark = LogMark(log: ScriptedLog.log, point: log.start, isOpen: log.isOpen)
        let decision = try? LogAtOpening.decide(
            mark,
            version: log.version,
            file: ScriptedLog.file,
            found: found,
            path: path
        )
        guard let decision else { return }
        switch decision {
        case .replay(let reader):
            guard log.isOpen, reader.header.log == ScriptedLog.log, reader.header.file == ScriptedLog.file else {
                fatalError("Another log is applied")
            }
        case .clean, .remove: if log.isOpen { fatalError("A log that is needed is removed") }
        }
    }

    /// What is read of the first block is what stands there.
    private func checkHeader(_ header: LogHeader, in image: [UInt8]) {
        var block = [UInt8](repeating: 0, count: LogHeader.blockByteCount)
        block.withUnsafeMutableBytes { header.store(to: $0.baseAddress!) }
        guard block.elementsEqual(image.prefix(block.count)) else { fatalError("The first block says \(header)") }
    }

    private func check(_ tail: LogReader.Tail, of log: ScriptedLog, _ header: LogHeader, in ring: [UInt8]) {
        var point = log.start
        var version = log.version
        for record in tail.records {
            guard record.version >= version, max(record.version, record.position) < FileHeader.greatestWrittenVersion
            else { fatalError("\(record) behind version \(version)") }
            version = record.version
            guard let next = end(of: record, behind: point, header.log, in: ring) else {
                fatalError("\(record) does not stand behind \(point)")
            }
            point = next
        }
        guard point == tail.end else { fatalError("The log ends at \(tail.end) and not at \(point)") }
        guard point.offset >= log.durable || point == log.refused else {
            fatalError("The log ends at \(point.offset) and was durable up to \(log.durable)")
        }
    }

    /// Where a record ends whose bytes stand behind another one; nil where they do not.
    private func end(
        of record: CommitRecord,
        behind point: LogPoint,
        _ log: LogIdentifier,
        in ring: [UInt8]
    ) -> LogPoint? {
        for place in [point.aligned, point.atNewBlock] {
            let place = CommitRecord.Place(log: log, offset: place.offset, previous: place.chain)
            guard let (bytes, checksum) = try? record.encoded(at: place), bytes.count <= ring.count else { return nil }
            let first = Int(place.offset % UInt64(ring.count))
            guard bytes.indices.allSatisfy({ bytes[$0] == ring[(first + $0) % ring.count] }) else { continue }
            return LogPoint(offset: place.offset + UInt64(bytes.count), chain: checksum)
        }
        return nil
    }

    /// However many places look like the beginnings of records, the search behind the end takes what the length of the ring allows.
    private func checkEffort(_ reader: LogReader, _ end: LogPoint, of log: ScriptedLog, in ring: [UInt8]) {
        let base = log.start.blockOffset
        let split = Int(base % UInt64(ring.count))
        let behind = reader.behind(end, in: Array(ring[split...] + ring[..<split]), base: base)
        let blockCount = ring.count / LogHeader.blockByteCount
        guard behind.examinedByteCount <= (65 + blockCount) * ring.count else {
            fatalError("\(behind.examinedByteCount) bytes were looked at in a ring of \(ring.count)")
        }
    }

    /// Writes logs as they are made, for the fuzzer to begin with.
    static func writeSeeds(to folder: String) throws {
        func record(place: UInt8 = 0, mode: UInt8 = 0, kind: UInt8 = 0, durable: UInt8 = 0, count: Int) -> [UInt8] {
            var frame = [UInt8](repeating: 0, count: CommitRecord.headerByteCount)
            frame[CommitRecord.Frame.contentByteCount] = UInt8(count)
            frame[CommitRecord.Frame.kind] = kind
            frame[CommitRecord.Frame.flags] = 1
            frame[CommitRecord.Frame.version] = 1
            frame[CommitRecord.Frame.durableOffset] = durable
            var bytes = [place, mode]
            bytes += frame[CommitRecord.Frame.contentByteCount...]
            for number in 0..<count { bytes.append(UInt8(number)) }
            return bytes
        }
        let seeds: [(name: String, control: [UInt8], records: [[UInt8]])] = [
            ("group", [3, 0, 0, 0, 0, 0, 0, 0], [record(count: 20), record(kind: 1, count: 33), record(count: 0)]),
            (
                "flushes", [2, 0, 1, 0, 1, 5, 0, 9],
                [
                    record(place: 3, count: 90), record(place: 3, durable: 2, count: 7),
                    record(place: 3, kind: 2, durable: 2, count: 60),
                ]
            ),
            ("behind", [1, 8, 0, 0, 2, 0, 3, 0], [record(count: 50), record(place: 5, durable: 3, count: 20)]),
            ("rounds", [0, 32, 7, 0, 3, 0, 0, 1], [record(place: 6, count: 50), record(place: 7, count: 20)]),
            // The second word, which has the layout's version and the length of a block.
            ("first block", [0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 16, 0, 0], [record(count: 5)]),
            ("cut", [0, 4, 0, 0, 0, 0, 0, 0], [record(count: 5)]),
            ("closed", [0, 16, 0, 0, 0, 0, 0, 0], [record(mode: 128, kind: 77, count: 5)]),
        ]
        for seed in seeds {
            let bytes: [UInt8] = seed.control + seed.records.joined()
            try Data(bytes).write(to: URL(fileURLWithPath: folder + "/" + seed.name))
        }
    }
}

// libFuzzer calls on one thread.
private nonisolated(unsafe) let fuzzer = {
    if let folder = ProcessInfo.processInfo.environment["LOG_FUZZ_SEEDS"] {
        do {
            try Fuzzer.writeSeeds(to: folder)
        } catch {
            fatalError("The first inputs cannot be written: \(error)")
        }
    }
    return Fuzzer()
}()

/// What libFuzzer calls, on one thread, with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
    // The bytes are the caller's and live until this returns.
    fuzzer.run(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}
