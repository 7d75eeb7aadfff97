import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Which log belongs to a file: rules 33 and 34.
@Suite("A log that is missing, or another file's, is an error and never an older state")
struct LogAtOpeningTests {
    let folder = TemporaryDirectory()
    private static let version: UInt64 = 7

    private func found(
        file: FileIdentifier = SmallLog.file,
        log: LogIdentifier = SmallLog.identifier,
        version: UInt64 = LogAtOpeningTests.version,
        isUsed: Bool = false
    ) -> LogReader.Found {
        let header = LogHeader(file: file, log: log, ringByteCount: 4096, version: version, position: 3, chain: 9)
        var ring = [UInt8](repeating: 0, count: 4096)
        if isUsed { ring[4000] = 1 }
        return .log(LogReader(header: header, ring: ring))
    }

    private func decide(open isOpen: Bool, _ found: LogReader.Found?) throws -> String {
        let mark = LogMark(log: SmallLog.identifier, point: LogPoint(offset: 0, chain: 9), isOpen: isOpen)
        let decision = try LogAtOpening.decide(
            mark,
            version: Self.version,
            file: SmallLog.file,
            found: found,
            path: "a.realm.log"
        )
        return switch decision {
        case .clean: "clean"
        case .replay: "replay"
        case .remove: "remove"
        }
    }

    private static let otherFile = FileIdentifier(low: 21, high: 23)
    private static let otherLog = LogIdentifier(low: 1, high: 2)

    @Test("Rule 33: an open header needs the log that it names")
    func open() throws {
        #expect(try decide(open: true, found(isUsed: true)) == "replay")
        #expect(try decide(open: true, found()) == "replay")
        for other in [
            nil, found(file: Self.otherFile), found(log: Self.otherLog), found(log: Self.otherLog, isUsed: true),
            .damaged,
        ] {
            let error = #expect(throws: StorageError.self) { try decide(open: true, other) }
            #expect(error?.code == .corrupt)
            #expect(
                error?.message.contains("99aabbccddeeff001122334455667788") == true,
                "the log's name: \(error?.message ?? "")"
            )
            #expect(error?.message.contains("bring") == true)
        }
    }

    @Test("Rule 33: only a closed header without a log was closed cleanly")
    func clean() throws { #expect(try decide(open: false, nil) == "clean") }

    @Test(
        "Rule 34: beside a closed header its own log is a leftover, and a new one that begins at its version was being made"
    )
    func leftovers() throws {
        #expect(try decide(open: false, found(isUsed: true)) == "remove")
        #expect(try decide(open: false, found(log: Self.otherLog)) == "remove")
    }

    @Test("Rule 34: beside a closed header a log that was never used may begin earlier: commits followed without one")
    func unnamed() throws {
        for version in [1, Self.version - 1] {
            #expect(try decide(open: false, found(log: Self.otherLog, version: version)) == "remove")
        }
    }

    @Test("Rule 34: any other log beside a closed header is an error")
    func foreign() throws {
        for other in [
            found(log: Self.otherLog, isUsed: true), found(log: Self.otherLog, version: Self.version + 1),
            found(log: Self.otherLog, version: Self.version - 1, isUsed: true), found(file: Self.otherFile),
            found(file: Self.otherFile, log: Self.otherLog),
            found(file: Self.otherFile, log: Self.otherLog, version: Self.version - 1), .damaged,
        ] {
            let error = #expect(throws: StorageError.self) { try decide(open: false, other) }
            #expect(error?.code == .corrupt)
        }
        let error = #expect(throws: StorageError.self) { try decide(open: false, .unsupported("layout 9")) }
        #expect(error?.code == .unsupportedFormat)
    }

    @Test("Rule 34: what does not begin as a log is none beside a closed header, and not the log of an open one")
    func noLog() throws {
        #expect(try decide(open: false, .noLog) == "clean")
        let error = #expect(throws: StorageError.self) { try decide(open: true, .noLog) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("bring") == true)
    }

    @Test("What is no log, or shorter than its first block says, is damaged, or none where it does not begin as one")
    func shortened() throws {
        let small = try SmallLog(in: folder)
        func found() throws -> LogReader.Found {
            let device = try #require(try small.directory.open(forReadingOnly: true))
            return try LogReader.read(device.descriptor, path: small.directory.path)
        }
        var isWhole = false
        if case .log = try found() { isWhole = true }
        #expect(isWhole)
        let image = try small.image()
        for count in [image.count - 1, LogHeader.blockByteCount, 100, 0] {
            try Data(image[..<count]).write(to: URL(fileURLWithPath: small.directory.path))
            var isDamaged = false
            var isNone = false
            switch try found() {
            case .damaged: isDamaged = true
            case .noLog: isNone = true
            default: break
            }
            #expect(count == 0 ? isNone : isDamaged, "\(count) bytes")
        }
    }
}
