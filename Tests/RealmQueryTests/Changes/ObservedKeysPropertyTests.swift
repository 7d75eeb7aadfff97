import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

/// Random commits, seen through every kind of observed collection.
@Suite("Observed collections under random commits")
struct ObservedKeysPropertyTests {
    private static func queries(owner: Int64) -> [(ObservedQuery, [String]?)] {
        let young = Predicate.compare(.path("age"), .less, .value(.int(20)))
        let youngBoss = Predicate.compare(.path("boss.age"), .less, .value(.int(20)))
        let oldDog = Predicate.compare(.path("dogs.age"), .greater, .value(.int(15)), quantifier: .any)
        let byAge = ObservedQuery.Step.sort(SortOrder([("age", false), ("name", true)]))
        let byBoss = ObservedQuery.Step.sort(SortOrder([("boss.age", true)]))
        let list = ObservedQuery.Source.list(ownerClass: "Person", ownerKey: owner, property: "dogs")
        let staff = ObservedQuery.Source.backlinks(targetClass: "Person", targetKey: owner, property: "boss")
        return [
            (ObservedQuery(className: "Person"), nil),
            (ObservedQuery(className: "Person"), ["boss.name", "dogs"]),
            (ObservedQuery(className: "Person", predicate: young), nil),
            (ObservedQuery(className: "Person", predicate: young), ["staff.age"]),
            (ObservedQuery(className: "Person", predicate: youngBoss), ["name"]),
            (ObservedQuery(className: "Person", predicate: .or([oldDog, .not(young)])), nil),
            (ObservedQuery(className: "Person", steps: [byAge]), nil),
            (ObservedQuery(className: "Person", predicate: young, steps: [byBoss]), nil),
            (ObservedQuery(className: "Person", predicate: oldDog, steps: [byAge]), ["age"]),
            (ObservedQuery(className: "Person", steps: [byAge, .distinct([PropertyPath("name")])]), nil),
            (ObservedQuery(className: "Person", steps: [byAge, .limit(5, offset: 0)]), nil),
            (ObservedQuery(className: "Person", predicate: young, steps: [byAge, .limit(3, offset: 2)]), nil),
            (ObservedQuery(className: "Person", predicate: oldDog, steps: [byBoss, .limit(4, offset: 0)]), ["age"]),
            (ObservedQuery(className: "Person", predicate: young, steps: [.limit(6, offset: 1)]), nil),
            (ObservedQuery(className: "Dog", source: list), nil),
            (ObservedQuery(className: "Dog", source: list, steps: [.sort(SortOrder([("age", true)]))]), nil),
            (ObservedQuery(className: "Person", source: staff), nil),
            (ObservedQuery(className: "Person", source: staff, predicate: young), nil),
        ]
    }

