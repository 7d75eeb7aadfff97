import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// The greatest and the least integer are not neighbours.
@Suite struct KeyOverflowTests {
    private class Loose: Object {
        @Persisted var number = 0
        override class func _realmObjectName() -> String? { "Keyed" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    private class Keyed: Object {
        @Persisted(primaryKey: true) var number = 0
        override class func _realmObjectName() -> String? { "Keyed" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    private static let numbers = [Int.max - 1, .max, .min, .min + 1, 0, 1, .max / 2]

    private func check(_ realm: Realm) throws {
        try realm.verify()
        for number in Self.numbers {
            #expect(realm.object(ofType: Keyed.self, forPrimaryKey: number)?.number == number)
        }
        #expect(realm.object(ofType: Keyed.self, forPrimaryKey: 2) == nil)
        #expect(realm.objects(Keyed.self).where { $0.number > 0 }.count == 4)
        #expect(realm.objects(Keyed.self).where { $0.number < 0 }.count == 2)
        #expect(realm.objects(Keyed.self).sorted(byKeyPath: "number").map(\.number) == Self.numbers.sorted())
    }

    @Test func `a key is added by a migration where a row has the greatest integer and the next one the least`() throws
    {
        let directory = TemporaryDirectory()
        var configuration = Realm.Configuration(fileURL: directory.url.appendingPathComponent("keyed.realm"))
        configuration.objectTypes = [Loose.self]
        try autoreleasing {
            let realm = try Realm(configuration: configuration)
            try realm.write { for number in Self.numbers { realm.create(Loose.self, value: ["number": number]) } }
            realm.close()
        }
        configuration.objectTypes = [Keyed.self]
        configuration.schemaVersion = 1
        let realm = try Realm(configuration: configuration)
        try check(realm)
        try realm.write { realm.delete(realm.objects(Keyed.self).where { $0.number == .max }) }
        try realm.verify()
        #expect(realm.objects(Keyed.self).count == Self.numbers.count - 1)
    }

    @Test func `rows with the greatest integer and then the least are added in one transaction`() throws {
        let realm = try memoryRealm([Keyed.self])
        try realm.write { for number in Self.numbers { realm.create(Keyed.self, value: ["number": number]) } }
        try check(realm)
    }

    private func autoreleasing(_ body: () throws -> Void) rethrows { try body() }
}
