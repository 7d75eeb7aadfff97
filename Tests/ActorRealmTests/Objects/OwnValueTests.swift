import ActorRealm
import Foundation
import Testing

/// Values that are lists, nested values and embedded objects of the realm that they are written to.
@Suite("What an object is given of its own is what it was before the first write", .timeLimit(.minutes(60)))
struct OwnValueTests {
    @Test("embedded objects change places in an update", arguments: [Realm.UpdatePolicy.modified, .all])
    func exchangedObjects(policy: Realm.UpdatePolicy) throws {
        let (realm, saw) = try makeSeesaw()
        let (left, right) = (saw.left!, saw.right!)
        try realm.write {
            realm.create(
                Seesaw.self,
                value: ["id": 1, "left": saw.right!, "right": saw.left!] as [String: Any],
                update: policy
            )
        }
        #expect(saw.left?.grams == 2 && saw.right?.grams == 1)
        #expect(saw.left?.label?.text == "two" && saw.right?.label?.text == "one")
        // They are written into, and what they link to stays what it is.
        #expect(!left.isInvalidated && !right.isInvalidated)
        #expect(saw.right?.friend?.id == 1 && realm.objects(Seesaw.self).count == 1)
    }

    @Test("an embedded object and an element of a list change places", arguments: [Realm.UpdatePolicy.modified, .all])
    func exchangedElements(policy: Realm.UpdatePolicy) throws {
        let (realm, saw) = try makeSeesaw()
        try realm.write {
            realm.create(
                Seesaw.self,
                value: ["id": 1, "left": saw.spare[0], "spare": [saw.left!, saw.spare[1]]] as [String: Any],
                update: policy
            )
        }
        #expect(saw.left?.grams == 3 && saw.left?.label?.text == "three")
        #expect(saw.spare.map(\.grams) == [1, 4] && saw.spare[0].label?.text == "one")
    }

    @Test("embedded objects in the dictionaries of a list are read before the list is written")
    func insideElements() throws {
        let (realm, saw) = try makeSeesaw()
        try realm.write {
            realm.create(
                Seesaw.self,
                value: [
                    "id": 1,
                    "spare": [["grams": 9, "label": saw.left!.label!], ["label": saw.spare[0].label!]]
                        as [[String: Any]],
                ] as [String: Any],
                update: .modified
            )
        }
        #expect(saw.spare.map(\.grams) == [9, 4])
        #expect(saw.spare.map { $0.label?.text } == ["one", "three"])
    }

    @Test("embedded objects that are given by the names of their properties change places")
    func dynamicObjects() throws {
        let (realm, saw) = try makeSeesaw()
        let dynamic = realm.dynamicObjects("Seesaw")[0]
        try realm.write {
            realm.dynamicCreate(
                "Seesaw",
                value: ["id": 1, "left": dynamic["right"]!, "right": dynamic["left"]!] as [String: Any],
                update: .modified
            )
        }
        #expect(saw.left?.grams == 2 && saw.right?.grams == 1)
        #expect(saw.left?.label?.text == "two" && saw.right?.label?.text == "one")
        let left = try #require(dynamic["left"] as? DynamicObject)
        let first = try #require((dynamic["spare"] as? List<DynamicObject>)?.first)
        let spare: [[String: Any]] = [["grams": 9, "label": left["label"]!], ["label": first["label"]!]]
        try realm.write {
            realm.dynamicCreate("Seesaw", value: ["id": 1, "spare": spare] as [String: Any], update: .modified)
        }
        #expect(saw.spare.map { $0.label?.text } == ["two", "three"])
        let right: [String: Any] = ["grams": 7, "label": left["label"]!]
        try realm.write { try dynamic.setValues(["left": nil, "right": right]) }
        #expect(saw.left == nil && saw.right?.grams == 7 && saw.right?.label?.text == "two")
    }

