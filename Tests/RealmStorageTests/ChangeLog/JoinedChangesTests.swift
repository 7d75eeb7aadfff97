import RealmTestSupport
import Testing

@testable import RealmStorage

/// Changes between which nobody stands become one, and every reader still gets exactly what changed since its version.
@Suite struct JoinedChangesTests {
    let directory = TemporaryDirectory()

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `every snapshot gets the changes since its version, however long the log was joined`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var options = StorageOptions()
        options.durability = .none
        let file = try StorageFile.open(path: directory.path("joined.realm"), options: options)
        #expect(try file.tryLockForWriting())
        var held: [(snapshot: Snapshot, modified: Set<Int64>)] = []
        for round in 0..<1_200 {
            if round % 97 == 5 { held.append((try file.beginRead(), [])) }
            if held.count > 6 { held.remove(at: Int.random(in: 0..<held.count, using: &random)) }
            let transaction = try file.beginWrite()
            if round == 0 { try PageArray.create(in: transaction) }
            try PageArray.set(round % PageArray.count, to: UInt64(round), in: transaction)
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                let key = Int64.random(in: 0..<5_000, using: &random)
                transaction.changes.recordModify(table: 1, key: key, column: 2)
                for index in held.indices { held[index].modified.insert(key) }
            }
            try file.publish([try PageArray.commit(transaction)])
            guard round % 50 == 49 else { continue }
            let newest = try file.beginRead()
            for item in held {
                let changes = try file.changes(after: item.snapshot.version, through: newest)
                let keys = changes?.tables[1]?.modified.map(\.key) ?? []
                #expect(keys == item.modified.sorted(), "seed \(seed), round \(round), from \(item.snapshot.version)")
            }
            try PageArray.audit(newest)
        }
    }

    @Test func `the newest versions stay apart, as many as the options say`() {
        let changes = (1...10)
            .map { version in
                var set = ChangeSet()
                set.tables[1] = TableChanges()
                set.tables[1]?.modified = [TableChanges.Modification(key: Int64(version), columns: ColumnSet(2))]
                return SpaceSegment.VersionChanges(version: UInt64(version), changes: set)
            }
        for (retention, versions) in [(0, [10]), (1, [9, 10]), (3, [7, 8, 9, 10]), (9, Array(1...10))] {
            let merged = SpaceSegment.merged(changes, pinned: [10], retention: UInt64(retention))
            #expect(merged.map(\.version) == versions.map(UInt64.init), "retention \(retention)")
            let keys = merged.flatMap { $0.changes.tables[1]?.modified.map(\.key) ?? [] }
            #expect(keys == Array(1...10))
        }
    }

    @Test func `a segment that says that it is longer than its pages is refused`() throws {
        let segment = SpaceSegment(
            version: 2,
            previous: .none,
            previousVersion: 1,
            content: .picture(SpaceSegment.Picture(pageCount: 10, free: [], retired: [], changes: []))
        )
        let bytes = segment.encoded()
        let longest = pageByteCount - PageHeader.byteCount
        let store = try TreeFile()
        let transaction = try store.file.beginWrite()
        func read(_ byteCount: Int) throws -> SpaceSegment {
            let page = try transaction.allocate(pageCount: 1, kind: .spaceSegment)
            bytes.withUnsafeBytes {
                (page.bytes + PageHeader.byteCount).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
            }
            page.bytes.storeLittle(UInt32(byteCount), at: PageHeader.payloadByteCountOffset)
            return try SpaceSegment.read(transaction.seal(page.reference), in: transaction.view)
        }
        #expect(try read(bytes.count).version == 2)
        #expect(try read(longest).version == 2)
        for byteCount in [longest + 1, longest + PageHeader.byteCount] {
            let error = #expect(throws: StorageError.self) { try read(byteCount) }
            #expect(error?.code == .corrupt)
        }
        transaction.rollback()
    }
}
