import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// Each case runs in a process of its own: a class that was looked for where a value has none ended it.
@Suite("Values of any kind hold objects that are known by the name of their class", .timeLimit(.minutes(60)))
struct DynamicObjectsInValuesTests {
    @Test("an object of the class holds one that is known by name")
    func held() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm(crateTypes)
            let crate = try realm.write { realm.create(Crate.self, value: ["id": 1]) }
            let dynamic = try #require(realm.dynamicObject(ofType: "Crate", forPrimaryKey: 1))
            let new = Crate(id: 2)
            new.value = .object(dynamic)
            try realm.write { try realm.insert(new) }
            #expect(new.value.object(Crate.self)?.id == 1)
            try realm.write {
                crate.values.append(.object(dynamic))
                crate.mixed["name"] = .object(dynamic)
                crate.anything.insert(.object(dynamic))
            }
            #expect(crate.values.count == 1 && crate.values[0].object(Crate.self)?.id == 1)
            #expect(crate.mixed["name"]?.object(Crate.self)?.id == 1)
            #expect(crate.anything.contains(.object(crate)))
            let values: [String: Any] = ["id": 3, "value": dynamic]
            let made = try realm.write { try realm.insert(Crate.self, value: values) }
            #expect(made.value.object(Crate.self)?.id == 1)
            try realm.verify()
        }
    }

    @Test("an object that is known by name holds one of the class, and one like itself")
    func holding() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm(crateTypes)
            let crate = try realm.write { realm.create(Crate.self, value: ["id": 1]) }
            let dynamic = try #require(realm.dynamicObject(ofType: "Crate", forPrimaryKey: 1))
            try realm.write { try dynamic.setValues(["value": crate]) }
            #expect((dynamic["value"] as? Crate)?.id == 1)
            try realm.write { dynamic["value"] = nil }
            #expect(dynamic["value"] == nil)
            try realm.write { dynamic["value"] = crate }
            #expect((dynamic["value"] as? Crate)?.id == 1)
            try realm.write { try dynamic.setValues(["values": [crate, dynamic] as [Object]]) }
            #expect(crate.values.count == 2 && crate.values[1].object(Crate.self)?.id == 1)
            let values = try #require(dynamic["values"] as? List<AnyRealmValue>)
            try realm.write { values.append(.object(crate)) }
            #expect(crate.values.count == 3)
            let given: [String: Any] = ["id": 4, "value": crate]
            let made = try realm.write { try realm.dynamicInsert("Crate", value: given) }
            #expect((made["value"] as? Crate)?.id == 1)
            try realm.verify()
        }
    }

    @Test("what cannot be linked to is an error")
    func refused() async {
        await #expect(processExitsWith: .success) {
            func failure(_ body: () throws -> Void) -> String {
                do { try body() } catch { return (error as? Realm.Error)?.message ?? "\(error)" }
                return "none"
            }
            let realm = try memoryRealm(crateTypes)
            let other = try memoryRealm(crateTypes)
            let crate = try realm.write {
                realm.create(Crate.self, value: ["id": 1, "slips": ["a": ["text": "slip"]]] as [String: Any])
            }
            let deleted = try realm.write { realm.dynamicCreate("Crate", value: ["id": 2]) }
            try realm.write { realm.delete(deleted) }
            let stranger = try other.write { other.dynamicCreate("Crate", value: ["id": 1]) }
            let dynamic = try #require(realm.dynamicObject(ofType: "Crate", forPrimaryKey: 1))
            let slips: Map<String, DynamicObject?> = dynamic.dynamicMap("slips")
            let slip: DynamicObject? = slips["a"].flatMap { $0 }
            let embedded = try #require(slip)
            for (object, words) in [
                (deleted, "has been deleted or invalidated"), (stranger, "is already managed by another Realm"),
                (embedded, "it has an owner already"),
            ] {
                let inserted = failure {
                    let new = Crate(id: 3)
                    new.value = .object(object)
                    try realm.write { try realm.insert(new) }
                }
                #expect(inserted.contains(words), "\(inserted)")
                let set = failure { try realm.write { try dynamic.setValues(["value": object]) } }
                #expect(set.contains("value: "), "\(set)")
            }
            #expect(realm.objects(Crate.self).count == 1 && crate.value == .none)
            try realm.verify()
        }
    }

    @Test("a migration stores the objects that it makes")
    func migration() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            var configuration = Realm.Configuration(
                fileURL: URL(fileURLWithPath: directory.path("values.realm")),
                schemaVersion: 1,
                objectTypes: crateTypes
            )
            try withNewRealm(configuration) { realm in
                try realm.write { _ = realm.create(Crate.self, value: ["id": 1]) }
            }
            configuration.schemaVersion = 2
            configuration.migrationBlock = { migration, _ in
                let crate = migration.object(ofType: "Crate", forPrimaryKey: 1)
                crate?["value"] = migration.create("Crate", value: ["id": 2])
                let values = crate?["values"] as? List<AnyRealmValue>
                values?.append(.object(migration.create("Crate", value: ["id": 3])))
            }
            try withNewRealm(configuration) { realm in
                let crate = realm.object(ofType: Crate.self, forPrimaryKey: 1)
                #expect(crate?.value.object(Crate.self)?.id == 2)
                #expect(crate?.values.first?.object(Crate.self)?.id == 3)
                try realm.verify()
            }
        }
    }
}