    @Test("every difference leads from the contents before to the contents now, and misses no written object")
    func random() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SplitMix64(seed: seed)
        for round in 0..<6 {
            let database = try ObservedDatabase()
            var owner: Int64 = 0
            try database.write {
                owner = try database.addPerson("owner", age: 1)
                for index in 0..<30 { try mutate(database, owner, &generator, onlyAdding: index < 20) }
            }
            var observers = try Self.queries(owner: owner)
                .map {
                    try ObservedKeysTests.Observer($0.0, keyPaths: $0.1, database)
                }
            let observesOwnAge = Self.queries(owner: owner).map { $0.1 == nil || $0.1!.contains("age") }
            for commit in 0..<25 {
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    try database.write {
                        for _ in 0..<Int.random(in: 1...6, using: &generator) {
                            try mutate(database, owner, &generator, onlyAdding: false)
                        }
                    }
                }
                for index in observers.indices where Int.random(in: 0..<3, using: &generator) > 0 {
                    let comment: Comment = "seed \(seed), round \(round), commit \(commit), query \(index)"
                    let before = observers[index].view
                    let content = observers[index].content
                    let delta = try observers[index].advance(database, comment)
                    guard observesOwnAge[index] else { continue }
                    try expectComplete(delta, observers[index], from: before, content, database, comment)
                }
            }
        }
    }

    @Test("comparing two versions finds what the record of changes says, equal writes apart")
    func comparison() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SplitMix64(seed: seed)
        let database = try ObservedDatabase()
        var owner: Int64 = 0
        try database.write {
            owner = try database.addPerson("owner", age: 1)
            for _ in 0..<300 { try mutate(database, owner, &generator, onlyAdding: true) }
        }
        for _ in 0..<30 {
            let old = try database.view()
            try database.write {
                for _ in 0..<5 { try mutate(database, owner, &generator, onlyAdding: false) }
            }
            let new = try database.view()
            let logged = try database.changes(from: old, to: new)
            let compared = try VersionComparison.changes(from: old, to: new)
            for (table, changes) in compared.tables {
                #expect(changes.inserted == logged.tables[table]?.inserted, "seed \(seed)")
                #expect(changes.deleted == logged.tables[table]?.deleted, "seed \(seed)")
                let loggedKeys = Set((logged.tables[table]?.modified ?? []).map(\.key))
                #expect(loggedKeys.isSuperset(of: changes.modified.map(\.key)), "seed \(seed)")
            }
        }
    }

    /// Every object that was there before and is there now, and of which the observed writes say so, is reported.
    private func expectComplete(
        _ delta: CollectionDelta,
        _ observer: ObservedKeysTests.Observer,
        from old: ModelView,
        _ content: [Int64],
        _ database: ObservedDatabase,
        _ comment: Comment
    ) throws {
        let changes = try database.changes(from: old, to: observer.view)
        let table = try observer.view.table(named: observer.keys.query.className)!
        guard let changed = changes.tables[table.id] else { return }
        // Only what is certain without tracing links: a row whose own `age` was written.
        let age = table.schema.ordinal(of: "age")!
        let written = Set(changed.modified.filter { $0.columns.contains(age) }.map(\.key))
        let reported = Set(delta.modifications).union(delta.deletions)
        for (index, key) in content.enumerated() where written.contains(key) {
            #expect(reported.contains(index), comment)
        }
    }

    private func mutate(
        _ database: ObservedDatabase,
        _ owner: Int64,
        _ generator: inout SplitMix64,
        onlyAdding: Bool
    ) throws {
        let people = try database.people
        let dogs = try database.allDogs
        func randomKey(_ table: TableView) throws -> Int64? {
            table.count == 0 ? nil : try table.key(at: Int.random(in: 0..<table.count, using: &generator))
        }
        let age = Int64.random(in: 0..<40, using: &generator)
        let name = ["a", "b", "c", "d"].randomElement(using: &generator)!
        switch onlyAdding ? Int.random(in: 0..<4, using: &generator) : Int.random(in: 0..<13, using: &generator) {
        case 0, 1: try database.addPerson(name, age: age)
        case 2, 3:
            let dog = try database.addDog(name, age: age)
            if let person = try randomKey(people) {
                try people.listAppend(ObservedDatabase.dogs, key: person, StoredValue.link(dog))
            }
        case 4, 5:
            if let key = try randomKey(people) {
                try people.set(ObservedDatabase.age, key: key, to: StoredValue.int(age))
            }
        case 6:
            if let key = try randomKey(people) {
                try people.set(ObservedDatabase.name, key: key, to: StoredValue.string(name))
            }
        case 7:
            if let key = try randomKey(people) {
                let boss = Bool.random(using: &generator) ? try randomKey(people) : owner
                let exists = try boss.map { try people.contains(key: $0) } ?? false
                try people.setLink(ObservedDatabase.boss, key: key, to: exists ? boss : nil)
            }
        case 8:
            if let key = try randomKey(dogs) {
                try dogs.set(ObservedDatabase.dogAge, key: key, to: StoredValue.int(age))
            }
        case 9:
            if let key = try randomKey(dogs), try people.contains(key: owner) {
                let count = try people.list(ObservedDatabase.dogs, key: owner).count
                let index = Int.random(in: 0...count, using: &generator)
                try people.listInsert(ObservedDatabase.dogs, key: owner, at: index, StoredValue.link(key))
            }
        case 10:
            if try people.contains(key: owner) {
                let count = try people.list(ObservedDatabase.dogs, key: owner).count
                if count > 0 {
                    let index = Int.random(in: 0..<count, using: &generator)
                    try people.listRemove(ObservedDatabase.dogs, key: owner, at: index)
                }
            }
        case 11:
            if let key = try randomKey(people), key != owner || Int.random(in: 0..<8, using: &generator) == 0 {
                try people.delete(key: key)
            }
        default:
            if let key = try randomKey(dogs) { try dogs.delete(key: key) }
        }
    }
}
