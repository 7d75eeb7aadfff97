import Foundation
import RealmModel
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("value(of:) throws where a getter would end the process", .timeLimit(.minutes(60)))
struct ThrowingReadsTests {
    final class Parcel: Object {
        override class func _realmObjectName() -> String? { "Parcel" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var name: String
        @Persisted var weight: Double?
        @Persisted var mood: Mood
        @Persisted var half: Half
        @Persisted var next: Parcel?
        @Persisted var tags: List<String>
        @Persisted var boxes: List<Parcel>
        var label: String { "parcel" }
    }

    /// Only even numbers are values of it.
    struct Half: FailableCustomPersistable, Equatable {
        typealias PersistedType = Int
        let value: Int
        init(_ value: Int) { self.value = value }
        init?(persistedValue: Int) {
            guard persistedValue.isMultiple(of: 2) else { return nil }
            value = persistedValue / 2
        }
        var persistableValue: Int { value * 2 }
    }

    private struct Unchecked<Value>: @unchecked Sendable {
        let value: Value
    }

    private func realm() throws -> Realm { try memoryRealm([Parcel.self]) }

    private func code(_ body: () throws -> Void) -> Realm.Error.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? Realm.Error)?.code }
    }

    @Test("It gives what the getter gives, of managed, frozen and unmanaged objects, and through links")
    func values() throws {
        let realm = try realm()
        let parcel = try realm.write {
            realm.create(
                Parcel.self,
                value: ["name": "a", "weight": 2.5, "tags": ["t"], "next": ["name": "b"], "half": 4]
            )
        }
        let unmanaged = Parcel()
        unmanaged.name = "u"
        unmanaged.next = parcel
        for object in [parcel, parcel.freeze()] {
            #expect(try object.value(of: \.name) == "a" && object.value(of: \.weight) == 2.5)
            #expect(try object.value(of: \.mood) == .calm && object.value(of: \.half) == Half(2))
            #expect(try object.value(of: \.next?.name) == "b" && object.value(of: \.next?.next?.name) == nil)
            #expect(try Array(object.value(of: \.tags)) == ["t"] && object.value(of: \.next)?.name == "b")
        }
        #expect(try unmanaged.value(of: \.name) == "u" && unmanaged.value(of: \.next?.name) == "a")
    }

    @Test("An object that was deleted, or is reached through a link of one that is not, and a key path to no property")
    func missing() throws {
        let realm = try realm()
        let parcel = try realm.write { realm.create(Parcel.self, value: ["name": "a", "next": ["name": "b"]]) }
        let next = parcel.next!
        #expect(code { _ = try parcel.value(of: \.label) } == .invalidInput)
        try realm.write { realm.delete(next) }
        #expect(code { _ = try next.value(of: \.name) } == .invalidatedObject)
        #expect(code { _ = try next.value(of: \.tags) } == .invalidatedObject)
        #expect(code { _ = try next.value(of: \.next?.name) } == .invalidatedObject)
        #expect(try parcel.value(of: \.next?.name) == nil)
        let unmanaged = Parcel()
        unmanaged.next = parcel
        realm.invalidate()
        #expect(code { _ = try parcel.value(of: \.name) } == .invalidatedObject)
        #expect(code { _ = try unmanaged.value(of: \.next?.name) } == .invalidatedObject)
        realm.close()
        #expect(code { _ = try parcel.value(of: \.name) } == .closed)
    }

    @Test("A key path to a property that reads several others is none, and leaves the others what they are")
    func computed() throws {
        let realm = try realm()
        let parcel = try realm.write { realm.create(Parcel.self, value: ["name": "a"]) }
        #expect(code { _ = try parcel.value(of: \.description) } == .invalidInput)
        #expect(try parcel.value(of: \.name) == "a" && parcel.value(of: \.next?.name) == nil)
        #expect(realm.objects(Parcel.self).where { $0.name == "a" }.sorted(by: \.name).count == 1)
    }

    @Test("A key path through a position of a collection, or by a name that is none, is none")
    func positions() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([Parcel.self])
            func code(_ body: () throws -> Void) -> Realm.Error.Code? {
                do { try body() } catch { return (error as? Realm.Error)?.code }
                return nil
            }
            let parcel = try realm.write {
                let values: [String: Any] = ["name": "a", "tags": ["t"], "boxes": [["name": "b"]]]
                return realm.create(Parcel.self, value: values)
            }
            let parcels = realm.objects(Parcel.self)
            let codes = [
                code { _ = try parcel.value(of: \.tags[0]) }, code { _ = try parcel.value(of: \.boxes[0].name) },
                code { _ = try parcel.value(of: \.boxes[3].name) }, code { try parcels.requireReadable(\.tags[0]) },
                code { try parcels.requireReadable(\.boxes[0].half) }, code { try parcels.requireReadable(\.["nope"]) },
                code { try realm.dynamicObjects("Parcel").requireReadable(\.["name"]) },
            ]
            #expect(codes == [Realm.Error.Code?](repeating: .invalidInput, count: 7))
            try parcels.requireReadable(\.["name"], \.boxes)
            let names = try (parcel.value(of: \.boxes.first?.name), parcel.value(of: \.boxes.first?.boxes.first?.name))
            #expect(names.0 == "b" && names.1 == nil)
        }
    }

    @Test("A key path through the first element of a list reads what is there before")
    func firstElements() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([Parcel.self])
            let parcel = try realm.write {
                realm.create(Parcel.self, value: ["name": "a", "boxes": [["name": "b"]]] as [String: Any])
            }
            let mood = try parcel.value(of: \.boxes.first?.mood)
            #expect(mood == .calm)
            try realm.write {
                for dynamic in realm.dynamicObjects("Parcel") { dynamic["mood"] = "jubilant" }
            }
            var codes: [Realm.Error.Code?] = []
            do { _ = try parcel.value(of: \.boxes.first?.mood) } catch { codes.append((error as? Realm.Error)?.code) }
            do { _ = try parcel.value(of: \.boxes.first?.half) } catch { codes.append(nil) }
            #expect(codes == [.invalidInput])
        }
    }

    @Test("Sections that cannot be read, or belong to another isolation, are described")
    func sections() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([Parcel.self])
            try realm.write { _ = realm.create(Parcel.self, value: ["name": "a"] as [String: Any]) }
            let sections = realm.objects(Parcel.self).sectioned(by: \.mood)
            let section = sections[0]
            #expect(!"\(sections)\(section)".contains("unreadable") && sections.description.contains("1 elements"))
            try realm.write { realm.dynamicObjects("Parcel")[0]["mood"] = "jubilant" }
            #expect(sections.description.contains("unreadable") && section.description.contains("unreadable"))
            let configuration = Realm.Configuration(
                inMemoryIdentifier: UUID().uuidString,
                objectTypes: [Parcel.self]
            )
            let leak = try withNewRealm(configuration) { realm in
                Unchecked(value: realm.objects(Parcel.self).sectioned(by: \.mood))
            }
            #expect(leak.value.description.contains("unreadable"))
        }
    }

    @Test("A stored value that is no case of an enum, and one that a type of the program's own does not take")
    func unknownValues() throws {
        let realm = try realm()
        let parcel = try realm.write { realm.create(Parcel.self, value: ["name": "a"]) }
        try realm.write {
            let dynamic = realm.dynamicObjects("Parcel").first!
            dynamic["mood"] = "jubilant"
            dynamic["half"] = 7
        }
        for (word, body) in [
            ("'jubilant'", { _ = try parcel.value(of: \.mood) }), ("7", { _ = try parcel.value(of: \.half) }),
        ] as [(String, () throws -> Void)] {
            let error = #expect(throws: Realm.Error.self) { try body() }
            #expect(
                error?.code == .invalidInput && error?.message.contains(word) == true,
                "\(error.map { "\($0)" } ?? "")"
            )
        }
        // Copying it reads it, too.
        #expect(code { try realm.write { _ = try realm.insert(Parcel.self, value: parcel) } } == .invalidInput)
        #expect(realm.objects(Parcel.self).count == 1)
    }

    final class Nook: EmbeddedObject {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var mood: Mood
    }

    final class Spot: EmbeddedObject {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var mood: Mood
        @Persisted var nook: Nook?
        @Persisted var nooks: List<Nook>
        @Persisted var named: Map<String, Nook?>
        @Persisted var moods: List<Mood>
        @Persisted var halves: List<HalfNook>
    }

    /// None is made of a nook that is grumpy.
    struct HalfNook: FailableCustomPersistable, Equatable {
        init?(persistedValue: Nook) {
            let mood = persistedValue.mood
            if mood == .grumpy { return nil }
        }
        var persistableValue: Nook { Nook() }
    }

    /// Reads all of an embedded object when it is made.
    struct Place: CustomPersistable, Equatable {
        var moods: [Mood]
        init(persistedValue: Spot) {
            moods = [persistedValue.mood, persistedValue.nook?.mood ?? .calm]
            moods += persistedValue.nooks.map(\.mood) + persistedValue.named.values.map { $0?.mood ?? .calm }
            moods += persistedValue.moods
            _ = Array(persistedValue.halves)
        }
        init(moods: [Mood]) { self.moods = moods }
        var persistableValue: Spot {
            let nook = ["mood": "calm"]
            let spot = Spot(
                value: ["nook": nook, "nooks": [nook], "named": ["a": nook], "moods": ["calm"]] as [String: Any]
            )
            spot.halves.append(HalfNook(persistedValue: Nook())!)
            return spot
        }
    }

    final class Chain: EmbeddedObject {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var next: Chain?
    }

    struct Length: CustomPersistable, Equatable {
        var count = 0
        init() {}
        init(persistedValue: Chain) {
            var link: Chain? = persistedValue
            while let next = link?.next {
                count += 1
                link = next
            }
        }
        var persistableValue: Chain { Chain() }
    }

    final class Chained: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var length: Length?
    }

    @Test("A value made of a long chain of embedded objects is read as the getter reads it")
    func chain() throws {
        let realm = try memoryRealm([Chained.self])
        let object = try realm.write { realm.create(Chained.self) }
        try realm.write {
            object.length = Length()
            var link = try #require(realm.dynamicObjects(Chained.className())[0]["length"] as? DynamicObject)
            for _ in 0..<5_000 {
                link["next"] = [String: Any]()
                link = try #require(link["next"] as? DynamicObject)
            }
        }
        #expect(object.length?.count == 5_000)
        #expect(try object.value(of: \.length)?.count == 5_000)
    }

    @Test("A value made of embedded objects of which one has two owners is not made", arguments: [true, false])
    func sharedPart(isRing: Bool) throws {
        let realm = try memoryRealm([Chained.self])
        let object = try realm.write { realm.create(Chained.self) }
        try realm.write {
            object.length = Length()
            let link = try #require(realm.dynamicObjects(Chained.className())[0]["length"] as? DynamicObject)
            link["next"] = [String: Any]()
            let inner = try #require(link["next"] as? DynamicObject)
            // As a damaged file has it: nothing in the library makes it.
            let table = realm.core.requiredAccessor(for: Chain.self).table
            if isRing {
                try table.set(0, key: inner.rowKey, to: .link(link.rowKey))
            } else {
                let other = realm.create(Chained.self)
                other.length = Length()
                let second = try #require(realm.dynamicObjects(Chained.className())[1]["length"] as? DynamicObject)
                try table.set(0, key: second.rowKey, to: .link(inner.rowKey))
                try table.set(0, key: inner.rowKey, to: .link(second.rowKey))
            }
        }
        #expect(code { _ = try object.value(of: \.length) } == .invalidDatabase)
        #expect(code { try realm.objects(Chained.self).requireReadable(\.length) } == .invalidDatabase)
    }

    final class Trip: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var place: Place?
        @Persisted var stops: List<Place>
    }

    @Test(
        "A value that the program makes of an embedded object, where a part of that cannot be read",
        arguments: ["", "mood", "nook.mood", "nooks", "named", "moods", "halves"]
    )
    func convertedParts(broken: String) throws {
        let realm = try memoryRealm([Trip.self])
        let trip = try realm.write {
            let trip = realm.create(Trip.self)
            trip.place = Place(moods: [])
            trip.stops.append(Place(moods: []))
            return trip
        }
        let trips = realm.objects(Trip.self)
        let reads: [() throws -> Void] = [
            { _ = try trip.value(of: \.place) }, { _ = try trip.value(named: "place") },
            { try trips.requireReadable(\.place) }, { try trips.requireReadable(properties: ["place"]) },
            { try trip.stops.requireReadable() }, { try trips.requireReadable(properties: ["place.mood"]) },
        ]
        for read in reads { try read() }
        if broken.isEmpty { return }
        try realm.write {
            let found = realm.dynamicObjects(Trip.className())[0]
            let stops = try #require(found["stops"] as? List<DynamicObject>)
            for spot in [try #require(found["place"] as? DynamicObject), stops[0]] {
                switch broken {
                case "mood": spot["mood"] = "jubilant"
                case "nook.mood": (spot["nook"] as? DynamicObject)?["mood"] = "jubilant"
                case "moods": (spot["moods"] as? List<String>)?[0] = "jubilant"
                case "halves": (spot["halves"] as? List<DynamicObject>)?[0]["mood"] = "grumpy"
                case "nooks": (spot["nooks"] as? List<DynamicObject>)?[0]["mood"] = "jubilant"
                default: (spot["named"] as? Map<String, DynamicObject?>)?["a"]??["mood"] = "jubilant"
                }
            }
        }
        for (number, read) in reads.enumerated() { #expect(code(read) == .invalidInput, "\(broken), \(number)") }
        // There it is an object, of which nothing is made.
        let dynamic = realm.dynamicObjects(Trip.className())
        try dynamic.requireReadable(properties: ["place"])
        #expect(try dynamic[0].value(named: "place") is DynamicObject)
    }

    @Test("An object of another isolation")
    func otherIsolation() throws {
        let configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Parcel.self])
        let leak = try withNewRealm(configuration) { realm in
            Unchecked(value: try realm.write { realm.create(Parcel.self, value: ["name": "a"]) })
        }
        #expect(code { _ = try leak.value.value(of: \.name) } == .wrongIsolation)
    }

    final class Letter: Object, Encodable {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var name: String
    }

    @Test("Encoding an object that was deleted throws")
    func encoding() throws {
        let realm = try memoryRealm([Letter.self])
        let letter = try realm.write { realm.create(Letter.self, value: ["name": "a"]) }
        #expect(try String(decoding: JSONEncoder().encode(letter), as: UTF8.self) == #"{"name":"a"}"#)
        try realm.write { realm.delete(letter) }
        #expect(code { _ = try JSONEncoder().encode(letter) } == .invalidatedObject)
    }

    @Test("A message names the path once, and the value of a key that exists")
    func messages() throws {
        let file = TestFile()
        let path = file.directory.path("test.realm")
        try withNewRealm(file.fast) { realm in
            let error = #expect(throws: Realm.Error.self) {
                try realm.write {
                    try realm.insert(Tally.self, value: ["name": "ann"])
                    try realm.insert(Tally.self, value: ["name": "ann"])
                }
            }
            let text = error.map { "\($0)" } ?? ""
            #expect(
                text.contains("primary key value 'ann'") && text.components(separatedBy: path).count == 2,
                "\(text)"
            )
        }
        let missing = Realm.Configuration(fileURL: URL(fileURLWithPath: path + ".no"), readOnly: true)
        let error = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: missing) }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.components(separatedBy: path + ".no").count == 2, "\(text)")
    }

    @Test(
        "value(named:) gives what object[name] gives, of managed, frozen, dynamic and unmanaged objects, and through links"
    )
    func named() throws {
        let realm = try realm()
        let parcel = try realm.write {
            realm.create(Parcel.self, value: ["name": "a", "weight": 2.5, "tags": ["t"], "next": ["name": "b"]])
        }
        let unmanaged = Parcel()
        unmanaged.name = "a"
        unmanaged.weight = 2.5
        unmanaged.next = parcel.next
        let dynamic = try #require(realm.dynamicObjects("Parcel").first { $0.name as? String == "a" })
        for object in [parcel, parcel.freeze(), unmanaged, dynamic] as [ObjectBase] {
            #expect(try object.value(named: "name") as? String == "a")
            #expect(try object.value(named: "weight") as? Double == 2.5)
            #expect(try object.value(named: "next.name") as? String == "b")
            #expect(try object.value(named: "next.next.name") == nil)
        }
        #expect(try (parcel.value(named: "tags") as? List<String>).map(Array.init) == ["t"])
    }

    @Test("Names that the class does not have, and what is gone, are errors of value(named:), and end nothing")
    func wrongNames() throws {
        let realm = try realm()
        let parcel = try realm.write { realm.create(Parcel.self, value: ["name": "a", "next": ["name": "b"]]) }
        for object in [parcel, Parcel(), try #require(realm.dynamicObjects("Parcel").first)] as [ObjectBase] {
            for name in ["", ".", "label", "Name", "next.", "name.next", "tags.name", "next.nothing", "\0"]
            where !name.contains("next.") {
                #expect(code { _ = try object.value(named: name) } == .invalidInput, "\(name)")
            }
        }
        for name in ["next.", "next.nothing"] {
            #expect(code { _ = try parcel.value(named: name) } == .invalidInput, "\(name)")
        }
        #expect(code { _ = try DynamicObject().value(named: "name") } == .invalidInput)
        let error = #expect(throws: Realm.Error.self) { try parcel.value(named: "nothing") }
        #expect(error?.details?.propertyName == "nothing" && error?.details?.className == "Parcel")
        let next = parcel.next!
        try realm.write { realm.delete(next) }
        #expect(code { _ = try next.value(named: "name") } == .invalidatedObject)
        realm.close()
        #expect(code { _ = try parcel.value(named: "name") } != nil)
    }

    @Test("requireReadable(properties:) throws for names that the elements do not have, of empty collections, too")
    func collectionNames() throws {
        let realm = try realm()
        for _ in 0..<2 {
            let all = realm.objects(Parcel.self)
            try all.requireReadable(properties: ["name", "weight", "next.name"])
            for name in ["", "nothing", "next.nothing", "name.next"] {
                #expect(code { try all.requireReadable(properties: ["weight", name]) } == .invalidInput, "\(name)")
            }
            try realm.write { _ = realm.create(Parcel.self, value: ["name": "a", "tags": ["t"]]) }
        }
        let tags = realm.objects(Parcel.self)[0].tags
        #expect(code { try tags.requireReadable(properties: ["name"]) } == .invalidInput)
        try tags.requireReadable(properties: [])
        let unmanaged = List<Parcel>()
        unmanaged.append(Parcel())
        try unmanaged.requireReadable(properties: ["name"])
        #expect(code { try unmanaged.requireReadable(properties: ["nothing"]) } == .invalidInput)
    }
}
