import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite("Files of the format before")
struct FormerFormatTests {
    let directory = TemporaryDirectory()

    /// A file of the former format with four commits, closed.
    private func makeFile(_ name: String = "former.realm") throws -> String {
        let path = directory.path(name)
        do {
            let file = try StorageFile.open(path: path)
            #expect(try file.tryLockForWriting())
            for round in 0..<4 { try commit(UInt64(round), to: file) }
            file.unlockForWriting()
        }
        try FormerFile.make(path)
        return path
    }

    private func commit(_ value: UInt64, to file: StorageFile) throws {
        let transaction = try file.beginWrite()
        if transaction.catalog.root.isNone { try PageArray.create(in: transaction) }
        try PageArray.set(0, to: value, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
    }

    private func firstValue(_ snapshot: Snapshot) throws -> UInt64 {
        try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[0]
    }

    private func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

    @Test func `a file that is only read stays as it is`() throws {
        let path = try makeFile()
        let before = try bytes(path)
        for isReadOnly in [true, false] {
            var options = StorageOptions()
            options.isReadOnly = isReadOnly
            let file = try StorageFile.open(path: path, options: options)
            #expect(try firstValue(file.beginRead()) == 3)
            #expect(try file.beginRead().header.isFormer)
            try HeaderAudit.check(file.beginRead())
        }
        #expect(try bytes(path) == before)
    }

    @Test func `the first commit carries a file over, and what only knows the former format refuses it from then on`()
        throws
    {
        let path = try makeFile()
        #expect(FormerFile.newestVersion(in: try bytes(path)) == 5)
        let fileID: UInt64
        do {
            let file = try StorageFile.open(path: path)
            fileID = try file.beginRead().header.fileID
            #expect(try file.tryLockForWriting())
            try commit(10, to: file)
            #expect(FormerFile.newestVersion(in: try bytes(path)) == nil)
            try commit(11, to: file)
            file.unlockForWriting()
            try HeaderAudit.check(file.beginRead())
        }
        let file = try StorageFile.open(path: path)
        let header = try file.beginRead().header
        #expect(try firstValue(file.beginRead()) == 11)
        #expect(!header.isFormer && header.fileID == fileID && header.identifier.high != 0)
        try HeaderAudit.check(file.beginRead())
    }

    @Test func `a reader that has a file open follows when another process carries it over`() async throws {
        let path = try makeFile()
        let file = try StorageFile.open(path: path)
        #expect(try firstValue(file.beginRead()) == 3)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let file = try StorageFile.open(path: path)
            try file.lockForWriting()
            let transaction = try file.beginWrite()
            try PageArray.set(0, to: 20, in: transaction)
            try file.publish([try PageArray.commit(transaction)])
            file.unlockForWriting()
        }
        #expect(try firstValue(file.beginRead()) == 20)
        #expect(try file.tryLockForWriting())
        try commit(21, to: file)
        file.unlockForWriting()
        #expect(try firstValue(file.beginRead()) == 21)
    }

