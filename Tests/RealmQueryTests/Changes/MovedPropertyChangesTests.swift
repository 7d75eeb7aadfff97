import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

/// Observers that go in one step over what was written and over a change of the class that moves its properties.
@Suite("Observed collections whose class loses a property")
struct MovedPropertyChangesTests {
    private let directory = TemporaryDirectory()

    /// What an observer of the one object is told when `word` was written and then `gone` removed; the properties stand in an order.
    private func delta(_ names: [String], keyPaths: [String]?, asked: [String]? = nil) throws -> CollectionDelta {
        let things = try ChangingClass(directory.path("\(names.joined()) \(keyPaths?.joined() ?? "").realm"))
        let properties = names.map { PropertySchema(name: $0, kind: $0 == "word" ? .string : .int) }
        let (_, first, last) = try things.remove("gone", from: properties, writing: "word", .string("b"))
        let order = SortOrder([(path: "number", ascending: true)])
        let query = ObservedQuery(className: ChangingClass.name, steps: [.sort(order)])
        var keys = try ObservedKeys(query, keyPaths: keyPaths, asked: asked, in: first)
        let changes =
            try things.file.changes(after: first.snapshot.version, through: last.snapshot)
            ?? VersionComparison.changes(from: first, to: last)
        return try keys.advance(by: changes, from: first, to: last)
    }

    @Test("tell what was written under the number that a property had before")
    func renumbered() throws {
        #expect(try delta(["gone", "number", "word"], keyPaths: ["word"]).modifications == [0])
    }

    /// A migration may move properties several times in its commit: behind one that removes any, all of a row that was written count.
    @Test("count every property of what was written where one has gone")
    func others() throws {
        #expect(try delta(["number", "gone", "word"], keyPaths: ["number"]).modifications == [0])
        let told = try delta(["number", "gone", "word"], keyPaths: nil, asked: ["number"])
        #expect(told.modifications == [0] && told.unasked.isEmpty)
    }

    /// What an observer of the one object is told when `word` was written and then another property added.
    private func deltaOfAddition(keyPaths: [String]?, asked: [String]? = nil) throws -> CollectionDelta {
        let things = try ChangingClass(directory.path("more \(keyPaths?.joined() ?? "").realm"))
        let properties = ["number", "word"].map { PropertySchema(name: $0, kind: .int) }
        var key: Int64 = 0
        let first = try things.write(properties) { key = try $0.insert() }
        _ = try things.write(properties) { try $0.set(1, key: key, to: StoredValue.int(7)) }
        let last = try things.write(properties + [PropertySchema(name: "more", kind: .int)], version: 1) { _ in }
        // Of rows that stand in their own order nobody says which modifications were asked for.
        let query = ObservedQuery(
            className: ChangingClass.name,
            steps: [.sort(SortOrder([(path: "number", ascending: true)]))]
        )
        var keys = try ObservedKeys(query, keyPaths: keyPaths, asked: asked, in: first)
        let recorded = try things.file.changes(after: first.snapshot.version, through: last.snapshot)
        return try keys.advance(by: try #require(recorded), from: first, to: last)
    }

    @Test("tell of no property that the key paths do not name where properties only come")
    func unnamed() throws {
        #expect(try deltaOfAddition(keyPaths: ["word"]).modifications == [0])
        #expect(try deltaOfAddition(keyPaths: ["number"]).isEmpty)
    }

    @Test("say of which modifications nobody asked where properties only come")
    func unasked() throws {
        let told = try deltaOfAddition(keyPaths: nil, asked: ["number"])
        #expect(told.modifications == [0])
        #expect(told.unasked == [0])
    }

    /// What an observer of the one object is told when `word` was written between two changes, each of which moved it.
    private func deltaOfTwoChanges(keyPaths: [String]?, asked: [String]? = nil) throws -> CollectionDelta {
        let things = try ChangingClass(directory.path("two \(keyPaths != nil).realm"))
        let all = ["gone", "left", "number", "word"].map { PropertySchema(name: $0, kind: .int) }
        var key: Int64 = 0
        let first = try things.write(all) { key = try $0.insert() }
        let between = Array(all.dropFirst())
        _ = try things.write(between, version: 1) { _ in }
        // It has the third place now, the fourth one before, and the second one behind.
        _ = try things.write(between, version: 1) { try $0.set(2, key: key, to: StoredValue.int(7)) }
        let last = try things.write(Array(all.dropFirst(2)), version: 2) { _ in }
        let query = ObservedQuery(className: ChangingClass.name)
        var keys = try ObservedKeys(query, keyPaths: keyPaths, asked: asked, in: first)
        let recorded = try things.file.changes(after: first.snapshot.version, through: last.snapshot)
        return try keys.advance(by: try #require(recorded), from: first, to: last)
    }

    @Test("tell what was written between two changes of the class")
    func betweenTwoChanges() throws {
        #expect(try deltaOfTwoChanges(keyPaths: ["word"]).modifications == [0])
        let told = try deltaOfTwoChanges(keyPaths: nil, asked: ["word"])
        #expect(told.modifications == [0] && told.unasked.isEmpty)
    }

    @Test("tell what a migration wrote between two changes of its own")
    func insideMigration() throws {
        let things = try ChangingClass(directory.path("migrated.realm"))
        let all = ["gone", "left", "number", "word"].map { PropertySchema(name: $0, kind: .int) }
        var key: Int64 = 0
        let first = try things.write(all) { key = try $0.insert() }
        // `word` has the third place then, the fourth one before, and the second one behind.
        let last = try things.migrate(through: Array(all.dropFirst()), to: Array(all.dropFirst(2)), version: 1) {
            try $0.set(2, key: key, to: StoredValue.int(7))
        }
        let query = ObservedQuery(className: ChangingClass.name)
        var keys = try ObservedKeys(query, keyPaths: ["word"], asked: nil, in: first)
        let recorded = try things.file.changes(after: first.snapshot.version, through: last.snapshot)
        let delta = try keys.advance(by: try #require(recorded), from: first, to: last)
        #expect(delta.modifications == [0])
    }

    @Test("tell what was written to a property that has gone and come back where it was")
    func returned() throws {
        let things = try ChangingClass(directory.path("returned.realm"))
        let all = ["number", "gone", "word"].map { PropertySchema(name: $0, kind: .int) }
        var key: Int64 = 0
        let first = try things.write(all) { table in
            key = try table.insert()
            try table.set(2, key: key, to: StoredValue.int(5))
        }
        // It has the second place when it loses its value.
        _ = try things.write([all[0], all[2]], version: 1) { try $0.set(1, key: key, to: StoredValue.int(7)) }
        _ = try things.write([all[0]], version: 2) { _ in }
        let last = try things.write(all, version: 3) { _ in }
        let query = ObservedQuery(className: ChangingClass.name)
        var keys = try ObservedKeys(query, keyPaths: ["word"], asked: nil, in: first)
        let recorded = try things.file.changes(after: first.snapshot.version, through: last.snapshot)
        let delta = try keys.advance(by: try #require(recorded), from: first, to: last)
        #expect(delta.modifications == [0])
    }
}
