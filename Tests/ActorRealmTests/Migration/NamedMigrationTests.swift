import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// A program that says the shorter name of a class, `Client`.
enum FormerStore {
    class Client: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
        @Persisted var mail: String
        @Persisted var friends: List<Client>
        override class func _realmObjectName() -> String? { "Client" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// With two properties more.
    class LaterClient: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
        @Persisted var mail: String
        @Persisted var friends: List<LaterClient>
        @Persisted var level = 7
        @Persisted var mood = Mood.grumpy
        override class func _realmObjectName() -> String? { "Client" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// With another name of the list.
    class RenamedClient: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
        @Persisted var mail: String
        @Persisted var pals: List<RenamedClient>
        override class func _realmObjectName() -> String? { "Client" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

/// The program that says the longer one, `Store_Client`.
enum Store {
    class Client: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name: String
        @Persisted var mail: String
        @Persisted var friends: List<Client>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// Without `name`.
    class SmallerClient: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var mail: String
        @Persisted var friends: List<SmallerClient>
        override class func _realmObjectName() -> String? { "Store_Client" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// With another key.
    class KeyedClient: Object {
        @Persisted var id: Int
        @Persisted(primaryKey: true) var code: String
        @Persisted var mail: String
        @Persisted var friends: List<KeyedClient>
        override class func _realmObjectName() -> String? { "Store_Client" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

/// Migrations of a class that has one name in the file and another one in the program.
@Suite("Migrations of classes with two names") struct NamedMigrationTests {
    private let directory = TemporaryDirectory()

    private var path: String { directory.path("store.realm") }

    /// Makes a file with two clients, which stores `Client` and records `Store_Client`.
    init() throws {
        try withNewRealm(OutdatedRealmTests.configuration(path, [FormerStore.Client.self], version: 1)) { realm in
            try realm.write {
                let clients = (1...2)
                    .map { id in
                        realm.create(
                            FormerStore.Client.self,
                            value: ["id": id, "name": "name \(id)", "mail": "mail \(id)"]
                        )
                    }
                clients[0].friends.append(clients[1])
            }
        }
        try withNewRealm(OutdatedRealmTests.configuration(path, [Store.Client.self], version: 1)) { _ in }
    }

    /// A later release, which refuses to lose anything.
    private func configuration(_ type: ObjectBase.Type, _ block: MigrationBlock? = nil) -> Realm.Configuration {
        var configuration = OutdatedRealmTests.configuration(path, [type], version: 2, block)
        configuration.migrationLossPolicy = .refuse
        return configuration
    }

    @Test(arguments: ["Client", "Store_Client"])
    func `what a renamed property takes the place of is lost under either name`(_ name: String) throws {
        let renaming = configuration(Store.SmallerClient.self) { migration, _ in
            migration.renameProperty(onType: name, from: "name", to: "mail")
        }
        let error = #expect(throws: Realm.Error.self) { try withNewRealm(renaming) { _ in } }
        #expect(error?.code == .lossyMigration)
        #expect(error?.details == Realm.Error.Details(className: "Store_Client", propertyName: "mail", count: 2))
    }

    @Test(arguments: ["Client", "Store_Client"])
    func `values are discarded under either name`(_ name: String) throws {
        let discarding = configuration(Store.SmallerClient.self) { migration, _ in
            migration.discardValues(ofProperty: "name", onType: name)
        }
        try withNewRealm(discarding) { realm in
            #expect(realm.objects(Store.SmallerClient.self).map(\.mail) == ["mail 1", "mail 2"])
        }
    }

    @Test(arguments: ["Client", "Store_Client"])
    func `what a block reads is looked at under either name`(_ name: String) throws {
        let reading = configuration(Store.SmallerClient.self) { migration, _ in
            migration.enumerateObjects(ofType: name) { old, new in new?["mail"] = old?["name"] }
        }
        try withNewRealm(reading) { realm in
            #expect(realm.objects(Store.SmallerClient.self).map(\.mail) == ["name 1", "name 2"])
        }
    }

    @Test(arguments: ["Client", "Store_Client"])
    func `objects are found by a key that was renamed under either name`(_ name: String) throws {
        let keying = configuration(Store.KeyedClient.self) { migration, _ in
            #expect(migration.object(ofType: name, forPrimaryKey: "name 2") == nil)
            migration.renameProperty(onType: name, from: "name", to: "code")
            #expect(migration.object(ofType: name, forPrimaryKey: "name 2")?["id"] as? Int == 2)
        }
        try withNewRealm(keying) { realm in
            #expect(realm.object(ofType: Store.KeyedClient.self, forPrimaryKey: "name 2")?.mail == "mail 2")
        }
    }

    @Test(arguments: [false, true])
    func `a program with the shorter name gives objects its defaults`(_ hasBlock: Bool) throws {
        let block: MigrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "Client") { _, new in #expect(new?["level"] as? Int == 7) }
        }
        try withNewRealm(configuration(FormerStore.LaterClient.self, hasBlock ? block : nil)) { realm in
            let clients = realm.objects(FormerStore.LaterClient.self)
            #expect(clients.map(\.level) == [7, 7] && clients.map(\.mood) == [.grumpy, .grumpy])
            #expect(clients.first.map { $0.friends.map(\.id) } == [2])
        }
    }

    @Test func `a program with the shorter name renames links to the class itself`() throws {
        let renaming = configuration(FormerStore.RenamedClient.self) { migration, _ in
            migration.renameProperty(onType: "Client", from: "friends", to: "pals")
        }
        try withNewRealm(renaming) { realm in
            #expect(realm.objects(FormerStore.RenamedClient.self).first.map { $0.pals.map(\.id) } == [2])
        }
    }

    @Test func `a plan for a program with the shorter name says what there is to do`() async throws {
        let adding = try await Realm.migrationPlan(for: configuration(FormerStore.LaterClient.self))
        #expect(adding.added.map(\.propertyName) == ["level", "mood"])
        #expect(adding.added.map(\.className) == ["Client", "Client"])
        #expect(adding.changes.count == 2 && adding.objectCount == 2)
        let renaming = try await Realm.migrationPlan(for: configuration(FormerStore.RenamedClient.self))
        #expect(renaming.renamed.map(\.kind) == [.renamed(to: "pals")])
        #expect(renaming.changes.count == 1)
    }
}
