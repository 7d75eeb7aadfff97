import ActorRealm
import Foundation
import Testing

@Suite struct LimitTests {
    private func filled(_ count: Int = 500) throws -> Realm {
        let realm = try memoryRealm()
        try realm.write {
            for number in 0..<count {
                realm.create(
                    Keeper.self,
                    value: ["id": number, "name": "k\(number % 17)", "age": (number * 37) % 100]
                )
            }
        }
        return realm
    }

    @Test func `a limit takes what the whole collection has first`() throws {
        let realm = try filled()
        let all = realm.objects(Keeper.self)
        let orders: [(Results<Keeper>, String)] = [
            (all, "all"), (all.where { $0.age > 40 }, "filtered"), (all.sorted(by: \.age), "sorted"),
            (all.where { $0.age > 40 }.sorted(by: [SortDescriptor(keyPath: "name"), "age"]), "filtered and sorted"),
            (all.sorted(by: \.age).sorted(by: \.name), "sorted twice"),
            (all.sorted(by: \.age).distinct(by: [\.name]), "distinct"),
        ]
        for (results, text) in orders {
            let ids = results.map(\.id)
            for (count, offset) in [(0, 0), (1, 0), (7, 0), (7, 5), (10_000, 3), (5, 10_000), (.max, 1)] {
                let limited = results.limit(count, offset: offset)
                let expected = Array(Array(ids).dropFirst(offset).prefix(count))
                #expect(limited.count == expected.count, "\(text) \(count) \(offset)")
                #expect(limited.first?.id == expected.first, "\(text) \(count) \(offset)")
                #expect(limited.last?.id == expected.last, "\(text) \(count) \(offset)")
                #expect(Array(limited.map(\.id)) == expected, "\(text) \(count) \(offset)")
                #expect(limited.sum(of: \.age) == expected.map { ($0 * 37) % 100 }.reduce(0, +), "\(text)")
            }
            #expect(Array(results.limit(3).map(\.id)) == Array(ids.prefix(3)), "\(text)")
        }
    }

    @Test func `what follows a limit works on what it left`() throws {
        let realm = try filled()
        let first = realm.objects(Keeper.self).limit(10)
        #expect(first.where { $0.id >= 5 }.count == 5)
        #expect(Array(first.sorted(by: \.id, ascending: false).map(\.id)) == (0..<10).reversed())
        #expect(first.limit(20).count == 10 && first.limit(3, offset: 8).count == 2)
        #expect(first.filter("id < 3").first?.id == 0)
        let list = try realm.write { realm.create(Scalars.self, value: ["ints": [5, 3, 9]]) }.ints
        #expect(Array(list.sorted().limit(2)) == [3, 5] && list.limit(1, offset: 1).first == 3)
    }

    @Test func `a limited collection is live`() throws {
        let realm = try filled(5)
        let youngest = realm.objects(Keeper.self).sorted(by: \.age).limit(2)
        #expect(youngest.map(\.id) == [0, 3])
        try realm.write { realm.create(Keeper.self, value: ["id": 99, "age": -1]) }
        #expect(youngest.map(\.id) == [99, 0])
        let frozen = youngest.freeze()
        try realm.write { realm.deleteAll() }
        #expect(youngest.isEmpty && frozen.count == 2)
    }

    @Test func `the string language orders, thins out and limits`() throws {
        let realm = try filled()
        let all = realm.objects(Keeper.self)
        #expect(
            Array(all.filter("age > 40 SORT(age DESC, name) LIMIT(5)").map(\.id))
                == Array(
                    all.where { $0.age > 40 }
                        .sorted(by: [SortDescriptor(keyPath: "age", ascending: false), "name"])
                        .limit(5)
                        .map(\.id)
                )
        )
        #expect(all.filter("TRUEPREDICATE DISTINCT(name)").count == 17)
        #expect(all.filter("age > %@ LIMIT(%@)", 50, 3).count == 3)
        #expect(throws: Realm.Error.self) { try RealmPredicate(parsing: "age > 3 LIMIT(-1)") }
        #expect(throws: Realm.Error.self) { try RealmPredicate(parsing: "age > 3 LIMIT 4") }
        #expect(throws: Realm.Error.self) { try RealmPredicate(parsing: "age > 3 SORT(age DESC") }
        let unknown = try RealmPredicate(parsing: "age > 3 SORT(shoeSize)")
        #expect(throws: Realm.Error.self) { try all.filter(unknown) }
    }

    @Test func `an explanation names the index and counts the rows`() throws {
        let realm = try filled()
        let all = realm.objects(Keeper.self)
        let indexed = all.where { $0.name == "k3" && $0.age > 50 }.explain()
        #expect(indexed.usesIndex && indexed.access.contains("index on name"))
        #expect(indexed.rowsExamined == all.where { $0.name == "k3" }.count)
        #expect(indexed.rowsMatched == all.where { $0.name == "k3" && $0.age > 50 }.count)
        #expect(indexed.conditions.count == 1 && indexed.conditions[0].contains("age"))
        let key = all.where { $0.id == 7 }.explain()
        #expect(key.usesIndex && key.access.contains("primary key") && key.rowsExamined == 1)
        let scan = all.where { $0.age > 50 }.sorted(by: \.age).limit(3).explain()
        #expect(!scan.usesIndex && scan.rowsExamined + scan.rowsSkipped == 500 && scan.duration > .zero)
        #expect(scan.steps == ["sort by age ascending", "limit 3"] && scan.description.contains("scan of Keeper"))
        #expect(all.explain().rowsMatched == 500)
    }

    @Test func `ALL, NONE and containsAll`() throws {
        let realm = try memoryRealm()
        try realm.write {
            for (id, numbers) in [[1, 2, 3], [3, 4], [], [5]].enumerated() {
                realm.create(
                    Keeper.self,
                    value: [
                        "id": id, "scores": numbers, "nicknames": numbers.map { "n\($0)" },
                        "puppies": numbers.map { ["age": $0] },
                    ]
                )
            }
        }
        let all = realm.objects(Keeper.self)
        func ids(_ query: (Query<Keeper>) -> Query<Bool>) -> [Int] { all.where(query).map(\.id) }
        #expect(ids { $0.puppies.all.age >= 3 } == [1, 2, 3])
        #expect(ids { $0.puppies.none.age >= 3 } == [2])
        #expect(ids { $0.scores.all > 2 } == [1, 2, 3])
        #expect(ids { !($0.puppies.all.age >= 3) } == [0])
        #expect(ids { $0.nicknames.containsAll(in: ["n3", "n4"]) } == [1])
        #expect(ids { $0.nicknames.containsAll(in: []) } == [0, 1, 2, 3])
        #expect(ids { $0.scores.contains(3...5) } == [1, 3])
        #expect(ids { $0.scores.contains(1..<3) }.isEmpty)
        #expect(ids { ($0.puppies.age > 1 && $0.puppies.age < 4).count == 2 } == [0])
        #expect(all.filter("ALL puppies.age >= 3").count == 3 && all.filter("NONE puppies.age >= 3").count == 1)
    }
}
