import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

@Suite("Observed collections")
struct ObservedKeysTests {
    /// An observer at a version, to be moved on.
    struct Observer {
        var keys: ObservedKeys
        var view: ModelView
        var content: [Int64]

        init(_ query: ObservedQuery, keyPaths: [String]? = nil, _ database: ObservedDatabase) throws {
            view = try database.view()
            keys = try ObservedKeys(query, keyPaths: keyPaths, in: view)
            content = try query.keys(in: view) ?? []
        }

        /// Moves to the newest version, checks the difference and returns it.
        mutating func advance(
            _ database: ObservedDatabase,
            _ comment: Comment = "",
            comparing: Bool = false
        ) throws -> CollectionDelta {
            let new = try database.view()
            let changes =
                comparing
                ? try VersionComparison.changes(from: view, to: new) : try database.changes(from: view, to: new)
            let delta = try keys.advance(by: changes, from: view, to: new)
            let next = try keys.query.keys(in: new) ?? []
            expectExact(delta, from: content, to: next, comment)
            if let known = keys.order { #expect(known.array() == next, comment) }
            content = next
            view = new
            return delta
        }
    }

    @Test("a new object is an insertion, a written one a modification, a deleted one a deletion")
    func wholeTable() throws {
        let database = try ObservedDatabase()
        var ann: Int64 = 0
        try database.write {
            ann = try database.addPerson("Ann", age: 30)
            try database.addPerson("Bob", age: 40)
        }
        var observer = try Observer(ObservedQuery(className: "Person"), database)
        try database.write { try database.addPerson("Cid", age: 50) }
        #expect(try observer.advance(database).insertions == [2])
        try database.write { try database.people.set(ObservedDatabase.age, key: ann, to: StoredValue.int(31)) }
        #expect(try observer.advance(database).modifications == [0])
        try database.write { try database.people.set(ObservedDatabase.age, key: ann, to: StoredValue.int(31)) }
        #expect(try observer.advance(database).modifications == [0], "a self-assignment counts")
        try database.write { try database.people.delete(key: ann) }
        #expect(try observer.advance(database).deletions == [0])
        try database.write { try database.addDog("Rex", age: 3) }
        #expect(try observer.advance(database).isEmpty)
    }

    @Test("several commits become one exact change")
    func merged() throws {
        let database = try ObservedDatabase()
        var keys: [Int64] = []
        try database.write { keys = try (0..<5).map { try database.addPerson("p\($0)", age: $0) } }
        var observer = try Observer(ObservedQuery(className: "Person"), database)
        try database.write { try database.people.delete(key: keys[1]) }
        try database.write { try database.addPerson("new", age: 9) }
        try database.write { try database.people.set(ObservedDatabase.age, key: keys[3], to: StoredValue.int(7)) }
        let delta = try observer.advance(database)
        #expect(delta.deletions == [1])
        #expect(delta.insertions == [4])
        #expect(delta.modifications == [3])
        #expect(delta.modificationsInNew == [2])
    }

    @Test(
        "a property that nobody observes is no modification, with a bound and without",
        arguments: ["age > 3 AND age < 9", "age == 5", "name == 'Ann'", "TRUEPREDICATE"]
    )
    func unobservedProperties(predicate: String) throws {
        let database = try ObservedDatabase()
        var ann: Int64 = 0
        try database.write {
            ann = try database.addPerson("Ann", age: 5)
            for age in 20..<220 as Range<Int64> { try database.addPerson("p\(age)", age: age) }
        }
        let query = ObservedQuery(className: "Person", predicate: try Predicate.parse(predicate))
        var ofNames = try Observer(query, keyPaths: ["name"], database)
        var ofAges = try Observer(query, keyPaths: ["age"], database)
        try database.write { try database.people.set(ObservedDatabase.age, key: ann, to: StoredValue.int(5)) }
        #expect(try ofNames.advance(database).isEmpty)
        #expect(try ofAges.advance(database).modifications == [0])
        try database.write { try database.people.set(ObservedDatabase.name, key: ann, to: StoredValue.string("Ann")) }
        #expect(try ofNames.advance(database).modifications == [0])
        #expect(try ofAges.advance(database).isEmpty)
    }

