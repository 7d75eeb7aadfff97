import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel
@testable import RealmStorage

#if DEBUG
@Suite("The checks of what is written to large lists, and of what is kept from transaction to transaction")
struct ListInvariantTests {
    private typealias Place = ModelTransaction.SequencePlace

    private static let bag = ClassSchema(
        name: "Bag",
        properties: [
            PropertySchema(name: "numbers", kind: .int, collection: .list),
            PropertySchema(name: "size", kind: .int),
        ]
    )

    /// What a check says; nil when it finds nothing.
    private func complaint(_ check: () throws(BrokenInvariant) -> Void) -> String? {
        do throws(BrokenInvariant) { try check() } catch { return error.description }
        return nil
    }

    /// Breaks something in a transaction that has changed a large list which was there before, and goes on never.
    private func inTransaction(
        _ body: (_ model: ModelView, _ bags: TableView, _ place: ModelTransaction.SequencePlace) throws -> Void
    ) throws {
        var options = StorageOptions()
        options.durability = .none
        // The test asks, and the steps are not to be heard.
        options.invariantWasBroken = { _ in }
        options.invariantScope = .whole
        let directory = TemporaryDirectory()
        let file = try StorageFile.open(path: directory.path("test.realm"), options: options)
        try TestDatabase.reconcile(DatabaseSchema(classes: [Self.bag], version: 1), in: file)
        let model = try ModelView(snapshot: file.beginRead())
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try model.begin(file.beginWrite())
        let bags = try #require(try model.table(named: "Bag"))
        let key = try bags.insert()
        try bags.listAssign(0, key: key, (Int64(0)..<2_000).map { StoredValue.int($0) })
        try file.publish([try model.prepareCommit()])
        try model.endTransaction(advancingTo: file.beginRead())
        let storage = try file.beginWrite()
        storage.recording = .record
        try model.begin(storage)
        defer { model.rollback() }
        try bags.listAppend(0, key: key, StoredValue.int(-1))
        #expect(complaint(model.checkInvariants) == nil)
        try body(model, bags, bags.place(0, key))
        #expect(complaint(model.checkInvariants) == nil)
    }

    @Test("Elements of a list that are miscounted are told, and what a file says wrongly is not")
    func sequences() throws {
        try inTransaction { model, bags, place in
            let transaction = try #require(model.transaction)
            let list = try #require(transaction.sequences[place])
            #expect(list.isCounted && list.isMeasured)
            list.count += 1
            #expect(complaint(model.checkInvariants) == "2001 elements of a list are counted as 2002")
            #expect(complaint(model.checkInvariantsOfChange) == "2001 elements of a list are counted as 2002")
            list.lookAtClaims(in: transaction.storage)
            #expect(complaint(model.checkInvariants) == nil, "as one that a stranger's file has")
            list.count -= 1
            list.byteCount += 8
            list.isCounted = true
            list.isMeasured = true
            #expect(complaint(model.checkInvariants) == "16008 bytes of a list are counted as 16016")
            #expect(complaint(model.checkInvariantsOfChange) == nil)
            list.byteCount = -8
            #expect(complaint(model.checkInvariants) == "A list has 2001 elements of -8 bytes")
            list.byteCount = 16_008
        }
    }

    @Test("A list of no table, no list property or no row is told")
    func places() throws {
        try inTransaction { model, bags, place in
            let transaction = try #require(model.transaction)
            let list = try #require(transaction.sequences[place])
            func told(_ place: Place) -> String? {
                transaction.sequences[place] = list
                defer { transaction.sequences[place] = nil }
                return complaint(model.checkInvariants)
            }
            let (table, key) = (place.table, place.key)
            #expect(
                told(Place(table: table + 7, property: 0, key: key))
                    == "A list is changed of table \(table + 7), which is not open"
            )
            #expect(told(Place(table: table, property: 1, key: key)) == "Property 1 of 'Bag' holds no lists")
            #expect(told(Place(table: table, property: 0, key: key + 50)) == "A list of 'Bag' belongs to no row")
        }
    }

    @Test("Splices that are miscounted, torn, of a new row or for no record are told")
    func splices() throws {
        try inTransaction { model, bags, place in
            let transaction = try #require(model.transaction)
            let splices = try #require(transaction.splices[place])
            #expect(splices.count == 1)
            transaction.splices[place]?.count += 1
            #expect(complaint(model.checkInvariants) == "1 splices of a list are counted as 2")
            transaction.splices[place] = splices
            transaction.splices[place]?.writer.write(byte: 0x80)
            #expect(complaint(model.checkInvariants) == "The splices of a list cannot be read")
            transaction.splices[place] = splices
            transaction.storage.recording = .pages
            #expect(complaint(model.checkInvariants) == "What is done to lists is kept for no record")
            transaction.storage.recording = .record
            let row = try bags.insert()
            let new = bags.place(0, row)
            transaction.splices[new] = ListSplices()
            #expect(
                complaint(model.checkInvariants)
                    == "A list of 'Bag' is told by its changes, and its row is new"
            )
            transaction.splices[new] = nil
        }
    }

    @Test("A session that would not be sealed, goes by another schema, or has other roots than the catalog, is told")
    func sessions() throws {
        try inTransaction { model, bags, place in
            let transaction = try #require(model.transaction)
            let (storage, session) = (transaction.storage, transaction.session)
            storage.session = nil
            #expect(
                complaint(model.checkInvariantsOfChange)
                    == "What the transaction leaves in its session would not be sealed"
            )
            storage.session = session
            model.schema.stamp += 1
            #expect(complaint(model.checkInvariantsOfChange) == "The session has another schema than the view")
            model.schema.stamp -= 1
            let writer = try #require(session.tables[bags.id])
            var schema = bags.layout.schema
            schema.furtherIndexCount += 1
            session.tables[bags.id] = TableWriter(
                writer.roots,
                layout: TableLayout(schema, in: model.schema),
                transaction: storage
            )
            #expect(
                complaint(session.checkInvariantsOfChange)
                    == "The writer of 'Bag' goes by another class than the session"
            )
            var roots = writer.roots
            roots.clusters.nextKey += 1
            session.tables[bags.id] = TableWriter(roots, layout: bags.layout, transaction: storage)
            #expect(
                complaint { () throws(BrokenInvariant) in try session.checkRoots(in: storage) }
                    == "The catalog has other roots of 'Bag' than the session"
            )
            session.tables[bags.id] = writer
        }
    }
}
#endif
