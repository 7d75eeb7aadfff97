import ActorRealm
import Foundation

extension Names {
    /// Section 3.1: typed queries.
    mutating func queries() {
        var owners: Results<Owner> { value() }
        var people: Results<Person> { value() }
        var dogs: Results<Dog> { value() }
        var dog: Dog { value() }
        group("Query ==", "Query !=", "Query in(_:)", "RealmCollection.where(_:)", "index(matching:) of queries") {
            _ = dogs.where { $0.name == "Rex" && $0.age != 3 }
            _ = dogs.where { $0.age == $0.age }
            _ = dogs.where { $0.name.in(["Rex", "Bo"]) }
            _ = owners.where { $0.best == dog && $0.note == nil }
            let query: (Query<Dog>) -> Query<Bool> = { $0.age > 3 }
            _ = dogs.where(query)
            _ = dogs.index(matching: query)
        }
        group("Query >", "Query >=", "Query <", "Query <=", "contains(_: Range)", "contains(_: ClosedRange)") {
            _ = dogs.where { $0.age > 1 && $0.age >= 1 && $0.age < 9 && $0.age <= 9 }
            _ = dogs.where { $0.age.contains(1..<3) || $0.age.contains(1...3) }
            _ = owners.where { $0.born > Date() && $0.balance < 3 && $0.anything > .int(3) }
            _ = people.where { $0.weight > 3 && $0.height <= 2 && $0.small == 1 }
            _ = people.where { $0.long > $0.long || $0.long >= $0.long || $0.long < $0.long || $0.long <= $0.long }
            _ = people.where { $0.long != $0.long && $0.weight.contains(1...3) && $0.born.contains(Date()...Date()) }
        }
        group("Query &&", "Query ||", "Query !", "Query of a Bool", "Query count of subqueries") {
            _ = people.where { $0.isMember }
            _ = people.where { !$0.isMember || ($0.name == "Ann" && !($0.name == "Bo")) }
            _ = owners.where { ($0.dogs.age > 3 && $0.dogs.name == "Rex").count > 1 }
        }
        group(
            "like(_:)",
            "like(_:caseInsensitive:)",
            "StringOptions.caseInsensitive",
            "StringOptions.diacriticInsensitive"
        ) {
            _ = dogs.where { $0.name.like("R*") || $0.name.like("r?x", caseInsensitive: true) }
            expect([UInt].self, [StringOptions.caseInsensitive, .diacriticInsensitive].map { UInt($0.rawValue) })
        }
        group(
            "contains(_:options:)",
            "starts(with:options:)",
            "ends(with:options:)",
            "equals(_:options:)",
            "notEquals(_:options:)"
        ) {
            _ = dogs.where { $0.name.contains("e") && $0.name.contains("E", options: .caseInsensitive) }
            _ = dogs.where { $0.name.starts(with: "R") && $0.name.starts(with: "r", options: [.caseInsensitive]) }
            _ = dogs.where { $0.name.ends(with: "x") && $0.name.ends(with: "X", options: .diacriticInsensitive) }
            _ = dogs.where { $0.name.equals("Rex") || $0.name.equals("rex", options: [.caseInsensitive]) }
            _ = dogs.where { $0.name.notEquals("Rex") || $0.name.notEquals("rex", options: .caseInsensitive) }
            _ = dogs.where { $0.name > "a" && $0.name <= "b" }
            _ = owners.where { $0.note.contains("a") && $0.data.starts(with: Data([1])) }
            // Beside another property.
            _ = people.where { $0.name.contains($0.name) && $0.name.starts(with: $0.name, options: .caseInsensitive) }
            _ = people.where { $0.name.ends(with: $0.name) && $0.name.like($0.name) && $0.name.equals($0.name) }
            _ = people.where { $0.name.notEquals($0.name) && $0.name.like($0.name, caseInsensitive: true) }
            _ = people.where { $0.name > $0.name || $0.name <= $0.name || $0.picture == $0.picture }
            _ = owners.where { $0.data > Data([1]) && $0.data.ends(with: Data([1])) && $0.data.contains(Data([1])) }
            _ = owners.where { $0.data.equals(Data([1])) || $0.note.notEquals("a", options: [.diacriticInsensitive]) }
        }
        group(
            "Query count",
            "Query contains(_:)",
            "Query containsAny(in:)",
            "Query contains(range) of collections",
            "Query min",
            "Query max",
            "Query avg",
            "Query sum",
            "Query.subscript(dynamicMember:) of elements"
        ) {
            _ = people.where { $0.lucky.count > 1 && $0.lucky.contains(7) && $0.lucky.containsAny(in: [1, 2]) }
            _ = people.where { $0.lucky.contains(1..<3) && $0.lucky > 3 && $0.lucky == 7 && $0.lucky != 3 }
            _ = people.where { $0.lucky.min > 1 && $0.lucky.max < 9 && $0.lucky.avg >= 2 && $0.lucky.sum == 7 }
            _ = owners.where { $0.dogs.name == "Rex" && $0.dogs.age.min > 1 && $0.dogs.age.sum < 10 }
            _ = owners.where { $0.dogs.contains(dog) && $0.dogs.age.max == 3 && $0.dogs.age.avg == 3 }
            _ = dogs.where { $0.owners.count == 1 }
        }
        group("Query keys", "Query values", "Query subscript(key)", "Query of maps") {
            _ = people.where { $0.scores.keys == "a" && $0.scores.values > 1 && $0.scores["a"] == 1 }
            _ = people.where { $0.scores.contains(1) && $0.scores.containsAny(in: [1]) && $0.scores.count == 1 }
            _ = people.where { $0.scores.contains(1..<3) && $0.scores.min > 1 && $0.scores.max > 1 }
            _ = people.where { $0.scores.sum > 1 && $0.scores.avg > 1 && $0.scores.keys.starts(with: "a") }
        }
        group("Query rawValue", "Query persistableValue", "Query of enums", "Query of own types") {
            _ = people.where { $0.mood == .calm && $0.mood.rawValue == "calm" && $0.former == nil }
            _ = people.where { $0.mood.in([.calm]) }
            _ = owners.where { $0.rank > .low && $0.rank.contains(.low ... .high) && $0.rank.rawValue >= 1 }
            _ = owners.where { $0.moods.contains(.calm) && $0.moods.rawValue == "calm" }
            _ = owners.where { $0.warmth == Temperature(persistedValue: 3) && $0.warmth.persistableValue > 3 }
            _ = owners.where { $0.warmths.persistableValue > 3 && $0.warmths.contains(Temperature(persistedValue: 3)) }
            _ = owners.where { $0.port.persistableValue == "Oslo" && $0.port == Harbor(persistedValue: "Oslo") }
            _ = people.where { $0.former.rawValue == "calm" && $0.former.in([.calm]) && $0.former != .busy }
        }
        group(
            "Query subscript(Int) of AnyRealmValue",
            "Query subscript(String) of AnyRealmValue",
            "Query any",
            "Query of AnyRealmValue"
        ) {
            _ = owners.where { $0.anything[0] == .int(3) && $0.anything["a"] == .string("b") }
            _ = owners.where { $0.anything.any == .int(3) && $0.anything == .none }
            _ = owners.where { $0.things.contains(.int(3)) }
        }
        group("Query of embedded objects", "Query of optionals") {
            _ = owners.where { $0.address.street == "Quay" && $0.address.city == nil && $0.addresses.street == "Quay" }
            _ = owners.where { $0.best.name == "Rex" && $0.best != nil }
        }
    }

