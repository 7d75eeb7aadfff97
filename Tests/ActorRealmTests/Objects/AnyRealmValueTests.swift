import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite struct AnyRealmValueTests {
    @Test func `every type comes back as it was`() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = try realm.write { realm.create(Crate.self, value: ["id": 1]) }
        #expect(crate.value == .none)
        let date = Date(timeIntervalSinceReferenceDate: 1_234.5)
        let values: [AnyRealmValue] = [
            .none, .int(-7), .bool(true), .float(1.5), .double(-2.25), .string("text"), .data(Data([1, 2])),
            .date(date), .object(crate), .objectId(ObjectId.generate()), .decimal128("1.50"), .uuid(UUID()),
        ]
        for value in values {
            try realm.write { crate.value = value }
            #expect(crate.value == value)
        }
        try realm.write { crate.values.append(objectsIn: values) }
        #expect(Array(crate.values) == values)
        #expect(crate.values[8].object(Crate.self)?.id == 1)
        #expect(crate.values[1].intValue == -7)
        #expect(crate.values[1].stringValue == nil)
        try realm.verify()
    }

    @Test func `links are kept, and end with what they lead to`() throws {
        let realm = try memoryRealm(crateTypes)
        let (one, two) = try realm.write {
            let one = Crate(id: 1)
            let two = Crate(id: 2)
            one.value = .object(two)
            one.values.append(objectsIn: [.object(two), .int(3), .object(one)])
            one.mixed["a"] = .object(two)
            one.anything.insert(objectsIn: [.object(two), .int(4)])
            realm.add(one)
            return (one, two)
        }
        #expect(two.realm != nil)
        #expect(realm.objects(Crate.self).where { $0.value == .object(two) }.map(\.id) == [1])
        try realm.verify()
        try realm.write { realm.delete(two) }
        #expect(one.value == .none)
        #expect(Array(one.values) == [.none, .int(3), .object(one)])
        #expect(one.mixed["a"] == AnyRealmValue.none)
        #expect(Set(one.anything) == [.none, .int(4)])
        try realm.verify()
        try realm.write { realm.delete(one) }
        try realm.verify()
    }

    @Test func `lists and dictionaries inside are live`() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = try realm.write {
            let crate = Crate(id: 1)
            crate.value = .fromDictionary([
                "numbers": .fromArray([.int(1), .string("two"), .fromDictionary(["deep": .bool(true)])]),
                "name": "inner",
            ])
            realm.add(crate)
            return crate
        }
        let dictionary = try #require(crate.value.dictionaryValue)
        #expect(dictionary.keys == ["name", "numbers"])
        #expect(dictionary["name"]?.stringValue == "inner")
        let numbers = try #require(dictionary["numbers"]?.listValue)
        #expect(numbers.count == 3)
        #expect(numbers[2].dictionaryValue?["deep"] == .bool(true))
        try realm.write {
            numbers[0] = .int(100)
            numbers.append(.object(crate))
            numbers[2].dictionaryValue?["more"] = .fromArray([.int(1)])
            numbers[2].dictionaryValue?["more"]?.listValue?.append(.int(2))
        }
        #expect(crate.value.dictionaryValue?["numbers"]?.listValue?[0].intValue == 100)
        #expect(numbers[3].object(Crate.self)?.id == 1)
        #expect(numbers[2].dictionaryValue?["more"]?.listValue.map { Array($0) } == [.int(1), .int(2)])
        #expect(numbers.map { $0 }.count == 4)
        let frozen = numbers.freeze()
        try realm.write { numbers.remove(at: 1) }
        #expect(numbers.count == 3)
        #expect(frozen.count == 4)
        try realm.verify()
        try realm.write { crate.value = .int(1) }
        #expect(numbers.isInvalidated)
        #expect(dictionary.isInvalidated)
    }

    @Test func `collections of values hold lists and dictionaries, too`() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = try realm.write { realm.create(Crate.self, value: ["id": 1]) }
        try realm.write {
            crate.values.append(.fromArray([.int(1)]))
            crate.mixed["d"] = .fromDictionary(["x": .int(1)])
        }
        try realm.write {
            crate.values[0].listValue?.append(.int(2))
            crate.mixed["d"]?.dictionaryValue?["y"] = .int(2)
        }
        #expect(crate.values[0].listValue.map { Array($0) } == [.int(1), .int(2)])
        #expect(crate.mixed["d"]?.dictionaryValue?.keys == ["x", "y"])
        for value in crate.values { #expect(value.listValue?.count == 2) }
    }

    @Test func `queries compare numbers of all types, and nothing else with them`() throws {
        let realm = try memoryRealm(crateTypes)
        let values: [AnyRealmValue] = [
            .int(3), .double(3), .decimal128("3.0"), .float(2.5), .string("3"), .bool(true), .none, .string("Abc"),
            .data(Data([3])), .fromArray([.int(9), .string("nine")]), .fromDictionary(["k": .int(8)]),
        ]
        try realm.write {
            for (id, value) in values.enumerated() {
                realm.create(Crate.self, value: ["id": id, "value": value])
            }
        }
        let crates = realm.objects(Crate.self)
        func ids(_ isIncluded: (Query<Crate>) -> Query<Bool>) -> [Int] { crates.where(isIncluded).map(\.id) }
        #expect(ids { $0.value == .int(3) } == [0, 1, 2])
        #expect(ids { $0.value > .double(2.6) } == [0, 1, 2])
        #expect(ids { $0.value < .int(3) } == [3])
        #expect(ids { $0.value == .string("3") } == [4])
        #expect(ids { $0.value == .none } == [6])
        #expect(ids { $0.value.in([.bool(true), .string("3")]) } == [4, 5])
        #expect(ids { $0.value[0] == .int(9) } == [9])
        #expect(ids { $0.value["k"] == .int(8) } == [10])
        #expect(ids { $0.value.any == .string("nine") } == [9])
        #expect(crates.filter("value BEGINSWITH[c] 'ab'").map(\.id) == [7])
        #expect(crates.filter("value == 3").map(\.id) == [0, 1, 2])
        #expect(crates.filter("value[0] == 9").map(\.id) == [9])
        #expect(crates.filter("value['k'] > 7").map(\.id) == [10])
        #expect(crates.filter("ANY value[#any] == 8").map(\.id) == [10])
        let sorted = crates.sorted(byKeyPath: "value").map(\.id)
        #expect(sorted.first == 6)
        // Nothing, booleans, numbers in the order that they had, text, data, lists, dictionaries.
        #expect(Array(sorted) == [6, 5, 3, 0, 1, 2, 4, 7, 8, 9, 10])
        let sum: AnyRealmValue? = crates.sum(ofProperty: "value")
        #expect(sum?.decimal128Value == "11.5")
    }

    @Test func `values are made from what is at hand`() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = try realm.write {
            realm.create(
                Crate.self,
                value: ["id": 1, "value": ["list": [1, "two", nil]] as [String: Any], "values": [1, "x", 2.5, true]]
            )
        }
        #expect(crate.value.dictionaryValue?["list"]?.listValue.map { Array($0) } == [.int(1), .string("two"), .none])
        #expect(Array(crate.values) == [.int(1), .string("x"), .double(2.5), .bool(true)])
        let literal: AnyRealmValue = "text"
        #expect(literal.stringValue == "text")
    }

    @Test func `a set refuses lists`() async {
        await #expect(processExitsWith: .failure) {
            let realm = try memoryRealm(crateTypes)
            try realm.write {
                let crate = realm.create(Crate.self, value: ["id": 1])
                crate.anything.insert(.fromArray([]))
            }
        }
    }
}

