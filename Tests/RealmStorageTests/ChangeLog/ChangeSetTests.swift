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
                #expect(Array(changes.inserted) == after.keys.filter { before[$0] == nil }.sorted(), "seed \(seed)")
                #expect(Array(changes.deleted) == before.keys.filter { after[$0] == nil }.sorted(), "seed \(seed)")
                let modified = after.keys.filter { before[$0] != nil && before[$0] != after[$0] }.sorted()
                #expect(changes.modified.map(\.key) == modified, "seed \(seed)")
                for change in changes.modified { #expect(change.columns.columns == [Int(change.key % 70)]) }
            }
        }
    }

    @Test(arguments: [21, 22, 23] as [UInt64])
    func `one transaction notes what it wrote, in order, out of order and again`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let file = try StorageFile.open(path: directory.path("order-\(seed).realm"))
        #expect(try file.tryLockForWriting())
        for _ in 0..<40 {
            let before = try file.beginRead()
            let transaction = try file.beginWrite()
            var written: [Int64: Set<Int>] = [:]
            var deleted: Set<Int64> = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let column = Int.random(in: 0..<90, using: &random)
                let start = Int64.random(in: 0..<60, using: &random)
                // Stretches of rows one after the other, single ones, and some that go.
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    transaction.changes.recordDelete(table: 5, key: start)
                    deleted.insert(start)
                case 1:
                    transaction.changes.recordModify(table: 5, key: start, column: column)
                    written[start, default: []].insert(column)
                default:
                    for key in start..<start + Int64.random(in: 1...40, using: &random) {
                        if column % 5 == 0, key % 7 == 0 { continue }
                        transaction.changes.recordModify(table: 5, key: key, column: column)
                        written[key, default: []].insert(column)
                        // Another table in between.
                        if key % 11 == 0 { transaction.changes.recordModify(table: 6, key: key, column: 1) }
                    }
                }
            }
            try file.publish([try transaction.prepareCommit()])
            let set = try #require(try file.changes(after: before.version, through: try file.beginRead()))
            let changes = set.tables[5] ?? TableChanges()
            let expected = written.filter { !deleted.contains($0.key) }
            #expect(changes.modified.map(\.key) == expected.keys.sorted(), "seed \(seed)")
            for change in changes.modified {
                #expect(Set(change.columns.columns) == expected[change.key], "seed \(seed), row \(change.key)")
            }
            #expect(Array(changes.deleted) == deleted.sorted(), "seed \(seed)")
        }
    }

    @Test func `several ways through a table are noted, and what happens between them`() throws {
        let file = try StorageFile.open(path: directory.path("ways.realm"))
        #expect(try file.tryLockForWriting())
        let before = try file.beginRead()
        let transaction = try file.beginWrite()
        let changes = transaction.changes
        var written: [Int64: Set<Int>] = [:]
        func write(_ key: Int64, _ column: Int) {
            changes.recordModify(table: 2, key: key, column: column)
            written[key, default: []].insert(column)
        }
        for way in 0..<10 {
            for key in Int64(way)..<3_000 where way % 3 == 0 || key % 5 != 0 { write(key, way * 9) }
            write(Int64(way * 17), 3)
            write(Int64(way * 13), 4)
        }
        changes.recordDelete(table: 2, key: 77)
        written[77] = nil
        try file.publish([try transaction.prepareCommit()])
        let set = try #require(try file.changes(after: before.version, through: try file.beginRead()))
        let modified = try #require(set.tables[2]).modified
        #expect(modified.map(\.key) == written.keys.sorted())
        #expect(modified.allSatisfy { Set($0.columns.columns) == written[$0.key] })
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
