import ActorRealm
import Foundation

@available(*, deprecated)
private class Former: Object {
    @Persisted var age: RealmProperty<Int?>
    @Persisted var weight: RealmOptional<Double>
    @Persisted var anything: RealmProperty<AnyRealmValue>
}

extension Names {
    /// What the types have been called before, and names that nobody needs to write.
    mutating func formerNames() {
        var realm: Realm { value() }
        var owner: Owner { value() }
        group(
            "MapIndex",
            "SingleMapEntry",
            "RLMIterator",
            "RLMMapIterator",
            "RLMKeyValueIterator",
            "SectionedResultsIterator",
            "SectionIterator"
        ) {
            expect(UInt.self, MapIndex(offset: 1).offset)
            let entry: SingleMapEntry<String, Int> = SingleMapEntry(key: "a", value: 1)
            expect(String.self, entry.key)
            let one: RLMIterator<Dog> = realm.objects(Dog.self).makeIterator()
            let two: RLMMapIterator<SingleMapEntry<String, Int>> = owner.scores.makeIterator()
            let three: RLMKeyValueIterator<String, Int> = owner.scores.asKeyValueSequence().makeIterator()
            let sections = realm.objects(Dog.self).sectioned(by: \.age)
            let four: SectionedResultsIterator<Int, Dog> = sections.makeIterator()
            let five: SectionIterator<Dog> = sections[0].makeIterator()
            print(one, two, three, four, five)
        }
        group("RealmSwiftObject", "RealmSwiftEmbeddedObject") {
            expect(RealmSwiftObject.self, owner)
            expect(RealmSwiftEmbeddedObject?.self, owner.address)
        }
        group(
            "ProjectedPropertyChange",
            "RealmSectionedResultsChange",
            "ObjectIdentifiable",
            "RealmProperty",
            "RealmOptional",
            "RealmProperty.value",
            "RealmOptional.value",
            "RealmOptionalType",
            "RealmPropertyType",
            "Realm.asyncOpen",
            "AsyncOpenTask.cancel()",
            "LinkingObjects.init(fromType:property:)",
            "Decimal128.init(string:)"
        ) {}
    }
}

@available(*, deprecated)
private func deprecatedNames(_ former: Former, _ configuration: Realm.Configuration) {
    _ = Decimal128(string: "3.5")
    expect(String.self, value(ProjectedPropertyChange.self).name)
    if case .initial(let collection) = value(RealmSectionedResultsChange<Int>.self) { print(collection) }
    func identifiable<T: ObjectIdentifiable>(_: T) {}
    identifiable(Dog())
    former.age.value = 3
    former.weight.value = nil
    former.anything.value = .int(3)
    expect(Int?.self, former.age.value)
    expect(Double?.self, former.weight.value)
    func optional<T: RealmOptionalType>(_: T.Type) {}
    optional(Int.self)
    func property<T: RealmPropertyType>(_: T.Type) {}
    property(Int?.self)
    let task: Realm.AsyncOpenTask = Realm.asyncOpen(configuration: configuration, callbackQueue: .main) { result in
        if case .failure(let error) = result { print(error) }
        _ = try? result.get()
    }
    task.cancel()
    Realm.asyncOpen { (_: Result<Realm, any Error>) in }
    _ = LinkingObjects(fromType: Owner.self, property: "dogs")
}