    @Test("collections and values change places", arguments: [true, false])
    func exchangedCollections(isCreated: Bool) throws {
        let (realm, saw) = try makeSeesaw()
        func assign(_ values: [String: Any?]) throws {
            try realm.write {
                if isCreated {
                    var given: [String: Any] = ["id": 1]
                    for (name, value) in values { given[name] = value }
                    realm.create(Seesaw.self, value: given, update: .modified)
                } else {
                    try saw.setValues(values)
                }
            }
        }
        try assign(["ones": saw.twos, "twos": saw.ones])
        #expect(Array(saw.ones) == [2, 20] && Array(saw.twos) == [1, 10])
        let slice: Slice<List<Int>> = saw.ones[1..<2]
        try assign(["ones": saw.twos, "twos": slice])
        #expect(Array(saw.ones) == [1, 10] && Array(saw.twos) == [20])
        try assign(["ones": [Int](), "twos": saw.ones])
        #expect(saw.ones.isEmpty && Array(saw.twos) == [1, 10])
        try assign(["marks": saw.others, "others": saw.marks])
        #expect(saw.marks["b"] == 2 && saw.others["a"] == 1 && saw.marks.count == 1 && saw.others.count == 1)
        try assign(["value": saw.nested, "nested": saw.value])
        #expect(saw.value == .fromArray([2]) && saw.nested == .fromArray([1]))
        try assign(["value": AnyRealmValue.fromArray([saw.nested]), "nested": [saw.value, 3] as [AnyRealmValue]])
        #expect(saw.value == .fromArray([.fromArray([1])]))
        #expect(saw.nested == .fromArray([.fromArray([2]), 3]))
    }

    @Test("values of an object that is added change places", arguments: [Realm.UpdatePolicy.modified, .all])
    func addedValues(policy: Realm.UpdatePolicy) throws {
        let (realm, saw) = try makeSeesaw()
        let copy = Seesaw(value: ["id": 1])
        copy.value = saw.nested
        copy.nested = .fromArray([saw.value, 3])
        try realm.write { realm.add(copy, update: policy) }
        #expect(saw.value == .fromArray([2]))
        #expect(saw.nested == .fromArray([.fromArray([1]), 3]))
        let dictionary = Map<String, AnyRealmValue>()
        dictionary["a"] = saw.nested
        let another = Seesaw(value: ["id": 1])
        another.value = .dictionary(dictionary)
        another.nested = saw.value
        try realm.write { realm.add(another, update: policy) }
        #expect(saw.value.dictionaryValue?["a"] == AnyRealmValue.fromArray([.fromArray([1]), 3]))
        #expect(saw.nested == .fromArray([2]))
    }

    @Test("values are read before the first write also where other objects lead to them")
    func addedBehindOthers() throws {
        let (realm, saw) = try makeSeesaw()
        let second = try realm.write { realm.create(Seesaw.self, value: ["id": 2]) }
        // The second one is filled behind the first, of which it has the values.
        let (copy, other) = (Seesaw(value: ["id": 1]), Seesaw(value: ["id": 2]))
        copy.left = SeesawWeight(value: ["grams": 5])
        copy.left?.friend = other
        other.value = saw.value
        other.nested = saw.nested
        try realm.write { realm.add(copy, update: .modified) }
        #expect(saw.value == AnyRealmValue.none && saw.nested == AnyRealmValue.none)
        #expect(second.value == .fromArray([1]) && second.nested == .fromArray([2]))
    }

