import ActorRealm
import Foundation
import Testing

/// The version in which a handed-over value is seen, on synchronous threads as RealmSwift's users have them.
@Suite("Handed over to another thread and back, a value shows what was done to it", .timeLimit(.minutes(60)))
struct HandedOverVersionTests {
    let file = PortingFile()

    private func filled() throws -> Realm {
        let realm = try Realm(configuration: file.configuration)
        try realm.write {
            let harbour = Harbour(id: 1, name: "Rotterdam")
            harbour.numbers.append(objectsIn: [1, 2])
            harbour.flags.insert("blue")
            harbour.berths["north"] = 4
            realm.add(harbour)
        }
        return realm
    }

    @Test("what another thread did through a @ThreadSafe wrapper is there when the wrapper is read next")
    func wrappers() throws {
        try onNewThread { [self] in
            let realm = try filled()
            realm.autorefresh = false
            let harbour = realm.objects(Harbour.self)[0]
            let list = ThreadSafe(wrappedValue: harbour.numbers)
            let set = ThreadSafe(wrappedValue: harbour.flags)
            let map = ThreadSafe(wrappedValue: harbour.berths)
            let results = ThreadSafe(wrappedValue: realm.objects(Harbour.self).where { $0.id > 0 })
            let object = ThreadSafe(wrappedValue: harbour)
            let configuration = file.configuration
            try onNewThread {
                let numbers = list.wrappedValue!
                try numbers.realm!.write { numbers.append(3) }
            }
            #expect(list.wrappedValue.map { Array($0) } == [1, 2, 3])
            try onNewThread { try Realm(configuration: configuration).write { set.wrappedValue!.insert("peter") } }
            #expect(set.wrappedValue.map { $0.sorted() } == ["blue", "peter"])
            try onNewThread { try Realm(configuration: configuration).write { map.wrappedValue!["south"] = 2 } }
            #expect(map.wrappedValue?["south"] == 2)
            try onNewThread {
                let found = results.wrappedValue!
                try found.realm!.write { found.realm!.add(Harbour(id: 2)) }
            }
            #expect(results.wrappedValue?.count == 2)
            try onNewThread {
                let harbour = object.wrappedValue!
                try harbour.realm!.write { harbour.name = "Europoort" }
            }
            #expect(object.wrappedValue?.name == "Europoort")
            #expect(harbour.name == "Europoort", "the realm stands there, not the wrapper alone")
        }
    }