    @Test("writes to linked objects are modifications, down to four links")
    func depth() throws {
        let database = try ObservedDatabase()
        var chain: [Int64] = []
        try database.write {
            chain = try (0..<7).map { try database.addPerson("p\($0)", age: $0) }
            for (one, other) in zip(chain, chain.dropFirst()) {
                try database.people.setLink(ObservedDatabase.boss, key: one, to: other)
            }
        }
        var deep = try Observer(ObservedQuery(className: "Person"), database)
        var none = try Observer(ObservedQuery(className: "Person"), keyPaths: [], database)
        var along = try Observer(
            ObservedQuery(className: "Person"),
            keyPaths: ["boss.boss.boss.boss.boss.age"],
            database
        )
        try database.write { try database.people.set(ObservedDatabase.age, key: chain[6], to: StoredValue.int(1)) }
        #expect(try deep.advance(database).modifications == [2, 3, 4, 5, 6])
        #expect(try none.advance(database).isEmpty)
        #expect(try along.advance(database).modifications == [1])
    }

    @Test("key paths filter modifications and nothing else")
    func keyPaths() throws {
        let database = try ObservedDatabase()
        var ann: Int64 = 0
        var rex: Int64 = 0
        try database.write {
            ann = try database.addPerson("Ann", age: 30)
            rex = try database.addDog("Rex", age: 3)
            try database.people.listAppend(ObservedDatabase.dogs, key: ann, StoredValue.link(rex))
        }
        let query = ObservedQuery(className: "Person")
        var name = try Observer(query, keyPaths: ["name"], database)
        var dogs = try Observer(query, keyPaths: ["dogs"], database)
        var dogNames = try Observer(query, keyPaths: ["dogs.name"], database)
        var owners = try Observer(ObservedQuery(className: "Dog"), keyPaths: ["owners.name"], database)
        try database.write {
            try database.allDogs.set(ObservedDatabase.dogName, key: rex, to: StoredValue.string("Max"))
        }
        #expect(try name.advance(database).isEmpty)
        #expect(try dogs.advance(database).isEmpty)
        #expect(try dogNames.advance(database).modifications == [0])
        #expect(try owners.advance(database).isEmpty)
        try database.write { try database.people.set(ObservedDatabase.name, key: ann, to: StoredValue.string("Anna")) }
        #expect(try name.advance(database).modifications == [0])
        #expect(try dogs.advance(database).isEmpty)
        #expect(try owners.advance(database).modifications == [0])
        try database.write { try database.people.listRemoveAll(ObservedDatabase.dogs, key: ann) }
        #expect(try dogs.advance(database).modifications == [0])
        #expect(try dogNames.advance(database).modifications == [0])
        #expect(try owners.advance(database).modifications == [0])
        try database.write { try database.people.delete(key: ann) }
        #expect(try name.advance(database).deletions == [0])
    }

    @Test("a key path that does not fit the schema is refused with its place")
    func badKeyPath() throws {
        let database = try ObservedDatabase()
        let view = try database.view()
        let query = ObservedQuery(className: "Person")
        #expect(throws: QueryError("property 'none' not found in object of type 'Person'")) {
            try ObservedKeys(query, keyPaths: ["none"], in: view)
        }
        #expect(throws: QueryError.self) { try ObservedKeys(query, keyPaths: ["age.none"], in: view) }
    }

    @Test("a list tells of its owner's deletion with the deletion of everything, and of nothing after it")
    func ownerDeleted() throws {
        let database = try ObservedDatabase()
        var ann: Int64 = 0
        try database.write {
            ann = try database.addPerson("Ann", age: 1)
            for index in 0..<3 {
                let dog = try database.addDog("d\(index)", age: 1)
                try database.people.listAppend(ObservedDatabase.dogs, key: ann, StoredValue.link(dog))
            }
        }
        let query = ObservedQuery(
            className: "Dog",
            source: .list(ownerClass: "Person", ownerKey: ann, property: "dogs")
        )
        var observer = try Observer(query, database)
        try database.write { try database.people.delete(key: ann) }
        #expect(try observer.advance(database).deletions == [0, 1, 2])
        #expect(observer.keys.isSourceGone)
        try database.write { try database.addDog("late", age: 1) }
        #expect(try observer.advance(database).isEmpty)
    }

