import Foundation
import RealmTestSupport
import Testing

@testable import RealmModel
@testable import RealmStorage

/// A realm with an open log, and that log, as a kill has left both to the release that made them.
///
/// `GoldenLoggedProgram` says what was written. To make the files of a new format, or of another program:
///
/// ```sh
/// REALM_GOLDEN=Tests/RealmModelTests/Format/Golden swift test --filter GoldenLoggedTests/makeFiles
/// ```
@Suite struct GoldenLoggedTests {
    let directory = TemporaryDirectory()

    private static let suffixes = ["", ".log"]

    @Test(
        "make a realm of the present format with its log",
        .enabled(if: ProcessInfo.processInfo.environment["REALM_GOLDEN"] != nil)
    )
    func makeFiles() throws {
        let folder = URL(fileURLWithPath: try #require(ProcessInfo.processInfo.environment["REALM_GOLDEN"]))
        let database = try GoldenLoggedProgram.run(in: directory)
        if let difference = try GoldenLoggedProgram.plain().difference(from: database.model) { throw difference }
        let killed = try database.killed()
        for suffix in Self.suffixes {
            try Data(contentsOf: URL(fileURLWithPath: killed + suffix))
                .write(to: folder.appendingPathComponent(GoldenLoggedProgram.name + suffix))
        }
    }

    /// How such a file is opened.
    enum Way: CaseIterable {
        case writing, forReadingOnly, withoutLog, unflushed

        var options: StorageOptions {
            var options = LoggedDatabase.options()
            switch self {
            case .writing: break
            case .forReadingOnly: options.isReadOnly = true
            case .withoutLog:
                options.recovery = options.log
                options.log = nil
            case .unflushed: options.durability = .none
            }
            return options
        }
    }

    /// Puts the realm and its log into the directory.
    private func copy() throws -> String {
        for suffix in Self.suffixes { _ = try GoldenDatabase.copy(GoldenLoggedProgram.name + suffix, to: directory) }
        return directory.path(GoldenLoggedProgram.name)
    }

    private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    /// The newest header of a file, and the first byte of its page.
    private func header(in realm: [UInt8]) throws -> (header: FileHeader, start: Int) {
        try #require(realm.count >= FileHeader.slotPageCount * pageByteCount)
        var newest: (header: FileHeader, start: Int)?
        realm.withUnsafeBytes { bytes in
            for page in 0..<FileHeader.slotPageCount {
                let start = page * pageByteCount
                guard
                    case .valid(let header) = FileHeader.read(bytes.baseAddress! + start, page: PageNumber(page)),
                    newest.map({ $0.header.sequence < header.sequence }) ?? true
                else { continue }
                newest = (header, start)
            }
        }
        return try #require(newest)
    }

    /// What the log holds behind the version of the header.
    private func tail(_ path: String) throws -> (header: FileHeader, tail: LogReader.Tail) {
        let header = try header(in: bytes(path)).header
        let device = try #require(try LogFile(besides: path).open(forReadingOnly: true))
        defer { withExtendedLifetime(device) {} }
        guard case .log(let reader) = try LogReader.read(device.descriptor, path: path + ".log") else {
            throw StorageError(.corrupt, "The file beside the realm is no log")
        }
        return (header, try reader.tail(from: header.mark.point, version: header.version))
    }

    /// Requires that a file holds what the program wrote, and that it is consistent.
    private func requireWhole(_ file: StorageFile, _ version: UInt64) throws {
        let snapshot = try file.beginRead()
        #expect(snapshot.version == version)
        let model = try ModelView(snapshot: snapshot)
        if let difference = try GoldenLoggedProgram.plain().difference(from: model) { throw difference }
        try ModelVerifier.verify(model)
        try FileVerifier.verify(snapshot)
    }

    // MARK: Tests

    @Test("A log is not applied to a file that calls a page free which is in use", arguments: [true, false])
    func freeInUse(isForged: Bool) throws {
        let path = try copy()
        if isForged {
            // The page of the catalog, in each header that has a record of space.
            var bytes = try bytes(path)
            let page = try header(in: bytes).header.catalog.page
            let count = try bytes.withUnsafeMutableBytes { bytes -> Int in
                var count = 0
                for slot in 0..<FileHeader.slotPageCount {
                    let start = bytes.baseAddress! + slot * pageByteCount
                    guard case .valid(var header) = FileHeader.read(start, page: PageNumber(slot)) else { continue }
                    var records = try header.spaceRecords(path: path)
                    guard var last = records.popLast() else { continue }
                    let extent = Extent(page: page, pageCount: 1)
                    last.retired.append(RetiredExtent(extent: extent, birth: 0, death: 1))
                    var writer = RealmStorage.ByteWriter()
                    for record in records + [last] { record.encode(into: &writer) }
                    header.records = writer.bytes
                    header.store(to: start, page: PageNumber(slot))
                    count += 1
                }
                return count
            }
            try #require(count > 0)
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        }
        for way in [Way.writing, .withoutLog] {
            guard isForged else {
                _ = try StorageFile.open(path: copy(), options: way.options)
                continue
            }
            let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path, options: way.options) }
            #expect(error?.code == .corrupt)
            #expect(error?.message.contains("in use and free at once") == true, "\(error?.message ?? "")")
            #expect(FileManager.default.fileExists(atPath: path + ".log"))
        }
    }

    @Test("The header of a realm with an open log has its mark where the page says, and the log has the rest")
    func marks() throws {
        let path = try copy()
        let (realm, log) = try (bytes(path), bytes(path + ".log"))
        let start = try header(in: realm).start
        func word(_ offset: Int) -> UInt64 {
            (0..<8).reduce(0) { $0 | UInt64(realm[start + offset + $1]) << UInt64(8 * $1) }
        }
        // The feature without which the file cannot be read.
        #expect(word(104) == 1)
        // The identifiers of the file and of the log.
        let file = Array(realm[start + 48..<start + 64])
        let own = Array(realm[start + 248..<start + 264])
        #expect(file == Array(log[16..<32]))
        #expect(own == Array(log[32..<48]))
        #expect(own.contains { $0 != 0 })
        // Behind pages the log goes on at a block, and there is something before it.
        #expect(word(264) > 0 && word(264) % 4096 == 0)
        let found = try tail(path)
        #expect(found.header.mark.isOpen)
        #expect(found.header.mark.point == LogPoint(offset: word(264), chain: word(272)))
        #expect(found.tail.records.count == GoldenLoggedProgram.recordCount)
        for (number, record) in found.tail.records.enumerated() {
            #expect(record.kind == .changes && record.isLastOfVersion)
            #expect(record.version == found.header.version + 1 + UInt64(number))
            #expect(record.position == found.header.numbers.position + 1 + UInt64(number))
        }
    }

    @Test(
        "A realm with an open log is opened, holds what plain dictionaries do, and is one closed file",
        arguments: Way.allCases
    )
    func opens(way: Way) throws {
        let path = try copy()
        let version = try #require(try tail(path).tail.records.last).version
        do {
            let file = try StorageFile.open(path: path, options: way.options)
            #expect(!FileManager.default.fileExists(atPath: path + ".log"))
            try requireWhole(file, version)
        }
        let closed = try bytes(path)
        let header = try header(in: closed).header
        #expect(header.version == version && !header.mark.isOpen)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(names.filter { !$0.hasSuffix(".lock") } == [GoldenLoggedProgram.name])
        // Whoever knows of no logs reads it, and changes nothing.
        var options = StorageOptions()
        options.isReadOnly = true
        do { try requireWhole(StorageFile.open(path: path, options: options), version) }
        let isUnchanged = try bytes(path) == closed
        #expect(isUnchanged)
    }

    @Test("A realm with an open log is refused without that log, and stays as it is", arguments: Way.allCases)
    func missing(way: Way) throws {
        let path = try copy()
        try FileManager.default.removeItem(atPath: path + ".log")
        let before = try bytes(path)
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path, options: way.options) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("missing") == true, "\(error?.message ?? "")")
        let isUnchanged = try bytes(path) == before
        #expect(isUnchanged)
    }

    @Test("What is committed behind the records of an earlier release has the next keys, position and log")
    func goesOn() throws {
        let path = try copy()
        let last = try #require(try tail(path).tail.records.last)
        let plain = try GoldenLoggedProgram.plain()
        let database = try LoggedDatabase(at: path)
        try database.write(GoldenRecords.heading(100)) { model in
            let items = try #require(try model.table(named: "Item"))
            let key = try items.insert(primaryKey: .int(100))
            #expect(key == plain.nextKeys["Item"])
            try items.set("name", key, .string("behind the recovery"))
        }
        let header = try database.file.beginRead().header
        #expect(header.version == last.version + 1)
        #expect(header.numbers.position == last.position + 1)
        #expect(header.mark.isOpen)
        try database.requireRecovery("a commit behind a recovery")
    }
}
