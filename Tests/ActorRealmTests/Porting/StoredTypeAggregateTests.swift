import ActorRealm
import Foundation
import Testing

/// What is computed over enums and custom types, and by code that is generic over the stored type.
@Suite("Aggregates give the type of the property, whatever it is stored as", .timeLimit(.minutes(60)))
struct StoredTypeAggregateTests {
    let file = PortingFile()

    private func withLogs(_ body: @escaping @Sendable (Results<Reading>, Reading) throws -> Void) throws {
        let configuration = file.configuration
        try onNewThread {
            let realm = try Realm(configuration: configuration)
            try realm.write {
                for (degrees, grade) in [(2.0, ReadingGrade.low), (4, .high)] {
                    let reading = Reading()
                    reading.warmth = Warmth(persistedValue: degrees)
                    reading.grade = grade
                    reading.warmths.append(objectsIn: [reading.warmth, Warmth(persistedValue: 10)])
                    reading.maybes.append(objectsIn: [reading.warmth, nil])
                    reading.grades.append(objectsIn: [grade, .middle])
                    reading.named["a"] = reading.warmth
                    realm.add(reading)
                }
                realm.objects(Reading.self)[0].maybe = Warmth(persistedValue: 7)
            }
            let readings = realm.objects(Reading.self)
            try body(readings, readings[0])
        }
    }

    @Test("of custom types, by name, by key path, and of collections")
    func customTypes() throws {
        try withLogs { readings, first in
            #expect((readings.max(ofProperty: "warmth") as Warmth?)?.degrees == 4)
            #expect((readings.sum(ofProperty: "warmth") as Warmth).degrees == 6)
            #expect((readings.average(ofProperty: "warmth") as Warmth?)?.degrees == 3)
            #expect(readings.min(of: \.warmth)?.degrees == 2)
            #expect((readings.average(of: \.warmth) as Warmth?)?.degrees == 3)
            #expect((readings.max(of: \.maybe) as Warmth?)?.degrees == 7)
            #expect(first.warmths.max() == Warmth(persistedValue: 10))
            #expect(first.warmths.sum().degrees == 12)
            #expect((first.warmths.average() as Warmth?)?.degrees == 6)
            #expect((first.maybes.max() as Warmth?)?.degrees == 2)
            #expect(first.named.max() == Warmth(persistedValue: 2) && first.named.sum().degrees == 2)
            #expect(first.warmths.sorted(ascending: false).map(\.degrees) == [10, 2])
            #expect(List<Warmth>().max() == nil && List<Warmth>().sum().degrees == 0)
        }
    }

    @Test("of enums, by name, by key path, and of collections")
    func enums() throws {
        try withLogs { readings, first in
            #expect(readings.max(ofProperty: "grade") as ReadingGrade? == .high)
            #expect(readings.min(of: \.grade) == .low)
            #expect(first.grades.max() == .middle)
            #expect(readings.sorted(by: \.grade, ascending: false).first?.grade == .high)
        }
    }

    @Test("of floats in values of any type they are exact, and of nothing but NaN they are NaN")
    func floatsAndNaN() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = try realm.write { realm.create(Crate.self, value: ["id": 1]) }
        let unmanaged = List<AnyRealmValue>()
        unmanaged.append(objectsIn: [.float(0.1), .float(0.2)])
        try realm.write {
            crate.values.append(objectsIn: [.float(0.1), .float(0.2)])
            crate.prices.append(objectsIn: [.nan, .nan])
            crate.price = .nan
        }
        for list in [unmanaged, crate.values] {
            #expect(list.sum() == .decimal128("0.3") && list.average() == .decimal128("0.15") as AnyRealmValue?)
        }
        let crates = realm.objects(Crate.self)
        #expect(crates.filter("values.@sum == %@", Decimal128("0.3")).count == 1)
        #expect(crate.prices.min()?.isNaN == true && crate.prices.max()?.isNaN == true)
        #expect((crates.min(ofProperty: "price") as Decimal128?)?.isNaN == true)
        #expect(crates.filter("prices.@max == nil").isEmpty)
        let anys = List<AnyRealmValue>()
        anys.append(objectsIn: [.none, .double(.nan), .string("text")])
        #expect(anys.min()?.doubleValue?.isNaN == true && anys.max()?.doubleValue?.isNaN == true)
        anys.append(.int(2))
        #expect(anys.min() == .int(2) && anys.max() == .int(2))
    }

    @Test("of values of any type, while unmanaged as when managed")
    func valuesOfAnyType() throws {
        let list = List<AnyRealmValue>()
        list.append(objectsIn: [.int(1), .none, .double(2.5), .string("text")])
        let map = Map<String, AnyRealmValue>()
        map["a"] = .int(4)
        map["b"] = .float(0.5)
        #expect(list.max() == .double(2.5) && list.min() == .int(1))
        #expect(list.sum() == .decimal128(3.5) && list.average() == .decimal128(1.75) as AnyRealmValue?)
        #expect(map.max() == .int(4) && map.sum() == .decimal128(4.5))
        try withLogs { _, reading in
            try reading.realm?
                .write {
                    reading.anything.append(objectsIn: [.int(1), .none, .double(2.5), .string("text")])
                }
            let list = reading.anything
            #expect(list.max() == .double(2.5) && list.min() == .int(1))
            #expect(list.sum() == .decimal128(3.5) && list.average() == .decimal128(1.75) as AnyRealmValue?)
        }
    }

    private func largest<Elements: RealmCollection>(_ elements: Elements) -> Elements.Element?
    where Elements.Element.PersistedType: MinMaxType { elements.max() }

    private func total<Elements: RealmCollection>(_ elements: Elements) -> Elements.Element
    where Elements.Element.PersistedType: AddableType { elements.sum() }

    private func first<Value: _HasPersistedType>(
        of readings: Results<Reading>,
        by keyPath: KeyPath<Reading, Value>
    ) -> (Reading?, Value?) where Value.PersistedType: SortableType & MinMaxType {
        (readings.sorted(by: keyPath, ascending: false).first, readings.max(of: keyPath))
    }

    @Test("in code that knows of the element only what it is stored as")
    func genericCode() throws {
        try withLogs { [self] readings, reading in
            #expect(largest(reading.warmths)?.degrees == 10 && largest(reading.grades) == .middle)
            #expect(total(reading.warmths).degrees == 12)
            let numbers = List<Int>()
            numbers.append(objectsIn: [1, 5])
            #expect(largest(numbers) == 5 && total(numbers) == 6)
            let (found, warmth) = first(of: readings, by: \.warmth)
            #expect(found?.grade == .high && warmth?.degrees == 4)
        }
    }
}

enum ReadingGrade: Int, PersistableEnum {
    case low = 1
    case middle
    case high
}

class Reading: Object {
    @Persisted var warmth: Warmth
    @Persisted var maybe: Warmth?
    @Persisted var warmths: List<Warmth>
    @Persisted var maybes: List<Warmth?>
    @Persisted var named: Map<String, Warmth>
    @Persisted var grade: ReadingGrade
    @Persisted var grades: List<ReadingGrade>
    @Persisted var anything: List<AnyRealmValue>
}