    @Test("replacing an element of a list is a modification, of values too")
    func listReplacement() throws {
        let database = try ObservedDatabase()
        var ann: Int64 = 0
        var dogs: [Int64] = []
        try database.write {
            ann = try database.addPerson("Ann", age: 1)
            dogs = try (0..<4).map { try database.addDog("d\($0)", age: $0) }
            for dog in dogs.prefix(3) {
                try database.people.listAppend(ObservedDatabase.dogs, key: ann, StoredValue.link(dog))
            }
            for tag in 0..<3 {
                try database.people.listAppend(ObservedDatabase.tags, key: ann, StoredValue.int(Int64(tag)))
            }
        }
        let query = ObservedQuery(
            className: "Dog",
            source: .list(ownerClass: "Person", ownerKey: ann, property: "dogs")
        )
        var links = try Observer(query, database)
        let before = try database.view()
        var values = try ObservedValues(ownerClass: "Person", ownerKey: ann, property: "tags", in: before)
        try database.write {
            try database.people.listReplace(ObservedDatabase.dogs, key: ann, at: 1, with: StoredValue.link(dogs[3]))
            try database.people.listReplace(ObservedDatabase.tags, key: ann, at: 2, with: StoredValue.int(9))
        }
        #expect(try links.advance(database).modifications == [1])
        let after = try database.view()
        let delta = try values.advance(
            by: database.changes(from: before, to: after),
            from: before,
            to: after
        )
        #expect(delta.modifications == [2])
        try database.write { try database.allDogs.set(ObservedDatabase.dogAge, key: dogs[3], to: StoredValue.int(77)) }
        #expect(try links.advance(database).modifications == [1])
    }

    @Test("a bulk change of most objects is exact, too")
    func bulk() throws {
        let database = try ObservedDatabase()
        try database.write { for index in 0..<3000 { try database.addPerson("p", age: Int64(index)) } }
        var filtered = try Observer(
            ObservedQuery(className: "Person", predicate: .compare(.path("age"), .less, .value(.int(1500)))),
            database
        )
        var sorted = try Observer(
            ObservedQuery(className: "Person", steps: [.sort(SortOrder([("age", true)]))]),
            database
        )
        let keys = sorted.content
        try database.write {
            for key in keys { try database.people.set(ObservedDatabase.age, key: key, to: StoredValue.int(3000 - key)) }
        }
        #expect(!(try filtered.advance(database).isEmpty))
        #expect(!(try sorted.advance(database).isEmpty))
        try database.write { try database.writer.deleteAll() }
        let filteredCount = filtered.content.count
        #expect(filteredCount > 0)
        #expect(try filtered.advance(database).deletions.count == filteredCount)
        #expect(try sorted.advance(database).deletions.count == 3000)
    }

    @Test("a predicate that visits other objects without reading them is probed like any other")
    func probedSubquery() throws {
        let database = try ObservedDatabase()
        var ann: Int64 = 0
        var rex: Int64 = 0
        try database.write {
            ann = try database.addPerson("Ann", age: 30)
            rex = try database.addDog("Rex", age: 3)
        }
        let query = ObservedQuery(
            className: "Person",
            predicate: try Predicate.parse("SUBQUERY(dogs, $dog, TRUEPREDICATE).@count > 0")
        )
        var keys = try ObservedKeys(query, keyPaths: nil, in: try database.view())
        #expect(keys.canBeProbed)
        let walker = try database.view()
        let probe = try #require(try ChangeProbe(keys, in: walker))
        var old = try database.view()
        func isConcerned(after change: () throws -> Void) throws -> Bool {
            try database.write(change)
            let new = try database.view()
            let step = ChangeStep(try database.changes(from: old, to: new), from: old, to: new)
            try walker.advance(to: new.snapshot)
            defer { old = new }
            let isConcerned = try probe.isConcerned(try #require(keys.order), by: step, ProbedRows())
            let delta = try keys.advance(by: step)
            #expect(isConcerned || delta.isEmpty)
            return isConcerned
        }
        let link = StoredValue.link(rex)
        #expect(try !isConcerned { try database.people.set(ObservedDatabase.age, key: ann, to: StoredValue.int(31)) })
        #expect(try isConcerned { try database.people.listAppend(ObservedDatabase.dogs, key: ann, link) })
        #expect(try isConcerned { try database.allDogs.delete(key: rex) })
    }
}
