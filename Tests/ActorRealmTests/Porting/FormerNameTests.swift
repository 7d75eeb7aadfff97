import Foundation
import Testing

@testable import ActorRealm

/// What code uses that was written before `@Persisted`, or with names that have been replaced since.
@Suite("Former names")
struct FormerNameTests {
    @available(*, deprecated)
    class Boxed: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var age: RealmProperty<Int?>
        @Persisted var weight: RealmOptional<Double>
        @Persisted var anything: RealmProperty<AnyRealmValue>
        override class func _realmObjectName() -> String? { "Boxed" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// The same class with the values themselves.
    class Plain: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var age: Int?
        @Persisted var weight: Double?
        @Persisted var anything: AnyRealmValue
        override class func _realmObjectName() -> String? { "Boxed" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Scored: Object {
        @Persisted var scores: Map<String, Int>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    @available(*, deprecated)
    @Test("A RealmProperty and a RealmOptional under @Persisted are the values that they hold")
    func boxes() throws {
        let file = TestFile()
        var configuration = file.fast
        configuration.objectTypes = [Boxed.self]
        let unmanaged = Boxed()
        #expect(unmanaged.age.value == nil && unmanaged.anything.value == .none)
        unmanaged.id = 1
        unmanaged.age.value = 7
        unmanaged.weight.value = 2.5
        try withNewRealm(configuration) { realm in
            try realm.write {
                realm.add(unmanaged)
                realm.create(Boxed.self, value: ["id": 2, "age": 9, "anything": "text"])
            }
            #expect(unmanaged.age.value == 7 && unmanaged["weight"] as? Double == 2.5)
            try realm.write {
                unmanaged.age.value = nil
                unmanaged.anything.value = .int(3)
                unmanaged["weight"] = 3.5
            }
            #expect(unmanaged.weight.value == 3.5)
            let boxed = realm.objects(Boxed.self)
            #expect(boxed.map(\.age.value) == [nil, 9])
            #expect(boxed.filter("age > 8").map(\.id) == [2] && boxed.sorted(byKeyPath: "age").first?.id == 1)
            #expect(realm.schema["Boxed"]?["age"]?.isOptional == true)
        }
        configuration.objectTypes = [Plain.self]
        try withNewRealm(configuration) { realm in
            let plain = realm.objects(Plain.self)
            #expect(plain.map(\.age) == [nil, 9] && plain.map(\.weight) == [3.5, nil])
            #expect(plain.map(\.anything) == [.int(3), .string("text")])
        }
    }

    @Test("The names of a key path are those that predicates take, of objects and of projections")
    func keyPathNames() {
        #expect(_name(for: \Harbour.position?.remark?.text) == "position.remark.text")
        #expect(_name(for: \Harbour.ships[0].name) == "ships.name")
        #expect(_name(for: \Ship.harbours[0].id) == "harbours.id")
        #expect(_name(for: \Harbour.ships.first?.harbours.first?.name) == "ships.harbours.name")
        #expect(_name(for: \Harbour.numbers.first) == "numbers" && _name(for: \Harbour.flags.first) == "flags")
        #expect(_name(for: \HarbourProjection.latitude) == "position.latitude")
    }

    @Test("Entries and iterators of maps and sections have their names")
    func mapsAndSections() throws {
        let file = TestFile()
        var configuration = file.fast
        configuration.objectTypes = [Scored.self]
        try withNewRealm(configuration) { realm in
            let scored = try realm.write {
                realm.create(Scored.self, value: ["scores": ["a": 1, "b": 5, "c": 9]])
            }
            let entries = Set(scored.scores.map { SingleMapEntry($0) })
            #expect(entries.contains(SingleMapEntry(key: "b", value: 5)) && entries.count == 3)
            var iterator: RLMMapIterator<SingleMapEntry<String, Int>> = scored.scores.makeIterator()
            #expect(iterator.next()?.key == "a")
            #expect(MapIndex(offset: 2).offset == 2)
            let sections = scored.scores.sorted().sectioned(by: { $0 % 2 }, ascending: true)
            var section: SectionIterator<Int> = sections[0].makeIterator()
            #expect(section.next() == 1)
        }
    }
}
