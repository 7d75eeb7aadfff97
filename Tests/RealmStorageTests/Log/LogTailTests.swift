import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Where a log ends after a power cut, and what is damage.
@Suite("A log ends where its records end")
struct LogTailTests {
    let folder = TemporaryDirectory()

    /// `REALM_CRASH_STATES` sets how many states are tried (default 1,000), `REALM_CRASH_SEED` the first seed.
    @Test(
        "Rules 25 and 26: whatever sectors of an unflushed append arrive, all that was flushed is there, and nothing is damage"
    )
    func powerCuts() throws {
        let wanted = Int(ProcessInfo.processInfo.environment["REALM_CRASH_STATES"] ?? "") ?? 1000
        var checked = 0
        var torn = 0
        var seed = UInt64(ProcessInfo.processInfo.environment["REALM_CRASH_SEED"] ?? "") ?? 1
        while checked < wanted {
            defer { seed += 1 }
            var random = SplitMix64(seed: seed &* 977)
            let small = try SmallLog(in: folder, blocks: 6)
            var durable = try small.image()
            var version: UInt64 = 1
            var flushed: UInt64 = 1
            // The checkpoint that a recovery begins at.
            var start = small.header.beginning
            var startVersion: UInt64 = 1
            for _ in 0..<40 {
                let group = (0..<Int.random(in: 1...3, using: &random))
                    .map { SmallLog.entry(version + 1 + UInt64($0), Int.random(in: 0...2500, using: &random)) }
                if !small.log.hasRoom(forContents: group.map(\.content.count)) {
                    // The writer makes a checkpoint, of everything that was appended.
                    (start, startVersion, flushed) = (small.log.end, version, version)
                    small.log.release(upTo: start)
                }
                small.operations.state.withLock { $0.operations = [] }
                try small.log.append(group)
                version += UInt64(group.count)
                let isUnflushed = Int.random(in: 0..<4, using: &random) == 0
                let writes = small.operations.state.withLock { $0.operations }
                for _ in 0..<4 where checked < wanted {
                    var image = durable
                    for case .write(let offset, let bytes) in writes {
                        for sector in stride(from: 0, to: bytes.count, by: 512) where Bool.random(using: &random) {
                            let end = min(sector + 512, bytes.count)
                            image.replaceSubrange(offset + sector..<offset + end, with: bytes[sector..<end])
                        }
                    }
                    let tail = try SmallLog.tail(of: image, from: start, version: startVersion)
                    let found = tail.records.last?.version ?? startVersion
                    #expect(found >= flushed, "seed \(seed)")
                    #expect(found <= version)
                    #expect(tail.records.map(\.version) == (startVersion..<found).map { $0 + 1 })
                    if found < version { torn += 1 }
                    checked += 1
                }
                // What is not flushed is on the disk here, which makes no difference to what comes behind it.
                durable = try small.image()
                if isUnflushed { continue }
                try small.log.flush()
                flushed = version
            }
        }
        print("states of the log checked: \(checked), torn: \(torn)")
        #expect(torn > checked / 10)
    }

