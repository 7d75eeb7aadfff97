import CRealmShims
import Glibc

/// What a log holds behind a checkpoint, read whole.
package struct LogReader {
    /// The first block.
    package let header: LogHeader
    /// Whether there is nothing but zeros behind the first block: nothing was ever appended.
    package let isUnused: Bool
    private let ring: [UInt8]

    /// What stands in a file beside a realm.
    enum Found {
        case log(LogReader)
        /// Something that does not begin as a log: its first block is flushed before it gets its name.
        case noLog
        /// A log that is shorter than it was, or of which the first block is damaged.
        case damaged
        /// A log that this release cannot read, and what to say of it.
        case unsupported(String)
    }

    /// Reads a file.
    static func read(_ descriptor: Int32, path: String) throws(StorageError) -> Found {
        var first = [UInt8](repeating: 0, count: LogHeader.blockByteCount)
        let byteCount = try fill(&first, from: descriptor, at: 0, path: path)
        guard first.withUnsafeBytes({ LogHeader.hasMagic($0) }) else { return .noLog }
        guard byteCount == first.count else { return .damaged }
        switch first.withUnsafeBytes({ LogHeader.read($0) }) {
        case .damaged: return .damaged
        case .unsupported(let what): return .unsupported(what)
        case .valid(let header):
            var status = stat()
            _ = try SystemCall.retrying(path, "Cannot examine the log") { Int(fstat(descriptor, &status)) }
            // Its length was flushed before anything named it.
            guard Int(status.st_size) >= LogHeader.blockByteCount + header.ringByteCount else { return .damaged }
            var ring = [UInt8](repeating: 0, count: header.ringByteCount)
            let count = try fill(&ring, from: descriptor, at: LogHeader.blockByteCount, path: path)
            guard count == ring.count else { return .damaged }
            return .log(LogReader(header: header, ring: ring))
        }
    }

    /// What the first block of a file says, if it is a log's.
    static func header(of descriptor: Int32, path: String) throws(StorageError) -> LogHeader? {
        var first = [UInt8](repeating: 0, count: LogHeader.blockByteCount)
        guard try fill(&first, from: descriptor, at: 0, path: path) == first.count,
            case .valid(let header) = first.withUnsafeBytes({ LogHeader.read($0) })
        else { return nil }
        return header
    }

    init(header: LogHeader, ring: [UInt8]) {
        self.header = header
        self.ring = ring
        isUnused = ring.allSatisfy { $0 == 0 }
    }

    private static func fill(
        _ bytes: inout [UInt8],
        from descriptor: Int32,
        at offset: Int,
        path: String
    ) throws(StorageError) -> Int {
        var done = 0
        while done < bytes.count {
            let total = bytes.count
            let count =
                try bytes.withUnsafeMutableBytes { (buffer) -> Result<Int, StorageError> in
                    do throws(StorageError) {
                        return .success(
                            try SystemCall.retrying(path, "Cannot read the log") {
                                pread(descriptor, buffer.baseAddress! + done, total - done, off_t(offset + done))
                            }
                        )
                    } catch {
                        return .failure(error)
                    }
                }
                .get()
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// The records behind a checkpoint, and where the log ends.
    package struct Tail {
        package var records: [CommitRecord] = []
        /// The place behind the last record.
        package var end: LogPoint
        /// The places before the first one and behind each of them.
        fileprivate var places: [LogPoint]

        fileprivate init(end: LogPoint) {
            self.end = end
            places = [end]
        }

        /// Whether it begins, or one of its records ends, at a place.
        func reaches(_ point: LogPoint) -> Bool { places.contains(point) }

        /// Leaves the records out that end behind an offset, up to which the log is known to be durable: nobody was told of them.
        mutating func cut(at offset: UInt64) {
            while end.offset > offset, records.popLast() != nil {
                places.removeLast()
                end = places[places.count - 1]
            }
        }
    }

    /// Reads from a checkpoint to the first place where no record fits.
    ///
    /// What is whole behind that place is ordinary: a flush that was cut short may leave it, and so may older records.
    ///
    /// - Parameters:
    ///   - start: The place behind the last record of the checkpoint's version.
    ///   - version: That version.
    ///   - known: Up to here the log was durable, as far as anybody else can tell.
    ///   - refused: The place of the first record that failed, which is the log's end whatever stands there.
    /// - Returns: The records, in order; of a group that nobody was told of only a part may be there.
    /// - Throws: `corrupt` when the log was durable up to a place behind its end, or `unsupportedFormat` for a record that fits and
    ///   is unknown.
    package func tail(
        from start: LogPoint,
        version: UInt64,
        durable known: UInt64 = 0,
        refused: LogPoint? = nil
    ) throws(StorageError) -> Tail {
        var tail = Tail(end: start)
        try read(&tail, version: version, durable: known, refused: refused)
        return tail
    }

    /// Reads as ``tail(from:version:durable:refused:)`` does, and gives what stands before damage.
    ///
    /// - Returns: The records that follow each other, and what the other function throws.
    package func readableTail(
        from start: LogPoint,
        version: UInt64,
        durable known: UInt64 = 0,
        refused: LogPoint? = nil
    ) -> (tail: Tail, damage: StorageError?) {
        var tail = Tail(end: start)
        do throws(StorageError) {
            try read(&tail, version: version, durable: known, refused: refused)
            return (tail, nil)
        } catch {
            return (tail, error)
        }
    }

    /// Adds the records behind the end of a tail that has none.
    private func read(
        _ tail: inout Tail,
        version: UInt64,
        durable known: UInt64,
        refused: LogPoint?
    ) throws(StorageError) {
        let start = tail.end
        let base = start.blockOffset
        let bytes = unrolled(from: base)
        var version = version
        reading: while tail.end != refused {
            for place in [tail.end.aligned, tail.end.atNewBlock] {
                guard let (record, end) = try record(at: place, in: bytes, base: base) else { continue }
                guard record.version >= version else {
                    throw StorageError(.corrupt, "The log has version \(record.version) behind version \(version)")
                }
                // The header that is made of them must be one that can be read.
                guard max(record.version, record.position) < FileHeader.greatestWrittenVersion else {
                    throw StorageError(.corrupt, "A commit record in the log has numbers that no commit has")
                }
                // No record: the next one takes the place of either.
                if record.kind == .durable { break reading }
                if record.kind == .pages {
                    guard record.version == version, tail.records.isEmpty else {
                        throw StorageError(
                            .corrupt,
                            "The log says that version \(record.version) is in the realm file, which ends at version \(version)"
                        )
                    }
                    break reading
                }
                version = record.version
                tail.records.append(record)
                tail.places.append(end)
                tail.end = end
                continue reading
            }
            break
        }
        let behind = behind(tail.end, in: bytes, base: base)
        // Nothing is appended there while a recovery may begin here.
        guard behind.end <= base + UInt64(bytes.count) else {
            throw StorageError(
                .corrupt,
                "The log of the realm goes on up to \(behind.end) and does not reach back to \(start.offset), where the realm file ends: "
                    + "the file is an older one, or its newest header is damaged"
            )
        }
        let durable = max(known, behind.durable)
        // A failed flush leaves records of which nobody was told: what they say of those before them has been looked at.
        guard durable <= tail.end.offset || refused == tail.end else {
            throw StorageError(
                .corrupt,
                "The log of the realm is damaged: it ends at \(tail.end.offset) and was durable up to \(durable). Bring it back, or salvage "
                    + "the realm to a new file, which has what stands before that"
            )
        }
    }

    /// The ring from an offset on, as one stretch.
    private func unrolled(from base: UInt64) -> [UInt8] {
        let split = Int(base % UInt64(ring.count))
        return Array(ring[split...] + ring[..<split])
    }

    private func record(
        at place: LogPoint,
        in bytes: [UInt8],
        base: UInt64
    ) throws(StorageError) -> (CommitRecord, LogPoint)? {
        let start = Int(place.offset - base)
        guard start < bytes.count else { return nil }
        let found = bytes.withUnsafeBytes { bytes -> Result<CommitRecord.Found, StorageError> in
            do throws(StorageError) {
                let place = CommitRecord.Place(log: header.log, offset: place.offset, previous: place.chain)
                return .success(try CommitRecord.read(UnsafeRawBufferPointer(rebasing: bytes[start...]), at: place))
            } catch {
                return .failure(error)
            }
        }
        guard case .record(let record, let checksum, let end) = try found.get() else { return nil }
        return (record, LogPoint(offset: end, chain: checksum))
    }

    /// What stands behind the end of the log.
    struct Behind: Equatable {
        /// The greatest offset that any whole record calls durable.
        var durable: UInt64 = 0
        /// The greatest offset where one ends.
        var end: UInt64 = 0
        /// The bytes that were looked at as those of records.
        var examinedByteCount = 0
    }

    /// Looks for whole records behind the end of the log, in whichever round of the ring they were appended.
    ///
    /// What a program stores may look like the beginnings of long records at every place, whose checksums would take minutes: when many
    /// bytes were looked at, the rest is looked for where flushes begin, which is at the beginnings of blocks.
    func behind(_ end: LogPoint, in bytes: [UInt8], base: UInt64) -> Behind {
        var found = Behind()
        let ring = UInt64(bytes.count)
        let byteLimit = 64 * bytes.count
        let step = Int(LogPoint.recordAlignment)
        // A later round begins in the block of the checkpoint, and one of its records may go on there.
        let places = [0..<LogHeader.blockByteCount, min(Int(end.aligned.offset - base), bytes.count)..<bytes.count]
        (bytes + bytes.prefix(CommitRecord.headerByteCount + CommitRecord.contentByteLimit))
            .withUnsafeBytes { more in
                for start in places.lazy.flatMap({ stride(from: $0.lowerBound, to: $0.upperBound, by: step) }) {
                    let rest = UnsafeRawBufferPointer(rebasing: more[start..<min(start + bytes.count, more.count)])
                    guard let byteCount = CommitRecord.likelyByteCount(rest),
                        start % LogHeader.blockByteCount == 0 || found.examinedByteCount + byteCount <= byteLimit
                    else { continue }
                    found.examinedByteCount += byteCount
                    let remainder = (base + UInt64(start)) % ring
                    if let place = CommitRecord.place(of: rest, in: header.log, at: remainder, ofRing: ring) {
                        found.durable = max(found.durable, place.durable)
                        found.end = max(found.end, place.end)
                    }
                }
            }
        return found
    }
}
