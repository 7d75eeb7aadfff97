import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

@Suite("Bounds that predicates give")
struct RowBoundTests {
    private func bound(_ text: String, _ database: ObservedDatabase) throws -> RowBound? {
        let view = try database.view()
        return RowBound(try Predicate.parse(text), in: try #require(try view.table(named: "Person")))
    }

    @Test("the narrowest bound of the parts that all must hold is taken, and parts of which one suffices give none")
    func narrowest() throws {
        let database = try ObservedDatabase()
        let age = ObservedDatabase.age
        #expect(try bound("age > 3", database) == RowBound(property: age, lower: 4, upper: .max))
        #expect(
            try bound("age > 3 AND (age <= 9 AND age != 5)", database) == RowBound(property: age, lower: 4, upper: 9)
        )
        let both = try #require(try bound("age > 3 AND age <= 9 AND name == 'Ann'", database))
        #expect(both.property == ObservedDatabase.name)
        #expect(both.lower == both.upper)
        let contradiction = try #require(try bound("age > 9 AND age < 3", database))
        #expect(contradiction.lower > contradiction.upper)
        for text in [
            "age > 3 OR name == 'Ann'", "NOT age > 3", "age != 3", "name ==[c] 'ann'", "boss.age > 3",
            "ANY dogs.age > 3", "boss == nil", "ANY tags == 3", "TRUEPREDICATE",
        ] {
            #expect(try bound(text, database) == nil, "\(text)")
        }
    }

    @Test("dates stand in their order, and zero has one word whatever its sign")
    func dates() {
        let dates = [-Double.infinity, -1e9, -1.5, -1, -.leastNonzeroMagnitude, 0, 1, 1.5, 1e9, .infinity]
        let words = dates.map { RowBound.word(of: .date($0)) }
        #expect(words == words.sorted())
        #expect(Set(words).count == words.count)
        #expect(RowBound.word(of: .date(-0.0)) == RowBound.word(of: .date(0)))
    }

    @Test("a row is found by the value that it had, and by the one that it has")
    func touched() throws {
        let database = try ObservedDatabase()
        var keys: [Int64] = []
        try database.write { keys = try (0..<4).map { try database.addPerson("p", age: $0 * 10) } }
        let old = try database.view()
        try database.write {
            try database.people.set(ObservedDatabase.age, key: keys[0], to: StoredValue.int(55))
            try database.people.set(ObservedDatabase.name, key: keys[1], to: StoredValue.string("q"))
            try database.people.delete(key: keys[2])
            keys.append(try database.addPerson("p", age: 56))
        }
        let new = try database.view()
        let step = ChangeStep(try database.changes(from: old, to: new), from: old, to: new)
        let table = try database.people.id
        func found(_ range: ClosedRange<Int64>) throws -> [Int64] {
            let bound = RowBound(property: ObservedDatabase.age, lower: range.lowerBound, upper: range.upperBound)
            return try step.keys(within: bound, of: table)
        }
        #expect(try found(0...5) == [keys[0]])
        #expect(try found(10...10) == [keys[1]])
        #expect(try found(20...30) == [keys[2]], "the row that was deleted, and not the one that nobody wrote to")
        #expect(try found(55...56) == [keys[0], keys[4]])
        #expect(try found(0...100) == [keys[0], keys[1], keys[2], keys[4]])
        #expect(try found(31...54).isEmpty)
    }

    @Test("of two values within a bound, one row's are one row, and those of two rows ascend by row")
    func touchedTwice() throws {
        let database = try ObservedDatabase()
        var keys: [Int64] = []
        try database.write { keys = try (0..<2).map { try database.addPerson("p", age: $0 * 10) } }
        let old = try database.view()
        try database.write {
            try database.people.set(ObservedDatabase.age, key: keys[0], to: StoredValue.int(5))
            try database.people.set(ObservedDatabase.age, key: keys[1], to: StoredValue.int(4))
        }
        let new = try database.view()
        let step = ChangeStep(try database.changes(from: old, to: new), from: old, to: new)
        let table = try database.people.id
        func found(_ range: ClosedRange<Int64>) throws -> [Int64] {
            let bound = RowBound(property: ObservedDatabase.age, lower: range.lowerBound, upper: range.upperBound)
            return try step.keys(within: bound, of: table)
        }
        #expect(try found(4...5) == keys, "4 is the value of the second row")
        try database.write { try database.people.set(ObservedDatabase.age, key: keys[0], to: StoredValue.int(6)) }
        let last = try database.view()
        let next = ChangeStep(try database.changes(from: new, to: last), from: new, to: last)
        let bound = RowBound(property: ObservedDatabase.age, lower: 5, upper: 6)
        #expect(try next.keys(within: bound, of: table) == [keys[0]])
    }

