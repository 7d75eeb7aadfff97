import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

/// Transactions that work on tables without a view of their own, and do not come to their end.
@Suite struct RolledBackSessionTests {
    private static let classes = [
        ClassSchema(name: "Item", properties: [PropertySchema(name: "code", kind: .string, isIndexed: true)])
    ]

    private func database() throws -> TestDatabase {
        let database = try TestDatabase(Self.classes)
        try database.write { _ in
            let items = try database.table("Item")
            for number in 0..<2_000 {
                let key = try items.insert()
                try items.set(0, key: key, to: .string("code \(number / 2)"))
            }
        }
        return database
    }

    private func checkWrites(_ database: TestDatabase) throws {
        try database.write { _ in
            let items = try database.table("Item")
            try items.set(0, key: 7, to: .string("changed"))
            #expect(try items.insert() >= 2_000)
        }
        let items = try database.table("Item")
        #expect(items.count == 2_001)
        #expect(try items.value(0, key: 6) == .string("code 3"))
        #expect(try items.value(0, key: 7) == .string("changed"))
        try ModelVerifier.verify(database.model)
    }

    @Test("A table that was emptied by a transaction that is rolled back has its rows for the next one")
    func emptied() throws {
        let database = try database()
        try database.file.lockForWriting()
        do {
            defer { database.file.unlockForWriting() }
            let transaction = try database.file.beginWrite()
            let model = try ModelView(transaction: transaction)
            try model.table(named: "Item")?.clear()
            try model.sealTables()
            transaction.rollback()
        }
        try checkWrites(database)
    }
}
