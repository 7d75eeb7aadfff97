import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel
@testable import RealmStorage

#if DEBUG
@Suite("The checks of what tables, views and writers promise")
struct ModelInvariantTests {
    private static let item = ClassSchema(
        name: "Item",
        properties: [
            PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
            PropertySchema(name: "name", kind: .string, isIndexed: true),
        ]
    )

    /// What a check says; nil when it finds nothing.
    private func complaint(_ check: () throws(BrokenInvariant) -> Void) -> String? {
        do throws(BrokenInvariant) { try check() } catch { return error.description }
        return nil
    }

    /// Breaks something in a transaction that has written, which is not checked by itself, and never goes on.
    private func inTransaction(_ body: (ModelView, TableView, TableWriter) throws -> Void) throws {
        var options = StorageOptions()
        options.durability = .none
        options.invariantWasBroken = nil
        let directory = TemporaryDirectory()
        let file = try StorageFile.open(path: directory.path("test.realm"), options: options)
        try TestDatabase.reconcile(DatabaseSchema(classes: [Self.item], version: 1), in: file)
        let model = try ModelView(snapshot: file.beginRead())
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        for first in [0, 20] {
            try model.begin(file.beginWrite())
            let table = try #require(try model.table(named: "Item"))
            for id in first..<first + 20 {
                let key = try table.insert(intPrimaryKey: Int64(id))
                try table.set("name", key, .string("name \(id)"))
            }
            if first == 0 {
                try file.publish([try model.prepareCommit()])
                try model.endTransaction(advancingTo: file.beginRead())
            }
        }
        defer { model.rollback() }
        let table = try #require(try model.table(named: "Item"))
        let writer = try #require(table.writer)
        try table.catchUpAll()
        #expect(complaint(model.checkInvariants) == nil)
        try body(model, table, writer)
    }

    @Test("An index that has lost an entry, or waits for rows that there are not, is told")
    func indexes() throws {
        try inTransaction { model, table, writer in
            let tree = Int(table.slots[table.ordinal("name")].tree)
            writer.trees[tree].pendingFrom += 1
            #expect(complaint(model.checkInvariants) == "An index of 'Item' waits for rows that there are not")
            writer.trees[tree].pendingFrom -= 1
            var cursor = writer.trees[tree].tree.cursor(in: table.view)
            #expect(try cursor.seekFirst())
            let key = Array(cursor.key)
            try key.withUnsafeBytes { bytes in
                _ = try writer.trees[tree].tree.remove(bytes, in: writer.rows.transaction)
            }
            #expect(complaint(model.checkInvariants) == "An index of 'Item' has 39 entries for 40 rows")
            try key.withUnsafeBytes { bytes in
                _ = try writer.trees[tree].tree.insert(bytes, value: .none, in: writer.rows.transaction)
            }
            writer.trees[tree].changes = WrittenTree.PendingChanges()
            #expect(
                complaint(model.checkInvariants)
                    == "An index of 'Item' counts as up to date, and changes wait for it"
            )
            writer.trees[tree].changes = nil
            let primary = Int(table.slots[table.primaryKeyProperty].tree)
            try KeyRuns.remove(3, from: &writer.trees[primary].tree, in: writer.rows.transaction)
            #expect(complaint(model.checkInvariants) == "An index of 'Item' has 39 entries for 40 rows")
        }
    }

    @Test("A writer that has lost a tree, and roots that are not sealed, are told")
    func writers() throws {
        try inTransaction { model, table, writer in
            let last = writer.trees.removeLast()
            #expect(complaint(model.checkInvariants) == "'Item' has 1 trees")
            writer.trees.append(last)
            #expect(complaint(model.checkInvariants) == nil)
            var roots = table.roots
            roots.clusters.root = PageReference(page: 9, pageCount: 1, checksum: 0)
            #expect(
                complaint { () throws(BrokenInvariant) in try roots.checkInvariants(table.layout) }
                    == "A root of 'Item' is not sealed"
            )
            roots = table.roots
            roots.trees = []
            #expect(
                complaint { () throws(BrokenInvariant) in try roots.checkInvariants(table.layout) }
                    == "The roots of 'Item' are of 0 trees"
            )
            writer.rows.tree.rowCount += 1
            #expect(complaint(model.checkInvariants) == "40 rows are counted as 41")
            writer.rows.tree.rowCount -= 1
        }
    }

    @Test("A table that is written outside of its transaction, or that a commit would not seal, is told")
    func views() throws {
        try inTransaction { model, table, writer in
            let transaction = try #require(model.transaction)
            let touched = transaction.touched
            transaction.touched = []
            #expect(complaint(model.checkInvariants) == "'Item' is written, and would not be sealed")
            transaction.touched = touched
            transaction.session.tables = [:]
            #expect(complaint(model.checkInvariants) == "The session has another writer for 'Item'")
            transaction.session.tables = [table.id + 1: writer]
            #expect(complaint(transaction.session.checkInvariants)?.contains("stands under") == true)
            transaction.session.tables = [table.id: writer]
            model.transactionFlag.pointee = 0
            #expect(complaint(model.checkInvariants) == "The flag of the transaction is 0")
            model.transactionFlag.pointee = 1
            #expect(complaint(model.checkInvariants) == nil)
        }
        let database = try TestDatabase([Self.item])
        let table = try database.table("Item")
        let other = try TestDatabase([Self.item])
        try other.file.lockForWriting()
        defer { other.file.unlockForWriting() }
        let storage = try other.file.beginWrite()
        defer { storage.rollback() }
        table.write(through: TableWriter(table.roots, layout: table.layout, transaction: storage))
        #expect(complaint(database.model.checkInvariants) == "The table of 'Item' is written outside of a transaction")
        table.becomeEmpty()
        database.model.catalog = ByteTree(root: PageReference(page: 9, pageCount: 1, checksum: 3))
        #expect(
            complaint(database.model.checkInvariants) == "The view reads another catalog than that of its version"
        )
    }
}
#endif
