import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// What was made in a transaction that is rolled back is gone for good, whatever is made afterwards.
@Suite("What a rollback takes back", .timeLimit(.minutes(60)))
struct RolledBackObjectTests {
    private struct Refused: Error {}

    let directory = TemporaryDirectory()

    private var configuration: Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: directory.path("rows.realm")))
        configuration.objectTypes = objectTestTypes
        configuration.durability = .unflushed
        return configuration
    }

    /// What a transaction that is rolled back leaves in the hands of the program.
    private struct Leftovers {
        let keeper: Keeper
        let puppy: Puppy
        let toy: Toy
        let part: Toy
        let puppies: List<Puppy>
        let parts: List<Toy>
        let reference: ObjectReference<Keeper>

        init(_ realm: Realm, id: Int) {
            let added = Keeper(id: id)
            added.puppies.append(Puppy())
            let toy = Toy()
            toy.parts.append(Toy())
            added.toy = toy
            realm.add(added)
            keeper = added
            puppy = added.puppies[0]
            self.toy = added.toy!
            part = added.toy!.parts[0]
            puppies = added.puppies
            parts = added.toy!.parts
            reference = ObjectReference(to: added)
        }

        var isGone: Bool {
            keeper.isInvalidated && puppy.isInvalidated && toy.isInvalidated && part.isInvalidated
                && puppies.isInvalidated && parts.isInvalidated
        }
    }

    /// As many rows as a rollback took back, and more.
    private func fill(_ realm: Realm, from id: Int) {
        for id in id..<(id + 3) {
            realm.create(
                Keeper.self,
                value: ["id": id, "toy": ["parts": [[:]]] as [String: Any], "puppies": [["name": "new"]]]
                    as [String: Any]
            )
        }
    }

    @Test("An object whose add was rolled back stays invalidated, with all that came with it, when others are inserted")
    func staysInvalidated() throws {
        let realm = try Realm(configuration: configuration)
        try realm.write { fill(realm, from: 1) }
        realm.beginWrite()
        let left = Leftovers(realm, id: 10)
        realm.cancelWrite()
        #expect(left.isGone && realm.resolve(left.reference) == nil)
        try realm.write { fill(realm, from: 20) }
        #expect(left.isGone && realm.resolve(left.reference) == nil)
        // In a later transaction as well, before and after its rows are sealed.
        try realm.write {
            fill(realm, from: 30)
            #expect(left.isGone && realm.resolve(left.reference) == nil)
        }
        #expect(realm.objects(Keeper.self).count == 9)
    }

    @Test("So it does in a realm in memory, and when the block throws, and when the commit is refused")
    func waysToRollBack() throws {
        let realm = try memoryRealm(objectTestTypes + [Badge.self])
        var left: [Leftovers] = []
        #expect(throws: Refused.self) {
            try realm.write {
                left.append(Leftovers(realm, id: 1))
                throw Refused()
            }
        }
        #expect(throws: Realm.Error.self) {
            try realm.write {
                left.append(Leftovers(realm, id: 2))
                let first = realm.create(Badge.self, value: ["number": 1])
                let second = realm.create(Badge.self, value: ["number": 2])
                second.number = first.number
            }
        }
        try realm.write { fill(realm, from: 20) }
        #expect(left.count == 2)
        #expect(left.allSatisfy { $0.isGone && realm.resolve($0.reference) == nil })
    }

    class Badge: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(unique: true) var number: Int
    }

    @Test("An object that was deleted in a transaction is there again after its rollback")
    func deletedIsBack() throws {
        let realm = try Realm(configuration: configuration)
        let keeper = try realm.write { realm.create(Keeper.self, value: ["id": 1, "name": "Ada", "toy": [:]]) }
        let toy = try #require(keeper.toy)
        realm.beginWrite()
        realm.delete(keeper)
        fill(realm, from: 2)
        #expect(keeper.isInvalidated && toy.isInvalidated)
        realm.cancelWrite()
        #expect(
            !keeper.isInvalidated && !toy.isInvalidated && keeper.name == "Ada" && realm.objects(Keeper.self).count == 1
        )
    }

    @MainActor
    @Test("Of transactions that are flushed together, one that is rolled back takes its keys along")
    func grouped() async throws {
        let configuration = configuration
        let tasks = (0..<4)
            .map { number in
                Task { try await Roller(configuration).rollBack(from: number * 1_000) }
            }
        var references: [ObjectReference<Keeper>] = []
        for task in tasks { references += try await task.value }
        let realm = try await Realm(configuration: configuration)
        #expect(references.count == 160)
        #expect(references.allSatisfy { realm.resolve($0) == nil })
    }

    private actor Roller {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration)
        }

        /// Adds objects, some in transactions that are rolled back, and gives references to the latter.
        func rollBack(from id: Int) async throws -> [ObjectReference<Keeper>] {
            var references: [ObjectReference<Keeper>] = []
            for step in 0..<80 {
                do {
                    try await realm.asyncWrite {
                        let keeper = Keeper(id: id + step)
                        realm.add(keeper)
                        if step.isMultiple(of: 2) {
                            references.append(ObjectReference(to: keeper))
                            throw Refused()
                        }
                    }
                } catch is Refused {}
            }
            return references
        }
    }

    @Test("A reference from a rolled-back transaction leads nowhere after the file was closed and opened again")
    func reopened() throws {
        let reference = try withNewRealm(configuration) { realm in
            realm.beginWrite()
            defer {
                realm.cancelWrite()
                realm.close()
            }
            return Leftovers(realm, id: 1).reference
        }
        try withNewRealm(configuration) { realm in
            try realm.write { fill(realm, from: 2) }
            #expect(realm.resolve(reference) == nil)
        }
    }

    private static func shared(by process: pid_t) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: FileManager.default.temporaryDirectory.appendingPathComponent("rolled-back-\(process).realm")
        )
        configuration.objectTypes = objectTestTypes
        return configuration
    }

    @MainActor
    @Test("Another process does not give the keys of a rolled-back transaction out either")
    func otherProcess() async throws {
        let configuration = Self.shared(by: getpid())
        _ = try? Realm.deleteFiles(for: configuration)
        let realm = try await Realm(configuration: configuration)
        realm.beginWrite()
        let left = Leftovers(realm, id: 1)
        realm.cancelWrite()
        await #expect(processExitsWith: .success) {
            try withNewRealm(RolledBackObjectTests.shared(by: getppid())) { realm in
                try realm.write {
                    for id in 2..<5 {
                        realm.create(
                            Keeper.self,
                            value: ["id": id, "toy": ["parts": [[:]]] as [String: Any], "puppies": [[:]]]
                                as [String: Any]
                        )
                    }
                }
            }
        }
        realm.refresh()
        #expect(realm.objects(Keeper.self).count == 3)
        #expect(left.isGone && realm.resolve(left.reference) == nil)
        try realm.write { fill(realm, from: 10) }
        #expect(left.isGone && realm.resolve(left.reference) == nil)
        realm.close()
        _ = try? Realm.deleteFiles(for: configuration)
    }
}
