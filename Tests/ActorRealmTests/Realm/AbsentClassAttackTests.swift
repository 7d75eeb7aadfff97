import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm
@testable import RealmModel

@Suite("Classes that the file of a read-only realm has not, beside somebody who writes", .serialized)
struct AbsentClassAttackTests {
    let file = TestFile()

    class Missing: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var id: Int
        @Persisted var tally: Tally?
    }

    class Unrelated: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var id: Int
    }

    enum One {
        class Inner: Object {
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
            @Persisted var id: Int
        }
    }

    enum Two {
        class Inner: Object {
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
            @Persisted var id: Int
        }
    }

    class Old: Object {
        override class func _realmObjectName() -> String? { "Inner" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var id: Int
    }

    /// A realm on a queue of its own.
    final class Place: @unchecked Sendable {
        let queue = DispatchQueue(label: "place")
        private(set) var realm: Realm!

        init(_ configuration: Realm.Configuration) throws {
            try queue.sync { realm = try Realm(configuration: configuration, queue: queue) }
        }

        func run<R>(_ body: (Realm) throws -> R) rethrows -> R { try queue.sync { try body(realm) } }

        deinit { queue.sync { realm = nil } }
    }

    private func configuration(_ types: [ObjectBase.Type], readOnly: Bool = false) -> Realm.Configuration {
        var configuration = file.fast
        configuration.objectTypes = types
        configuration.readOnly = readOnly
        return configuration
    }

    // Only rows have changed: the table that was opened for the absent class cannot be read at the next version.
    @Test("A reference to a newer object is resolved, whoever asked for the absent class", arguments: [0, 1])
    func rows(asks: Int) throws {
        let writer = try Place(configuration([Tally.self]))
        try writer.run { realm in try realm.write { _ = realm.create(Tally.self, value: ["name": "first"]) } }
        let reader = try Place(configuration([Tally.self, Missing.self], readOnly: true))
        reader.run { realm in
            #expect(realm.objects(Tally.self).count == 1)
            if asks == 1 { #expect(realm.objects(Missing.self).isEmpty) }
        }
        let (reference, stored) = try writer.run { realm in
            let tally = try realm.write { realm.create(Tally.self, value: ["name": "second"]) }
            return (ThreadSafeReference(to: tally), ObjectReference(to: tally))
        }
        reader.run { realm in
            #expect(realm.resolve(stored)?.name == "second")
            #expect(realm.resolve(reference)?.name == "second")
            #expect(realm.objects(Missing.self).isEmpty)
            #expect(realm.objects(Tally.self).count == 2)
            #expect(!realm.isOutdated)
        }
    }

    // A class that none of the reader's is was added.
    @Test("A class that is added makes no read-only realm outdated that lacks another one")
    func unrelated() throws {
        let writer = try Place(configuration([Tally.self]))
        try writer.run { realm in try realm.write { _ = realm.create(Tally.self, value: ["name": "first"]) } }
        let reader = try Place(configuration([Tally.self, Missing.self], readOnly: true))
        reader.run { realm in #expect(realm.objects(Tally.self).count == 1) }
        let other = try Place(configuration([Tally.self, Unrelated.self]))
        let reference = try other.run { realm in
            ThreadSafeReference(to: try realm.write { realm.create(Tally.self, value: ["name": "second"]) })
        }
        reader.run { realm in
            #expect(realm.resolve(reference)?.name == "second")
            #expect(!realm.isOutdated)
            #expect(realm.objects(Missing.self).isEmpty)
        }
    }

    // The very class that was absent is added.
    @Test("A read-only realm reads the class that was absent once the file has it", arguments: [false, true])
    func added(asks: Bool) throws {
        let writer = try Place(configuration([Tally.self]))
        try writer.run { realm in try realm.write { _ = realm.create(Tally.self, value: ["name": "first"]) } }
        let reader = try Place(configuration([Tally.self, Missing.self], readOnly: true))
        reader.run { realm in
            #expect(realm.objects(Tally.self).count == 1)
            if asks { #expect(realm.objects(Missing.self).isEmpty) }
        }
        let other = try Place(configuration([Tally.self, Missing.self]))
        let reference = try other.run { realm in
            ThreadSafeReference(to: try realm.write { realm.create(Missing.self, value: ["id": 7]) })
        }
        reader.run { realm in
            #expect(realm.resolve(reference)?.id == 7)
            #expect(!realm.isOutdated)
            #expect(realm.objects(Missing.self).count == 1)
        }
    }

    // As `added`, behind invalidate(): reads anew.
    @Test("A read-only realm that was invalidated reads the class that was absent once the file has it")
    func invalidated() throws {
        let writer = try Place(configuration([Tally.self]))
        try writer.run { realm in try realm.write { _ = realm.create(Tally.self, value: ["name": "first"]) } }
        let reader = try Place(configuration([Tally.self, Missing.self], readOnly: true))
        reader.run { realm in #expect(realm.objects(Missing.self).isEmpty) }
        let other = try Place(configuration([Tally.self, Missing.self]))
        try other.run { realm in try realm.write { _ = realm.create(Missing.self, value: ["id": 7]) } }
        reader.run { realm in
            realm.invalidate()
            #expect(realm.objects(Missing.self).count == 1)
            #expect(realm.freeze().objects(Missing.self).count == 1)
            #expect(realm.object(ofType: Missing.self, forPrimaryKey: 7) != nil)
        }
    }

    // The second opening has the coordinator call the stored class otherwise; the first reads anew and finds it absent.
    @Test("A read-only realm that reads anew finds a class by its former name whatever another realm calls that")
    func formerNames() throws {
        try withNewRealm(configuration([Old.self])) { realm in
            try realm.write { _ = realm.create(Old.self, value: ["id": 1]) }
        }
        let first = try Place(configuration([One.Inner.self], readOnly: true))
        first.run { realm in #expect(realm.objects(One.Inner.self).count == 1) }
        let second = try Place(configuration([Two.Inner.self], readOnly: true))
        second.run { realm in #expect(realm.objects(Two.Inner.self).count == 1) }
        first.run { realm in
            realm.invalidate()
            #expect(realm.objects(One.Inner.self).count == 1)
        }
    }

    @Test("A copy of a read-only realm has no class that its file has not, and both verify")
    func copied() throws {
        try withNewRealm(configuration([Tally.self])) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": "first"]) }
        }
        let copy = URL(fileURLWithPath: file.directory.path("copy.realm"))
        try withNewRealm(configuration([Tally.self, Missing.self], readOnly: true)) { realm in
            #expect(realm.objects(Missing.self).isEmpty)
            try realm.verify()
            try realm.writeCopy(toFile: copy)
        }
        var reading = configuration([Tally.self, Missing.self])
        reading.fileURL = copy
        try withNewRealm(reading) { realm in
            try realm.write { _ = realm.create(Missing.self, value: ["id": 3]) }
            try realm.verify()
            #expect(realm.objects(Missing.self).count == 1 && realm.objects(Tally.self).count == 1)
        }
    }

    /// Makes a file in which the second class has the number 2^31.
    private func forge() throws {
        try withNewRealm(configuration([Tally.self])) { realm in
            try realm.write {
                _ = realm.create(Tally.self, value: ["name": "first"])
                let storage = try #require(realm.core.model.transaction).storage
                var entry = try #require(try DatabaseEntry(in: storage.catalog, view: storage.view))
                entry.nextTableID = 1 << 31
                try entry.store(in: storage)
            }
        }
        try withNewRealm(configuration([Tally.self, Unrelated.self])) { realm in
            try realm.write { _ = realm.create(Unrelated.self, value: ["id": 7]) }
        }
    }

    @Test("A table of a great number is read, or refused, but not empty")
    func greatNumber() throws {
        try forge()
        for readOnly in [false, true] {
            try withNewRealm(configuration([Tally.self, Unrelated.self], readOnly: readOnly)) { realm in
                #expect(realm.objects(Unrelated.self).count == 1, "readOnly: \(readOnly)")
                try realm.verify()
            }
        }
    }

    @Test("A table of a great number is not taken for one that the file has not")
    func takenNumber() async {
        await #expect(processExitsWith: .success) {
            let tests = AbsentClassAttackTests()
            try tests.forge()
            try withNewRealm(tests.configuration([Tally.self, Unrelated.self, Missing.self], readOnly: true)) { realm in
                try realm.requireReadable(Unrelated.self)
                precondition(realm.objects(Unrelated.self).where { $0.id == 7 }.count == 1)
            }
        }
    }
}