@Suite struct DetachedCollectionTests {
    @Test func `copies take sets, maps and values of any kind with them`() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = try realm.write {
            let crate = Crate(id: 1)
            crate.tags.insert(objectsIn: ["a", "b"])
            crate.friends.insert(Crate(id: 2))
            crate.peers["me"] = crate
            crate.peers["nobody"] = .some(nil)
            crate.slips["s"] = Slip(value: ["text": "slip"])
            crate.value = .fromDictionary(["self": .object(crate), "list": .fromArray([.int(1)])])
            crate.values.append(objectsIn: [.none, .object(crate)])
            crate.price = "1.50"
            realm.add(crate)
            return crate
        }
        let copy = crate.detached()
        #expect(copy.realm == nil)
        #expect(Set(copy.tags) == ["a", "b"])
        #expect(copy.friends.first?.id == 2)
        #expect(copy.peers["me"].flatMap { $0 } === copy)
        #expect(copy.peers["nobody"] == .some(nil))
        #expect(copy.slips["s"]??.text == "slip")
        #expect(copy.value.dictionaryValue?["self"]?.object(Crate.self) === copy)
        #expect(copy.value.dictionaryValue?["list"]?.listValue?.first == .int(1))
        #expect(copy.values.count == 2)
        #expect(copy.values[1].object(Crate.self) === copy)
        #expect(copy.price.stringValue == "1.50")
        let shallow = crate.detached(depth: 0)
        #expect(shallow.friends.isEmpty)
        #expect(shallow.slips["s"]??.text == "slip")
        #expect(shallow.peers["me"] == .some(nil))
    }

    @Test func `dynamic objects reach sets, maps and values of any kind`() throws {
        let realm = try memoryRealm(crateTypes)
        try realm.write {
            let crate = Crate(id: 1)
            crate.tags.insert("x")
            crate.friends.insert(Crate(id: 2))
            crate.peers["p"] = Crate(id: 3)
            crate.value = .int(5)
            crate.price = 7
            realm.add(crate)
        }
        let object = try #require(realm.dynamicObjects("Crate").filter("id == 1").first)
        #expect((object["tags"] as? MutableSet<String>).map { Array($0) } == ["x"])
        #expect(object.dynamicMutableSet("friends").first?["id"] as? Int == 2)
        let peers: Map<String, DynamicObject?> = object.dynamicMap("peers")
        #expect(peers["p"]??["id"] as? Int == 3)
        #expect(object["value"] as? Int == 5)
        #expect(object["price"] as? Decimal128 == 7)
    }
}

