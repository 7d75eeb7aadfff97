import ActorRealm
import Foundation
import Testing

class CodableOwner: Object, Codable {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var nickname: String?
    @Persisted var age: Int?
    @Persisted var flag: Bool
    @Persisted var small: Int8
    @Persisted var ratio: Float?
    @Persisted var token: UUID
    @Persisted var key: ObjectId
    @Persisted var best: CodablePet?
    @Persisted var pets: List<CodablePet>
    @Persisted var home: CodableHome?
    @Persisted var words: List<String>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class CodablePet: Object, Codable {
    @Persisted var name: String
    @Persisted var weight: Double?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class CodableHome: EmbeddedObject, Codable {
    @Persisted var street: String
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

struct Ticket: CustomPersistable, Codable, Equatable {
    let persistableValue: UUID
    init(persistedValue: UUID) { persistableValue = persistedValue }
}

class GeneratedOwner: Object, Codable {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted(indexed: true) var token: UUID
    @Persisted(unique: true) var other: ObjectId
    @Persisted var made: Date
    @Persisted var ticket: Ticket
    @Persisted var perhaps: UUID?
    @Persisted var declared = UUID()
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct CodableTests {
    private let types: [ObjectBase.Type] = [CodableOwner.self, CodablePet.self, CodableHome.self]

    private static let text = """
        {"id": 7, "name": "Ann", "flag": true, "small": 3, "ratio": 0.5, "age": null,
         "token": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "key": "0123456789abcdef01234567",
         "best": {"name": "Rex", "weight": 4.5}, "pets": [{"name": "Rex"}, {"name": "Bo"}],
         "home": {"street": "Lane"}, "words": ["a", "b"]}
        """

    private func decoded() throws -> CodableOwner {
        try JSONDecoder().decode(CodableOwner.self, from: Data(Self.text.utf8))
    }

    private func encode<Value: Encodable>(_ value: Value) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test func `missing keys of optional properties decode as nil`() throws {
        let owner = try decoded()
        #expect(owner.nickname == nil && owner.age == nil && owner.ratio == 0.5 && owner.small == 3 && owner.flag)
        #expect(owner.best?.weight == 4.5 && owner.pets.map(\.name) == ["Rex", "Bo"] && owner.pets[0].weight == nil)
        #expect(owner.home?.street == "Lane" && Array(owner.words) == ["a", "b"])
        #expect(owner.key.stringValue == "0123456789abcdef01234567")
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(CodablePet.self, from: Data("{}".utf8)) }
    }

    @Test func `encoding a collection that cannot be read throws`() throws {
        let realm = try memoryRealm(types)
        let owner = try decoded()
        try realm.write { realm.add(owner) }
        let (pets, words, named) = (owner.pets, owner.words, realm.objects(CodablePet.self))
        #expect(try encode(words) == #"["a","b"]"# && encode(AnyRealmCollection(words)) == #"["a","b"]"#)
        #expect(try encode(named).contains("Bo"))
        try realm.write { realm.delete(owner) }
        for body in [{ try encode(pets) }, { try encode(words) }, { try encode(AnyRealmCollection(words)) }] {
            let error = #expect(throws: Realm.Error.self) { _ = try body() }
            #expect(error?.code == .invalidatedObject)
        }
        realm.close()
        #expect(try encode(named) == "[]")
    }

    @Test func `a map with two spellings of one name is not encoded without one of them`() throws {
        let map = Map<String, Int>()
        map["\u{E9}"] = 1
        #expect(try encode(map) == "{\"\u{E9}\":1}")
        map["e\u{301}"] = 2
        #expect(map.count == 2)
        #expect(throws: EncodingError.self) { try encode(map) }
    }

    @Test func `managed objects encode like unmanaged ones`() throws {
        let owner = try decoded()
        let before = try encode(owner)
        #expect(before.contains(#""name":"Ann""#) && before.contains(#""age":null"#))
        let realm = try memoryRealm(types)
        try realm.write { realm.add(owner) }
        #expect(try encode(owner) == before)
        let fetched = try #require(realm.object(ofType: CodableOwner.self, forPrimaryKey: 7))
        #expect(try encode(fetched) == before)
        #expect(try encode(fetched.freeze()) == before)
        #expect(try encode(fetched.detached()) == before)
        #expect(try encode(realm.objects(CodableOwner.self)) == "[\(before)]")
        #expect(try encode(fetched.pets) == #"[{"name":"Rex","weight":null},{"name":"Bo","weight":null}]"#)
        try realm.write { fetched.name = "Eve" }
        #expect(try encode(owner) == before.replacingOccurrences(of: "Ann", with: "Eve"))
    }

    @Test func `every object of an iteration encodes itself`() throws {
        let realm = try memoryRealm(types)
        try realm.write {
            for number in 0..<100 { realm.create(CodablePet.self, value: ["name": "pet \(number)"]) }
        }
        var texts: [String] = []
        for pet in realm.objects(CodablePet.self) { texts.append(try encode(pet)) }
        #expect(texts == (0..<100).map { #"{"name":"pet \#($0)","weight":null}"# })
        let kept = Array(realm.objects(CodablePet.self).sorted(byKeyPath: "name", ascending: false))
        #expect(try encode(kept[0]) == #"{"name":"pet 99","weight":null}"#)
    }

    @Test func `a generated default is the same for all who see it, whoever comes first`() throws {
        let encoded = GeneratedOwner()
        let text = try encode(encoded)
        #expect(try encode(encoded) == text)
        let copy = try JSONDecoder().decode(GeneratedOwner.self, from: Data(text.utf8))
        #expect(copy.id == encoded.id && copy.token == encoded.token && copy.other == encoded.other)
        #expect(copy.made == encoded.made && copy.ticket == encoded.ticket && copy.perhaps == nil)
        #expect(copy.declared == encoded.declared)

        let described = GeneratedOwner()
        let description = described.description
        #expect(description.contains(described.id.stringValue) && description.contains(described.token.uuidString))
        #expect(try encode(described).contains(described.other.stringValue))

        let named = GeneratedOwner()
        let token = try #require(named["token"] as? UUID)
        #expect(try encode(named).contains(token.uuidString))

        let realm = try Realm(
            configuration: Realm.Configuration(inMemoryIdentifier: "generated", objectTypes: [GeneratedOwner.self])
        )
        let added = GeneratedOwner()
        let before = try encode(added)
        try realm.write { realm.add(added) }
        #expect(try encode(added) == before)
        #expect(Set([encoded.id, described.id, named.id, added.id]).count == 4)
        // What is assigned takes the place of what was generated.
        let assigned = GeneratedOwner()
        assigned.token = token
        assigned["id"] = encoded.id
        #expect(assigned.token == token && assigned.id == encoded.id)
    }

    @Test func `what was decoded is added and read back`() throws {
        let realm = try memoryRealm(types)
        let text = #"[{"name": "a"}, {"name": "b", "weight": 1}]"#
        let list = try JSONDecoder().decode(List<CodablePet>.self, from: Data(text.utf8))
        #expect(list.count == 2)
        try realm.write { realm.add(list) }
        #expect(realm.objects(CodablePet.self).map(\.weight) == [nil, 1])
    }
}
