/// The records of one life of a realm file, on the local disk: a ring of blocks in one file.
///
/// An offset is a place in the history of the log and never used twice; it stands in the ring at its remainder. Nothing is zeroed when a
/// block is used again: what stood there fits at another offset only. What a checkpoint has made unnecessary is given back with
/// ``release(upTo:)``, and nothing else ever is.
///
/// It has one user at a time, who writes in the order of the versions.
package final class CommitLog {
    /// A record that is to be appended.
    package struct Entry: Sendable, Equatable {
        package var kind: CommitRecord.Kind
        /// Whether it is the last one of its version.
        package var isLastOfVersion: Bool
        package var position: UInt64
        package var version: UInt64
        package var content: [UInt8]

        package init(
            kind: CommitRecord.Kind,
            isLastOfVersion: Bool = true,
            position: UInt64,
            version: UInt64,
            content: [UInt8]
        ) {
            self.kind = kind
            self.isLastOfVersion = isLastOfVersion
            self.position = position
            self.version = version
            self.content = content
        }
    }

    package let header: LogHeader
    private let device: any StorageDevice
    /// The place behind the last record.
    package internal(set) var end: LogPoint
    /// Whether the last block was flushed.
    var isFlushed = true
    /// Up to here the log was flushed, or is not needed because a checkpoint lies there.
    package internal(set) var durable: LogPoint
    /// What a recovery begins at: the blocks before its own are free.
    package internal(set) var start: LogPoint
    /// What is appended is put together here, in whole blocks.
    private var buffer: [UInt8] = []

    /// A log that nothing has been appended to in this life.
    package init(header: LogHeader, device: any StorageDevice) {
        self.header = header
        self.device = device
        end = header.beginning
        start = header.beginning
        durable = header.beginning
    }

    /// Where the next record goes: nothing is appended to a block that a flush has covered.
    private var nextOffset: UInt64 { (isFlushed ? end.atNewBlock : end.aligned).offset }

    /// The bytes that are in use, of those of the ring.
    package var usedByteCount: Int { Int(end.offset - start.blockOffset) }

    /// Whether records with contents of these lengths can be appended before anything is given back.
    package func hasRoom(forContents byteCounts: some Sequence<Int>) -> Bool {
        var next = nextOffset
        for byteCount in byteCounts {
            next = LogPoint(offset: next + UInt64(CommitRecord.headerByteCount + byteCount), chain: 0).aligned.offset
        }
        return LogPoint(offset: next, chain: 0).atNewBlock.offset - start.blockOffset <= UInt64(header.ringByteCount)
    }

    /// Throws when the log has no name any more: what is appended to it is lost with its last user.
    func requireName() throws(StorageError) { _ = try device.currentByteCount() }

    /// Appends records one behind the other, in whole blocks, without flushing them.
    ///
    /// - Throws: What the device says, and `limit` when there is no room or a record is too long; then nothing was appended, whatever stands
    ///   behind the end.
    package func append(_ entries: [Entry]) throws(StorageError) {
        guard hasRoom(forContents: entries.lazy.map(\.content.count)) else {
            throw StorageError(.limit, "The log is full", path: device.path)
        }
        if entries.isEmpty { return }
        let first = nextOffset
        var next = LogPoint(offset: first, chain: end.chain)
        buffer.removeAll(keepingCapacity: true)
        for entry in entries {
            next = next.aligned
            pad(to: Int(next.offset - first))
            let record = CommitRecord(
                kind: entry.kind,
                isLastOfVersion: entry.isLastOfVersion,
                position: entry.position,
                version: entry.version,
                durableOffset: durable.offset,
                content: entry.content
            )
            let place = CommitRecord.Place(log: header.log, offset: next.offset, previous: next.chain)
            let (bytes, checksum) = try record.encoded(at: place)
            buffer.append(contentsOf: bytes)
            next = LogPoint(offset: next.offset + UInt64(bytes.count), chain: checksum)
        }
        // Whole blocks need not be read before they are written.
        pad(to: Int(next.atNewBlock.offset - first))
        try write(at: first)
        end = next
        isFlushed = false
    }

    private static let zeros = [UInt8](repeating: 0, count: LogHeader.blockByteCount)

    /// Fills the buffer up with zeros, less than a block.
    private func pad(to byteCount: Int) { buffer += Self.zeros[..<(byteCount - buffer.count)] }

    /// Makes everything that was appended durable; what comes next begins a new block.
    ///
    /// - Throws: What the device says; then nobody knows what is on the disk, and nothing must be appended any more.
    package func flush() throws(StorageError) {
        // Where pages are made of what is durable already.
        if isFlushed { return }
        try device.synchronize()
        // Before anybody is told.
        try requireName()
        durable = end
        isFlushed = true
    }

    /// Says, where the next record goes, which takes its place, up to where the log is durable; nothing where something was appended
    /// that is not, or where there is no room.
    ///
    /// It is not flushed.
    ///
    /// - Parameters:
    ///   - kind: What else it says: ``CommitRecord/Kind/durable`` or ``CommitRecord/Kind/pages``.
    ///   - version: The newest version.
    ///   - position: The number of its record.
    /// - Throws: What the device says; the log goes on all the same.
    func note(_ kind: CommitRecord.Kind, version: UInt64, position: UInt64) throws(StorageError) {
        guard isFlushed, hasRoom(forContents: CollectionOfOne(0)) else { return }
        let record = CommitRecord(
            kind: kind,
            isLastOfVersion: true,
            position: position,
            version: version,
            durableOffset: durable.offset
        )
        let place = CommitRecord.Place(log: header.log, offset: nextOffset, previous: end.chain)
        buffer = try record.encoded(at: place).bytes
        pad(to: LogHeader.blockByteCount)
        try write(at: place.offset)
    }

    /// Gives back what lies before a checkpoint whose header was flushed with success; nothing for a place that is not in the log.
    ///
    /// - Parameter point: The place behind the last record of the checkpoint's version.
    package func release(upTo point: LogPoint) {
        guard point.offset >= start.offset, point.offset <= end.offset else { return }
        start = point
        if point.offset > durable.offset { durable = point }
    }

    /// Where the log goes on behind a version that is kept as pages: nothing that stood there fits behind it.
    var pointBehindPages: LogPoint {
        LogPoint(offset: nextOffset + LogPoint.recordAlignment, chain: .random(in: 1 ... .max)).atNewBlock
    }

    /// Goes on behind a version that is kept as pages, and whose header was flushed with success.
    func goOn(at point: LogPoint) {
        end = point
        start = point
        durable = point
        isFlushed = true
    }

    /// Writes the buffer, around the end of the ring.
    private func write(at offset: UInt64) throws(StorageError) {
        let ring = UInt64(header.ringByteCount)
        var done = 0
        while done < buffer.count {
            let place = Int((offset + UInt64(done)) % ring)
            let count = min(buffer.count - done, Int(ring) - place)
            let result = buffer.withUnsafeBytes { bytes -> Result<Void, StorageError> in
                do throws(StorageError) {
                    let piece = (UnsafeRawPointer(bytes.baseAddress! + done), count)
                    return .success(try device.write([piece], at: LogHeader.blockByteCount + place))
                } catch {
                    return .failure(error)
                }
            }
            try result.get()
            done += count
        }
    }
}

#if DEBUG
extension CommitLog {
    /// A recovery begins before what is durable ends, that before the log ends, and what is in use fits the ring.
    func checkInvariants() throws(BrokenInvariant) {
        try Invariant.require(start.offset <= durable.offset, "A recovery begins behind what is durable of the log")
        try Invariant.require(durable.offset <= end.offset, "The log is durable behind its end")
        try Invariant.require(!isFlushed || durable == end, "The log counts as flushed, and ends behind what is")
        let used = end.atNewBlock.offset - start.blockOffset
        try Invariant.require(
            used <= UInt64(header.ringByteCount),
            "\(used) bytes of a ring of \(header.ringByteCount) are in use"
        )
    }
}
#endif