    @Test("a wrapper that is read through another realm of the same place brings that one to the newest version")
    func anotherRealmOfOnePlace() throws {
        let configuration = file.configuration
        try onNewThread { [self] in
            let first = try filled()
            let wrapper = ThreadSafe(wrappedValue: first.objects(Harbour.self)[0])
            first.close()
            let second = try Realm(configuration: configuration)
            second.autorefresh = false
            #expect(second.objects(Harbour.self)[0].name == "Rotterdam")
            try onNewThread {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.objects(Harbour.self)[0].name = "Europoort" }
            }
            #expect(second.objects(Harbour.self)[0].name == "Rotterdam")
            #expect(wrapper.wrappedValue?.name == "Europoort")
        }
    }

    @Test("a realm that was invalidated and is used again is the same one for a wrapper, and stays")
    func invalidatedRealm() throws {
        let configuration = file.configuration
        try onNewThread { [self] in
            let realm = try filled()
            let wrapper = ThreadSafe(wrappedValue: realm.objects(Harbour.self)[0])
            realm.autorefresh = false
            realm.invalidate()
            #expect(realm.objects(Harbour.self)[0].name == "Rotterdam")
            try onNewThread {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.objects(Harbour.self)[0].name = "Europoort" }
            }
            #expect(wrapper.wrappedValue?.name == "Rotterdam")
        }
    }

    @Test(
        "a realm that has read nothing yet stands at the version of the reference that is resolved in it, until it moves"
    )
    func freshRealm() throws {
        let configuration = file.configuration
        try onNewThread { [self] in
            let realm = try filled()
            let list = ThreadSafeReference(to: realm.objects(Harbour.self)[0].numbers)
            let results = ThreadSafeReference(to: realm.objects(Harbour.self).where { $0.name == "Rotterdam" })
            let deleted = ThreadSafeReference(to: realm.objects(Harbour.self)[0])
            let again = ThreadSafeReference(to: realm.objects(Harbour.self)[0])
            try realm.write {
                realm.deleteAll()
                realm.add(Harbour(id: 7, name: "Antwerp"))
            }
            try onNewThread {
                let realm = try Realm(configuration: configuration)
                let numbers = try #require(realm.resolve(list))
                #expect(Array(numbers) == [1, 2])
                let found = try #require(realm.resolve(results))
                #expect(found.count == 1)
                let object = try #require(realm.resolve(deleted))
                #expect(object.name == "Rotterdam")
                #expect(realm.refresh())
                #expect(numbers.isInvalidated)
                #expect(found.isEmpty)
                #expect(object.isInvalidated)
                #expect(realm.resolve(again) == nil)
                #expect(realm.objects(Harbour.self).map { $0.name } == ["Antwerp"])
            }
        }
    }

    @Test("a realm that has read something keeps its version, or moves on to the reference's")
    func usedRealm() throws {
        let configuration = file.configuration
        try onNewThread { [self] in
            let realm = try filled()
            let early = ThreadSafeReference(to: realm.objects(Harbour.self)[0])
            try realm.write { realm.objects(Harbour.self)[0].name = "Europoort" }
            let late = ThreadSafeReference(to: realm.objects(Harbour.self)[0])
            try onNewThread {
                let realm = try Realm(configuration: configuration)
                #expect(realm.objects(Harbour.self)[0].name == "Europoort")
                #expect(realm.resolve(early)?.name == "Europoort")
                #expect(realm.resolve(late)?.name == "Europoort")
            }
        }
    }

    @Test("A realm that a change was delivered with stays there when an older reference is resolved")
    func deliveredRealm() async throws {
        let file = ObservedFile()
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let (reference, changes) = await worker.with { _, realm in
            (ThreadSafeReference(to: realm.object(ofType: Chore.self, forPrimaryKey: 1)!), realm.changes)
        }
        // It is opened, and nothing of it is read.
        let other = try await Worker(file.configuration)
        let began = Journal<Bool>()
        let name = Task {
            await other.with { worker, realm -> String? in
                var iterator = changes.makeAsyncIterator()
                began.add(true)
                guard await iterator.next(isolation: worker) != nil else { return nil }
                return realm.resolve(reference)?.name
            }
        }
        _ = await began.wait(for: 1)
        try await worker.rename(1, "uno")
        #expect(await name.value == "uno")
    }

    @Test("in a write transaction a reference leads to the newest data, in a fresh realm as well")
    func inTransaction() throws {
        let configuration = file.configuration
        try onNewThread { [self] in
            let realm = try filled()
            let reference = ThreadSafeReference(to: realm.objects(Harbour.self)[0])
            try realm.write { realm.objects(Harbour.self)[0].name = "Europoort" }
            try onNewThread {
                let realm = try Realm(configuration: configuration)
                try realm.write {
                    let harbour = try #require(realm.resolve(reference))
                    #expect(harbour.name == "Europoort")
                }
            }
        }
    }

    @Test("on a queue, the fresh realm follows the file again in a later turn")
    func freshRealmOfQueue() async throws {
        let configuration = file.configuration
        let reference = try onNewThread { [self] in
            let realm = try filled()
            let reference = ThreadSafeReference(to: realm.objects(Harbour.self)[0])
            try realm.write { realm.objects(Harbour.self)[0].name = "Europoort" }
            return reference
        }
        let queue = DispatchQueue(label: "taker")
        nonisolated(unsafe) var taken: (Realm, Harbour, NotificationToken)?
        let (names, continuation) = AsyncStream.makeStream(of: String.self)
        let name = try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            let harbour = try #require(realm.resolve(reference))
            let name = harbour.name
            let token = harbour.observe { (_: ObjectChange<Harbour>) in continuation.yield(harbour.name) }
            taken = (realm, harbour, token)
            return name
        }
        #expect(name == "Rotterdam")
        var iterator = names.makeAsyncIterator()
        #expect(await iterator.next() == "Europoort")
        queue.sync {
            taken?.2.invalidate()
            taken = nil
        }
    }
}
