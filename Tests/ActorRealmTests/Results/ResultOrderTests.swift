import ActorRealm
import Foundation
import Testing

/// Orders, groups and aggregates as RealmSwift has them.
@Suite struct ResultOrderTests {
    private func filled() throws -> Realm {
        let realm = try memoryRealm()
        try realm.write {
            for (id, (name, age)) in [("b", 3), ("a", 3), ("b", 1), ("c", 2), ("a", 2)].enumerated() {
                realm.create(
                    Keeper.self,
                    value: [
                        "id": id, "name": name, "age": age, "height": id == 3 ? nil : Double(id) as Any?,
                        "favourite": ["name": "p\(9 - id)", "age": id] as [String: Any],
                    ] as [String: Any?]
                )
            }
        }
        return realm
    }

    private func ids(_ results: Results<Keeper>) -> [Int] { results.map(\.id) }

    @Test func `the last order wins, the one before decides among equals`() throws {
        let all = try filled().objects(Keeper.self)
        #expect(ids(all.sorted(by: \.age).sorted(by: \.name)) == [4, 1, 2, 0, 3])
        #expect(ids(all.sorted(byKeyPath: "name", ascending: false)) == [3, 0, 2, 1, 4])
        #expect(ids(all.sorted(byKeyPath: "favourite.name")) == [4, 3, 2, 1, 0])
        let byName: ActorRealm.SortDescriptor = "name"
        #expect(byName == ActorRealm.SortDescriptor(keyPath: \Keeper.name) && byName.reversed() != byName)
        #expect(byName.reversed().reversed() == byName && !byName.reversed().ascending)
        #expect(ids(all.sorted(by: [byName.reversed(), "age"])) == [3, 2, 0, 4, 1])
        #expect(ids(all.sorted(byKeyPath: "height")) == [3, 0, 1, 2, 4])
    }

    @Test func `distinct keeps the first of each group in the order so far`() throws {
        let all = try filled().objects(Keeper.self)
        #expect(ids(all.distinct(by: ["name"])) == [0, 1, 3])
        #expect(ids(all.sorted(by: \.age).distinct(by: [\.name])) == [2, 3, 4])
        #expect(all.distinct(by: ["name", "age"]).count == 5)
    }

    @Test func `values of a list are ordered, thinned out and added up`() throws {
        let realm = try memoryRealm()
        let object = try realm.write {
            realm.create(
                Scalars.self,
                value: [
                    "ints": [3, 1, 3, 2], "strings": ["b", nil, "a", "b"] as [String?],
                    "dates": [Date(timeIntervalSince1970: 5), Date(timeIntervalSince1970: 2)],
                ] as [String: Any]
            )
        }
        #expect(Array(object.ints.sorted()) == [1, 2, 3, 3] && Array(object.ints.distinct()) == [3, 1, 2])
        #expect(Array(object.strings.sorted(ascending: false)) == ["b", "b", "a", nil])
        #expect(Array(object.ints.sorted(byKeyPath: "self", ascending: false)) == [3, 3, 2, 1])
        #expect(Array(object.ints.distinct(by: ["self"])) == [3, 1, 2])
        #expect(object.ints.sum(ofProperty: "self") as Int == 9)
        #expect(object.ints.value(forKeyPath: "@sum") as? Int == 9)
        #expect(object.ints.value(forKeyPath: "@sum.self") as? Int == 9)
        #expect(object.ints.min() == 1 && object.ints.max() == 3 && object.ints.sum() == 9)
        #expect(object.ints.average() as Double? == 2.25)
        #expect(object.dates.min() == Date(timeIntervalSince1970: 2) && object.dates.max() == object.dates.first)
        #expect(object.doubles.min() == nil && object.doubles.sum() == 0 && object.doubles.average() as Double? == nil)
    }

    @Test func `aggregates of nothing are nil, their sum is zero, and integers wrap`() throws {
        let realm = try filled()
        let none = realm.objects(Keeper.self).where { $0.age > 100 }
        #expect(none.min(ofProperty: "age") as Int? == nil && none.max(of: \.height) == nil)
        #expect(none.average(ofProperty: "age") as Double? == nil && none.sum(ofProperty: "height") as Double == 0)
        let all = realm.objects(AllTypes.self)
        try realm.write {
            for int in [Int.max, 1] {
                realm.create(
                    AllTypes.self,
                    value: ["int": int, "date": Date(timeIntervalSince1970: 4)] as [String: Any]
                )
            }
        }
        #expect(all.sum(ofProperty: "int") as Int == Int.min)
        #expect(all.max(ofProperty: "date") as Date? == Date(timeIntervalSince1970: 4))
    }

    private func check(_ result: ExitTest.Result?, _ sentence: String, line: SourceLocation = #_sourceLocation) {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(sentence), "\(text.suffix(400))", sourceLocation: line)
    }

    @Test func `what has no order and what cannot be added up traps`() async {
        let many = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Keeper.self).sorted(byKeyPath: "puppies.age")
        }
        check(many, "Cannot sort on key path 'puppies.age': property is a collection or lies behind one")
        let link = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Keeper.self).sorted(byKeyPath: "boss")
        }
        check(link, "Cannot sort on key path 'boss'")
        let text = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(Keeper.self).sum(ofProperty: "name") as Int
        }
        check(text, "Operation 'sum' not supported for")
        let date = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try memoryRealm().objects(AllTypes.self).average(ofProperty: "date") as Double?
        }
        check(date, "Operation 'average' not supported for")
    }

    @Test func `values have no property to order, to compare or to add up`() async {
        let sort = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            _ = try realm.write { realm.create(Scalars.self, value: ["ints": [2, 1]]) }.ints.sorted(byKeyPath: "oops")
        }
        check(sort, "Cannot sort on key path 'oops'")
        let second = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            let ints = try realm.write { realm.create(Scalars.self, value: ["ints": [2, 1]]) }.ints
            let oops = ActorRealm.SortDescriptor(keyPath: "oops")
            _ = ints.sorted(by: [ActorRealm.SortDescriptor(keyPath: "self"), oops])
        }
        check(second, "Cannot sort on key path 'oops'")
        let distinct = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            _ = try realm.write { realm.create(Scalars.self, value: ["ints": [2, 1]]) }.ints.distinct(by: ["oops"])
        }
        check(distinct, "Cannot distinct on key path 'oops'")
        let sum = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm()
            let ints = try realm.write { realm.create(Scalars.self, value: ["ints": [2, 1]]) }.ints
            _ = ints.sum(ofProperty: "oops") as Int
        }
        check(sum, "Invalid property name 'oops': the elements are values")
    }
}
