import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

/// A file that must not be written does not say what the program calls its classes: what one opening found out is the process's.
@Suite("What one opening calls the classes of a file, another one does not take away", .timeLimit(.minutes(60)))
struct SharedReadSchemaTests {
    private let directory = TemporaryDirectory()

    /// A realm that reads a class by its longer name, and the configuration of another one that does not declare it.
    private func fill() throws -> (nested: Realm.Configuration, other: Realm.Configuration) {
        let path = directory.path("shop.realm")
        try withNewRealm(NestedNameTests.former(path)) { realm in
            try realm.write {
                _ = realm.create(
                    FormerShop.Customer.self,
                    value: ["id": 1, "city": "Oslo", "email": "1@example.org"] as [String: Any]
                )
            }
        }
        var nested = NestedNameTests.nested(path)
        nested.readOnly = true
        var other = OutdatedRealmTests.configuration(path, [Tally.self], version: 1)
        other.readOnly = true
        return (nested, other)
    }

    @Test("from a realm that is invalidated and reads anew")
    func invalidated() async throws {
        let (nested, other) = try fill()
        let one = try await Program(nested)
        #expect(await one.perform { Array($0.objects(Shop.Customer.self).map { $0.city }) } == ["Oslo"])
        let two = try await Program(other)
        let cities = await one.perform { realm in
            realm.invalidate()
            return Array(realm.objects(Shop.Customer.self).map { $0.city })
        }
        #expect(cities == ["Oslo"])
        withExtendedLifetime(two) {}
    }
}
