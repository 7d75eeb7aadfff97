import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm
@testable import RealmModel
@testable import RealmStorage

@Suite("requireReadable() throws where reading a collection would end the process", .timeLimit(.minutes(60)))
struct ThrowingCollectionTests {
    final class Shelf: Object {
        override class func _realmObjectName() -> String? { "ReadableShelf" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var name: String
        @Persisted var books: List<Book>
        @Persisted var marks: MutableSet<String>
        @Persisted var notes: Map<String, String>
        @Persisted var best: Map<String, Book?>
        @Persisted var halves: List<Half>
        @Persisted var anything: AnyRealmValue
    }

    final class Book: Object {
        override class func _realmObjectName() -> String? { "ReadableBook" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var number: Int
        @Persisted(indexed: true) var title: String
        @Persisted var mood: Mood
        @Persisted var text: String
        @Persisted var next: Book?
        @Persisted(originProperty: "books") var shelves: LinkingObjects<Shelf>
        var label: String { "\(number) \(title)" }
    }

    /// Only even numbers are values of it.
    struct Half: FailableCustomPersistable, Equatable {
        typealias PersistedType = Int
        let value: Int
        init?(persistedValue: Int) {
            guard persistedValue.isMultiple(of: 2) else { return nil }
            value = persistedValue / 2
        }
        var persistableValue: Int { value * 2 }
    }

    final class BookProjection: Projection<Book> {
        @Projected(\Book.title) var heading: String
        @Projected(\Book.mood) var mood: Mood
        @Projected(\Book.shelves.projectTo.name) var shelfNames: ProjectedCollection<String>
    }

    private static let types: [ObjectBase.Type] = [Shelf.self, Book.self]

    private func realm() throws -> Realm { try memoryRealm(Self.types) }

