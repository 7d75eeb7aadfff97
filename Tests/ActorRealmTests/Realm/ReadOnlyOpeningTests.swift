import Foundation
import RealmStorage
import Testing

@testable import ActorRealm

/// An opening that only reads leaves the file as it is, and the work to the next one that writes.
@Suite("A read-only opening that finds classes or rules missing leaves them to who opens the file to write")
struct ReadOnlyOpeningTests {
    let file = TestFile()

    class Plain: Object {
        override class func _realmObjectName() -> String? { "ReadFirst" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var name: String
    }

    class Ruled: Object {
        override class func _realmObjectName() -> String? { "ReadFirst" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(unique: true) var name: String
    }

    private func configuration(
        _ types: [ObjectBase.Type],
        version: UInt64 = 0,
        readOnly: Bool = false
    ) -> Realm.Configuration {
        var configuration = file.fast
        configuration.objectTypes = types
        configuration.schemaVersion = version
        configuration.readOnly = readOnly
        return configuration
    }

    @Test("The migration block of a later version is called", arguments: [false, true])
    @MainActor
    func migration(isAsynchronous: Bool) async throws {
        let calls = Counter()
        let frozen = try withNewRealm(configuration([Tally.self], version: 1)) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": "first"]) }
            // Keeps the life of the file.
            return realm.freeze()
        }
        try withNewRealm(configuration([Tally.self], version: 2, readOnly: true)) { realm in
            #expect(realm.objects(Tally.self).count == 1)
        }
        var writing = configuration([Tally.self], version: 2)
        writing.migrationBlock = { _, _ in calls.increment() }
        let realm = if isAsynchronous { try await Realm(configuration: writing) } else { try openBlocking(writing) }
        #expect(calls.value == 1)
        #expect(try schemaVersionAtURL(writing.fileURL!) == 2)
        realm.close()
        withExtendedLifetime(frozen) {}
    }

    @Test("A unique property that the file does not know as one is one")
    func rules() throws {
        let old = DispatchQueue(label: "old")
        let first = try old.sync { try Realm(configuration: configuration([Plain.self]), queue: old) }
        let reader = DispatchQueue(label: "reader")
        let reading = try reader.sync {
            try Realm(configuration: configuration([Ruled.self], readOnly: true), queue: reader)
        }
        try withNewRealm(configuration([Ruled.self])) { realm in
            try realm.write { _ = realm.create(Ruled.self, value: ["name": "one"]) }
            #expect(realm.objects(Ruled.self).map(\.name) == ["one"])
        }
        withExtendedLifetime((first, reading)) {}
    }
}