    @Test("sorted, limited and linked collections look at the rows within their bound alone, and overlook none of them")
    func watched() throws {
        let database = try ObservedDatabase()
        var boss: Int64 = 0
        var ann: Int64 = 0
        var far: Int64 = 0
        try database.write {
            boss = try database.addPerson("Bob", age: 60)
            ann = try database.addPerson("Ann", age: 30)
            far = try database.addPerson("Far", age: 90)
            try database.people.set(ObservedDatabase.boss, key: ann, to: StoredValue.link(boss))
        }
        let predicate = try Predicate.parse("age >= 30 AND age < 40")
        let byName = SortOrder([(path: "name", ascending: true)])
        let queries = [
            ObservedQuery(className: "Person", predicate: predicate),
            ObservedQuery(className: "Person", predicate: predicate, steps: [.sort(byName)]),
            ObservedQuery(className: "Person", predicate: predicate, steps: [.sort(byName), .limit(1, offset: 0)]),
            ObservedQuery(className: "Person", predicate: predicate, steps: [.limit(1, offset: 0)]),
            ObservedQuery(className: "Person", predicate: predicate, steps: [.distinct(["name"])]),
        ]
        for (query, keyPaths) in queries.flatMap({ [($0, nil), ($0, ["name"])] }) {
            var keys = try ObservedKeys(query, keyPaths: keyPaths, in: try database.view())
            let watch = try #require(keys.watch)
            #expect(watch.place.followsLinks == (keyPaths == nil))
            var old = try database.view()
            func advance(_ isConcerned: Bool, _ change: () throws -> Void) throws -> CollectionDelta {
                try database.write(change)
                let new = try database.view()
                let step = ChangeStep(try database.changes(from: old, to: new), from: old, to: new)
                #expect(try keys.mayBeConcerned(by: step) == isConcerned, "\(query) \(keyPaths ?? [])")
                old = new
                return try keys.advance(by: step)
            }
            let age = ObservedDatabase.age
            let delta = try advance(false) { try database.people.set(age, key: far, to: StoredValue.int(91)) }
            #expect(delta.isEmpty)
            let nearer = try advance(true) { try database.people.set(age, key: far, to: StoredValue.int(35)) }
            #expect(!nearer.isEmpty || query.steps.contains(.limit(1, offset: 0)))
            _ = try advance(true) { try database.people.set(age, key: far, to: StoredValue.int(90)) }
            let name = StoredValue.string("Rob")
            let linked = try advance(keyPaths == nil) {
                try database.people.set(ObservedDatabase.name, key: boss, to: name)
            }
            #expect(linked.modifications == (keyPaths == nil ? [0] : []))
        }
        // With key paths nobody follows all links, and what the predicate reads behind them is looked at row by row.
        let predicateAcross = try Predicate.parse("age >= 30 AND boss.boss.age > 3")
        let across = ObservedQuery(className: "Person", predicate: predicateAcross)
        let view = try database.view()
        #expect(try ObservedKeys(across, keyPaths: nil, in: view).watch != nil)
        #expect(try ObservedKeys(across, keyPaths: ["name"], in: view).watch == nil)
    }

    @Test("what is written to linked objects counts, though no row of the collection was touched")
    func linked() throws {
        let database = try ObservedDatabase()
        var boss: Int64 = 0
        try database.write {
            boss = try database.addPerson("Bob", age: 60)
            let ann = try database.addPerson("Ann", age: 30)
            try database.people.set(ObservedDatabase.boss, key: ann, to: StoredValue.link(boss))
        }
        let query = ObservedQuery(className: "Person", predicate: try Predicate.parse("age == 30"))
        var observer = try ObservedKeysTests.Observer(query, database)
        try database.write { try database.people.set(ObservedDatabase.name, key: boss, to: StoredValue.string("Rob")) }
        #expect(try observer.advance(database).modifications == [0])
        try database.write { try database.people.set(ObservedDatabase.age, key: boss, to: StoredValue.int(30)) }
        let delta = try observer.advance(database)
        #expect(delta.insertions == [0])
        #expect(delta.modifications == [0])
    }
}
