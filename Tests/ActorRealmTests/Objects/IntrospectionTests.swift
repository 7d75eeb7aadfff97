import ActorRealm
import Foundation
import Testing

class Mapped: Object {
    @Persisted(primaryKey: true) var identifier: Int
    @Persisted(indexed: true) var title: String
    @Persisted var size = 0
    @Persisted var next: Mapped?
    @Persisted var others: List<Mapped>
    @Persisted var tags: List<String>
    @Persisted(originProperty: "others") var owners: LinkingObjects<Mapped>
    override class func propertiesMapping() -> [String: String] {
        ["identifier": "_id", "title": "ttl", "next": "nxt", "others": "rest", "tags": "words"]
    }
    override class func _realmObjectName() -> String? { "mapped_class" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Named: Object {
    @Persisted var code: String
    @Persisted var group: Int
    @Persisted var secret = 3
    override class func primaryKey() -> String? { "code" }
    override class func indexedProperties() -> [String] { ["group"] }
    override class func ignoredProperties() -> [String] { ["secret"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class NamedPart: EmbeddedObject {
    @Persisted var group: Int
    @Persisted var secret = 3
    override class func indexedProperties() -> [String] { ["group"] }
    override class func ignoredProperties() -> [String] { ["secret"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Jotted: Object {
    @Persisted var note: AnyRealmValue
    override class func indexedProperties() -> [String] { ["note"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct IntrospectionTests {
    @Test func `the schema names classes and properties`() throws {
        let schema = try memoryRealm().schema
        #expect(schema.objectSchema.count == objectTestTypes.count && schema["Nobody"] == nil)
        let keeper = try #require(schema["Keeper"])
        #expect(keeper.className == "Keeper" && keeper.objectClass == Keeper.self)
        #expect(!keeper.isEmbedded && !keeper.isAsymmetric && schema["Toy"]?.isEmbedded == true)
        #expect(keeper.primaryKeyProperty?.name == "id" && keeper.primaryKeyProperty?.isIndexed == true)
        #expect(keeper["name"]?.type == .string && keeper["name"]?.isIndexed == true && keeper["nothing"] == nil)
        #expect(keeper["mood"]?.type == .string && keeper["height"]?.type == .double)
        #expect(keeper["height"]?.isOptional == true && keeper["age"]?.isOptional == false)
        let puppies = try #require(keeper["puppies"])
        #expect(puppies.isArray && !puppies.isSet && !puppies.isMap)
        #expect(puppies.type == .object && puppies.objectClassName == "Puppy")
        #expect(keeper["scores"]?.isArray == true && keeper["scores"]?.isOptional == true)
        #expect(schema["Puppy"]?["keepers"]?.type == .linkingObjects)
        #expect(schema["Puppy"]?["keepers"]?.objectClassName == "Keeper")
        #expect(schema["AllTypes"]?["uuid"]?.type == .UUID && schema["AllTypes"]?["objectId"]?.type == .objectId)
        #expect(PropertyType.UUID.rawValue == 12 && PropertyType.decimal128.rawValue == 11)
        #expect(keeper.description.hasPrefix("Keeper {\n\tid {\n\t\ttype = int;"))
        #expect(schema.description.hasPrefix("Schema {\n\t"))
    }

    @Test func `schemas compare by what they say`() throws {
        let one = try memoryRealm()
        let two = try memoryRealm()
        #expect(one.schema == two.schema && one.schema.hashValue == two.schema.hashValue)
        #expect(one.schema["Keeper"] == Keeper().objectSchema && one.schema["Keeper"] != one.schema["Puppy"])
        #expect(one.schema["Keeper"]?["age"] == two.schema["Keeper"]?["age"])
        #expect(one.schema["Keeper"]?["age"] != one.schema["Keeper"]?["id"])
    }

    @Test func `the class methods of the older style are heard`() throws {
        let schema = Named().objectSchema
        #expect(schema.primaryKeyProperty?.name == "code" && schema["group"]?.isIndexed == true)
        #expect(schema["secret"] == nil && schema.properties.count == 2)
        let realm = try memoryRealm([Named.self])
        try realm.write { realm.create(Named.self, value: ["code": "a", "group": 4] as [String: Any]) }
        #expect(realm.object(ofType: Named.self, forPrimaryKey: "a")?.group == 4)
    }

    @Test func `an embedded class says what is not stored, and what is indexed`() {
        let schema = NamedPart().objectSchema
        #expect(schema.properties.map(\.name) == ["group"] && schema["group"]?.isIndexed == true)
    }

    @Test func `a value of any kind among the indexed properties is found without an index`() throws {
        let realm = try memoryRealm([Jotted.self])
        try realm.write {
            for number in 0..<3 { realm.create(Jotted.self, value: ["note": number]) }
        }
        #expect(realm.objects(Jotted.self).filter("note == 2").count == 1)
        #expect(realm.schema["Jotted"]?["note"]?.isIndexed == false)
    }

    @Test func `mapped names are those of the file, and the program's names work everywhere`() throws {
        let realm = try memoryRealm([Mapped.self])
        #expect(Mapped.className() == "mapped_class" && realm.schema["mapped_class"]?["title"]?.columnName == "ttl")
        try realm.write {
            for number in 0..<5 {
                realm.create(Mapped.self, value: ["identifier": number, "title": "t\(number)", "size": number])
            }
            let all = realm.objects(Mapped.self)
            all[0].next = all[1]
            all[0].others.append(objectsIn: [all[3], all[4]])
            all[4].tags.append("x")
        }
        let all = realm.objects(Mapped.self)
        #expect(all.filter("title == 't2'").first?.identifier == 2)
        #expect(all.filter("ttl == 't2'").first?.identifier == 2)
        #expect(all.filter("next.title == 't1'").first?.identifier == 0)
        #expect(all.filter("ANY others.title == 't3'").count == 1)
        #expect(all.filter("SUBQUERY(others, $o, $o.title == 't3' AND $o.size > 1).@count == 1").count == 1)
        #expect(all.where { $0.title == "t3" && $0.size == 3 }.count == 1)
        #expect(all.sorted(byKeyPath: "title", ascending: false).first?.identifier == 4)
        #expect(all.sorted(by: \.title).first?.identifier == 0)
        #expect(all.distinct(by: ["title"]).count == 5)
        #expect(all.max(ofProperty: "identifier") as Int? == 4)
        #expect(all[4].owners.map(\.identifier) == [0])
        #expect(Array(all[4].tags.freeze()) == ["x"] && all[0].others.freeze().thaw()?.count == 2)
        #expect(all[0]["title"] as? String == "t0")
        let dynamic = try #require(realm.dynamicObject(ofType: "mapped_class", forPrimaryKey: 0))
        #expect(dynamic.title as? String == "t0" && dynamic.dynamicList("others").count == 2)
    }

    @Test @MainActor func `observers of mapped properties are told their names in the program`() async throws {
        let realm = try await Realm(
            configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Mapped.self])
        )
        let object = try realm.write { realm.create(Mapped.self, value: ["identifier": 1, "title": "old"]) }
        var changes = object.changes(keyPaths: ["title"]).makeAsyncIterator()
        try realm.write { object.title = "new" }
        guard case .change(_, let properties)? = await changes.next(isolation: MainActor.shared) else {
            Issue.record("no change was told")
            return
        }
        #expect(properties.map(\.name) == ["title"] && properties.first?.oldValue as? String == "old")
        var lists = object.others.changes().makeAsyncIterator()
        _ = await lists.next(isolation: MainActor.shared)
        try realm.write { object.others.append(object) }
        guard case .update(_, _, let insertions, _)? = await lists.next(isolation: MainActor.shared) else {
            Issue.record("no change of the list was told")
            return
        }
        #expect(insertions == [0])
    }

    @Test func `descriptions are bounded in depth and length`() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write { () -> Keeper in
            let keeper = realm.create(Keeper.self, value: ["id": 1])
            keeper.boss = keeper
            keeper.scores.append(objectsIn: (0..<105).map { $0 as Int? })
            return keeper
        }
        let text = keeper.description
        #expect(text.hasPrefix("Keeper {\n\tid = 1;\n\tname = nobody;\n\tage = 30;\n\theight = (null);"))
        #expect(text.components(separatedBy: "Keeper {").count == 6)
        #expect(text.contains("boss = <Maximum depth exceeded>;"))
        let list = keeper.scores.description
        #expect(list.hasPrefix("List<int> <0x") && list.contains("> (\n\t[0] 0,\n\t[1] 1,"))
        #expect(list.hasSuffix("\t[99] 99\n\t... 5 objects skipped.\n)"))
        #expect(realm.objects(Puppy.self).description.hasPrefix("Results<Puppy> <0x"))
        let data = AllTypes(value: ["data": Data(repeating: 0xAB, count: 200)])
        #expect(data.description.contains("data = <\(String(repeating: "ab", count: 24))… — 200 total bytes>;"))
        try realm.write { realm.delete(keeper) }
        #expect(keeper.description == "[invalid object]")
    }
}
