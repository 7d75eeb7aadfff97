import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm
@testable import RealmModel

/// A class that is removed by one release and added again by a later one.
@Suite("Classes that were removed and added again", .timeLimit(.minutes(60)))
struct RemovedClassTests {
    let directory = TemporaryDirectory()

    private var path: String { directory.path("classes.realm") }

    /// A class without a key of its own, whose objects only row keys tell apart.
    class Line: Object {
        @Persisted var text: String
        override class func _realmObjectName() -> String? { "Line" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Page: Object {
        @Persisted var number: Int
        override class func _realmObjectName() -> String? { "Page" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Shelf: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var any: AnyRealmValue
        @Persisted var list: List<AnyRealmValue>
        @Persisted var set: MutableSet<AnyRealmValue>
        @Persisted var map: Map<String, AnyRealmValue>
        override class func _realmObjectName() -> String? { "Shelf" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    private func open<Result>(
        _ types: [ObjectBase.Type],
        version: UInt64,
        removing name: String? = nil,
        _ body: (Realm) throws -> Result
    ) throws -> Result {
        let configuration = OutdatedRealmTests.configuration(path, types, version: version) { migration, _ in
            if let name { migration.deleteData(forType: name) }
        }
        return try withNewRealm(configuration, body)
    }

    @Test(
        "Values of any kind stay when a class is removed: only links to its objects go",
        arguments: [true, false]
    )
    func anyValues(haveLinks: Bool) throws {
        func number(_ value: AnyRealmValue?) -> Int? {
            if case .object(let object)? = value { (object as? Page)?.number } else { nil }
        }
        let values: [AnyRealmValue] = [.int(1), .string("two"), .double(3.5)]
        try open([Line.self, Page.self, Shelf.self], version: 1) { realm in
            try realm.write {
                let line = realm.create(Line.self, value: ["text": "a line"])
                let page = realm.create(Page.self, value: ["number": 7])
                for (id, value) in values.enumerated() {
                    let shelf = realm.create(Shelf.self, value: ["id": id])
                    shelf.any = .fromArray([value])
                    let held = haveLinks ? [value, .object(line), .object(page)] : [value, .object(page)]
                    shelf.list.append(objectsIn: held)
                    shelf.set.insert(objectsIn: held)
                    for (number, value) in held.enumerated() { shelf.map["\(number)"] = value }
                }
                let last = realm.create(Shelf.self, value: ["id": 9])
                last.any = haveLinks ? .object(line) : .object(page)
            }
        }
        try open([Page.self, Shelf.self], version: 2, removing: "Line") { realm in
            let shelves = Array(realm.objects(Shelf.self).sorted(byKeyPath: "id"))
            for (shelf, value) in zip(shelves, values) {
                #expect(shelf.any.listValue.map { Array($0) } == [value])
                #expect(shelf.list.first == value && shelf.set.contains(value) && shelf.map["0"] == value)
                #expect(number(shelf.list.last) == 7)
                #expect(!shelf.list.contains { "\($0)".contains("Line") })
            }
            #expect(number(shelves.last?.any) == (haveLinks ? nil : 7))
        }
    }

    @Test("A reference to an object of the removed class finds no object of the new one", arguments: [1, 40, 5_000])
    func references(count: Int) throws {
        let references = try open([Line.self, Page.self], version: 1) { realm in
            try realm.write { for number in 0..<count { realm.create(Line.self, value: ["text": "old \(number)"]) } }
            return Array(realm.objects(Line.self).map { ObjectReference(to: $0) })
        }
        try open([Page.self], version: 2, removing: "Line") { _ in }
        try open([Line.self, Page.self], version: 3) { realm in
            try realm.write { for number in 0..<count { realm.create(Line.self, value: ["text": "new \(number)"]) } }
            #expect(references.compactMap { realm.resolve($0)?.text } == [])
            #expect(realm.objects(Line.self).count == count)
            #expect(realm.objects(Line.self).map(\.text) == (0..<count).map { "new \($0)" })
        }
        try FileVerifier.verify(StorageFile.open(path: path, options: StorageOptions()).beginRead())
    }

    @Test("Keys that a rollback took back before the class was removed are not given out either")
    func rolledBack() throws {
        struct GivenUp: Error {}
        let reference = try open([Line.self, Page.self], version: 1) { realm in
            var reference: ObjectReference<Line>?
            do {
                try realm.write {
                    reference = ObjectReference(to: realm.create(Line.self, value: ["text": "rolled back"]))
                    throw GivenUp()
                }
            } catch is GivenUp {}
            return try #require(reference)
        }
        try open([Page.self], version: 2, removing: "Line") { _ in }
        try open([Line.self, Page.self], version: 3) { realm in
            try realm.write { _ = realm.create(Line.self, value: ["text": "new"]) }
            #expect(realm.resolve(reference)?.text == nil)
        }
    }

    @Test("A file whose catalogue does not keep a first row key is read, and keeps one when its classes change")
    func olderFile() throws {
        // The class is removed and added by the library before: its key is given out again by that, and not any more after.
        let old = try open([Line.self, Page.self], version: 1) { realm in
            try realm.write { _ = realm.create(Line.self, value: ["text": "old"]) }
            return ObjectReference(to: realm.objects(Line.self)[0])
        }
        try shortenEntry()
        try open([Page.self], version: 2, removing: "Line") { _ in }
        try open([Line.self, Page.self], version: 3) { realm in
            try realm.write { _ = realm.create(Line.self, value: ["text": "new"]) }
            #expect(realm.resolve(old)?.text == nil)
        }
    }

    /// Has the catalogue's entry for the database end where it ended in the library before.
    private func shortenEntry() throws {
        let file = try StorageFile.open(path: path, options: StorageOptions())
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        let bytes = try #require(
            try CatalogKey.value(CatalogKey.database, in: transaction.catalog, view: transaction.view)
        )
        try CatalogKey.store(Array(bytes.prefix(24)), CatalogKey.database, in: transaction)
        try file.publish([transaction.prepareCommit()])
    }
}
