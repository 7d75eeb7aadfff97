import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// Roots in a catalog that the transaction which wrote them has gone on from: their pages may hold something else by now.
@Suite("Roots that a transaction left behind")
struct StaleRootTests {
    private static let classes = [
        .item(),
        ClassSchema(name: "Note", properties: [PropertySchema(name: "text", kind: .string)]),
    ]

    /// Who writes after the transaction that was sealed early.
    enum Next: String, CaseIterable, Sendable {
        /// The same view.
        case same
        /// Another one, which has not asked for its tables yet.
        case fresh
        /// Another one, which has them open.
        case open
        /// The transaction itself, after it was set aside.
        case parked
    }

    private func add(_ ids: Range<Int>, to database: TestDatabase) throws {
        let table = try database.table("Item")
        for id in ids {
            let key = try table.insert(intPrimaryKey: Int64(id))
            try table.set("name", key, .string("item \(id)"))
        }
    }

    private func rename(_ ids: Range<Int>, in database: TestDatabase) throws {
        let table = try database.table("Item")
        for id in ids {
            let key = try #require(try table.findInt(Int64(id)))
            try table.set("name", key, .string("renamed \(id)"))
        }
    }

    private func check(_ names: [String], in database: TestDatabase) throws {
        let table = try database.table("Item")
        try #require(table.count == names.count)
        for (id, name) in names.enumerated() {
            let key = try #require(try table.findInt(Int64(id)), "item \(id)")
            try #require(try table.value(table.ordinal("name"), key: key) == .string(name))
            try #require(try table.indexedKeys(property: table.ordinal("name"), equalTo: .string(name)) == [key])
        }
    }

    @Test(
        "are not read by whoever goes on behind a transaction that was copied and then changed",
        arguments: Next.allCases
    )
    func afterSealingEarly(next: Next) throws {
        let database = try TestDatabase(Self.classes)
        let file = database.file
        try database.write { _ in
            try add(0..<400, to: database)
            _ = try database.table("Note").insert()
        }
        let other = next == .same || next == .parked ? database : try TestDatabase(sharing: database)
        if next == .open { _ = try other.table("Item") }
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        var names = (0..<400).map { "item \($0)" }
        for round in 0..<4 {
            try database.model.begin(file.beginWrite())
            try rename(0..<20, in: database)
            let copy = database.directory.path("copy-\(round).realm")
            try StorageFile.build(at: copy, replaces: false, beginning: FileBeginning(version: database.model.version))
            {
                try FileCompactor.copy(transactionOf: database.model, to: $0)
            }
            try rename(100..<140, in: database)
            try add(names.count..<names.count + 300, to: database)
            if next == .parked {
                try database.model.suspend()
                try database.model.resume()
            }
            for id in Array(0..<20) + Array(100..<140) { names[id] = "renamed \(id)" }
            names += (names.count..<names.count + 300).map { "item \($0)" }
            try check(names, in: database)
            try database.model.join()

            try other.model.begin(file.beginWrite(joining: true))
            try check(names, in: other)
            try rename(200..<240, in: other)
            _ = try other.table("Note").insert()
            if round % 2 == 0 {
                try other.model.join()
                for id in 200..<240 { names[id] = "renamed \(id)" }
            } else {
                other.model.rollback()
            }
            try file.publish([#require(try file.sealGroup())])
            for view in [database, other] {
                try view.model.advance(to: file.beginRead())
                try check(names, in: view)
            }
            try ModelVerifier.verify(database.model)
            try FileVerifier.verify(database.model.snapshot)
        }
    }
}