    /// Every state of the disk that a power cut leaves while a file is carried over: unflushed writes lost, reordered, and torn
    /// within sectors.
    @Test func `no power cut while a file is carried over loses a version, for this release or for those before`()
        throws
    {
        let path = try makeFile()
        var durable = try bytes(path)
        let log = RecordingDevice.Log()
        var options = StorageOptions()
        options.makeDevice = { RecordingDevice($0, log: log) }
        log.append(.acknowledged(version: 5))
        do {
            let file = try StorageFile.open(path: path, options: options)
            #expect(try file.tryLockForWriting())
            for round in 0..<3 {
                try commit(10 + UInt64(round), to: file)
                log.append(.acknowledged(version: file.newestVersion))
            }
            file.unlockForWriting()
        }
        var random = SplitMix64(seed: 30)
        var pending: [(offset: Int, bytes: [UInt8])] = []
        var acknowledged: UInt64 = 5
        var counts = (all: 0, former: 0)
        for operation in log.state.withLock({ $0.operations }) {
            switch operation {
            case .acknowledged(let version): acknowledged = version
            case .setByteCount(let count): durable.removeSubrange(min(count, durable.count)...)
            case .synchronize:
                for write in pending { Self.apply(write.bytes[...], at: write.offset, to: &durable) }
                pending = []
            case .write(let offset, let bytes): pending.append((offset, bytes))
            }
            for variant in 0..<(pending.isEmpty ? 1 : 25) {
                var image = durable
                for (index, write) in pending.enumerated() {
                    // None; the last; all but the last; torn in words, in sectors, in pages.
                    if variant == 0 || variant == 1 && index < pending.count - 1 { continue }
                    if variant == 2 && index == pending.count - 1 { continue }
                    let step = variant < 3 ? write.bytes.count : [8, 512, 4096][variant % 3]
                    for start in stride(from: 0, to: write.bytes.count, by: step)
                    where variant < 3 || Bool.random(using: &random) {
                        let end = min(start + step, write.bytes.count)
                        Self.apply(write.bytes[start..<end], at: write.offset + start, to: &image)
                    }
                }
                counts.all += 1
                if let version = FormerFile.newestVersion(in: image) {
                    counts.former += 1
                    #expect(version >= acknowledged, "state \(counts.all): a release before opens version \(version)")
                }
                let state = directory.path("state.realm")
                try Data(image).write(to: URL(fileURLWithPath: state))
                let file = try StorageFile.open(path: state)
                let snapshot = try file.beginRead()
                #expect(snapshot.version >= acknowledged, "state \(counts.all)")
                #expect(
                    try firstValue(snapshot) == (snapshot.version == 5 ? 3 : 4 + snapshot.version),
                    "state \(counts.all)"
                )
                #expect(try file.tryLockForWriting())
                try commit(99, to: file)
                file.unlockForWriting()
                #expect(try firstValue(file.beginRead()) == 99)
                try HeaderAudit.check(file.beginRead())
                #expect(FormerFile.newestVersion(in: try bytes(state)) == nil, "state \(counts.all)")
            }
        }
        print("states while a file is carried over: \(counts.all), \(counts.former) of them open to releases before")
        #expect(counts.former > 20 && counts.all > counts.former)
    }

    /// The file after each operation that carries it over and makes two commits, with what had been acknowledged.
    private func operationsOfCarryingOver(_ path: String) throws -> [RecordingDevice.Operation] {
        let log = RecordingDevice.Log()
        var options = StorageOptions()
        options.makeDevice = { RecordingDevice($0, log: log) }
        log.append(.acknowledged(version: 5))
        let file = try StorageFile.open(path: path, options: options)
        #expect(try file.tryLockForWriting())
        for value in UInt64(10)..<12 {
            try commit(value, to: file)
            log.append(.acknowledged(version: file.newestVersion))
        }
        file.unlockForWriting()
        return log.state.withLock { $0.operations }
    }

    @Test func `a header that is torn behind any of its words leaves the version that was there, or the new one`()
        throws
    {
        let path = try makeFile()
        var image = try bytes(path)
        var acknowledged: UInt64 = 5
        var count = 0
        for operation in try operationsOfCarryingOver(path) {
            switch operation {
            case .acknowledged(let version): acknowledged = version
            case .write(let offset, let written):
                if offset < FileHeader.slotPageCount * pageByteCount {
                    for end in stride(from: 0, through: written.count, by: 8) {
                        var state = image
                        Self.apply(written[..<end], at: offset, to: &state)
                        let recovered = try state.withUnsafeBytes {
                            try HeaderRecovery.recover(mapping: $0.baseAddress!, byteCount: $0.count, path: "")
                        }
                        #expect(recovered.header.version >= acknowledged, "\(offset) \(end)")
                        if let version = FormerFile.newestVersion(in: state) { #expect(version >= acknowledged) }
                        count += 1
                    }
                }
                Self.apply(written[...], at: offset, to: &image)
            default: break
            }
        }
        #expect(count > 4_000, "\(count)")
    }

    /// A commit that failed reached the disk without its pages, the former header was brought back in the system's memory only, and
    /// the power goes while the next commit carries the file over once more.
    @Test func `carrying over once more behind a commit that failed loses nothing`() throws {
        let path = try makeFile()
        let before = try bytes(path)
        let headers = try operationsOfCarryingOver(path)
            .compactMap { operation -> (offset: Int, bytes: [UInt8])? in
                guard case .write(let offset, let bytes) = operation, bytes.count == 2 * pageByteCount,
                    offset < FileHeader.slotPageCount * pageByteCount
                else { return nil }
                return (offset, bytes)
            }
        // The header in the present format, and that of the first commit over the former one.
        try #require(headers.count >= 2 && headers[0].offset != headers[1].offset)
        var inMemory = before
        Self.apply(headers[0].bytes[...], at: headers[0].offset, to: &inMemory)
        var durable = inMemory
        Self.apply(headers[1].bytes[...], at: headers[1].offset, to: &durable)
        let broughtBack = (headers[1].offset, Array(before[headers[1].offset..<headers[1].offset + 2 * pageByteCount]))
        try Data(inMemory).write(to: URL(fileURLWithPath: path))
        var pending = [broughtBack]
        var acknowledged: UInt64 = 5
        var random = SplitMix64(seed: 31)
        var count = 0
        for operation in try operationsOfCarryingOver(path) {
            switch operation {
            case .acknowledged(let version): acknowledged = version
            case .setByteCount(let length): durable.removeSubrange(min(length, durable.count)...)
            case .synchronize:
                for write in pending { Self.apply(write.1[...], at: write.0, to: &durable) }
                pending = []
            case .write(let offset, let bytes): pending.append((offset, bytes))
            }
            for variant in 0..<20 {
                var image = durable
                for write in pending {
                    for start in stride(from: 0, to: write.1.count, by: variant % 2 == 0 ? 8 : 512)
                    where Bool.random(using: &random) {
                        let end = min(start + (variant % 2 == 0 ? 8 : 512), write.1.count)
                        Self.apply(write.1[start..<end], at: write.0 + start, to: &image)
                    }
                }
                let state = directory.path("again.realm")
                try Data(image).write(to: URL(fileURLWithPath: state))
                do {
                    let snapshot = try StorageFile.open(path: state).beginRead()
                    #expect(snapshot.version >= acknowledged, "state \(count)")
                } catch {
                    Issue.record("state \(count): \(error)")
                }
                count += 1
            }
        }
        #expect(count > 100)
    }

    @Test(arguments: [0, 1])
    func `a process that joins goes by the former header as long as it stands there`(presentSlot: Int) throws {
        let path = try makeFile()
        // As a process without flushes leaves it that carried the file over and died: the present format first, not durable.
        var image = try bytes(path)
        image.withUnsafeMutableBytes { bytes in
            for page in 0..<FileHeader.slotPageCount {
                let start = bytes.baseAddress! + page * pageByteCount
                guard case .valid(var header) = FileHeader.read(start, page: PageNumber(page)) else { continue }
                header.confirmedVersion = header.version - 1
                header.version = 5
                if page / FileHeader.copiesPerSlot == presentSlot { header = header.carriedOver(asDurable: false) }
                header.store(to: start, page: PageNumber(page))
            }
        }
        try Data(image).write(to: URL(fileURLWithPath: path))
        // Nothing is settled by who only reads, so that it stays.
        var options = StorageOptions()
        options.isReadOnly = true
        let file = try StorageFile.open(path: path, options: options)
        let found = try #require(try StorageFile.published(version: 5, file.reservation, path))
        #expect(found.header.isFormer && found.slot == 1 - presentSlot)
    }

    @Test func `a release before refuses what was carried over, and what is new, by the number of the format`() throws {
        /// What such a release does with a page of the header: it believes the number 1 and no other one.
        func isKnown(_ image: [UInt8], page: Int) -> Bool {
            image.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: page * pageByteCount + 40, as: UInt32.self).littleEndian == 1
            }
        }
        let path = try makeFile()
        var image = try bytes(path)
        #expect((0..<4).allSatisfy { isKnown(image, page: $0) })
        let file = try StorageFile.open(path: path)
        #expect(try file.tryLockForWriting())
        try commit(10, to: file)
        file.unlockForWriting()
        image = try bytes(path)
        #expect(!(0..<4).contains { isKnown(image, page: $0) })
        let new = directory.path("new.realm")
        _ = try StorageFile.open(path: new)
        image = try bytes(new)
        #expect(!(0..<4).contains { isKnown(image, page: $0) })
        // The same rule, turned around: this release refuses a number that it does not know.
        try FormerFile.editHeaders(new) { $0.format = 3 }
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: new) }
        #expect(error?.code == .unsupportedFormat && error?.message.contains("format 3") == true)
    }

    private static func apply(_ bytes: ArraySlice<UInt8>, at offset: Int, to image: inout [UInt8]) {
        if image.count < offset + bytes.count {
            image.append(contentsOf: repeatElement(0, count: offset + bytes.count - image.count))
        }
        image.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
    }

    @Test(arguments: 0..<8, [false, true])
    func `a call that fails while a file is carried over fails the commit and loses nothing`(
        failing: Int,
        forever: Bool
    ) throws {
        let path = try makeFile()
        let log = RecordingDevice.Log()
        var options = StorageOptions()
        options.makeDevice = { RecordingDevice($0, log: log) }
        var expected: UInt64 = 3
        do {
            let file = try StorageFile.open(path: path, options: options)
            #expect(try file.tryLockForWriting())
            log.fail(at: failing, forever: forever)
            for value in UInt64(10)..<14 {
                do {
                    try commit(value, to: file)
                    expected = value
                } catch is StorageError {}
                #expect(try firstValue(file.beginRead()) == expected)
            }
            log.fail(at: nil)
            file.unlockForWriting()
        }
        let file = try StorageFile.open(path: path)
        #expect(try firstValue(file.beginRead()) == expected)
        #expect(try file.tryLockForWriting())
        try commit(50, to: file)
        file.unlockForWriting()
        try HeaderAudit.check(file.beginRead())
        #expect(try firstValue(file.beginRead()) == 50)
    }
}
