import ActorRealm
import Foundation
import Testing

extension Puppy {
    var initial: String { name.first.map { String($0).uppercased() } ?? "" }
}

@Suite struct SectionedResultsTests {
    private func filled() throws -> Realm {
        let realm = try memoryRealm()
        try realm.write {
            for (index, name) in ["Anna", "ben", "Bea", "Carl", "alf", "Cleo", "Bob"].enumerated() {
                realm.create(Puppy.self, value: ["name": name, "age": index % 3, "weight": Double(index)])
            }
        }
        return realm
    }

    private func contents(_ sections: SectionedResults<String, Puppy>) -> [String: [String]] {
        Dictionary(uniqueKeysWithValues: sections.map { ($0.key, $0.map(\.name)) })
    }

    @Test func `a key path sorts and divides`() throws {
        let realm = try filled()
        let sections = realm.objects(Puppy.self).sectioned(by: \.age, ascending: false)
        #expect(sections.allKeys == [2, 1, 0])
        #expect(sections.count == 3 && sections[0].key == 2 && sections[0].id == 2)
        #expect(sections[2].map(\.name) == ["Anna", "Carl", "Bob"])
        #expect(sections[IndexPath(item: 1, section: 2)].name == "Carl")
        #expect(sections[[1, 0]].name == "ben")
        #expect(sections.first?.count == 2 && sections.last?.last?.name == "Bob")
        #expect(realm.objects(Puppy.self).sectioned(by: \.weight).allKeys == (0..<7).map { Double($0) })
    }

    @Test func `a closure divides what the descriptors order`() throws {
        let realm = try filled()
        let sections = realm.objects(Puppy.self)
            .sectioned(by: { $0.initial }, sortDescriptors: [SortDescriptor(keyPath: "name")])
        // Upper case sorts before lower case; keys appear in the order of their first element.
        #expect(sections.allKeys == ["A", "B", "C"])
        #expect(sections[1].map(\.name) == ["Bea", "Bob", "ben"])
        #expect(sections[0].map(\.name) == ["Anna", "alf"])
        let byPath = realm.objects(Puppy.self)
            .sectioned(by: \.age, sortDescriptors: [SortDescriptor(keyPath: "age"), SortDescriptor(keyPath: "name")])
        #expect(byPath[0].map(\.name) == ["Anna", "Bob", "Carl"])
    }

    @Test func `values of a list are divided`() throws {
        let realm = try memoryRealm()
        let owner = try realm.write { realm.create(Scalars.self, value: ["ints": [5, 2, 9, 4, 1]]) }
        let sections = owner.ints.sectioned(by: { $0 % 2 == 0 ? "even" : "odd" }, ascending: true)
        #expect(sections.allKeys == ["odd", "even"])
        #expect(sections.map { Array($0) } == [[1, 5, 9], [2, 4]])
    }

    @Test func `sections are live, in a write and after it, and empty ones stay usable`() throws {
        let realm = try filled()
        let sections = realm.objects(Puppy.self)
            .sectioned(by: { $0.initial }, sortDescriptors: [SortDescriptor(keyPath: "name")])
        let c = sections[2]
        #expect(c.key == "C" && c.count == 2)
        try realm.write {
            for puppy in c { puppy.name = "z" + puppy.name }
            #expect(c.isEmpty && sections.allKeys == ["A", "B", "Z"])
            realm.create(Puppy.self, value: ["name": "Cora"])
            #expect(c.count == 1 && sections.allKeys == ["A", "B", "C", "Z"])
        }
        #expect(c.first?.name == "Cora" && !c.isInvalidated)
    }

    @Test func `frozen sections stay, thawed ones follow`() throws {
        let realm = try filled()
        let sections = realm.objects(Puppy.self).sectioned(by: \.age)
        let frozen = sections.freeze()
        let section = sections[0].freeze()
        let shared = sections.frozen
        try realm.write { realm.deleteAll() }
        #expect(sections.isEmpty && frozen.count == 3 && frozen.isFrozen && !sections.isFrozen)
        #expect(section.count == 3 && section.isFrozen && section.thaw()?.isEmpty == true)
        #expect(frozen.thaw()?.isEmpty == true)
        #expect(shared.value.allKeys == [0, 1, 2])
        #expect(frozen.freeze() == frozen && frozen != sections)
    }

    @Test func `a reference leads to the sections of a key path`() throws {
        let realm = try filled()
        let sections = realm.objects(Puppy.self).sectioned(by: \.age)
        let resolved = try #require(realm.resolve(ThreadSafeReference(to: sections)))
        #expect(resolved == sections && resolved.allKeys == [0, 1, 2])
        let section = try #require(realm.resolve(ThreadSafeReference(to: sections[1])))
        #expect(section.key == 1 && section == sections[1])
        #expect(sections.description.contains("[0] 3 elements") && section.description.contains("Cleo") == false)
    }
}
