import Foundation
import Testing

@testable import ActorRealm

/// Names and values that come from outside: what takes them says what is wrong, or uses them for what they name.
@Suite("Names from outside")
struct OutsideNamesTests {
    enum Mood: String, PersistableEnum { case calm, wild }

    struct Place: CustomPersistable {
        var latitude: Double
        init(latitude: Double) { self.latitude = latitude }
        init(persistedValue: Point) { latitude = persistedValue.latitude }
        var persistableValue: Point {
            let point = Point()
            point.latitude = latitude
            return point
        }
    }

    class Point: EmbeddedObject {
        @Persisted var latitude: Double
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Leaf: Object {
        @Persisted var number: Int
        @Persisted var mood: Mood
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Root: Object {
        @Persisted var number: Int
        @Persisted var place: Place?
        @Persisted var next: Root?
        @Persisted var inner: List<Leaf>
        @Persisted var map: Map<String, Leaf?>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// A class with a property that has in the file the name of another one.
    class Mapped: Object {
        @Persisted var title: String = "a title"
        @Persisted var name: String = "a name"
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        override class func propertiesMapping() -> [String: String] { ["title": "name", "name": "label"] }
    }

    private func root(in realm: Realm) throws -> Root {
        try realm.write {
            let root = realm.create(Root.self, value: ["number": 7, "inner": [["number": 1]]])
            root.next = root
            root.place = Place(latitude: 3)
            return root
        }
    }

    private static func refused(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch {
            return (error as? Realm.Error)?.code == .invalidInput
        }
    }

    @Test("A path of names goes across links, and not across collections, managed and not")
    func paths() throws {
        let realm = try memoryRealm([Root.self])
        let root = try root(in: realm)
        let plain = List<Root>()
        plain.append(Root())
        let managed = realm.objects(Root.self)
        let placed = Root()
        placed.place = Place(latitude: 1)
        plain.append(placed)
        for name in ["number", "next.number", "next.next.number", "inner", "place", "place.latitude"] {
            try managed.requireReadable(properties: [name])
            try plain.requireReadable(properties: [name])
            _ = managed.value(forKeyPath: name)
        }
        #expect(managed.min(ofProperty: "next.number") as Int? == 7)
        for name in ["nothing", "inner.number", "next.inner.mood", "map.number", "number.more", ""] {
            #expect(Self.refused { try managed.requireReadable(properties: [name]) }, "\(name)")
            #expect(Self.refused { try plain.requireReadable(properties: [name]) }, "\(name)")
            #expect(Self.refused { _ = try root.value(named: name) }, "\(name)")
        }
        #expect(Self.refused { _ = try root.value(named: "place.latitude") }, "it is a value here")
        let dynamic = realm.dynamicObjects(Root.className())
        try dynamic.requireReadable(properties: ["next.number"])
        for name in ["inner.number", "next.inner.number", "next.next.inner.number", "next.nothing"] {
            #expect(Self.refused { try dynamic.requireReadable(properties: [name]) }, "\(name)")
        }
        #expect(try root.value(named: "place") is Place)
    }

    @Test("Names are looked at where there is no element, and no object among them")
    func withoutObjects() throws {
        let (texts, values, numbers) = (List<String>(), List<AnyRealmValue>(), Map<String, Int>())
        texts.append("a")
        values.append(.int(1))
        numbers["a"] = 1
        #expect(Self.refused { try texts.requireReadable(properties: ["name"]) })
        #expect(Self.refused { try values.requireReadable(properties: ["name"]) })
        #expect(Self.refused { try numbers.requireReadable(properties: ["name"]) })
        #expect(Self.refused { try List<Leaf>().requireReadable(properties: ["nothing"]) })
        #expect(Self.refused { try Map<String, Leaf?>().requireReadable(properties: ["nothing"]) })
        try List<Leaf>().requireReadable(properties: ["number"])
    }

    @Test("Of a realm that was closed or invalidated the names are looked at as well", arguments: [true, false])
    func ended(isClosed: Bool) throws {
        let realm = try memoryRealm([Root.self])
        let root = try root(in: realm)
        let (all, inner, map) = (realm.objects(Root.self), root.inner, root.map)
        let sorted = all.sorted(byKeyPath: "number")
        if isClosed { realm.close() } else { realm.invalidate() }
        for results in [all, sorted] {
            #expect(Self.refused { try results.requireReadable(properties: ["nothing"]) })
            try results.requireReadable(properties: ["number", "next.number"])
            #expect(results.min(ofProperty: "number") as Int? == nil)
            #expect(results.sum(ofProperty: "next.number") as Int == 0)
            #expect(results.average(ofProperty: "number") as Double? == nil)
        }
        #expect(throws: Realm.Error.self) { try inner.requireReadable(properties: ["nothing"]) }
        #expect(throws: Realm.Error.self) { try map.requireReadable(properties: ["nothing"]) }
    }

    @Test("A value goes to the property of its name, and to one that the file calls so where there is none")
    func mapped() throws {
        let realm = try memoryRealm([Mapped.self])
        try realm.write {
            let values: [Mapped] = [
                try realm.insert(Mapped.self, value: ["name": "x"]),
                try realm.insert(Mapped.self, json: Data(#"{"name": "x"}"#.utf8)),
                realm.create(Mapped.self, value: ["name": "x"]),
                try realm.insert(Mapped.self, value: ["label": "x"]),
            ]
            for value in values { #expect(value.title == "a title" && value.name == "x") }
            try values[0].setValues(["name": "y"])
            #expect(values[0].title == "a title" && values[0].name == "y")
            let error = #expect(throws: Realm.Error.self) {
                try realm.insert(Mapped.self, value: ["name": "x", "label": "z"])
            }
            #expect(error?.message.contains("label: this is 'name', which is given by that name as well") == true)
            let both = try realm.insert(Mapped.self, value: ["name": "x", "label": "z"], ignoringUnknownKeys: true)
            #expect(both.name == "x" && both.title == "a title")
        }
        let plain = Mapped(value: ["name": "x"])
        #expect(plain.title == "a title" && plain.name == "x")
    }

    @Test("Queries, orders, aggregates and reads by key paths ask the property that they name")
    func mappedPaths() throws {
        let realm = try memoryRealm([Mapped.self])
        try realm.write {
            realm.create(Mapped.self, value: ["title": "a", "name": "z"])
            realm.create(Mapped.self, value: ["title": "b", "name": "y"])
        }
        let all = realm.objects(Mapped.self)
        #expect(all.where { $0.title == "a" }.map(\.name) == ["z"])
        #expect(all.where { $0.title.contains("b") || $0.name == "none" }.map(\.name) == ["y"])
        #expect(all.filter("title == 'a' AND name == 'z'").count == 1)
        #expect(all.sorted(by: \.title).map(\.title) == ["a", "b"])
        #expect(all.sorted(by: \.name).map(\.title) == ["b", "a"])
        #expect(all.sorted(byKeyPath: "name").map(\.title) == ["b", "a"])
        #expect(all.distinct(by: [\.title]).count == 2)
        #expect(Array(all.sectioned(by: \.title).allKeys) == ["a", "b"])
        try all.requireReadable(\.title, \.name)
        try all.requireReadable(properties: ["title", "name"])
        let first = try #require(all.where { $0.title == "a" }.first)
        #expect(try first.value(of: \.title) == "a")
        #expect(try first.value(named: "name") as? String == "z")
    }

    /// The same names the other way round, and a value that is no case.
    class Swapped: Object {
        @Persisted var mood: Mood
        @Persisted var name: String
        @Persisted var next: Swapped?
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        override class func propertiesMapping() -> [String: String] { ["mood": "name", "name": "mood"] }
    }

    class SwappedProjection: Projection<Swapped> {
        @Projected(\Swapped.name) var shown: String
    }

    @Test("With names the other way round in the file, reads and observers ask the property that they name")
    func swapped() async throws {
        let realm = try memoryRealm([Swapped.self])
        let object = try realm.write {
            let object = realm.create(Swapped.self, value: ["mood": "wild", "name": "z"])
            object.next = object
            realm.dynamicObjects(Swapped.className()).first?["mood"] = "jubilant"
            return object
        }
        let all = realm.objects(Swapped.self)
        #expect(all.where { $0.name == "z" && $0.next.name == "z" }.count == 1)
        for names in [["name"], ["next.name"], ["next.next.name"]] { try all.requireReadable(properties: names) }
        for names in [["mood"], ["next.mood"]] {
            #expect(Self.refused { try all.requireReadable(properties: names) }, "\(names)")
        }
        try all.requireReadable(\.name, \.next?.name)
        #expect(Self.refused { try all.requireReadable(\.mood) })
        #expect(Self.refused { _ = try object.value(of: \.mood) })
    }

    @Test("A projection of such a property is told of its changes", .timeLimit(.minutes(60)))
    @MainActor
    func swappedProjection() async throws {
        let realm = try memoryRealm([Swapped.self])
        let object = try realm.write { realm.create(Swapped.self, value: ["mood": "wild", "name": "z"]) }
        let projection = SwappedProjection(projecting: object)
        var names: [String] = []
        let token = projection.observe { change in
            if case .change(_, let changes) = change { names += changes.map(\.name) }
        }
        try realm.write { object.mood = .calm }
        try realm.write { object.name = "y" }
        while names.isEmpty { await Task.yield() }
        #expect(names == ["shown"])
        token.invalidate()
    }

    @Test("What a decoder does not give is named, and nothing is inserted")
    func decoders() throws {
        let realm = try memoryRealm([Leaf.self])
        try realm.write {
            let error = #expect(throws: Realm.Error.self) { try realm.insert(Leaf.self, from: Closed()) }
            #expect(error?.message.contains("number: ") == true, "\(String(describing: error))")
        }
        #expect(realm.isEmpty)
    }

    @Test("Errors of an input say which class and property the first problem is about")
    func details() throws {
        let realm = try memoryRealm([Root.self])
        let root = try root(in: realm)
        func details(_ body: () throws -> Void) -> Realm.Error.Details? {
            do {
                try body()
                return nil
            } catch {
                return (error as? Realm.Error)?.details
            }
        }
        try realm.write {
            for (value, className, name) in [
                (["number": "x"], "Root", "number"), (["nothing": 1], "Root", "nothing"),
                (["inner": [["number": 1], ["number": "x"]]], "Leaf", "number"),
            ] as [([String: Any], String, String)] {
                let found = details { try realm.insert(Root.self, value: value) }
                #expect(found?.className?.hasSuffix(className) == true && found?.propertyName == name, "\(value)")
            }
            #expect(details { try root.setValues(["number": "x"]) }?.propertyName == "number")
            #expect(details { try realm.objects(Root.self).requireReadable(properties: ["no"]) }?.propertyName == "no")
            let leaf = root.inner[0]
            realm.dynamicObjects(Leaf.className()).first?["mood"] = "jubilant"
            #expect(details { _ = try leaf.value(named: "mood") }?.propertyName == "mood")
        }
    }
}

/// A decoder whose containers make no decoders of their own.
private struct Closed: Decoder {
    struct Refusal: Error {}

    private struct Container<Key: CodingKey>: KeyedDecodingContainerProtocol {
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { ["number"].compactMap { Key(stringValue: $0) } }
        func contains(_ key: Key) -> Bool { true }
        func decodeNil(forKey key: Key) throws -> Bool { false }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { throw Refusal() }
        func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
            throw Refusal()
        }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw Refusal() }
        func superDecoder() throws -> any Decoder { throw Refusal() }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw Refusal() }
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Container<Key>())
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Refusal() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Refusal() }
}
