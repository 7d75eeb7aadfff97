import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ChangeSetTests {
    let directory = TemporaryDirectory()

    @Test(arguments: [11, 12, 13] as [UInt64])
    func `the changes between any two versions are exactly the difference of their contents`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let file = try StorageFile.open(path: directory.path("log-\(seed).realm"))
        #expect(try file.tryLockForWriting())
        var rows: [Int64: Int] = [:]
        var nextKey: Int64 = 0
        var history: [(Snapshot, [Int64: Int])] = [(try file.beginRead(), rows)]
        for step in 0..<300 {
            let transaction = try file.beginWrite()
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let keys = rows.keys.sorted()
                switch Int.random(in: 0..<4, using: &random) {
                case 0 where !keys.isEmpty:
                    let key = keys.randomElement(using: &random)!
                    rows[key] = nil
                    transaction.changes.recordDelete(table: 3, key: key)
                case 1 where !keys.isEmpty:
                    let key = keys.randomElement(using: &random)!
                    rows[key]! += 1
                    transaction.changes.recordModify(table: 3, key: key, column: Int(key % 70))
                default:
                    rows[nextKey] = 0
                    transaction.changes.recordInsert(table: 3, key: nextKey)
                    nextKey += 1
                }
            }
            try file.publish([try transaction.prepareCommit()])
            if step % 7 == 0 { history.append((try file.beginRead(), rows)) }
            if history.count > 8 { history.remove(at: Int.random(in: 0..<7, using: &random)) }
        }
        for (index, (old, before)) in history.enumerated() {
            for (new, after) in history[index...] {
                let set = try #require(try file.changes(after: old.version, through: new))
                let changes = set.tables[3] ?? TableChanges()
                #expect(changes.inserted == after.keys.filter { before[$0] == nil }.sorted(), "seed \(seed)")
                #expect(changes.deleted == before.keys.filter { after[$0] == nil }.sorted(), "seed \(seed)")
                let modified = after.keys.filter { before[$0] != nil && before[$0] != after[$0] }.sorted()
                #expect(changes.modified.map(\.key) == modified, "seed \(seed)")
                for change in changes.modified { #expect(change.columns.columns == [Int(change.key % 70)]) }
            }
        }
    }

    @Test func `changes that nobody stands behind are forgotten`() throws {
        var options = StorageOptions()
        options.durability = .none
        let file = try StorageFile.open(path: directory.path("forget.realm"), options: options)
        #expect(try file.tryLockForWriting())
        for key in 0..<5000 {
            let transaction = try file.beginWrite()
            transaction.changes.recordInsert(table: 1, key: Int64(key))
            try file.publish([try transaction.prepareCommit()])
        }
        let newest = try file.beginRead()
        #expect(try file.changes(after: 1, through: newest) == nil)
        #expect(try file.changes(after: newest.version - 1, through: newest)?.tables[1]?.inserted == [4999])
        #expect(file.byteCount < 2 << 20)
    }
}
