import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

/// All objects of a class, held while another process takes a property away and adds it again, at another place.
@Suite("What is asked of a class that was held over a change of its schema", .timeLimit(.minutes(60)))
struct HeldClassTests {
    private let directory = TemporaryDirectory()

    final class Older: Object {
        override class func _realmObjectName() -> String? { "HeldClass" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(indexed: true) var a: String
        @Persisted(indexed: true) var b: String
    }

    /// A release between, without one of the properties, which has another place when it comes again.
    final class Between: Object {
        override class func _realmObjectName() -> String? { "HeldClass" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(indexed: true) var b: String
    }

    private static func configuration(_ path: String, _ type: Object.Type, _ version: UInt64) -> Realm.Configuration {
        Realm.Configuration(fileURL: URL(fileURLWithPath: path), schemaVersion: version, objectTypes: [type])
    }

    /// How the objects are asked for.
    enum Way: String, CaseIterable, Sendable { case typed, text }

    private actor Holder {
        private var all: [Results<Older>] = []

        func fill(_ configuration: Realm.Configuration) async throws {
            let realm = try await Realm(configuration: configuration, actor: self)
            realm.autorefresh = false
            try realm.write {
                realm.create(Older.self, value: ["a": "x", "b": "y"])
                realm.create(Older.self, value: ["a": "y", "b": "x"])
            }
            all = [realm.objects(Older.self), realm.objects(Older.self)]
        }

        func look(_ way: Way) throws -> [String] {
            all[0].realm?.refresh()
            if way == .text {
                // The text is known then.
                _ = all[1].filter("a == %@", "x").count
            }
            let found = way == .typed ? all[0].where { $0.a == "x" } : all[0].filter("a == %@", "x")
            return found.map { $0.a + $0.b }
        }
    }

    @Test("finds the properties where they are", arguments: Way.allCases)
    func moved(way: Way) async throws {
        let path = directory.path("held.realm")
        let holder = Holder()
        try await holder.fill(Self.configuration(path, Older.self, 1))
        #expect(try await holder.look(way) == ["xy"])
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(HeldClassTests.configuration(path, Between.self, 2)) { _ in }
            try withNewRealm(HeldClassTests.configuration(path, Older.self, 3)) { realm in
                try realm.write { for object in realm.objects(Older.self) { object.a = object.b == "x" ? "y" : "x" } }
            }
        }
        #expect(try await holder.look(way) == ["xy"])
    }
}
