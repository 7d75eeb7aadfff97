/// The first block of a log: whose log it is, and where it begins.
///
/// It is written once, when the log is made, and never again. The rest of a new log is zeros.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 8 | magic `ARealmLg` |
/// | 8 | 4 | layout version, 1 |
/// | 12 | 4 | bytes of a block, 4,096 |
/// | 16 | 16 | identifier of the realm file |
/// | 32 | 16 | identifier of the log, random, new in every life |
/// | 48 | 8 | bytes of the ring behind this block, a multiple of the block |
/// | 56 | 8 | version at which the log begins |
/// | 64 | 8 | position: the number of the newest record before it |
/// | 72 | 8 | chain: what the first record names as the checksum of the record before it |
/// | 80 | | zeros |
/// | 4088 | 8 | XXH64 of the 4,088 bytes before |
package struct LogHeader: Sendable, Equatable {
    static let magic: UInt64 = 0x674C_6D6C_6165_5241  // "ARealmLg", little-endian
    static let layoutVersion: UInt32 = 1
    /// What is flushed, and never appended to afterwards.
    package static let blockByteCount = 4096

    /// No release makes a longer ring: all of it is read at once.
    static let greatestRingByteCount: UInt64 = 1 << 30

    static let magicOffset = 0
    static let layoutVersionOffset = 8
    static let blockByteCountOffset = 12
    static let fileOffset = 16
    static let logOffset = 32
    static let ringByteCountOffset = 48
    static let versionOffset = 56
    static let positionOffset = 64
    static let chainOffset = 72
    static let fieldsEnd = 80
    static let checksumOffset = 4088

    /// The realm file that the log belongs to.
    package var file: FileIdentifier
    package var log: LogIdentifier
    /// The length of the ring.
    package var ringByteCount: Int
    /// The version that the first record is made on top of.
    package var version: UInt64
    /// The position of the record before the first one.
    package var position: UInt64
    /// The checksum that the first record is chained to.
    package var chain: UInt64

    package init(
        file: FileIdentifier,
        log: LogIdentifier,
        ringByteCount: Int,
        version: UInt64,
        position: UInt64,
        chain: UInt64
    ) {
        self.file = file
        self.log = log
        self.ringByteCount = ringByteCount
        self.version = version
        self.position = position
        self.chain = chain
    }

    /// Where the first record of the log goes.
    package var beginning: LogPoint { LogPoint(offset: 0, chain: chain) }

    /// What a first block holds.
    enum Found: Equatable {
        case valid(LogHeader)
        /// The first block of a log, but for its checksum, or nothing that anybody can read.
        case damaged
        /// Intact, and of another layout: what is to be said of it.
        case unsupported(String)
    }

    /// Fills the first block.
    func store(to bytes: UnsafeMutableRawPointer) {
        bytes.initializeMemory(as: UInt8.self, repeating: 0, count: LogHeader.blockByteCount)
        bytes.storeLittle(LogHeader.magic, at: LogHeader.magicOffset)
        bytes.storeLittle(LogHeader.layoutVersion, at: LogHeader.layoutVersionOffset)
        bytes.storeLittle(UInt32(LogHeader.blockByteCount), at: LogHeader.blockByteCountOffset)
        bytes.storeLittle(file.low, at: LogHeader.fileOffset)
        bytes.storeLittle(file.high, at: LogHeader.fileOffset + 8)
        bytes.storeLittle(log.low, at: LogHeader.logOffset)
        bytes.storeLittle(log.high, at: LogHeader.logOffset + 8)
        bytes.storeLittle(UInt64(ringByteCount), at: LogHeader.ringByteCountOffset)
        bytes.storeLittle(version, at: LogHeader.versionOffset)
        bytes.storeLittle(position, at: LogHeader.positionOffset)
        bytes.storeLittle(chain, at: LogHeader.chainOffset)
        let checksum = XXH64.hash(bytes, count: LogHeader.checksumOffset)
        bytes.storeLittle(checksum, at: LogHeader.checksumOffset)
    }

    /// Whether a block begins as the first one of a log.
    static func hasMagic(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress, bytes.count >= magicOffset + 8 else { return false }
        return base.little(UInt64.self, at: magicOffset) == magic
    }

    /// Reads and checks the first block of a file.
    static func read(_ bytes: UnsafeRawBufferPointer) -> Found {
        guard let base = bytes.baseAddress, bytes.count >= blockByteCount, hasMagic(bytes),
            XXH64.hash(base, count: checksumOffset) == base.little(UInt64.self, at: checksumOffset)
        else { return .damaged }
        let layout = base.little(UInt32.self, at: layoutVersionOffset)
        let block = base.little(UInt32.self, at: blockByteCountOffset)
        guard layout == layoutVersion, block == UInt32(blockByteCount) else {
            return .unsupported("layout \(layout) with blocks of \(block) bytes")
        }
        let ringByteCount = base.little(UInt64.self, at: ringByteCountOffset)
        guard ringByteCount > 0, ringByteCount <= greatestRingByteCount, ringByteCount % UInt64(blockByteCount) == 0
        else {
            return .damaged
        }
        return .valid(
            LogHeader(
                file: FileIdentifier(
                    low: base.little(UInt64.self, at: fileOffset),
                    high: base.little(UInt64.self, at: fileOffset + 8)
                ),
                log: LogIdentifier(
                    low: base.little(UInt64.self, at: logOffset),
                    high: base.little(UInt64.self, at: logOffset + 8)
                ),
                ringByteCount: Int(ringByteCount),
                version: base.little(UInt64.self, at: versionOffset),
                position: base.little(UInt64.self, at: positionOffset),
                chain: base.little(UInt64.self, at: chainOffset)
            )
        )
    }
}
