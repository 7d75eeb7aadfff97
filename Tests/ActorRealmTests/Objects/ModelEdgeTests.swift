import ActorRealm
import Foundation
import Testing

@Suite("Lines of the model's documentation that nothing else tries") struct ModelEdgeTests {
    class Ship: Object, ObjectKeyIdentifiable {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var name = ""
        @Persisted var log = Data()
        @Persisted var crew: Crew?
    }

    class Crew: EmbeddedObject {
        @Persisted var captain: Sailor?
        @Persisted var sailors: List<Sailor>
        @Persisted var watches: List<Crew>
    }

    class Sailor: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var name = ""
    }

    let file = TestFile()

    private var configuration: Realm.Configuration {
        var configuration = file.fast
        configuration.objectTypes = [Ship.self, Crew.self, Sailor.self]
        return configuration
    }

    @Test("strings and data of more than sixteen megabytes come back as they were")
    func large() throws {
        let text = String(repeating: "aé\u{1F6A2}", count: 3_000_000)
        let bytes = Data((0..<20_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        try withNewRealm(configuration) { realm in
            try realm.write { _ = realm.create(Ship.self, value: ["name": text, "log": bytes] as [String: Any]) }
        }
        try withNewRealm(configuration) { realm in
            let ship = try #require(realm.objects(Ship.self).first)
            #expect(ship.name.utf8.count == 21_000_000 && ship.name == text)
            #expect(ship.log == bytes)
            #expect(realm.objects(Ship.self).where { $0.name.ends(with: "é\u{1F6A2}") }.count == 1)
        }
    }

    @Test("an embedded object holds links and lists of objects, which lose what is deleted, and its own kind")
    func embeddedLinks() throws {
        let realm = try Realm(configuration: configuration)
        let ship = try realm.write {
            realm.create(
                Ship.self,
                value: [
                    "crew": [
                        "captain": ["name": "Ann"], "sailors": [["name": "Bo"], ["name": "Cy"]],
                        "watches": [["captain": ["name": "Di"]]],
                    ]
                ] as [String: Any]
            )
        }
        #expect(realm.objects(Sailor.self).count == 4)
        #expect(realm.objects(Ship.self).where { $0.crew.captain.name == "Ann" }.count == 1)
        #expect(realm.objects(Ship.self).filter("ANY crew.watches.captain.name == 'Di'").count == 1)
        try realm.write { realm.delete(realm.objects(Sailor.self).where { $0.name.in(["Ann", "Bo"]) }) }
        #expect(ship.crew?.captain == nil)
        #expect(ship.crew?.sailors.map(\.name) == ["Cy"])
        // What it links to is not its own.
        try realm.write { realm.delete(ship) }
        #expect(realm.objects(Sailor.self).map(\.name) == ["Cy", "Di"])
        try realm.verify()
    }

    @Test("the id of an object is the same on every thread, and another one for another object")
    @MainActor
    func identifiers() async throws {
        let realm = try await Realm(configuration: configuration)
        let (one, two) = try realm.write { (realm.create(Ship.self), realm.create(Ship.self)) }
        #expect(one.id != two.id)
        #expect(one.id == realm.objects(Ship.self)[0].id)
        let configuration = configuration
        let elsewhere = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let ids = try? withNewRealm(configuration) { realm in Array(realm.objects(Ship.self).map(\.id)) }
                continuation.resume(returning: ids)
            }
        }
        #expect(elsewhere == [one.id, two.id])
    }
}
