import ActorRealm
import Foundation
import Testing

/// What RealmSwift's reference says of realms, objects and copies, and no other test shows.
@Suite("Realms and objects do what RealmSwift's reference says of them", .timeLimit(.minutes(60)))
struct RealmSemanticsTests {
    let file = PortingFile()

    private func onThread(_ body: @escaping @Sendable (Realm) throws -> Void) throws {
        let configuration = file.configuration
        try onNewThread { try body(Realm(configuration: configuration)) }
    }

    @Test("the block of a write may end its transaction and begin another one")
    func endedInside() throws {
        try onThread { realm in
            try realm.write {
                realm.add(Harbour(id: 1))
                realm.cancelWrite()
                #expect(!realm.isInWriteTransaction)
            }
            #expect(realm.isEmpty)
            try realm.write {
                realm.add(Harbour(id: 1))
                try realm.commitWrite()
                #expect(realm.objects(Harbour.self).count == 1)
                realm.beginWrite()
                realm.add(Harbour(id: 2))
            }
            #expect(realm.objects(Harbour.self).count == 2)
            struct Failure: Error {}
            #expect(throws: Failure.self) {
                try realm.write {
                    realm.add(Harbour(id: 3))
                    throw Failure()
                }
            }
            #expect(realm.objects(Harbour.self).count == 2 && !realm.isInWriteTransaction)
            let made = try realm.write { realm.create(Harbour.self, value: ["id": 4]) }
            #expect(made.id == 4)
        }
    }

    @Test("a copy that is written inside a write has what the write did so far")
    func copyInside() throws {
        let directory = file.directory
        try onThread { realm in
            var copy = realm.configuration
            copy.fileURL = URL(fileURLWithPath: directory.path("copy.realm"))
            try realm.write {
                realm.add(Harbour(id: 1))
                try realm.writeCopy(toFile: copy.fileURL!)
            }
            #expect(try Realm(configuration: copy).objects(Harbour.self).count == 1)
            #expect(throws: Realm.Error(.fileExists, fileURL: copy.fileURL)) {
                try realm.writeCopy(toFile: copy.fileURL!)
            }
        }
    }

    @Test("frozen and thawed values")
    func frozen() throws {
        try onThread { realm in
            try realm.write { realm.add(Harbour(id: 1, name: "a")) }
            let harbour = realm.objects(Harbour.self)[0]
            let frozen = harbour.freeze()
            #expect(frozen.isFrozen && frozen.realm?.isFrozen == true && frozen.freeze() == frozen)
            #expect(frozen == harbour.freeze() && frozen.hashValue == harbour.freeze().hashValue)
            try realm.write { realm.add(Harbour(id: 2, name: "a")) }
            #expect(frozen != realm.objects(Harbour.self)[1].freeze() && frozen != Harbour(id: 1, name: "a"))
            #expect(frozen.thaw()?.isSameObject(as: harbour) == true)
            #expect(harbour.thaw()?.isSameObject(as: harbour) == true)
            try realm.write { harbour.name = "b" }
            #expect(frozen.name == "a" && frozen.thaw()?.name == "b")
            try realm.write { realm.delete(harbour) }
            #expect(frozen.thaw() == nil && frozen.name == "a")
            #expect(realm.freeze().refresh() == false)
        }
    }

    @Test("equality and hashing of objects with and without a primary key")
    func equality() throws {
        try onThread { realm in
            try realm.write {
                realm.add(Harbour(id: 1))
                realm.add(Ship(name: "a"))
            }
            let (one, again) = (realm.objects(Harbour.self)[0], realm.object(ofType: Harbour.self, forPrimaryKey: 1)!)
            #expect(one == again && one.hashValue == again.hashValue)
            #expect(Harbour(id: 1) != Harbour(id: 1))
            let ship = realm.objects(Ship.self)[0]
            #expect(ship.isSameObject(as: realm.objects(Ship.self)[0]))
            #expect(ship.freeze() == realm.objects(Ship.self)[0].freeze())
        }
    }

    @Test("create and add: unknown keys, short arrays, copies, null, what is managed already")
    func creating() throws {
        try onThread { realm in
            try realm.write {
                let one = realm.create(Harbour.self, value: ["id": 1, "unknown": 3, "name": "a"] as [String: Any])
                #expect(one.name == "a" && one.isOpen)
                let two = realm.create(Harbour.self, value: [2, "b"] as [Any])
                #expect(two.name == "b" && two.depth == 1.5)
                realm.add(one)
                #expect(realm.objects(Harbour.self).count == 2)
                let ship = realm.create(Ship.self, value: ["name": "s", "home": one] as [String: Any])
                let copy = realm.create(Ship.self, value: ship)
                #expect(!copy.isSameObject(as: ship) && copy.name == "s" && copy.home == one)
                realm.create(Harbour.self, value: ["id": 1, "position": NSNull()] as [String: Any], update: .modified)
                #expect(one.name == "a" && one.position == nil)
                realm.create(Ship.self, value: ["home": ["id": 9, "name": "nested"] as [String: Any]] as [String: Any])
                #expect(realm.object(ofType: Harbour.self, forPrimaryKey: 9)?.name == "nested")
                realm.create(Harbour.self, value: ["id": 9, "ships": [["name": "x"], ["name": "y"]]], update: .all)
                #expect(realm.object(ofType: Harbour.self, forPrimaryKey: 9)?.ships.map(\.name) == ["x", "y"])
                #expect(realm.object(ofType: Harbour.self, forPrimaryKey: 77) == nil)
            }
        }
    }

    @Test("asynchronous writes of callback form: a commit behind beginWrite(), and a cancelled begin")
    func callbackWrites() async throws {
        let configuration = file.configuration
        let queue = DispatchQueue(label: "callbacks")
        nonisolated(unsafe) var realm: Realm!
        let ids = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<[Int], any Error>) in
            queue.async {
                do {
                    realm = try Realm(configuration: configuration, queue: queue)
                    realm.beginWrite()
                    realm.add(Harbour(id: 1))
                    let cancelled = realm.beginAsyncWrite {
                        realm.add(Harbour(id: 2))
                        realm.commitAsyncWrite()
                    }
                    try realm.cancelAsyncWrite(cancelled)
                    realm.commitAsyncWrite { error in #expect(error == nil) }
                    #expect(realm.isPerformingAsynchronousWriteOperations)
                    // Behind the one that was cancelled.
                    realm.writeAsync {
                        realm.add(Harbour(id: 3))
                    } onComplete: { error in
                        continuation.resume(
                            with: Result {
                                if let error { throw error }
                                return realm.objects(Harbour.self).map(\.id)
                            }
                        )
                    }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
        #expect(ids == [1, 3])
        queue.sync { realm = nil }
    }

    @Test("tokens end once, and hand-over of what is deleted meanwhile gives nil")
    func handover() throws {
        try onThread { realm in
            try realm.write { realm.add(Ship(name: "a")) }
            #expect(NotificationToken().invalidate() == false)
            let ship = realm.objects(Ship.self)[0]
            let reference = ThreadSafeReference(to: ship)
            let wrapper = ThreadSafe(wrappedValue: ship)
            try realm.write { realm.delete(ship) }
            #expect(realm.resolve(reference) == nil && reference.isInvalidated)
            #expect(wrapper.wrappedValue == nil)
        }
    }

    @Test("the schema version of a file, and of none")
    func schemaVersions() throws {
        let directory = file.directory
        var configuration = file.configuration
        configuration.schemaVersion = 4
        try onNewThread { [configuration] in
            _ = try Realm(configuration: configuration)
            #expect(try schemaVersionAtURL(configuration.fileURL!) == 4)
            #expect(throws: Realm.Error.self) {
                try schemaVersionAtURL(URL(fileURLWithPath: directory.path("none.realm")))
            }
            #expect(Realm.fileExists(for: configuration))
            #expect(throws: Realm.Error(.alreadyOpen, fileURL: configuration.fileURL)) {
                let realm = try Realm(configuration: configuration)
                defer { withExtendedLifetime(realm) {} }
                _ = try Realm.deleteFiles(for: configuration)
            }
        }
        #expect(try Realm.deleteFiles(for: configuration))
        #expect(try Realm.deleteFiles(for: configuration) == false)
        #expect(!Realm.fileExists(for: configuration))
    }

    @Test("settings that exclude each other")
    func configurations() {
        var configuration = Realm.Configuration(inMemoryIdentifier: "memory")
        #expect(configuration.fileURL == nil)
        configuration.fileURL = URL(fileURLWithPath: "/a.realm")
        #expect(configuration.inMemoryIdentifier == nil)
        configuration.inMemoryIdentifier = "again"
        #expect(configuration.fileURL == nil)
        var other = configuration
        other.objectTypes = [Ship.self]
        #expect(other == configuration, "classes are not compared")
        other.schemaVersion = 2
        #expect(other != configuration)
    }
}
