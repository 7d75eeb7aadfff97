import RealmModel
import RealmStorage
import Testing

@testable import RealmModel

@Suite struct DeleteRuleTests {
    private static func node(_ rule: RealmModel.DeleteRule) -> ClassSchema {
        ClassSchema(
            name: "Node",
            properties: [
                PropertySchema(name: "next", kind: .object, deleteRule: rule, targetClass: "Node"),
                PropertySchema(name: "others", kind: .object, collection: .list, deleteRule: rule, targetClass: "Node"),
                PropertySchema(
                    name: "named",
                    kind: .object,
                    collection: .map,
                    isOptional: true,
                    deleteRule: rule,
                    targetClass: "Node"
                ),
                PropertySchema(name: "friend", kind: .object, targetClass: "Node"),
            ]
        )
    }

    @Test func `a chain of a hundred thousand rows goes with its first one`() throws {
        let database = try TestDatabase([Self.node(.cascade)])
        let count: Int64 = 100_000
        try database.write { _ in
            let table = try database.table("Node")
            for key in 0..<count {
                _ = try table.insert()
                if key > 0 { try table.setLink(0, key: key - 1, to: key) }
            }
            // And round.
            try table.setLink(0, key: count - 1, to: 0)
        }
        let changes = try database.write { _ in try database.table("Node").delete(key: 0) }
        let table = try database.table("Node")
        #expect(table.count == 0)
        #expect(changes.tables.values.first?.deleted.count == Int(count))
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test func `rows that several others link to go with the first of these, and with lists and dictionaries`() throws {
        let database = try TestDatabase([Self.node(.cascade)])
        try database.write { _ in
            let table = try database.table("Node")
            for _ in 0..<8 { _ = try table.insert() }
            try table.listAssign(1, key: 0, [.link(2), .link(3), .link(2)])
            try table.listAssign(1, key: 1, [.link(3), .link(4)])
            try table.mapAssign(
                2,
                key: 3,
                [StoredEntry(key: "a", value: .link(5)), StoredEntry(key: "b", value: .null)]
            )
            try table.setLink(3, key: 5, to: 6)
            try table.setLink(3, key: 7, to: 5)
        }
        try database.write { _ in try database.table("Node").delete(key: 0) }
        let table = try database.table("Node")
        #expect(try table.allKeys() == [1, 4, 6, 7])
        #expect(try table.list(1, key: 1).values() == [.link(4)])
        #expect(try table.link(3, key: 7) == nil)
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test func `a rule denies a deletion until what it protects goes as well`() throws {
        let database = try TestDatabase([Self.node(.deny)])
        try database.write { model in
            let table = try database.table("Node")
            for _ in 0..<4 { _ = try table.insert() }
            try table.setLink(0, key: 0, to: 1)
            try table.listAssign(1, key: 1, [.link(2)])
            #expect(
                throws: ModelError.deletionDenied(className: "Node", property: "next", targetClass: "Node")
            ) { try table.delete(key: 0) }
            #expect(throws: ModelError.self) { try model.requireDeletable([(table, 0), (table, 1)]) }
            try model.requireDeletable([(table, 0), (table, 1), (table, 2)])
            #expect(table.count == 4)
            // The other way round nothing is denied.
            try table.delete(key: 2)
            try table.delete(key: 1)
            try table.delete(key: 0)
            #expect(try table.allKeys() == [3])
        }
    }

    @Test func `a rule changes with the declaration`() throws {
        let database = try TestDatabase([Self.node(.nullify)])
        try database.write { _ in
            let table = try database.table("Node")
            for _ in 0..<3 { _ = try table.insert() }
            try table.setLink(0, key: 0, to: 1)
            try table.setLink(0, key: 1, to: 2)
        }
        try database.reconcile([Self.node(.cascade)], version: 1)
        #expect(try database.table("Node").schema["next"]?.deleteRule == .cascade)
        try database.write { _ in try database.table("Node").delete(key: 1) }
        #expect(try database.table("Node").allKeys() == [0])
    }
}
