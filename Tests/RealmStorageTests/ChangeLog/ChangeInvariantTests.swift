import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

#if DEBUG
@Suite("The checks of what is recorded of changes")
struct ChangeInvariantTests {
    let directory = TemporaryDirectory()

    /// What a check says; nil when it finds nothing.
    private func complaint(_ check: () throws(BrokenInvariant) -> Void) -> String? {
        do throws(BrokenInvariant) { try check() } catch { return error.description }
        return nil
    }

    /// What is said of a recorder that has noted changes of two tables, and was broken then.
    private func told(_ breaking: (ChangeRecorder) -> Void) -> String? {
        let recorder = ChangeRecorder()
        for key in [10, 11, 12, 20] as [Int64] { recorder.recordModify(table: 1, key: key, column: 0) }
        recorder.recordInsert(table: 1, key: 100)
        recorder.recordInsert(table: 1, key: 101)
        recorder.recordDelete(table: 1, key: 101)
        recorder.recordInsert(table: 2, key: 7)
        breaking(recorder)
        return complaint(recorder.checkInvariants)
    }

    @Test("Rows that are new out of order, gone without having been there, or new and changed, are told")
    func rows() {
        #expect(told { _ in } == nil)
        #expect(told { $0.recordInsert(table: 2, key: 5) } == "The new rows of table 2 do not ascend")
        #expect(told { $0.current.inserted[0].count = 0 } == "A run of new rows of table 2 is empty")
        #expect(
            told { $0.tables[1]?.deleted.insert(150) } == "Row 150 of table 1 was deleted, and never was there"
        )
        let isNew = "Row 100 of table 1 is new, and counts as changed"
        #expect(told { $0.tables[1]?.scattered[100] = ColumnSet(0) } == isNew)
        #expect(told { $0.tables[1]?.lastKey = 100 } == isNew)
        #expect(
            told { $0.tables[1]?.modified[0].count = 200 } == "Row 209 of table 1 is new, and counts as changed"
        )
    }

    @Test("Runs of changed rows that are empty, out of order or miscounted are told")
    func runs() {
        #expect(told { $0.tables[1]?.modifiedCount += 1 } == "3 changed rows of table 1 are counted as 4")
        #expect(told { $0.tables[1]?.modified[0].count = 0 } == "A run of changed rows of table 1 is empty")
        let run: ChangeRecorder.Run = (first: 11, count: 1, columns: ColumnSet(0))
        let isOutOfOrder = "Changed rows of table 1 do not ascend"
        #expect(told { $0.tables[1]?.modified.append(run) } == isOutOfOrder)
        #expect(told { $0.tables[1]?.earlier = [[run, run]] } == isOutOfOrder)
        #expect(told { $0.tables[1]?.scattered[5] = ColumnSet() } == "Nothing was changed of row 5 of table 1")
        #expect(
            told { $0.tables[1]?.lastColumns = ColumnSet() }
                == "The last changed row of table 1 is not the one whose columns are noted"
        )
    }

    @Test("A table that is noted in two places, and rows of none, are told")
    func tables() {
        #expect(told { $0.tables[2] = $0.current } == "Table 2 is noted in two places")
        #expect(told { $0.currentID = .max } == "Rows of no table are noted")
    }

    @Test("Lists of changes that are out of order, or not net, are told")
    func lists() {
        func told(_ breaking: (inout TableChanges) -> Void) -> String? {
            var changes = TableChanges()
            changes.inserted = [10, 11, 20]
            changes.deleted = [3]
            changes.modified = [5, 6].map { TableChanges.Modification(key: $0, columns: ColumnSet(0)) }
            breaking(&changes)
            var set = ChangeSet()
            set.tables[1] = changes
            return complaint(set.checkInvariants)
        }
        #expect(told { _ in } == nil)
        #expect(told { $0 = TableChanges() } == "Table 1 is listed, and nothing changed in it")
        #expect(told { $0.inserted.count = 2 } == "A run of keys is empty")
        #expect(told { $0.inserted.runs[1].first = 12 } == "Runs of keys touch or overlap")
        #expect(told { $0.inserted.runs[0].start = 1 } == "Keys are counted before the first run")
        #expect(told { $0.deleted.runs = [] } == "0 runs hold 1 keys")
        #expect(told { $0.deleted = [11] } == "A row of table 1 came and went, and is listed")
        #expect(told { $0.deleted = [6] } == "Row 6 of table 1 is gone, and counts as changed")
        #expect(told { $0.modified[1].key = 10 } == "Row 10 of table 1 is new, and counts as changed")
        #expect(told { $0.modified.swapAt(0, 1) } == "The changed rows of table 1 do not ascend")
        #expect(told { $0.modified[0].columns = ColumnSet() } == "Nothing was changed of row 5 of table 1")
    }

    @Test(
        "A transaction whose changes are out of order is told at its end, also where only changes are checked",
        arguments: [Invariant.Scope.change, .whole]
    )
    func steps(scope: Invariant.Scope) throws {
        let told = Mutex<[String]>([])
        var options = StorageOptions()
        options.durability = .none
        options.invariantWasBroken = { broken in told.withLock { $0.append(broken.description) } }
        options.invariantScope = scope
        let file = try StorageFile.open(path: directory.path("steps.realm"), options: options)
        #expect(try file.tryLockForWriting())
        defer { file.unlockForWriting() }
        var random = SplitMix64(seed: 30)
        var nextKey: Int64 = 1_000
        for round in 0..<60 {
            let transaction = try file.beginWrite(joining: true)
            for _ in 0..<40 {
                let key = Int64.random(in: 0..<1_000, using: &random)
                transaction.changes.recordModify(table: 1, key: key, column: 2)
            }
            for _ in 0..<5 {
                transaction.changes.recordInsert(table: 1, key: nextKey)
                nextKey += 1
            }
            transaction.changes.recordDelete(table: 1, key: nextKey - 2)
            transaction.changes.recordDelete(table: 1, key: Int64(round))
            if round % 5 == 4 { try file.publish([transaction.prepareCommit()]) } else { try transaction.join() }
        }
        #expect(told.withLock { $0 } == [])
        let transaction = try file.beginWrite()
        transaction.changes.recordInsert(table: 1, key: nextKey + 5)
        transaction.changes.recordInsert(table: 1, key: nextKey)
        try file.publish([transaction.prepareCommit()])
        #expect(told.withLock { $0 } == ["The new rows of table 1 do not ascend"])
    }

    @Test(
        "What earlier members of a group noted is looked at again where it ends, and in each step only where all is checked",
        arguments: [Invariant.Scope.change, .whole]
    )
    func groups(scope: Invariant.Scope) throws {
        let told = Mutex<[String]>([])
        var options = StorageOptions()
        options.durability = .none
        options.invariantWasBroken = { broken in told.withLock { $0.append(broken.description) } }
        options.invariantScope = scope
        let file = try StorageFile.open(path: directory.path("groups.realm"), options: options)
        #expect(try file.tryLockForWriting())
        defer { file.unlockForWriting() }
        let first = try file.beginWrite(joining: true)
        for key in [1, 2, 3] as [Int64] { first.changes.recordModify(table: 1, key: key, column: 0) }
        try first.join()
        let second = try file.beginWrite(joining: true)
        second.changes.recordModify(table: 2, key: 1, column: 0)
        second.group.changes.current.modifiedCount += 1
        try second.join()
        #expect(told.withLock { $0.isEmpty } == (scope == .change))
        try file.publish([#require(try file.sealGroup())])
        #expect(told.withLock { Set($0) } == ["2 changed rows of table 1 are counted as 3"])
    }
}
#endif
