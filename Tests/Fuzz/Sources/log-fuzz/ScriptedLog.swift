@testable import RealmStorage

/// Takes bytes off an input; behind its end there are zeros.
struct ScriptReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset >= bytes.count }

    mutating func byte() -> UInt8 {
        guard offset < bytes.count else { return 0 }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func word() -> UInt64 {
        var word: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 8) { word |= UInt64(byte()) << shift }
        return word
    }
}

/// The log, and the place to read it from, that an input describes.
///
/// Eight bytes say where a reader begins, and what of the first block is changed. Then come records: where each stands, what of it is
/// made right, its frame behind the checksum, and its content. What is made right is what no search would find: checksums, what a record
/// is chained to, and numbers that go up.
struct ScriptedLog {
    static let chain: UInt64 = 0xC4A1
    static let file = FileIdentifier(low: 21, high: 22)
    static let log = LogIdentifier(low: 0x1122_3344_5566_7788, high: 0x99AA_BBCC_DDEE_FF00)

    /// The bytes of a file.
    private(set) var image: [UInt8]
    /// Whether the first block is as the library writes it, and nothing is missing.
    private(set) var isWhole = true
    /// Where the reader begins, and behind which version.
    let start: LogPoint
    let version: UInt64
    /// What the lock file says.
    private(set) var durable: UInt64 = 0
    private(set) var refused: LogPoint?
    /// Whether the header of the realm file calls the log open.
    let isOpen: Bool

    /// What the log's records are sealed with: what the first block says, whatever that is.
    private var identifier = ScriptedLog.log
    private let ringByteCount: Int
    /// The place behind the last record, and its numbers.
    private var end: LogPoint
    private var last: UInt64

    init(_ input: UnsafeRawBufferPointer) {
        var script = ScriptReader(input)
        let blockCount = 1 + Int(script.byte() % 4)
        let flags = script.byte()
        let block = UInt64(script.byte()) | UInt64(script.byte()) << 8
        let round = Int(script.byte() % 4)
        let place = UInt64(script.byte())
        let known = UInt64(script.byte())
        version = 1 + UInt64(script.byte())
        last = version
        ringByteCount = blockCount * LogHeader.blockByteCount
        // Rounds of the ring are many, and a header allows offsets up to 2^62.
        let rounds: [UInt64] = [0, 1_000 * UInt64(ringByteCount), 1 << 61, 1 << 62 - 1 << 30]
        let base = rounds[round] + block * UInt64(LogHeader.blockByteCount)
        start = LogPoint(offset: base + 8 * place, chain: Self.chain)
        end = start
        isOpen = flags & 16 == 0
        image = [UInt8](repeating: 0, count: LogHeader.blockByteCount + ringByteCount)
        makeFirstBlock(flags, &script)
        if flags & 8 != 0 { durable = base + 64 * known }
        if flags & 32 != 0 { refused = LogPoint(offset: base + 64 * known, chain: Self.chain) }
        for _ in 0..<32 where !script.isAtEnd { addRecord(from: &script) }
        if flags & 4 != 0 {
            image.removeLast(1 + Int(known))
            isWhole = false
        }
    }

    /// The header that nobody changed.
    private var header: LogHeader {
        LogHeader(
            file: Self.file,
            log: Self.log,
            ringByteCount: ringByteCount,
            version: 1,
            position: 0,
            chain: Self.chain
        )
    }

    private mutating func makeFirstBlock(_ flags: UInt8, _ script: inout ScriptReader) {
        let header = header
        image.withUnsafeMutableBytes { header.store(to: $0.baseAddress!) }
        guard flags & 1 != 0 else { return }
        isWhole = false
        let field = 8 * Int(script.byte()) % LogHeader.fieldsEnd
        let word = script.word()
        image.withUnsafeMutableBytes { bytes in
            let first = bytes.baseAddress!
            first.storeLittle(word, at: field)
            guard flags & 2 == 0 else { return }
            first.storeLittle(XXH64.hash(first, count: LogHeader.checksumOffset), at: LogHeader.checksumOffset)
        }
        image.withUnsafeBytes { bytes in
            let first = bytes.baseAddress!
            identifier.low = first.little(UInt64.self, at: LogHeader.logOffset)
            identifier.high = first.little(UInt64.self, at: LogHeader.logOffset + 8)
        }
    }

