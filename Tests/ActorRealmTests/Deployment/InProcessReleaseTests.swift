import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Two releases of a file's classes in one process, as in tests of a migration, with what crosses the change.
@Suite("Two releases in one process", .timeLimit(.minutes(60)))
struct InProcessReleaseTests {
    let directory = TemporaryDirectory()

    /// Where the file is: on the disk, or in memory.
    enum Place: String, CaseIterable, Sendable { case file, memory }

    private func configuration(_ program: ReleaseProgram, _ plan: ReleaseCase, _ place: Place, version: UInt64)
        -> Realm.Configuration
    {
        let path = directory.path("process.realm")
        var configuration = program.configuration(path, version: version) { migration, _ in plan.migrate(migration) }
        if place == .memory { configuration.inMemoryIdentifier = path }
        return configuration
    }

    private func cases(_ change: ReleaseChange) -> ReleaseCase {
        ReleaseCase(seed: UInt64.random(in: 0...9_999), changes: [change])
    }

    @Test(
        "A migration beside an open realm is refused before anything has changed, and runs when that is closed",
        arguments: ReleaseChange.allCases,
        Place.allCases
    )
    func refused(_ change: ReleaseChange, _ place: Place) throws {
        let plan = cases(change)
        let (before, after) = (ReleaseProgram(plan.before), ReleaseProgram(plan.after))
        let queue = DispatchQueue(label: "older release")
        let frozen = try queue.sync { () -> Frozen<Realm> in
            let realm = try Realm(configuration: configuration(before, plan, place, version: 1), queue: queue)
            // The last close() of an in-memory realm would end it; one that is let go of stays with its frozen copy.
            defer { if place == .file { realm.close() } }
            try realm.write { before.fill(realm, with: plan.world) }
            let version = realm.activeVersions.last?.version
            let error = #expect(throws: Realm.Error.self) {
                try withNewRealm(configuration(after, plan, place, version: 2)) { _ in }
            }
            #expect(error?.code == .incompatibleSession, "\(plan.description)")
            #expect(realm.activeVersions.last?.version == version)
            #expect(before.world(of: realm).lines == plan.world.lines, "\(plan.description)")
            let row = plan.row(50, of: plan.before)
            try realm.write { before.create("Item", row, in: realm) }
            return realm.frozen
        }
        var world = plan.world
        world.classes["Item"]?[50] = plan.row(50, of: plan.before)
        // Nobody but the frozen realm stands in the way, and that reads its own version for good.
        try withNewRealm(configuration(after, plan, place, version: 2)) { realm in
            let seen = world.seen(by: plan.after, after: plan.before)
            #expect(after.world(of: realm).lines == seen.lines, "\(plan.description)")
            #expect(before.world(of: frozen.value).lines == world.lines, "\(plan.description)")
            #expect(!realm.isOutdated)
        }
        #expect(before.world(of: frozen.value).lines == world.lines, "\(plan.description)")
    }

    final class Strict: Object {
        override class func _realmObjectName() -> String? { "RuledByRelease" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(unique: true) var label: String?
    }

    final class Loose: Object {
        override class func _realmObjectName() -> String? { "RuledByRelease" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var label: String?
    }

    private func ruled(_ type: ObjectBase.Type) -> Realm.Configuration {
        Realm.Configuration(fileURL: URL(fileURLWithPath: directory.path("rules.realm")), objectTypes: [type])
    }

    /// Inserts an object whose label is there already.
    private func insertAgain(_ label: String, into realm: Realm) throws {
        let second = Loose()
        second.label = label
        try realm.write { try realm.insert(second) }
    }

    @Test("A rule that is declared no more goes when its file is opened while nobody else has it open")
    func rules() throws {
        try withNewRealm(ruled(Strict.self)) { realm in
            try realm.write { realm.create(Strict.self, value: ["label": "one"]) }
        }
        try withNewRealm(ruled(Loose.self)) { realm in
            try insertAgain("one", into: realm)
            #expect(realm.objects(Loose.self).map(\.label) == ["one", "one"])
        }
    }

    @Test("A rule that an open realm declares stays while its file is opened by somebody who does not declare it")
    func rulesInUse() throws {
        let queue = DispatchQueue(label: "older release")
        try queue.sync {
            let realm = try Realm(configuration: ruled(Strict.self), queue: queue)
            try realm.write { realm.create(Strict.self, value: ["label": "one"]) }
            try withNewRealm(ruled(Loose.self)) { other in
                let error = #expect(throws: Realm.Error.self) { try insertAgain("one", into: other) }
                #expect(error?.code == .duplicateValue)
            }
            realm.refresh()
            #expect(realm.objects(Strict.self).map(\.label) == ["one"])
        }
    }

    @Test("References cross the change, by name and type", arguments: Place.allCases)
    func references(_ place: Place) throws {
        func configuration(_ types: [ObjectBase.Type], _ version: UInt64) -> Realm.Configuration {
            let path = directory.path("references.realm")
            var configuration = OutdatedRealmTests.configuration(path, types, version: version)
            if place == .memory { configuration.inMemoryIdentifier = path }
            return configuration
        }
        let old: [ObjectBase.Type] = [ReaderModels.Dog.self, ReaderModels.Owner.self]
        let queue = DispatchQueue(label: "older release")
        let (reference, key, frozen) = try queue.sync {
            let realm = try Realm(configuration: configuration(old, 1), queue: queue)
            defer { if place == .file { realm.close() } }
            try realm.write {
                let dogs = (1...3).map { realm.create(ReaderModels.Dog.self, value: ["name": "dog \($0)", "age": $0]) }
                realm.create(ReaderModels.Owner.self, value: ["name": "owner", "dogs": dogs])
            }
            let owner = realm.objects(ReaderModels.Owner.self)[0]
            return (ThreadSafeReference(to: owner.dogs), ObjectReference(to: owner).key, owner.frozen)
        }
        // Properties come before those that the references name.
        try withNewRealm(configuration([ReaderModels.LargeDog.self, ReaderModels.LargeOwner.self], 2)) { realm in
            let owner = realm.resolve(ObjectReference<ReaderModels.LargeOwner>(key: key))
            #expect(owner?.name == "owner")
            #expect(owner?.dogs.map(\.age) == [1, 2, 3])
            #expect(owner?.before == "")
            #expect(frozen.value.dogs.map(\.name) == ["dog 1", "dog 2", "dog 3"])
        }
        try withNewRealm(configuration(old, 3)) { realm in
            #expect(realm.resolve(reference)?.map(\.name) == ["dog 1", "dog 2", "dog 3"])
            #expect(realm.thaw(frozen)?.dogs.count == 3)
        }
    }

    final class Words: Object {
        override class func _realmObjectName() -> String? { "ReleasedWords" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var words: List<String>
    }

    final class Word: Object {
        override class func _realmObjectName() -> String? { "ReleasedWords" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var words: String
    }

    @Test("A reference to a collection finds none whose elements are of another class, or that is none any more")
    func otherElements() throws {
        func configuration(_ types: [ObjectBase.Type], _ version: UInt64) -> Realm.Configuration {
            OutdatedRealmTests.configuration(directory.path("other.realm"), types, version: version) { migration, _ in
                migration.discardValues(ofProperty: "words", onType: "ReleasedWords")
            }
        }
        let old: [ObjectBase.Type] = [ReaderModels.Dog.self, ReaderModels.Owner.self, Words.self]
        let queue = DispatchQueue(label: "older release")
        let (list, links, results, words, frozen) = try queue.sync {
            let realm = try Realm(configuration: configuration(old, 1), queue: queue)
            defer { realm.close() }
            try realm.write {
                let dog = realm.create(ReaderModels.Dog.self, value: ["name": "dog", "age": 1])
                realm.create(ReaderModels.Owner.self, value: ["name": "owner", "dogs": [dog]])
                realm.create(Words.self, value: ["words": ["one"]])
            }
            let dogs = realm.objects(ReaderModels.Dog.self)
            return (
                ThreadSafeReference(to: realm.objects(ReaderModels.Owner.self)[0].dogs),
                ThreadSafeReference(to: dogs[0].owners), ThreadSafeReference(to: dogs),
                ThreadSafeReference(to: realm.objects(Words.self)[0].words), dogs.frozen
            )
        }
        let new: [ObjectBase.Type] = [ReaderModels.LargeDog.self, ReaderModels.LargeOwner.self, Word.self]
        try withNewRealm(configuration(new, 2)) { realm in
            // What was found wrongly is not read: that might end the process.
            let found = [
                realm.resolve(list) != nil, realm.resolve(links) != nil, realm.resolve(results) != nil,
                realm.resolve(words) != nil, realm.thaw(frozen) != nil,
            ]
            #expect(found == [false, false, false, false, false])
            #expect(frozen.value.map(\.name) == ["dog"])
        }
    }

    final class NamelessDog: Object {
        override class func _realmObjectName() -> String? { "Dog" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var age: Int
    }

    /// Whether queries by name are found, and thawed, where the property that they ask for is gone.
    static func findsGoneProperties() throws -> [Bool] {
        let directory = TemporaryDirectory()
        func configuration(_ types: [ObjectBase.Type], _ version: UInt64) -> Realm.Configuration {
            OutdatedRealmTests.configuration(directory.path("gone.realm"), types, version: version)
        }
        let queue = DispatchQueue(label: "older release")
        let (filtered, sorted, frozen) = try queue.sync {
            let realm = try Realm(configuration: configuration([ReaderModels.LoneDog.self], 1), queue: queue)
            defer { realm.close() }
            try realm.write { _ = realm.create(ReaderModels.LoneDog.self, value: ["name": "x", "age": 1]) }
            let filtered = realm.dynamicObjects("Dog").filter("name == 'x'")
            let sorted = realm.dynamicObjects("Dog").sorted(byKeyPath: "name")
            return (ThreadSafeReference(to: filtered), ThreadSafeReference(to: sorted), filtered.frozen)
        }
        return try withNewRealm(configuration([NamelessDog.self], 2)) { realm in
            [realm.resolve(filtered) != nil, realm.resolve(sorted) != nil, realm.thaw(frozen) != nil]
        }
    }

    @Test("A reference to a query for a property that is gone finds nothing, and does not end the process")
    func goneProperties() async {
        await #expect(processExitsWith: .success) {
            let found = try InProcessReleaseTests.findsGoneProperties()
            #expect(found == [false, false, false])
        }
    }
}
