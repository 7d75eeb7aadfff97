import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// A program that keeps its realm open while another process changes the schema of the file.
@Suite("Outdated realms", .timeLimit(.minutes(30)))
struct OutdatedRealmTests {
    let directory = TemporaryDirectory()

    private var path: String { directory.path("shared.realm") }

    /// A release of the program as one process runs it.
    static func configuration(
        _ path: String,
        _ types: [ObjectBase.Type],
        version: UInt64,
        _ block: MigrationBlock? = nil
    ) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: path),
            schemaVersion: version,
            migrationBlock: block,
            objectTypes: types
        )
        configuration.durability = .unflushed
        return configuration
    }

    static func first(_ path: String) -> Realm.Configuration {
        configuration(path, [Release1.Item.self, Release1.Extra.self], version: 1)
    }

    static func second(_ path: String) -> Realm.Configuration {
        configuration(path, [Release2.Item.self], version: 2) { migration, _ in
            migration.enumerateObjects(ofType: "Item") { _, new in new?["c"] = "c of the second release" }
            migration.deleteData(forType: "Extra")
        }
    }

    private func verify() throws {
        try FileVerifier.verify(StorageFile.open(path: path, options: StorageOptions()).beginRead())
    }

    @Test("A realm that stays open while another process removes a property reads and writes no other property instead")
    func removedProperty() async throws {
        let program = try await Program(Self.first(path))
        try await program.write { realm in
            realm.create(Release1.Item.self, value: ["id": 1, "n": 7, "a": "a of 1", "b": "b of 1"])
            realm.create(Release1.Extra.self, value: ["id": 1, "text": "extra"])
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.second(path)) { realm in
                #expect(realm.objects(Release2.Item.self).map(\.c) == ["c of the second release"])
            }
        }
        #expect(await program.perform { $0.refresh() } == false)
        let seen = await program.perform { realm in
            realm.objects(Release1.Item.self).map { "\($0.id) \($0.n) \($0.a) \($0.b)" } as [String]
        }
        #expect(seen == ["1 7 a of 1 b of 1"])
        await #expect(throws: Realm.Error.self) {
            try await program.write { realm in realm.objects(Release1.Item.self).first?.a = "A from the first release" }
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.second(path)) { realm in
                #expect(realm.objects(Release2.Item.self).map(\.b) == ["b of 1"])
            }
        }
    }

    @Test("A new opening in a process that stays open notices that another one has migrated the file")
    func openedAgain() async throws {
        let program = try await Program(Self.first(path))
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.second(path)) { _ in }
        }
        let error = #expect(throws: Realm.Error.self) { try withNewRealm(Self.first(path)) { _ in } }
        // It says what to do, as where the file is opened for the first time.
        #expect(error?.code == .schemaMismatch)
        withExtendedLifetime(program) {}
    }

    @Test("An outdated realm that was invalidated lets go of its version when it is closed")
    func closedAfterInvalidating() async throws {
        let program = try await Program(Self.first(path))
        try await program.write { realm in
            realm.create(Release1.Item.self, value: ["id": 1, "n": 7, "a": "a of 1", "b": "b of 1"])
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.second(path)) { _ in }
        }
        let held = try await program.perform { realm in
            #expect(realm.refresh() == false)
            realm.invalidate()
            return try StorageFile.open(path: realm.configuration.fileURL!.path).activeVersions().map(\.version)
        }
        #expect(held.count == 1)
        await program.perform { $0.close() }
        let left = try StorageFile.open(path: path).activeVersions().map(\.version)
        #expect(Set(left).isDisjoint(with: held))
        withExtendedLifetime(program) {}
    }

    final class Older: Object {
        override class func _realmObjectName() -> String? { "Grown" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var n: Int
        @Persisted var a: String
    }

    /// With properties before those of the release before.
    final class Newer: Object {
        override class func _realmObjectName() -> String? { "Grown" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var first: Int
        @Persisted var second: String
        @Persisted var n: Int
        @Persisted var a: String
    }

    /// A release between, without one of the properties.
    final class Between: Object {
        override class func _realmObjectName() -> String? { "Grown" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var a: String
    }

    private actor Holder {
        private var found: Results<Older>?

        func fill(_ configuration: Realm.Configuration) async throws {
            let realm = try await Realm(configuration: configuration, actor: self)
            // It comes to a version when it is told to look, and not to those between.
            realm.autorefresh = false
            try realm.write { for n in 1...3 { realm.create(Older.self, value: ["n": n, "a": "a of \(n)"]) } }
            found = realm.objects(Older.self).filter("n >= 2").sorted(byKeyPath: "a", ascending: false)
        }

        func look() throws -> [String] {
            let found = try #require(found)
            found.realm?.refresh()
            return found.map(\.a)
        }
    }

    @Test("Results are kept while another process adds properties before those that they ask for")
    func addedProperties() async throws {
        let holder = Holder()
        try await holder.fill(Self.configuration(path, [Older.self], version: 1))
        #expect(try await holder.look() == ["a of 3", "a of 2"])
        await #expect(processExitsWith: .success) { [path = path as String] in
            let configuration = OutdatedRealmTests.configuration(path, [Newer.self], version: 2)
            try withNewRealm(configuration) { realm in
                try realm.write { _ = realm.create(Newer.self, value: ["first": 1, "n": 4, "a": "a of 4"]) }
            }
        }
        #expect(try await holder.look() == ["a of 4", "a of 3", "a of 2"])
    }

    @Test("Results are kept while a property goes and comes again, behind the one that they are sorted by")
    func movedProperties() async throws {
        let holder = Holder()
        try await holder.fill(Self.configuration(path, [Older.self], version: 1))
        #expect(try await holder.look() == ["a of 3", "a of 2"])
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.configuration(path, [Between.self], version: 2)) { _ in }
            try withNewRealm(OutdatedRealmTests.configuration(path, [Older.self], version: 3)) { realm in
                let objects = Array(realm.objects(Older.self).sorted(byKeyPath: "a"))
                try realm.write { for (object, n) in zip(objects, [9, 8, 1]) { object.n = n } }
            }
        }
        #expect(try await holder.look() == ["a of 2", "a of 1"])
    }

    @Test("A realm that stays open while another process removes a class writes nothing to it")
    func removedClass() async throws {
        let program = try await Program(Self.first(path))
        try await program.write { realm in
            realm.create(Release1.Extra.self, value: ["id": 1, "text": "extra"])
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(OutdatedRealmTests.second(path)) { _ in }
        }
        await #expect(throws: Realm.Error.self) {
            try await program.write { $0.create(Release1.Extra.self, value: ["id": 2, "text": "lost"]) }
        }
        #expect(await program.perform { $0.objects(Release1.Extra.self).map(\.text) as [String] } == ["extra"])
        try verify()
    }
}

/// A program with a realm of its own.
actor Program {
    private(set) var realm: Realm!
    /// The loops over changes that have begun.
    var loopsBegun = 0
    /// Results that are kept from version to version.
    var held: [Results<Rules.Indexed>] = []

    init(_ configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    func perform<Result: Sendable>(_ body: @Sendable (Realm) throws -> Result) rethrows -> Result { try body(realm) }

    func write(_ body: @Sendable (Realm) throws -> Void) throws {
        try realm.write { try body(realm) }
    }

    func asyncWrite(_ body: @Sendable (Realm) throws -> Void) async throws {
        try await realm.asyncWrite { try body(realm) }
    }
}