    @Test("values of an object in a value are what they were", arguments: [true, false])
    func valuesInObjects(isCreated: Bool) throws {
        let (realm, saw) = try makeSeesaw()
        let held = Seesaw(value: ["id": 2])
        held.value = saw.value
        held.nested = .fromArray([saw.nested])
        let given = AnyRealmValue.fromArray([.object(held)])
        try realm.write {
            if isCreated {
                let values: [String: Any] = ["id": 1, "value": given, "nested": AnyRealmValue.int(7)]
                realm.create(Seesaw.self, value: values, update: .modified)
            } else {
                try saw.setValues(["value": given, "nested": AnyRealmValue.int(7)])
            }
        }
        #expect(saw.nested == .int(7) && held.realm != nil)
        #expect(held.value == .fromArray([1]) && held.nested == .fromArray([.fromArray([2])]))
    }
    @Test("values behind types of the program's own are read before the first write")
    func customTypes() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([PalletHolder.self, PalletRow.self, LidRow.self])
            let holder = try realm.write {
                realm.create(PalletHolder.self, value: ["id": 1, "value": [1]] as [String: Any])
            }
            try realm.write {
                try holder.setValues(["value": [9], "pallet": Pallet(["any": holder.value])])
            }
            let first = holder.pallet?.row.any
            #expect(first == AnyRealmValue.fromArray([1]) && holder.value == AnyRealmValue.fromArray([9]))
            let copy = PalletHolder(value: ["id": 1])
            copy.value = .int(3)
            copy.pallet = Pallet(["any": holder.value])
            copy.pallets.append(Pallet(["any": holder.value]))
            try realm.write { realm.add(copy, update: .modified) }
            let (second, element) = (holder.pallet?.row.any, holder.pallets.first?.row.any)
            #expect(second == AnyRealmValue.fromArray([9]) && element == AnyRealmValue.fromArray([9]))
            #expect(holder.value == .int(3))
        }
    }

    @Test("values of objects that a map is given are read before its first entry is written")
    func mergedObjects() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm(crateTypes)
            let crate = try realm.write {
                let mixed: [String: Any] = ["a": [1], "c": 2]
                return realm.create(Crate.self, value: ["id": 1, "mixed": mixed] as [String: Any])
            }
            let held = Crate(id: 2)
            held.value = crate.mixed["a"]!
            let entries: [(key: String, value: AnyRealmValue)] = [
                (key: "a", value: .int(1)), (key: "b", value: .object(held)), (key: "c", value: crate.mixed["a"]!),
                (key: "d", value: .int(3)), (key: "d", value: .int(4)),
            ]
            try realm.write {
                crate.mixed.merge(entries) { old, new in new == .int(4) ? old : new }
            }
            #expect(held.realm != nil && held.value == AnyRealmValue.fromArray([1]))
            #expect(crate.mixed.keys == ["a", "b", "c", "d"] && crate.mixed["a"] == AnyRealmValue.int(1))
            #expect(crate.mixed["c"] == AnyRealmValue.fromArray([1]) && crate.mixed["d"] == AnyRealmValue.int(3))
        }
    }
}

class PalletHolder: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var value: AnyRealmValue
    @Persisted var pallet: Pallet?
    @Persisted var pallets: List<Pallet>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Seesaw: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var left: SeesawWeight?
    @Persisted var right: SeesawWeight?
    @Persisted var spare: List<SeesawWeight>
    @Persisted var ones: List<Int>
    @Persisted var twos: List<Int>
    @Persisted var marks: Map<String, Int>
    @Persisted var others: Map<String, Int>
    @Persisted var value: AnyRealmValue
    @Persisted var nested: AnyRealmValue
}

class SeesawWeight: EmbeddedObject {
    @Persisted var grams = 0
    @Persisted var label: SeesawLabel?
    @Persisted var friend: Seesaw?
}

class SeesawLabel: EmbeddedObject {
    @Persisted var text = ""
}

func makeSeesaw() throws -> (Realm, Seesaw) {
    let realm = try memoryRealm([Seesaw.self, SeesawWeight.self, SeesawLabel.self])
    func weight(_ grams: Int, _ text: String) -> SeesawWeight {
        SeesawWeight(value: ["grams": grams, "label": ["text": text]] as [String: Any])
    }
    let saw = Seesaw(value: ["id": 1])
    saw.left = weight(1, "one")
    saw.left?.friend = saw
    saw.right = weight(2, "two")
    saw.spare.append(objectsIn: [weight(3, "three"), weight(4, "four")])
    saw.ones.append(objectsIn: [1, 10])
    saw.twos.append(objectsIn: [2, 20])
    saw.marks["a"] = 1
    saw.others["b"] = 2
    saw.value = .fromArray([1])
    saw.nested = .fromArray([2])
    try realm.write { realm.add(saw) }
    return (realm, saw)
}