    /// `REALM_CRASH_STATES` sets how many states are tried (default 500), `REALM_CRASH_SEED` the first seed.
    @Test("So it is where pages are owed: a recovery begins before records that were flushed, and the ring keeps them")
    func powerCutsWhileOwing() throws {
        let wanted = Int(ProcessInfo.processInfo.environment["REALM_CRASH_STATES"] ?? "") ?? 500
        var (checked, torn, owing) = (0, 0, 0)
        var seed = UInt64(ProcessInfo.processInfo.environment["REALM_CRASH_SEED"] ?? "") ?? 1
        while checked < wanted {
            defer { seed += 1 }
            var random = SplitMix64(seed: seed &* 1433)
            let small = try SmallLog(in: folder, blocks: 8)
            var durable = try small.image()
            var (version, flushed) = (UInt64(1), UInt64(1))
            // Up to here pages are made, and up to there a checkpoint is.
            var published = (point: small.header.beginning, version: UInt64(1))
            var checkpoint = published
            for _ in 0..<40 {
                let group = (0..<Int.random(in: 1...3, using: &random))
                    .map { SmallLog.entry(version + 1 + UInt64($0), Int.random(in: 0...2500, using: &random)) }
                let byteCounts = group.map(\.content.count)
                // A checkpoint is of what has pages; where that leaves no room, all pages are made first.
                for makesPages in [false, true] where !small.log.hasRoom(forContents: byteCounts) {
                    if makesPages { published = (small.log.end, version) }
                    checkpoint = published
                    flushed = max(flushed, checkpoint.version)
                    small.log.release(upTo: checkpoint.point)
                }
                small.operations.state.withLock { $0.operations = [] }
                try small.log.append(group)
                version += UInt64(group.count)
                let writes = small.operations.state.withLock { $0.operations }
                for _ in 0..<4 where checked < wanted {
                    var image = durable
                    for case .write(let offset, let bytes) in writes {
                        for sector in stride(from: 0, to: bytes.count, by: 512) where Bool.random(using: &random) {
                            let end = min(sector + 512, bytes.count)
                            image.replaceSubrange(offset + sector..<offset + end, with: bytes[sector..<end])
                        }
                    }
                    let tail = try SmallLog.tail(of: image, from: checkpoint.point, version: checkpoint.version)
                    let found = tail.records.last?.version ?? checkpoint.version
                    #expect(found >= flushed, "seed \(seed)")
                    #expect(found <= version)
                    #expect(tail.records.map(\.version) == (checkpoint.version..<found).map { $0 + 1 })
                    if found < version { torn += 1 }
                    if flushed > published.version { owing += 1 }
                    checked += 1
                }
                durable = try small.image()
                if Int.random(in: 0..<4, using: &random) == 0 { continue }
                try small.log.flush()
                flushed = version
                if Int.random(in: 0..<4, using: &random) == 0 { published = (small.log.end, version) }
            }
        }
        print("states of the log with owed pages checked: \(checked), torn: \(torn), with owed pages: \(owing)")
        #expect(torn > checked / 10)
        #expect(owing > checked / 4)
    }

    @Test("Rule 25: a whole record behind a torn one of the same flush is not read, and is no damage")
    func wholeBehindTorn() throws {
        let small = try SmallLog(in: folder)
        try small.log.append([SmallLog.entry(2)])
        try small.log.flush()
        try small.log.append([SmallLog.entry(3), SmallLog.entry(4)])
        var image = try small.image()
        image[LogHeader.blockByteCount * 2 + 20] ^= 1
        let tail = try SmallLog.tail(of: image, from: small.header.beginning, version: 1)
        #expect(tail.records.map(\.version) == [2])
    }

