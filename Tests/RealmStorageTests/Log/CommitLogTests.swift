import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The rules of the log that hold for the file alone; their numbers are those of the design.
@Suite("A log keeps its rules")
struct CommitLogTests {
    let folder = TemporaryDirectory()

    @Test("Rule 1: all records are in one file, which stays as long as it is, and one flush covers those before it")
    func rule1() throws {
        let small = try SmallLog(in: folder, blocks: 8)
        let path = small.directory.path
        let identity = try #require(FileIdentity.ofFile(at: path))
        let byteCount = try small.image().count
        var version: UInt64 = 1
        var start = small.header.beginning
        for round in 0..<40 {
            small.operations.state.withLock { $0.operations = [] }
            let startVersion = version
            for length in [100, 3_000, 900] {
                version += 1
                try small.log.append([SmallLog.entry(version, length)])
            }
            func flushCount() -> Int {
                small.operations.state.withLock { state in
                    state.operations.count { if case .synchronize = $0 { true } else { false } }
                }
            }
            #expect(flushCount() == 0)
            #expect(small.log.durable == start)
            try small.log.flush()
            #expect(flushCount() == 1)
            #expect(small.log.durable == small.log.end, "round \(round)")
            #expect(try small.versions(from: start, version: startVersion) == Array(startVersion + 1...version))
            start = small.log.end
            small.log.release(upTo: start)
        }
        // Many times around the ring.
        #expect(small.log.end.offset > 5 * UInt64(small.header.ringByteCount))
        #expect(FileIdentity.ofFile(at: path) == identity)
        #expect(try small.image().count == byteCount)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")).count == 1)
    }

    @Test("Rule 2: what stood in a block before it was used again is not read, over many rounds of the ring")
    func rule2Reuse() throws {
        let small = try SmallLog(in: folder)
        var start = small.header.beginning
        var startVersion: UInt64 = 1
        for version in UInt64(2)...60 {
            try small.log.append([SmallLog.entry(version, 100 + Int(version) * 37)])
            try small.log.flush()
            #expect(try small.versions(from: start, version: startVersion) == Array(startVersion + 1...version))
            guard version % 2 == 0 else { continue }
            start = small.log.end
            startVersion = version
            small.log.release(upTo: start)
        }
        #expect(small.log.end.offset > 10 * UInt64(small.header.ringByteCount))
    }

    @Test("Rule 2: a record is valid at its own offset, in its own log, behind its own predecessor")
    func rule2Place() throws {
        let entry = SmallLog.entry(2)
        let record = CommitRecord(
            kind: entry.kind,
            isLastOfVersion: true,
            position: entry.position,
            version: entry.version,
            content: entry.content
        )
        let place = CommitRecord.Place(log: SmallLog.identifier, offset: 4096, previous: 5)
        let (bytes, _) = try record.encoded(at: place)
        func isFound(at place: CommitRecord.Place) throws -> Bool {
            if case .record = try bytes.withUnsafeBytes({ try CommitRecord.read($0, at: place) }) {
                true
            } else {
                false
            }
        }
        #expect(try isFound(at: place))
        var others = [place, place, place]
        others[0].offset += 4096
        others[1].log.high ^= 1
        others[2].previous ^= 1
        for other in others { #expect(try !isFound(at: other)) }
    }

    @Test("Rule 2: a record behind one that was overwritten does not come back, though place and version would fit")
    func rule2Chain() throws {
        let small = try SmallLog(in: folder)
        for version in UInt64(2)...3 {
            try small.log.append([SmallLog.entry(version)])
            try small.log.flush()
        }
        #expect(try small.versions() == [2, 3])
        // The one before died, and nobody was told of what it wrote.
        let next = small.begunAnew()
        var other = SmallLog.entry(2)
        other.content[0] ^= 1
        try next.append([other])
        // In the place of the record before, and as long: the block behind still has the old version 3, where the next flush begins.
        #expect(try small.versions() == [2])
    }

    @Test("Rule 3: the first block says whose the log is; a damaged one is none, and the rest of a new log is zeros")
    func rule3() throws {
        let small = try SmallLog(in: folder)
        let image = try small.image()
        #expect(image.count == LogHeader.blockByteCount + small.header.ringByteCount)
        #expect(try SmallLog.reader(image).header == small.header)
        #expect(try SmallLog.reader(image).isUnused)
        for index in 0..<LogHeader.blockByteCount {
            var damaged = image
            damaged[index] ^= 1 << UInt8(index % 8)
            #expect(damaged.withUnsafeBytes { LogHeader.read($0) } == .damaged, "byte \(index)")
        }
        try small.log.append([SmallLog.entry(2)])
        #expect(try !SmallLog.reader(small.image()).isUnused)
    }

    @Test("Rule 4: what stands in a new log's place is an error, and stays")
    func rule4() throws {
        let small = try SmallLog(in: folder)
        let image = try small.image()
        var header = small.header
        header.log.low += 1
        #expect(throws: StorageError.self) { try small.directory.create(header) }
        #expect(try small.image() == image)
        try small.directory.remove()
        #expect(try small.directory.open(forReadingOnly: true) == nil)
        try small.directory.remove()
        _ = try small.directory.create(header)
        #expect(try SmallLog.reader(small.image()).header == header)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(""))
        #expect(!names.contains { $0.hasSuffix(".new") })
    }

    @Test(
        "Rule 5: nothing is written to a block that a flush has covered, until it is given back; whole blocks behind the first"
    )
    func rule5() throws {
        let small = try SmallLog(in: folder, blocks: 8)
        var random = SplitMix64(seed: 5)
        var version: UInt64 = 1
        for round in 0..<200 {
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                version += 1
                try small.log.append([SmallLog.entry(version, Int.random(in: 0...3000, using: &random))])
            }
            try small.log.flush()
            if round % 3 == 2 {
                small.operations.append(.acknowledged(version: version))
                small.log.release(upTo: small.log.end)
            }
        }
        var flushed: Set<Int> = []
        var written: Set<Int> = []
        for operation in small.operations.state.withLock({ $0.operations }) {
            switch operation {
            case .write(let offset, let bytes):
                let blocks = offset / 4096...(offset + bytes.count - 1) / 4096
                #expect((offset + bytes.count) % 4096 == 0)
                #expect(flushed.isDisjoint(with: blocks), "a flushed block is written again")
                written.formUnion(blocks)
            case .synchronize:
                flushed.formUnion(written)
                written = []
            case .acknowledged: flushed = []
            case .setByteCount: Issue.record("the log was made longer or shorter")
            }
        }
    }