    private func code(_ body: () throws -> Void) -> Realm.Error.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? Realm.Error)?.code }
    }

    /// What a predicate from outside throws for an argument.
    private func parsingCode(_ argument: Any) -> Realm.Error.Code? {
        code { _ = try RealmPredicate(parsing: "number IN %@", argument) }
    }

    private func fill(_ realm: Realm, _ count: Int) throws -> Shelf {
        try realm.write {
            let shelf = realm.create(Shelf.self, value: ["name": "a", "marks": ["m"], "notes": ["n": "x"]])
            for number in 0..<count {
                let book = realm.create(
                    Book.self,
                    value: [
                        "number": number, "title": "title \(number % 7)", "text": String(repeating: "t", count: 500),
                    ]
                )
                shelf.books.append(book)
                shelf.marks.insert("mark \(number)")
                shelf.notes["note \(number)"] = "text \(number)"
                shelf.best["best \(number)"] = book
            }
            shelf.halves.append(Half(persistedValue: 4)!)
            shelf.anything = .string("x")
            return shelf
        }
    }

    /// Each kind of collection, with its check and a read of all of it.
    private struct Kind {
        let name: String
        let isOfOwner: Bool
        /// The collection, where a predicate takes it for an argument, or a map.
        var argument: Any? = nil
        let check: () throws -> Void
        let read: () -> Int
    }

    private func kinds(_ realm: Realm, _ shelf: Shelf, _ book: Book) -> [Kind] {
        func kind(_ name: String, isOfOwner: Bool = false, _ collection: some RealmCollection) -> Kind {
            Kind(name: name, isOfOwner: isOfOwner, argument: collection) {
                try collection.requireReadable()
            } read: {
                let last = collection.last
                return collection.count + collection.map { $0 }.count + (last.flatMap { collection.index(of: $0) } ?? 0)
                    + (collection.first == nil ? 0 : 1)
            }
        }
        let all = realm.objects(Book.self)
        let sections = all.sectioned(by: \.title)
        let projected = all.projectTo.title
        return [
            kind("all", all), kind("where", all.where { $0.title == "title 3" }),
            kind("scan", all.where { $0.text == "t" }),
            kind("sorted", all.sorted(by: \.title)), kind("distinct", all.distinct(by: ["title"])),
            kind("limit", all.limit(3)), kind("any", AnyRealmCollection(all)),
            kind("list", isOfOwner: true, shelf.books), kind("set", isOfOwner: true, shelf.marks),
            kind("halves", isOfOwner: true, shelf.halves),
            kind("listed", isOfOwner: true, shelf.books.where { $0.number > 2 }),
            kind("links", isOfOwner: true, book.shelves),
            Kind(name: "map", isOfOwner: true, argument: shelf.notes) {
                try shelf.notes.requireReadable()
            } read: {
                shelf.notes.keys.count + shelf.notes.values.count + (shelf.notes["note 1"] == nil ? 0 : 1)
            },
            Kind(name: "map of objects", isOfOwner: true, argument: shelf.best) {
                try shelf.best.requireReadable()
            } read: {
                shelf.best.keys.count + shelf.best.values.compactMap { $0 }.count
            },
            Kind(name: "sections", isOfOwner: false) {
                try sections.requireReadable()
            } read: {
                sections.reduce(0) { $0 + $1.count }
            },
            Kind(name: "section", isOfOwner: false) {
                try sections.requireReadable()
                try sections.first?.requireReadable()
            } read: {
                sections.first?.map(\.number).count ?? 0
            },
            Kind(name: "projected", isOfOwner: false) {
                try projected.requireReadable()
            } read: {
                projected.map { $0.count }.reduce(0, +)
            },
            Kind(name: "aggregates", isOfOwner: false) {
                try all.requireReadable(\.number, \.title)
            } read: {
                all.sum(of: \.number) + (all.max(of: \.number) ?? 0) + all.map(\.title.count).reduce(0, +)
            },
        ]
    }

    @Test("It returns for what can be read, managed, frozen, unmanaged and closed")
    func sound() throws {
        let realm = try realm()
        let shelf = try fill(realm, 30)
        let book = try #require(realm.objects(Book.self).first)
        for kind in kinds(realm, shelf, book) {
            try kind.check()
            #expect(kind.read() > 0 || kind.name == "scan", "\(kind.name)")
        }
        let frozen = realm.freeze()
        for kind in kinds(frozen, shelf.freeze(), book.freeze()) { try kind.check() }
        let unmanaged = Shelf()
        try unmanaged.books.requireReadable()
        try unmanaged.notes.requireReadable()
        try BookProjection(projecting: book).requireReadable()
        let known = kinds(realm, shelf, book)
        realm.close()
        for kind in known { try kind.check() }
    }

    @Test("An owner that was deleted, a realm that was invalidated, and one of another isolation")
    func ended() throws {
        let realm = try realm()
        let shelf = try fill(realm, 10)
        let book = try #require(realm.objects(Book.self).first)
        let known = kinds(realm, shelf, book)
        try realm.write {
            realm.delete(shelf)
            realm.delete(book)
        }
        for kind in known {
            #expect(code(kind.check) == (kind.isOfOwner ? .invalidatedObject : nil), "\(kind.name)")
            if kind.isOfOwner, let argument = kind.argument {
                #expect(parsingCode(argument) == .invalidatedObject, "\(kind.name)")
            }
        }
        #expect(code { try BookProjection(projecting: book).requireReadable() } == .invalidatedObject)
        let another = try #require(realm.objects(Book.self).first)
        let shelves = try realm.write { realm.create(Shelf.self, value: ["name": "b", "books": [another]]) }
        let list = shelves.books
        realm.invalidate()
        #expect(code { try list.requireReadable() } == .invalidatedObject)
        // Results of all objects are empty then.
        #expect(code { try known[0].check() } == nil)

        struct Leak: @unchecked Sendable {
            let realm: Realm
            let results: Results<Book>
        }
        let configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: Self.types)
        let leak = try withNewRealm(configuration) { Leak(realm: $0, results: $0.objects(Book.self)) }
        #expect(code { try leak.results.requireReadable() } == .wrongIsolation)
        #expect(code { try leak.realm.requireReadable(Book.self) } == .wrongIsolation)
        #expect(code { try leak.realm.requireReadable(className: "ReadableBook") } == .wrongIsolation)
    }

    @Test("A stored element that the type does not have, and a stored property of an element")
    func unknownValues() throws {
        let realm = try realm()
        let shelf = try fill(realm, 3)
        let books = realm.objects(Book.self)
        try realm.write {
            let dynamic = realm.dynamicObjects("ReadableShelf").first!
            (dynamic["halves"] as! List<Int>).append(7)
            realm.dynamicObjects("ReadableBook").last!["mood"] = "jubilant"
        }
        #expect(code { try shelf.halves.requireReadable() } == .invalidInput)
        try books.requireReadable()
        try books.requireReadable(\.number)
        #expect(code { try books.requireReadable(\.number, \.mood) } == .invalidInput)
        #expect(code { try shelf.books.requireReadable(\.mood) } == .invalidInput)
        #expect(code { try BookProjection(projecting: books.last!).requireReadable() } == .invalidInput)
        #expect(code { try books.projectTo.mood.requireReadable() } == .invalidInput)
        #expect(code { try books.sectioned(by: \.mood).requireReadable() } == .invalidInput)
        #expect(code { try books.requireReadable(\.label) } == .invalidInput)
    }

    /// An actor whose jobs come between each other's.
    private actor Store {
        var realm: Realm!
        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func invalidate() { realm.invalidate() }
        func close() { realm.close() }

        /// Writes in two steps, with another job between them.
        func write(_ between: () async -> Void) async throws -> Int {
            try realm.beginWriteTransaction()
            let before = realm.create(Book.self, value: ["number": 1])
            let list = realm.create(Shelf.self, value: ["name": "s"]).books
            await between()
            realm.create(Book.self, value: ["number": 2])
            realm.add(Book())
            before.title = "late"
            list.append(Book())
            realm.dynamicCreate("ReadableBook", value: ["number": 3])
            realm.deleteAll()
            do {
                try realm.commitWrite()
                Issue.record("Nothing was committed.")
            } catch Realm.Error.invalidInput {}
            // The next transaction is one again.
            try realm.write { realm.create(Book.self, value: ["number": 4]) }
            return realm.objects(Book.self).count
        }

        /// Writes in a transaction of the task's own, with another job between its steps; whether the realm forgets it at its end.
        func writeAlone(_ between: () async -> Void) async throws -> Bool {
            let transaction = try await realm.beginAsyncWrite()
            realm.create(Book.self, value: ["number": 1])
            await between()
            realm.create(Book.self, value: ["number": 2])
            do {
                try await transaction.commit()
                return false
            } catch Realm.Error.invalidInput {}
            return !realm.core.hasLostTransaction && realm.objects(Book.self).isEmpty
        }

        /// Invalidates the realm, and writes in it.
        func invalidateAndWrite() async throws {
            realm.invalidate()
            try await realm.asyncWrite {}
            let transaction = try await realm.beginAsyncWrite()
            transaction.cancel()
        }

        func cancel(_ between: () async -> Void) async throws {
            try realm.beginWriteTransaction()
            await between()
            realm.cancelWrite()
            try realm.write { realm.create(Book.self, value: ["number": 5]) }
        }
    }

    @Test(
        "What is written in two steps goes nowhere when another job invalidates the realm between them, and the commit says so"
    )
    func invalidatedBetween() async throws {
        let configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: Self.types)
        let store = try await Store(configuration)
        #expect(try await store.write { await store.invalidate() } == 1)
        try await store.cancel { await store.invalidate() }
    }

    /// Has another job invalidate a realm and write in it.
    private static func invalidateAndWrite(_ store: Store) async {
        do {
            try await Task.detached { try await store.invalidateAndWrite() }.value
        } catch {
            preconditionFailure("\(error)")
        }
    }

    @Test("The same holds where that job, or yet another one, writes behind that")
    func writtenBetween() async {
        // In a process of its own, which a trap would end.
        await #expect(processExitsWith: .success) {
            let types = ThrowingCollectionTests.types
            let configuration = Realm.Configuration(inMemoryIdentifier: "written", objectTypes: types)
            let store = try await Store(configuration)
            let isForgotten = try await store.writeAlone { await ThrowingCollectionTests.invalidateAndWrite(store) }
            precondition(isForgotten)
            let count = try await store.write { await ThrowingCollectionTests.invalidateAndWrite(store) }
            precondition(count == 1)
            try await store.cancel { await ThrowingCollectionTests.invalidateAndWrite(store) }
        }
    }

    @Test("Each damaged page is thrown, and what was found readable does not end the process", .secondProcess)
    func damage() async throws {
        let child = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let outcome = try ThrowingCollectionTests().readDamaged(seed: 1, rounds: 300)
            FileHandle.standardError.write(Data("thrown \(outcome.thrown), read \(outcome.read).".utf8))
        }
        let text = String(decoding: child.standardErrorContent, as: UTF8.self)
        let match = try #require(text.firstMatch(of: /thrown ([0-9]+), read ([0-9]+)\./))
        print("damaged collections: \(match.0)")
        #expect(Int(match.1) ?? 0 > 30 && Int(match.2) ?? 0 > 300, "\(match.0)")
    }

    /// Flips bytes of a file, and reads every collection as a predicate's argument and behind its check; returns how often that threw,
    /// and read.
    private func readDamaged(seed: UInt64, rounds: Int) throws -> (thrown: Int, read: Int) {
        let directory = TemporaryDirectory()
        func configuration(_ name: String) -> Realm.Configuration {
            Realm.Configuration(fileURL: URL(fileURLWithPath: directory.path(name)), objectTypes: Self.types)
        }
        try withNewRealm(configuration("original")) { _ = try fill($0, 700) }
        let original = try Data(contentsOf: URL(fileURLWithPath: directory.path("original")))
        var random = SplitMix64(seed: seed)
        var outcome = (thrown: 0, read: 0)
        for round in 0..<rounds {
            var damaged = original
            for _ in 0..<3 {
                let offset = Int.random(in: 40_000..<damaged.count, using: &random)
                damaged[offset] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
            }
            let name = "damaged \(round)"
            defer {
                for end in ["", ".lock"] { try? FileManager.default.removeItem(atPath: directory.path(name) + end) }
            }
            try damaged.write(to: URL(fileURLWithPath: directory.path(name)))
            // The storage opens it without reading it whole, as a large file is opened.
            let file: StorageFile
            do { file = try StorageFile.open(path: directory.path(name)) } catch { continue }
            do {
                let settings = try OpenSettings(configuration(name))
                let coordinator = RealmCoordinator(file: file, path: settings.path, settings: settings)
                let core = try coordinator.coreForCurrentContext(configuration: configuration(name))
                let realm = core.realm()
                // Where a class begins is read with the schema, when a file is opened.
                guard try core.model.table(named: "ReadableShelf") != nil,
                    try core.model.table(named: "ReadableBook") != nil,
                    let shelves = core.accessor(for: Shelf.self), let books = core.accessor(for: Book.self),
                    let key = try shelves.table.key(at: 0), let first = try books.table.key(at: 0)
                else { continue }
                let shelf = unsafeDowncast(shelves.makeObject(key: key), to: Shelf.self)
                let book = unsafeDowncast(books.makeObject(key: first), to: Book.self)
                try shelf.requireReadable([PathStep("books")])
                try book.requireReadable([PathStep("number")])
                for kind in kinds(realm, shelf, book) {
                    // First, so that nothing has been read for it.
                    let parsed = kind.argument.map { parsingCode($0) }
                    do { try kind.check() } catch let error as Realm.Error {
                        outcome.thrown += 1
                        if let parsed { #expect(parsed == error.code, "\(kind.name)") }
                        continue
                    }
                    _ = kind.read()
                    outcome.read += 1
                }
            } catch is Realm.Error { outcome.thrown += 1 } catch is StorageError { outcome.thrown += 1 }
        }
        return outcome
    }
}