    @Test("Rule 26: a flushed record that is damaged is an error when any record behind it says that it was flushed")
    func damageBeforeFlushed() throws {
        let small = try SmallLog(in: folder)
        for version in UInt64(2)...4 {
            // The last flush has two records, the first of which is torn.
            let group = version == 4 ? [SmallLog.entry(4), SmallLog.entry(5)] : [SmallLog.entry(version)]
            try small.log.append(group)
            try small.log.flush()
        }
        let whole = try small.image()
        for (record, offset) in [(2, 0), (3, 4096)] {
            for byte in 0..<CommitRecord.headerByteCount + 100 {
                var image = whole
                image[LogHeader.blockByteCount + offset + byte] ^= 0x10
                #expect(throws: StorageError.self, "byte \(byte) of record \(record)") {
                    try SmallLog.tail(of: image, from: small.header.beginning, version: 1)
                }
            }
        }
        // Only the second record of the last flush is left that says so.
        var image = whole
        image[LogHeader.blockByteCount + 4096 + 3] ^= 1
        image[LogHeader.blockByteCount + 8192 + 3] ^= 1
        let error = #expect(throws: StorageError.self) {
            try SmallLog.tail(of: image, from: small.header.beginning, version: 1)
        }
        #expect(error?.code == .corrupt)
    }

    @Test("Rule 26: a log that ends before what the lock file knows to be durable is damaged")
    func damageBeforeKnown() throws {
        let small = try SmallLog(in: folder)
        for version in UInt64(2)...3 {
            try small.log.append([SmallLog.entry(version)])
            try small.log.flush()
        }
        var image = try small.image()
        image[LogHeader.blockByteCount + 4096] ^= 1
        let reader = try SmallLog.reader(image)
        // Nothing behind it says so: it looks like a torn end.
        #expect(try reader.tail(from: small.header.beginning, version: 1).records.count == 1)
        #expect(throws: StorageError.self) {
            try reader.tail(from: small.header.beginning, version: 1, durable: small.log.durable.offset)
        }
    }

    @Test(
        "Rule 26: a checkpoint that the log does not reach back to is an error, however often the ring was used since"
    )
    func reachesBack() throws {
        for seed in UInt64(1)...6 {
            var random = SplitMix64(seed: seed &* 7321)
            let small = try SmallLog(in: folder, blocks: 6)
            var checkpoints = [(point: small.header.beginning, version: UInt64(1))]
            var oldest = 0
            var (whole, refused) = (0, 0)
            var older: [String] = []
            for version in UInt64(2)...40 {
                let entry = SmallLog.entry(version, Int.random(in: 0...6000, using: &random))
                if !small.log.hasRoom(forContents: [entry.content.count]) || Int.random(in: 0..<4, using: &random) == 0
                {
                    small.log.release(upTo: small.log.end)
                    oldest = checkpoints.count - 1
                }
                try small.log.append([entry])
                try small.log.flush()
                let reader = try SmallLog.reader(small.image())
                for (index, checkpoint) in checkpoints.enumerated() {
                    do {
                        let tail = try reader.tail(from: checkpoint.point, version: checkpoint.version)
                        let isWhole = tail.records.map(\.version) == Array(checkpoint.version + 1...version)
                        if isWhole { whole += 1 } else { older.append("\(version) behind \(checkpoint.version)") }
                    } catch {
                        #expect(index < oldest && error.code == .corrupt, "seed \(seed), \(version), \(checkpoint)")
                        refused += 1
                    }
                }
                checkpoints.append((small.log.end, version))
            }
            #expect(older.isEmpty, "seed \(seed): an older state is read")
            #expect(whole > 50)
            #expect(refused > 300)
        }
    }

    @Test("Rule 26: what a program stored may look like records everywhere, and does not take long to be looked at")
    func likeRecords() throws {
        // Two numbers of 32 bits, one behind the other, are a length of 64 KB, a format, and a kind.
        let blocks = 64
        let words = [UInt8](repeating: 0, count: blocks * LogHeader.blockByteCount).indices
            .map { [0, 0, 1, 0, 1, 1, 0, 0][$0 % 8] as UInt8 }
        let header = try SmallLog(in: folder, blocks: blocks).header
        let behind = LogReader(header: header, ring: words).behind(header.beginning, in: words, base: 0)
        #expect(behind.durable == 0)
        #expect(behind.examinedByteCount <= 2 * blocks * words.count)
        // One that is there is found all the same.
        let small = try SmallLog(in: folder, blocks: blocks)
        try small.log.append([SmallLog.entry(2)])
        try small.log.flush()
        try small.log.append([SmallLog.entry(3)])
        var image = try small.image()
        image[LogHeader.blockByteCount] ^= 1
        image.replaceSubrange((3 * LogHeader.blockByteCount)..., with: words[(2 * LogHeader.blockByteCount)...])
        #expect(throws: StorageError.self) { try SmallLog.tail(of: image, from: header.beginning, version: 1) }
    }

    @Test("Rule 27: what notes how far the log is durable is no record, and that what it tells of is missing is damage")
    func note() throws {
        let small = try SmallLog(in: folder)
        for version in UInt64(2)...3 {
            try small.log.append([SmallLog.entry(version)])
            try small.log.flush()
        }
        let end = small.log.end
        try small.log.note(.durable, version: 3, position: 2)
        #expect(small.log.end == end)
        let whole = try small.image()
        let tail = try SmallLog.tail(of: whole, from: small.header.beginning, version: 1)
        #expect(tail.records.map(\.version) == [2, 3])
        #expect(tail.end == end)
        for byte in 0..<CommitRecord.headerByteCount + 100 {
            var image = whole
            image[LogHeader.blockByteCount * 2 + byte] ^= 0x10
            let error = #expect(throws: StorageError.self, "byte \(byte)") {
                try SmallLog.tail(of: image, from: small.header.beginning, version: 1)
            }
            #expect(error?.code == .corrupt)
        }
        // Damage to the note itself has no effect, nor has it for the record that takes its place.
        for byte in 0..<CommitRecord.headerByteCount {
            var image = whole
            image[LogHeader.blockByteCount * 3 + byte] ^= 0x10
            let tail = try SmallLog.tail(of: image, from: small.header.beginning, version: 1)
            #expect(tail.records.map(\.version) == [2, 3], "byte \(byte)")
        }
        try small.log.append([SmallLog.entry(4)])
        #expect(try small.versions() == [2, 3, 4])
        let appended = try small.image()
        try small.log.note(.durable, version: 4, position: 3)
        #expect(try small.image() == appended, "nothing is said of what is not flushed")
    }

    @Test("Rule 20: the record of a version that is kept as pages stands behind that version only, and tells of it")
    func pages() throws {
        let small = try SmallLog(in: folder)
        try small.log.append([SmallLog.entry(2)])
        try small.log.flush()
        let point = small.log.pointBehindPages
        small.log.goOn(at: point)
        try small.log.note(.pages, version: 3, position: 2)
        let reader = try SmallLog.reader(small.image())
        let tail = try reader.tail(from: point, version: 3)
        #expect(tail.records.isEmpty)
        #expect(tail.end == point)
        for (start, version) in [(point, UInt64(2)), (small.header.beginning, 1)] {
            let error = #expect(throws: StorageError.self) { try reader.tail(from: start, version: version) }
            #expect(error?.code == .corrupt)
        }
        try small.log.append([SmallLog.entry(4)])
        #expect(try small.versions(from: point, version: 3) == [4])
    }

    @Test("Rule 9: the place of the first record that failed is the end of the log, whatever stands there")
    func refused() throws {
        let small = try SmallLog(in: folder)
        try small.log.append([SmallLog.entry(2)])
        try small.log.flush()
        let end = small.log.end
        try small.log.append([SmallLog.entry(3)])
        let reader = try SmallLog.reader(small.image())
        #expect(try reader.tail(from: small.header.beginning, version: 1).records.count == 2)
        #expect(try reader.tail(from: small.header.beginning, version: 1, refused: end).records.count == 1)
    }

    @Test("Any damaged byte of a log is an error, has no effect, or takes what nothing else calls durable")
    func everyByte() throws {
        let small = try SmallLog(in: folder, blocks: 3)
        for version in UInt64(2)...4 {
            try small.log.append([SmallLog.entry(version, 60)])
            try small.log.flush()
        }
        let whole = try small.image()
        var (errors, torn, intact, looked) = (0, 0, 0, 0)
        let record = CommitRecord.headerByteCount + 60
        // Of what is zeros behind the records some bytes only.
        for index in whole.indices where index < 4096 || index % 4096 < record + 20 || index % 61 == 0 {
            looked += 1
            var image = whole
            image[index] ^= 1 << UInt8(index % 8)
            guard let tail = try? SmallLog.tail(of: image, from: small.header.beginning, version: 1) else {
                errors += 1
                continue
            }
            switch tail.records.map(\.version) {
            case [2, 3, 4]: intact += 1
            case [2, 3]: torn += 1
            case let versions: Issue.record("byte \(index) leaves \(versions)")
            }
        }
        #expect(torn == record)
        #expect(errors == LogHeader.blockByteCount + 2 * record)
        #expect(intact == looked - errors - torn)
    }
}