    /// Sections 3.2 and 3.3: texts, orders, aggregates and sections.
    mutating func texts() {
        var owners: Results<Owner> { value() }
        var dogs: Results<Dog> { value() }
        var lucky: List<Int> { value() }
        group("filter(_:)", "filter(_:_:)") {
            expect(Results<Dog>.self, dogs.filter("name == 'Rex'"))
            expect(Results<Dog>.self, dogs.filter("name BEGINSWITH[c] %@ AND age BETWEEN {%@, %d}", "r", 1, 3))
            _ = owners.filter("ANY dogs.age > %@ AND %K == %@", 3, "note", NSNull())
            _ = owners.filter("SUBQUERY(dogs, $dog, $dog.age > 3).@count > 1 AND dogs.@max.age IN %@", [1, 2])
        }
        group(
            "SortDescriptor.init(keyPath: String, ascending:)",
            "SortDescriptor.init(keyPath: PartialKeyPath, ascending:)",
            "SortDescriptor.reversed()",
            "SortDescriptor.keyPath",
            "SortDescriptor.ascending",
            "SortDescriptor literal",
            "SortDescriptor ==",
            "SortDescriptor.description",
            "_name(for:)"
        ) {
            let descriptor: ActorRealm.SortDescriptor = "name"
            expect([String].self, [_name(for: \Dog.name), _name(for: \PersonProjection.note), descriptor.description])
            _ = ActorRealm.SortDescriptor(keyPath: "name")
            _ = ActorRealm.SortDescriptor(keyPath: "name", ascending: false)
            _ = ActorRealm.SortDescriptor(keyPath: \Dog.name)
            _ = ActorRealm.SortDescriptor(keyPath: \Dog.name, ascending: false)
            expect(ActorRealm.SortDescriptor.self, descriptor.reversed())
            expect(String.self, descriptor.keyPath)
            expect([Bool].self, [descriptor.ascending, descriptor == descriptor])
        }
        group(
            "sorted(byKeyPath:ascending:)",
            "sorted(by: KeyPath, ascending:)",
            "sorted(by: [SortDescriptor])",
            "sorted(ascending:)"
        ) {
            _ = dogs.sorted(byKeyPath: "name").sorted(byKeyPath: "age", ascending: false)
            _ = dogs.sorted(by: \.name)
            _ = dogs.sorted(by: \.name, ascending: false)
            _ = dogs.sorted(by: [ActorRealm.SortDescriptor(keyPath: "name"), "age"])
            expect(Results<Int>.self, lucky.sorted())
            expect(Results<Int>.self, lucky.sorted(ascending: false))
        }
        group("distinct(by: [String])", "distinct(by: [PartialKeyPath])", "distinct()") {
            _ = dogs.distinct(by: ["name", "age"])
            _ = dogs.distinct(by: [\Dog.name])
            expect(Results<Int>.self, lucky.distinct())
        }
        group(
            "min(ofProperty:)",
            "max(ofProperty:)",
            "sum(ofProperty:)",
            "average(ofProperty:)",
            "min(of:)",
            "max(of:)",
            "sum(of:)",
            "average(of:)",
            "min()",
            "max()",
            "sum()",
            "average()",
            "MinMaxType",
            "AddableType",
            "min() of own types",
            "max(ofProperty:) of own types",
            "max(of:) where PersistedType: MinMaxType",
            "sum(of:) where PersistedType: AddableType",
            "sorted(by:) where PersistedType: SortableType",
            "SortableType",
            "_HasPersistedType"
        ) {
            expect(
                [Int?].self,
                [dogs.min(ofProperty: "age"), dogs.max(ofProperty: "age"), dogs.sum(ofProperty: "age")]
            )
            expect(Double?.self, dogs.average(ofProperty: "age"))
            expect([Int?].self, [dogs.min(of: \.age), dogs.max(of: \.age), dogs.sum(of: \.age)])
            expect(Double?.self, dogs.average(of: \.age))
            expect([Int?].self, [lucky.min(), lucky.max(), lucky.sum()])
            expect(Double?.self, lucky.average())
            func limits<T: MinMaxType>(_: T.Type) {}
            func sums<T: AddableType>(_: T.Type) {}
            limits(Date.self)
            sums(Decimal128.self)
            expect(Temperature?.self, owners.first!.warmths.min())
            expect(Temperature?.self, owners.max(ofProperty: "warmth"))
            expect(Temperature.self, owners.sum(ofProperty: "warmth"))
            expect(Temperature?.self, owners.average(ofProperty: "warmth"))
            func largest<C: RealmCollection>(_ c: C) -> C.Element? where C.Element.PersistedType: MinMaxType { c.max() }
            expect(Int?.self, largest(lucky))
            func all<T: _HasPersistedType>(_ keyPath: KeyPath<Dog, T>) -> (T?, T, T?, Results<Dog>)
            where T.PersistedType: MinMaxType & AddableType & SortableType {
                (dogs.max(of: keyPath), dogs.sum(of: keyPath), dogs.average(of: keyPath), dogs.sorted(by: keyPath))
            }
            _ = all(\.age)
        }
        group(
            "sectioned(by: KeyPath, ascending:)",
            "sectioned(by: KeyPath, sortDescriptors:)",
            "sectioned(by: closure, sortDescriptors:)",
            "sectioned(by: closure, ascending:)",
            "SectionedResults.allKeys",
            "SectionedResults.subscript(Int)",
            "SectionedResults.subscript(IndexPath)",
            "ResultsSection.key",
            "ResultsSection.id",
            "RealmSectionedResult"
        ) {
            let sections: SectionedResults<Int, Dog> = dogs.sectioned(by: \.age)
            _ = dogs.sectioned(by: \.age, ascending: false)
            _ = dogs.sectioned(by: \.age, sortDescriptors: [ActorRealm.SortDescriptor(keyPath: \Dog.age)])
            _ = dogs.sectioned(by: { $0.name }, sortDescriptors: [ActorRealm.SortDescriptor(keyPath: "name")])
            _ = lucky.sectioned(by: { $0 % 2 }, ascending: true)
            expect([Int].self, sections.allKeys)
            expect(ResultsSection<Int, Dog>.self, sections[0])
            expect(Dog.self, sections[IndexPath(item: 0, section: 0)])
            expect([Int].self, [sections[0].key, sections[0].id, sections.count, sections[0].count])
            func sectioned<S: RealmSectionedResult>(_: S) {}
            sectioned(sections)
            for section in sections { for dog in section { print(dog) } }
        }
    }
}
