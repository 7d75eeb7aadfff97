import RealmModel
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// What two versions are compared for where the file no longer keeps the record of what happened between them.
@Suite("Two versions are compared as they are stored")
struct VersionComparisonTests {
    private let directory = TemporaryDirectory()

    /// The names of the properties of the one row that two versions differ in.
    private func differences(from old: ModelView, to new: ModelView) throws -> [String] {
        let changes = try VersionComparison.changes(from: old, to: new)
        let found = try new.table(named: ChangingClass.name)
        let table = try #require(found)
        guard let modified = changes.tables[table.id]?.modified.first else { return [] }
        return table.schema.properties.enumerated().filter { modified.columns.contains($0.offset) }.map(\.element.name)
    }

    @Test("A value that became another one of the same place is told, and one that stayed is not")
    func forms() throws {
        let versions = try ChangingClass(directory.path("forms.realm"))
        let properties = [
            PropertySchema(name: "number", kind: .double), PropertySchema(name: "list", kind: .any, collection: .list),
            PropertySchema(name: "map", kind: .int, collection: .map), PropertySchema(name: "free", kind: .any),
        ]
        var key: Int64 = 0
        let first = try versions.write(properties) { table in
            key = try table.insert()
            try table.set(0, key: key, to: StoredValue.double(0))
            try table.listAssign(1, key: key, [.int(1)])
            try table.mapAssign(2, key: key, [StoredEntry(key: "a", value: .int(1))])
            try table.set(3, key: key, to: StoredValue.int(1))
        }
        let same = try versions.write(properties) { try $0.set(3, key: key, to: StoredValue.int(1)) }
        #expect(try differences(from: first, to: same) == [])
        let zero = try versions.write(properties) { try $0.set(0, key: key, to: StoredValue.double(-0.0)) }
        #expect(try differences(from: same, to: zero) == ["number"])
        let list = try versions.write(properties) { try $0.listAssign(1, key: key, [.double(1)]) }
        #expect(try differences(from: zero, to: list) == ["list"])
        let map = try versions.write(properties) { table in
            try table.mapAssign(2, key: key, [StoredEntry(key: "b", value: .int(1))])
        }
        #expect(try differences(from: list, to: map) == ["map"])
        let free = try versions.write(properties) { try $0.set(3, key: key, to: StoredValue.double(1)) }
        #expect(try differences(from: map, to: free) == ["free"])
    }

    @Test("Properties are compared by their names where a change of the class has moved them")
    func movedProperties() throws {
        let versions = try ChangingClass(directory.path("moved.realm"))
        let gone = PropertySchema(name: "gone", kind: .int)
        let list = PropertySchema(name: "list", kind: .int, collection: .list)
        let word = PropertySchema(name: "word", kind: .string)
        var key: Int64 = 0
        let before = try versions.write([gone, list, word]) { table in
            key = try table.insert()
            try table.listAssign(1, key: key, [.int(1)])
            try table.set(2, key: key, to: StoredValue.string("a"))
        }
        let after = try versions.write([list, word], version: 1) { table in
            try table.set(1, key: key, to: StoredValue.string("b"))
        }
        #expect(try differences(from: before, to: after) == ["word"])
        // Of another type under its own name, which cannot be compared.
        let retyped = try versions.write([PropertySchema(name: "list", kind: .int), word], version: 2) { _ in }
        #expect(try differences(from: after, to: retyped) == ["list"])
    }
}