    // MARK: Records

    private mutating func addRecord(from script: inout ScriptReader) {
        typealias Frame = CommitRecord.Frame
        let place = script.byte()
        let mode = script.byte()
        var bytes = [UInt8](repeating: 0, count: Frame.end)
        for index in Frame.contentByteCount..<Frame.end { bytes[index] = script.byte() }
        // Seldom other than right.
        let isSealed = mode & 3 != 3
        let isChained = mode & 12 != 12
        let hasItsLength = mode & 48 != 48
        let isNumbered = mode & 64 == 0
        let isKnown = mode & 128 == 0

        let point = self.point(place)
        let contentByteCount = hasItsLength ? Int(bytes[Frame.contentByteCount]) : 16
        for _ in 0..<contentByteCount { bytes.append(script.byte()) }
        let durables = [0, start.offset, end.offset, end.offset &+ UInt64(bytes[Frame.durableOffset + 1]) << 4]
        last += isNumbered ? UInt64(bytes[Frame.version] % 3) : 0
        bytes.withUnsafeMutableBytes { bytes in
            let frame = bytes.baseAddress!
            if hasItsLength { frame.storeLittle(UInt32(contentByteCount), at: Frame.contentByteCount) }
            if isChained { frame.storeLittle(point.chain, at: Frame.previous) }
            if isNumbered {
                frame.storeLittle(durables[Int(bytes[Frame.durableOffset] % 4)], at: Frame.durableOffset)
                frame.storeLittle(last, at: Frame.version)
                frame.storeLittle(last, at: Frame.position)
            }
            if isKnown {
                frame.storeLittle(UInt8(1), at: Frame.format)
                frame.storeLittle(1 + bytes[Frame.kind] % 3, at: Frame.kind)
                frame.storeLittle(bytes[Frame.flags] & 1, at: Frame.flags)
                frame.storeLittle(UInt8(0), at: Frame.reserved)
            }
        }
        for (index, byte) in bytes.enumerated() { image[self.index(point.offset &+ UInt64(index))] = byte }
        let checksum = isSealed ? seal(at: point.offset) : 0
        end = LogPoint(offset: point.offset &+ UInt64(bytes.count), chain: checksum)
    }

    /// Where the next record goes: as a log has it, a block too late, or in another round of the ring.
    private func point(_ place: UInt8) -> LogPoint {
        let ring = UInt64(ringByteCount)
        var point = place % 8 < 3 ? end.aligned : end.atNewBlock
        switch place % 8 {
        case 5: point.offset += UInt64(LogHeader.blockByteCount)
        case 6 where point.offset >= ring: point.offset -= ring
        case 7: point.offset += ring
        default: break
        }
        return point
    }

    /// The place in the file of one in the history of the log.
    private func index(_ offset: UInt64) -> Int {
        LogHeader.blockByteCount + Int(offset % UInt64(ringByteCount))
    }

    /// Makes the checksum of a record right, of as many bytes as it says that it has, where there can be so many.
    private mutating func seal(at offset: UInt64) -> UInt64 {
        var words = (identifier.low.littleEndian, identifier.high.littleEndian, offset.littleEndian)
        let seed = withUnsafeBytes(of: &words) { XXH64.hash($0.baseAddress!, count: $0.count) }
        var claimed = 0
        for byte in 0..<4 {
            claimed |= Int(image[index(offset + UInt64(CommitRecord.Frame.contentByteCount + byte))]) << (8 * byte)
        }
        let byteCount = CommitRecord.headerByteCount + claimed
        guard byteCount <= ringByteCount else { return 0 }
        let covered = (8..<byteCount).map { image[index(offset + UInt64($0))] }
        let checksum = covered.withUnsafeBytes { XXH64.hash($0.baseAddress!, count: $0.count, seed: seed) }
        for byte in 0..<8 {
            image[index(offset + UInt64(byte))] = UInt8(truncatingIfNeeded: checksum >> UInt64(8 * byte))
        }
        return checksum
    }
}
