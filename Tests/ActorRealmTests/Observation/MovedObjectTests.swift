import RealmModel
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Observers of an object that go in one step over what was written and over a change of the class that moves its properties.
@Suite("Observed objects whose class loses a property")
struct MovedObjectTests {
    private let directory = TemporaryDirectory()

    /// What two kinds of observers are told when a property was written, and then `gone` removed; the properties stand in an order.
    ///
    /// - Returns: What an observer of the object names, and which of those are told that observe one property.
    private func told(_ names: [String], writing name: String) throws -> (ofAll: [String], ofEach: [String]) {
        let things = try ChangingClass(directory.path("\(names.joined()) \(name).realm"))
        let declared = names.map { PropertySchema(name: $0, kind: .int) }
        let (key, before, after) = try things.remove("gone", from: declared, writing: name, .int(7))
        let first = try FixedView(before.snapshot)
        let last = try FixedView(after.snapshot)
        let changes = try #require(try things.file.changes(after: first.version, through: last.snapshot))
        let step = ChangeStep(changes, from: first.model, to: last.model)
        func properties(toldTo keyPaths: [String]?) throws -> [String] {
            let subject = ObjectSubject(className: ChangingClass.name, key: key, keyPaths: keyPaths)
            var state = try subject.state(at: first)
            let delta = try subject.advance(&state, by: step, from: first)
            guard case .changed(let names, _, _)? = delta else { return [] }
            return names
        }
        let left = names.filter { $0 != "gone" }
        return (try properties(toldTo: nil), try left.flatMap { try properties(toldTo: [$0]) })
    }

    @Test("tell what was written under the number that a property had before")
    func renumbered() throws {
        // That the values of `gone` were cleared is recorded under its number, which another one has now.
        #expect(try told(["gone", "number", "word"], writing: "word").ofAll.contains("word"))
        #expect(try told(["gone", "number", "word"], writing: "number").ofAll.contains("number"))
        #expect(try told(["number", "gone", "word"], writing: "number").ofAll.contains("number"))
    }

    @Test("tell of the properties of which those are told who observe these alone")
    func alike() throws {
        for names in [["gone", "number", "word"], ["number", "gone", "word"], ["word", "number", "gone"]] {
            for name in ["number", "word"] {
                let (ofAll, ofEach) = try told(names, writing: name)
                #expect(ofAll == ofEach, "\(name) of \(names)")
                #expect(ofAll.contains(name))
            }
        }
    }

    @Test("tell what was written between two changes of the class, each of which moved it")
    func betweenTwoChanges() throws {
        let things = try ChangingClass(directory.path("two.realm"))
        let all = ["gone", "left", "number", "word"].map { PropertySchema(name: $0, kind: .int) }
        var key: Int64 = 0
        let before = try things.write(all) { key = try $0.insert() }
        let between = Array(all.dropFirst())
        _ = try things.write(between, version: 1) { _ in }
        _ = try things.write(between, version: 1) { try $0.set(2, key: key, to: StoredValue.int(7)) }
        let after = try things.write(Array(all.dropFirst(2)), version: 2) { _ in }
        let (first, last) = (try FixedView(before.snapshot), try FixedView(after.snapshot))
        let changes = try #require(try things.file.changes(after: first.version, through: last.snapshot))
        let step = ChangeStep(changes, from: first.model, to: last.model)
        for keyPaths in [nil, ["word"]] as [[String]?] {
            let subject = ObjectSubject(className: ChangingClass.name, key: key, keyPaths: keyPaths)
            var state = try subject.state(at: first)
            guard case .changed(let names, _, _)? = try subject.advance(&state, by: step, from: first) else {
                Issue.record("Nothing was told.")
                continue
            }
            #expect(names.contains("word"))
        }
    }

    @Test("tell what a migration wrote between two changes of its own, each of which moved it")
    func insideMigration() throws {
        let things = try ChangingClass(directory.path("migrated.realm"))
        let all = ["gone", "left", "number", "word"].map { PropertySchema(name: $0, kind: .int) }
        var key: Int64 = 0
        let before = try things.write(all) { key = try $0.insert() }
        let after = try things.migrate(through: Array(all.dropFirst()), to: Array(all.dropFirst(2)), version: 1) {
            try $0.set(2, key: key, to: StoredValue.int(7))
        }
        let (first, last) = (try FixedView(before.snapshot), try FixedView(after.snapshot))
        let changes = try #require(try things.file.changes(after: first.version, through: last.snapshot))
        let step = ChangeStep(changes, from: first.model, to: last.model)
        for keyPaths in [nil, ["word"]] as [[String]?] {
            let subject = ObjectSubject(className: ChangingClass.name, key: key, keyPaths: keyPaths)
            var state = try subject.state(at: first)
            guard case .changed(let names, _, _)? = try subject.advance(&state, by: step, from: first) else {
                Issue.record("Nothing was told.")
                continue
            }
            #expect(names.contains("word"))
        }
    }
}
