/// What one committed block changed, in the frame in which it stands in a log.
///
/// A record fits in one place of one log only: its checksum covers the log's identifier, the offset, and the checksum of the
/// record before it. That one stands in the record, too, so that a record can be told for whole where the one before is damaged: what
/// it says of the durable offset counts. `Docs/FileFormat.md` draws the content.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 8 | checksum: XXH64 of what follows, content included, with the place's XXH64 as the seed |
/// | 8 | 4 | byte count of the content |
/// | 12 | 1 | format, 1 |
/// | 13 | 1 | kind |
/// | 14 | 1 | flags: bit 0, the last record of its version, which each is now |
/// | 15 | 1 | 0 |
/// | 16 | 8 | position: the number of the record |
/// | 24 | 8 | version |
/// | 32 | 8 | durable offset: up to here the log was known to be flushed |
/// | 40 | 8 | checksum of the record before |
/// | 48 | | content |
package struct CommitRecord: Sendable, Equatable {
    /// What a record says.
    package enum Kind: UInt8, Sendable {
        /// What changed in rows.
        case changes = 1
        /// Another schema, and the rows of the tables that it rewrote.
        case schema = 2
        /// The version is in the pages of the file; the record only names it, and the next one takes its place.
        case pages = 3
        /// Nothing was committed: the log is durable up to what the frame says. The next record takes its place.
        case durable = 4
    }

    /// The place of a record: it is valid there and nowhere else.
    package struct Place: Sendable, Equatable {
        /// The log's random identifier.
        package var log: LogIdentifier
        /// Where the record begins; grows over the whole life of a log, and is never used twice.
        package var offset: UInt64
        /// The checksum of the record before, or what the log begins with.
        package var previous: UInt64

        package init(log: LogIdentifier, offset: UInt64, previous: UInt64) {
            self.log = log
            self.offset = offset
            self.previous = previous
        }
    }

    /// What stands at a place.
    package enum Found {
        /// A record, its checksum, and where the next one begins.
        case record(CommitRecord, checksum: UInt64, end: UInt64)
        /// Nothing that fits: the log ends here.
        case nothing
    }

    /// Where the fields of the frame stand.
    enum Frame {
        static let checksum = 0
        static let contentByteCount = 8
        static let format = 12
        static let kind = 13
        static let flags = 14
        static let reserved = 15
        static let position = 16
        static let version = 24
        static let durableOffset = 32
        static let previous = 40
        static let end = 48
        /// The record is the last one of its version.
        static let lastOfVersion: UInt8 = 1
    }

    static let headerByteCount = Frame.end
    static let format: UInt8 = 1
    /// The longest content; larger transactions are committed as pages.
    package static let contentByteLimit = 64 << 20

    /// What the content says.
    package var kind: Kind
    /// Whether it is the last record of its version: those of a group share one.
    package var isLastOfVersion: Bool
    /// The number of the record.
    package var position: UInt64
    /// The version that it belongs to.
    package var version: UInt64
    /// Up to here the log was known to be flushed when the record was made.
    package var durableOffset: UInt64
    /// What changed, encoded.
    package var content: [UInt8]

    package init(
        kind: Kind,
        isLastOfVersion: Bool,
        position: UInt64,
        version: UInt64,
        durableOffset: UInt64 = 0,
        content: [UInt8] = []
    ) {
        self.kind = kind
        self.isLastOfVersion = isLastOfVersion
        self.position = position
        self.version = version
        self.durableOffset = durableOffset
        self.content = content
    }

    /// The number of bytes that the record takes in a log.
    package var byteCount: Int { Self.headerByteCount + content.count }

    /// The record as it stands at a place, and its checksum, which the next one is chained to.
    ///
    /// - Throws: `limit` when the content is longer than what is read: such a commit is kept as pages.
    package func encoded(at place: Place) throws(StorageError) -> (bytes: [UInt8], checksum: UInt64) {
        guard content.count <= Self.contentByteLimit else {
            throw StorageError(.limit, "A commit record of \(content.count) bytes is too long for a log")
        }
        var bytes = [UInt8](repeating: 0, count: byteCount)
        let checksum = bytes.withUnsafeMutableBytes { buffer -> UInt64 in
            let base = buffer.baseAddress!
            base.storeLittle(UInt32(content.count), at: Frame.contentByteCount)
            base.storeLittle(Self.format, at: Frame.format)
            base.storeLittle(kind.rawValue, at: Frame.kind)
            base.storeLittle(isLastOfVersion ? Frame.lastOfVersion : 0, at: Frame.flags)
            base.storeLittle(position, at: Frame.position)
            base.storeLittle(version, at: Frame.version)
            base.storeLittle(durableOffset, at: Frame.durableOffset)
            base.storeLittle(place.previous, at: Frame.previous)
            content.withUnsafeBytes { content in
                if let start = content.baseAddress {
                    (base + Self.headerByteCount).copyMemory(from: start, byteCount: content.count)
                }
            }
            let checksum = Self.checksum(of: UnsafeRawBufferPointer(buffer), at: place)
            base.storeLittle(checksum, at: Frame.checksum)
            return checksum
        }
        return (bytes, checksum)
    }

    /// Reads what stands at a place.
    ///
    /// - Parameters:
    ///   - bytes: What follows from there, to the end of what may be read.
    ///   - place: Where they stand.
    /// - Returns: The record, or nothing where none fits.
    /// - Throws: `unsupportedFormat` for a record that fits, and is of a kind or a format that this version does not know.
    package static func read(_ bytes: UnsafeRawBufferPointer, at place: Place) throws(StorageError) -> Found {
        guard let whole = whole(bytes, in: place.log, at: place.offset), let base = whole.baseAddress,
            base.little(UInt64.self, at: Frame.previous) == place.previous
        else { return .nothing }
        let checksum = base.little(UInt64.self, at: Frame.checksum)
        let format = base.little(UInt8.self, at: Frame.format)
        let kind = base.little(UInt8.self, at: Frame.kind)
        let flags = base.little(UInt8.self, at: Frame.flags)
        let reserved = base.little(UInt8.self, at: Frame.reserved)
        guard format == Self.format, let known = Kind(rawValue: kind), flags & ~Frame.lastOfVersion == 0, reserved == 0
        else {
            throw StorageError(
                .unsupportedFormat,
                "The log has a record of kind \(kind) and format \(format) with the flags \(flags) and \(reserved), which this version "
                    + "of the library does not know; open the realm with the version that wrote it"
            )
        }
        let record = CommitRecord(
            kind: known,
            isLastOfVersion: flags & Frame.lastOfVersion != 0,
            position: base.little(UInt64.self, at: Frame.position),
            version: base.little(UInt64.self, at: Frame.version),
            durableOffset: base.little(UInt64.self, at: Frame.durableOffset),
            content: Array(whole[headerByteCount...])
        )
        return .record(record, checksum: checksum, end: place.offset + UInt64(whole.count))
    }

    /// The bytes that a record has that may stand at a place; nil for most places where none does, without a look at its checksum.
    static func likelyByteCount(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress, bytes.count >= headerByteCount, bytes[Frame.format] != 0,
            bytes[Frame.kind] != 0, bytes[Frame.reserved] == 0,
            base.little(UInt64.self, at: Frame.durableOffset) < FileHeader.greatestVersion
        else { return nil }
        let count = headerByteCount + Int(base.little(UInt32.self, at: Frame.contentByteCount))
        return count <= bytes.count ? count : nil
    }

    /// Where a record that stands at some place of a ring was appended, in whichever round, and what it says of the durable offset,
    /// whatever it is chained to; nil where no record stands.
    ///
    /// Between the two lies less than a ring, so that one of them tells the other.
    ///
    /// - Parameters:
    ///   - bytes: What follows from the place, where ``likelyByteCount(_:)`` finds something.
    ///   - log: The log's identifier.
    ///   - remainder: The place in the ring.
    ///   - ring: The length of the ring.
    /// - Returns: The durable offset, and where the record ends.
    static func place(
        of bytes: UnsafeRawBufferPointer,
        in log: LogIdentifier,
        at remainder: UInt64,
        ofRing ring: UInt64
    ) -> (durable: UInt64, end: UInt64)? {
        guard let base = bytes.baseAddress else { return nil }
        let durable = base.little(UInt64.self, at: Frame.durableOffset)
        let offset = durable + (remainder + ring - durable % ring) % ring
        guard let whole = whole(bytes, in: log, at: offset) else { return nil }
        return (durable, offset + UInt64(whole.count))
    }

    /// The bytes of the record at a place, if one of that place stands there.
    private static func whole(
        _ bytes: UnsafeRawBufferPointer,
        in log: LogIdentifier,
        at offset: UInt64
    ) -> UnsafeRawBufferPointer? {
        guard let base = bytes.baseAddress, bytes.count >= headerByteCount else { return nil }
        let contentByteCount = Int(base.little(UInt32.self, at: Frame.contentByteCount))
        guard contentByteCount <= contentByteLimit, contentByteCount <= bytes.count - headerByteCount else {
            return nil
        }
        let whole = UnsafeRawBufferPointer(start: base, count: headerByteCount + contentByteCount)
        let place = Place(log: log, offset: offset, previous: base.little(UInt64.self, at: Frame.previous))
        return base.little(UInt64.self, at: Frame.checksum) == checksum(of: whole, at: place) ? whole : nil
    }

    private static func checksum(of record: UnsafeRawBufferPointer, at place: Place) -> UInt64 {
        var words = (place.log.low, place.log.high, place.offset)
        words = (words.0.littleEndian, words.1.littleEndian, words.2.littleEndian)
        let seed = withUnsafeBytes(of: &words) { XXH64.hash($0.baseAddress!, count: $0.count) }
        return XXH64.hash(record.baseAddress! + 8, count: record.count - 8, seed: seed)
    }
}
