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
        let things = try ChangingClass(directory.path("\(names.joined()).realm"))
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

    @Test("tell of no property that the key paths do not name")
    func unnamed() throws {
        #expect(try delta(["number", "gone", "word"], keyPaths: ["number"]).isEmpty)
    }

    @Test("say of which modifications nobody asked")
    func unasked() throws {
        let told = try delta(["number", "gone", "word"], keyPaths: nil, asked: ["number"])
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
}
