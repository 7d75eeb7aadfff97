import Foundation
import Testing

@testable import ActorRealm

@Suite("Whatever is live in a realm can be handed over", .timeLimit(.minutes(60)))
struct HandedOverKindsTests {
    let file = TestFile()

    class Harbor: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var name: String
        @Persisted var place: Position?
        @Persisted var tags: MutableSet<String>
        @Persisted var depths: Map<String, Int>
        @Persisted var berths: List<Berth>
        @Persisted var note: AnyRealmValue
    }

    class Position: EmbeddedObject {
        @Persisted var latitude: Double
    }

    class Berth: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var number: Int
        @Persisted(originProperty: "berths") var harbors: LinkingObjects<Harbor>
    }

    private var configuration: Realm.Configuration {
        var configuration = file.fast
        configuration.objectTypes = [Harbor.self, Position.self, Berth.self]
        return configuration
    }

    private actor Other {
        func run<Result: Sendable>(
            _ configuration: Realm.Configuration,
            _ body: @Sendable (Realm) throws -> Result
        ) async throws -> Result {
            let realm = try await Realm(configuration: configuration)
            return try await realm.asyncWrite { try body(realm) }
        }
    }

    @MainActor
    private func harbor(_ realm: Realm) throws -> Harbor {
        try realm.write {
            realm.create(
                Harbor.self,
                value: [
                    "name": "Oostende", "place": ["latitude": 51.2], "tags": ["deep", "new"], "depths": ["in": 9],
                    "berths": [["number": 1], ["number": 2]],
                ] as [String: Any]
            )
        }
    }

    @Test(
        "embedded objects, sets, maps, backlinks, collections of any kind and single objects without a key, resolved and changed elsewhere"
    )
    @MainActor
    func kinds() async throws {
        let realm = try await Realm(configuration: configuration)
        let harbor = try harbor(realm)
        let place = ThreadSafeReference(to: harbor.place!)
        let tags = ThreadSafeReference(to: harbor.tags)
        let depths = ThreadSafeReference(to: harbor.depths)
        let berth = ThreadSafeReference(to: harbor.berths[1])
        let harbors = ThreadSafeReference(to: harbor.berths[0].harbors)
        let any = ThreadSafeReference(to: AnyRealmCollection(harbor.berths))
        let other = Other()
        let seen = try await other.run(configuration) { realm -> [String] in
            realm.resolve(place)?.latitude += 1
            realm.resolve(tags)?.insert("far")
            realm.resolve(depths)?["out"] = 4
            let number = realm.resolve(berth)?.number
            return [
                "\(number ?? 0)", realm.resolve(harbors)?.first?.name ?? "none", "\(realm.resolve(any)?.count ?? 0)",
            ]
        }
        #expect(seen == ["2", "Oostende", "2"])
        realm.refresh()
        #expect(harbor.place?.latitude == 52.2)
        #expect(Set(harbor.tags) == ["deep", "new", "far"])
        #expect(harbor.depths["out"] == 4)
    }

    @Test("what was deleted meanwhile, with its owner too, is resolved to nil")
    @MainActor
    func deleted() async throws {
        let realm = try await Realm(configuration: configuration)
        let harbor = try harbor(realm)
        let place = ThreadSafeReference(to: harbor.place!)
        let tags = ThreadSafeReference(to: harbor.tags)
        let depths = ThreadSafeReference(to: harbor.depths)
        let berths = ThreadSafeReference(to: harbor.berths)
        let other = Other()
        let isGone = try await other.run(configuration) { realm in
            realm.delete(realm.objects(Harbor.self))
            return realm.resolve(place) == nil && realm.resolve(tags) == nil && realm.resolve(depths) == nil
                && realm.resolve(berths) == nil
        }
        #expect(isGone)
    }

    @Test(
        "A reference to an object pins its version until it is resolved or let go of, once for several of one version"
    )
    @MainActor
    func pinning() async throws {
        let realm = try await Realm(configuration: configuration)
        let harbor = try harbor(realm)
        let storage = realm.core.coordinator.file
        func pins(_ version: UInt64) -> Bool { storage.activeVersions().map(\.version).contains(version) }
        let pinned = realm.version
        let resolved = ThreadSafeReference(to: harbor)
        var released: ThreadSafeReference<List<Berth>>? = ThreadSafeReference(to: harbor.berths)
        try realm.write { harbor.depths["in"] = 8 }
        #expect(pins(pinned) && released?.isInvalidated == false)
        let other = Other()
        _ = try await other.run(configuration) { realm in realm.resolve(resolved)?.name }
        #expect(pins(pinned), "the other reference is still there")
        released = nil
        #expect(!pins(pinned))
    }
}