/// What rewrites a whole file keeps what is in sets, maps and values of any kind.
@Suite struct RewrittenFileTests {
    let directory = TemporaryDirectory()

    private func configuration(_ name: String) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: directory.url.appendingPathComponent(name))
        configuration.objectTypes = crateTypes
        return configuration
    }

    private func fill(_ realm: Realm) throws {
        try realm.write {
            for id in 0..<300 {
                let crate = realm.create(Crate.self, value: ["id": id, "name": "crate \(id)"])
                let other = realm.object(ofType: Crate.self, forPrimaryKey: id / 2)
                crate.tags.insert(objectsIn: (0..<id % 90).map { "tag \($0)" })
                crate.decimals.insert(Decimal128(id))
                if let other { crate.friends.insert(other) }
                crate.peers["half"] = other
                crate.peers["none"] = .some(nil)
                for index in 0..<id % 60 { crate.scores["score \(index)"] = index }
                crate.slips["slip"] = Slip(value: ["text": "\(id)"])
                crate.value = .fromDictionary(["half": other.map { .object($0) } ?? .none, "id": .int(id)])
                crate.values.append(objectsIn: [.int(id), other.map { .object($0) } ?? .none, .fromArray([.int(1)])])
                crate.mixed["x"] = .decimal128(Decimal128(id))
                crate.price = Decimal128(id) / 4
            }
        }
        // Space to be given back, and links that ended.
        try realm.write { realm.delete(realm.objects(Crate.self).where { $0.id > 200 }) }
    }

    private func describe(_ realm: Realm) -> [String] {
        realm.objects(Crate.self).sorted(byKeyPath: "id")
            .map { crate in
                var text = "\(crate.id) \(crate.name) \(crate.price) \(Array(crate.tags)) \(Array(crate.decimals))"
                text += " \(Array(crate.friends.map(\.id))) \(crate.peers.keys) \(crate.peers["half"]??.id ?? -1)"
                text += " \(crate.scores.keys) \(crate.scores.values) \(crate.slips["slip"]??.text ?? "")"
                text += " \(crate.value.dictionaryValue?["half"]?.object(Crate.self)?.id ?? -1)"
                text += " \(crate.values.count) \(crate.values[1].object(Crate.self)?.id ?? -1)"
                text += " \(crate.values[2].listValue.map { Array($0) } == [.int(1)])"
                return text + " \(crate.mixed["x"]?.decimal128Value?.stringValue ?? "") \(crate.friendOf.count)"
            }
    }

    @Test func `a compacted file`() throws {
        let content = try {
            let realm = try Realm(configuration: configuration("a.realm"))
            try fill(realm)
            defer { realm.close() }
            return describe(realm)
        }()
        _ = try Realm.compact(configuration("a.realm"))
        let realm = try Realm(configuration: configuration("a.realm"))
        #expect(describe(realm) == content)
        try realm.verify()
    }

    @Test func `a copied file`() throws {
        let realm = try Realm(configuration: configuration("a.realm"))
        try fill(realm)
        try realm.writeCopy(toFile: directory.url.appendingPathComponent("b.realm"))
        let copy = try Realm(configuration: configuration("b.realm"))
        #expect(describe(copy) == describe(realm))
        try copy.verify()
    }

    @Test func `a salvaged file`() throws {
        let content = try {
            let realm = try Realm(configuration: configuration("a.realm"))
            try fill(realm)
            defer { realm.close() }
            return describe(realm)
        }()
        let report = try Realm.salvage(
            from: directory.url.appendingPathComponent("a.realm"),
            to: directory.url.appendingPathComponent("b.realm")
        )
        #expect(report.isComplete, "\(report)")
        let realm = try Realm(configuration: configuration("b.realm"))
        #expect(describe(realm) == content)
        try realm.verify()
    }
}