    @Test("Rule 16: the ring is full until a checkpoint gives something back, and nothing is overwritten meanwhile")
    func rule16() throws {
        let small = try SmallLog(in: folder)
        for version in UInt64(2)...5 {
            try small.log.append([SmallLog.entry(version)])
            try small.log.flush()
        }
        let image = try small.image()
        #expect(!small.log.hasRoom(forContents: [0]))
        #expect(throws: StorageError.self) { try small.log.append([SmallLog.entry(6)]) }
        #expect(try small.image() == image)
        #expect(try small.versions() == [2, 3, 4, 5])
        // Version 2 is in the pages.
        let two = try SmallLog.reader(image).tail(from: small.header.beginning, version: 1)
        #expect(two.records.count == 4)
        let behind = LogPoint(offset: UInt64(CommitRecord.headerByteCount + 100), chain: try checksum(of: image, at: 0))
        small.log.release(upTo: behind)
        #expect(!small.log.hasRoom(forContents: [0]), "the block of the checkpoint itself is still needed")
        small.log.release(upTo: small.log.end)
        try small.log.append([SmallLog.entry(6)])
    }

    private func checksum(of image: [UInt8], at offset: Int) throws -> UInt64 {
        image.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: LogHeader.blockByteCount + offset, as: UInt64.self) }
    }

    @Test("Records of one append share a flush, also around the end of the ring")
    func groups() throws {
        let small = try SmallLog(in: folder)
        var start = small.header.beginning
        var version: UInt64 = 1
        for _ in 0..<30 {
            let group = (1...4).map { SmallLog.entry(version + UInt64($0), 300 * $0) }
            try small.log.append(group)
            #expect(try small.versions(from: start, version: version) == (1...4).map { version + $0 })
            try small.log.flush()
            version += 4
            start = small.log.end
            small.log.release(upTo: start)
        }
    }

    @Test("A record with numbers that no commit has is refused, before a header is made of it")
    func impossibleNumbers() throws {
        for isVersion in [false, true] {
            let small = try SmallLog(in: folder)
            var entry = SmallLog.entry(2)
            if isVersion { entry.version = 1 << 63 } else { entry.position = 1 << 63 }
            try small.log.append([entry])
            let error = #expect(throws: StorageError.self) { try small.versions() }
            #expect(error?.code == .corrupt)
        }
    }

    @Test("A first block that says more than a file in the process's memory may have is damaged")
    func endlessRing() throws {
        var bytes = [UInt8](repeating: 0, count: LogHeader.blockByteCount)
        func read(_ ringByteCount: Int) throws -> LogHeader.Found {
            var header = try SmallLog(in: folder).header
            header.ringByteCount = ringByteCount
            bytes.withUnsafeMutableBytes { header.store(to: $0.baseAddress!) }
            return bytes.withUnsafeBytes { LogHeader.read($0) }
        }
        #expect(try read(1 << 36) == .damaged)
        #expect(try read(4 << 20) != .damaged)
    }

    @Test(
        "A record of a kind, a format or with a flag that this release does not know is refused by name",
        arguments: [
            (CommitRecord.Frame.kind, "kind 77"), (CommitRecord.Frame.format, "format 77"),
            (CommitRecord.Frame.flags, "flags 77"), (CommitRecord.Frame.reserved, "and 77"),
        ]
    )
    func unknown(offset: Int, name: String) throws {
        let small = try SmallLog(in: folder)
        try small.log.append([SmallLog.entry(2)])
        var image = try small.image()
        let start = LogHeader.blockByteCount
        image[start + offset] = 77
        let count = CommitRecord.headerByteCount + 100
        let seed = withUnsafeBytes(of: (SmallLog.identifier.low, SmallLog.identifier.high, UInt64(0))) {
            XXH64.hash($0.baseAddress!, count: $0.count)
        }
        let checksum = image.withUnsafeBytes { XXH64.hash($0.baseAddress! + start + 8, count: count - 8, seed: seed) }
        withUnsafeBytes(of: checksum) { image.replaceSubrange(start..<start + 8, with: $0) }
        let error = #expect(throws: StorageError.self) {
            try SmallLog.tail(of: image, from: small.header.beginning, version: 1)
        }
        #expect(error?.code == .unsupportedFormat)
        #expect(error?.message.contains(name) == true)
    }
}
