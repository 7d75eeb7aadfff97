import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// A log of a few blocks, whose device notes what is done to it.
struct SmallLog {
    static let identifier = LogIdentifier(low: 0x1122_3344_5566_7788, high: 0x99AA_BBCC_DDEE_FF00)
    static let file = FileIdentifier(low: 21, high: 22)

    let directory: LogFile
    let header: LogHeader
    let operations = RecordingDevice.Log()
    let log: CommitLog
    private let device: RecordingDevice

    init(in folder: TemporaryDirectory, blocks: Int = 4, version: UInt64 = 1) throws {
        directory = LogFile(besides: folder.path("small-\(UInt64.random(in: 0 ... .max)).realm"))
        header = LogHeader(
            file: Self.file,
            log: Self.identifier,
            ringByteCount: blocks * LogHeader.blockByteCount,
            version: version,
            position: 0,
            chain: 0xC4A1
        )
        device = RecordingDevice(try directory.create(header), log: operations)
        log = CommitLog(header: header, device: device)
    }

    /// What a process that opens the same log anew would write with, if it went on where it began.
    func begunAnew() -> CommitLog { CommitLog(header: header, device: device) }

    static func entry(_ version: UInt64, _ byteCount: Int = 100) -> CommitLog.Entry {
        CommitLog.Entry(
            kind: .changes,
            position: version - 1,
            version: version,
            content: (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(version)) }
        )
    }

    /// The file as it is in the system's memory.
    func image() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: directory.path))) }

    /// What a reader finds in an image.
    static func reader(_ image: [UInt8]) throws -> LogReader {
        guard case .valid(let header) = image.withUnsafeBytes({ LogHeader.read($0) }) else {
            throw StorageError(.corrupt, "The first block is damaged")
        }
        return LogReader(header: header, ring: Array(image[LogHeader.blockByteCount...]))
    }

    static func tail(of image: [UInt8], from start: LogPoint, version: UInt64) throws -> LogReader.Tail {
        try reader(image).tail(from: start, version: version)
    }

    /// The versions that are found behind a place.
    func versions(from start: LogPoint? = nil, version: UInt64 = 1) throws -> [UInt64] {
        try Self.tail(of: image(), from: start ?? header.beginning, version: version).records.map(\.version)
    }
}
