import ActorRealm
import Foundation
import Testing

/// What an observer of an object was told, without the object.
private enum ToldOfObject: Equatable, Sendable {
    case change(String, [String])
    case deleted
    case error
}

extension ObjectChange where T: Chore {
    fileprivate var told: ToldOfObject {
        switch self {
        case .change(let chore, let properties): .change(chore.name, properties.map(\.name))
        case .deleted: .deleted
        case .error: .error
        }
    }
}

@Suite("Changes of objects", .timeLimit(.minutes(60)))
struct ObjectChangesTests {
    /// A class as one release declares it, and a later one, with a property in its middle that the file has last.
    class Before: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var name = ""
        override class func _realmObjectName() -> String? { "Crate" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
    class After: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted(originProperty: "next") var previous: LinkingObjects<After>
        @Persisted var added = 0
        @Persisted var name = ""
        @Persisted var next: After?
        override class func _realmObjectName() -> String? { "Crate" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    let file = ObservedFile()

    @Test("properties come in the order of the class, also where the file has another, and what is computed last")
    @MainActor func order() async throws {
        func configuration(_ type: Object.Type, _ version: UInt64) -> Realm.Configuration {
            var configuration = file.configuration
            configuration.objectTypes = [type]
            configuration.schemaVersion = version
            return configuration
        }
        do {
            let realm = try await Realm(configuration: configuration(Before.self, 1))
            try realm.write { realm.add(Before(value: ["id": 1, "name": "a"] as [String: Any])) }
            realm.close()
        }
        let realm = try await Realm(configuration: configuration(After.self, 2))
        let crate = try #require(realm.objects(After.self).first)
        let other = After()
        try realm.write {
            other.id = 2
            other.next = crate
            realm.add(other)
        }
        var plain = crate.changes().makeAsyncIterator()
        var named = crate.changes(keyPaths: ["previous.name", "name", "added"]).makeAsyncIterator()
        try realm.write {
            crate.name = "b"
            crate.added = 1
            other.name = "c"
        }
        guard case .change(_, let all)? = await plain.next(isolation: MainActor.shared),
            case .change(_, let some)? = await named.next(isolation: MainActor.shared)
        else {
            Issue.record("no change")
            return
        }
        #expect(all.map(\.name) == ["added", "name"])
        #expect(some.map(\.name) == ["added", "name", "previous"])
        realm.close()
    }

    @Test("a change names the properties that were written, with their values before and after")
    func oldAndNewValues() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one", priority: 3)
        try await worker.with { worker, realm in
            let chore = try #require(realm.object(ofType: Chore.self, forPrimaryKey: 1))
            var iterator = chore.changes().makeAsyncIterator()
            try await realm.asyncWrite {
                chore.priority = 4
                chore.name = "uno"
                chore.tags.append("x")
            }
            guard case .change(let changed, let properties)? = await iterator.next() else {
                Issue.record("no change")
                return
            }
            #expect(changed.realm === realm)
            #expect(properties.map(\.name) == ["name", "priority", "tags"])
            #expect(properties[0].oldValue as? String == "one")
            #expect(properties[0].newValue as? String == "uno")
            #expect(properties[1].oldValue as? Int == 3)
            #expect(properties[1].newValue as? Int == 4)
            #expect(properties[2].oldValue == nil && properties[2].newValue == nil)
        }
    }

    @Test("after the deletion of the object the sequence ends, also when the same primary key comes back")
    func deleted() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let changes = try #require(await worker.changes(ofTask: 1))
        var iterator = changes.makeAsyncIterator()
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                realm.delete(realm.object(ofType: Chore.self, forPrimaryKey: 1)!)
                realm.create(Chore.self, value: ["id": 1, "name": "again"])
            }
        }
        #expect(await iterator.next()?.told == .deleted)
        #expect(await iterator.next() == nil)
        #expect(await iterator.next() == nil)
    }

    @Test("only direct writes count, unless key paths lead further")
    func keyPaths() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                let owner = realm.create(ChoreOwner.self, value: ["name": "Ann"])
                realm.object(ofType: Chore.self, forPrimaryKey: 1)?.owner = owner
            }
        }
        let plain = try #require(await worker.changes(ofTask: 1))
        let deep = try #require(await worker.changes(ofTask: 1, keyPaths: ["owner.name"]))
        var plainIterator = plain.makeAsyncIterator()
        var deepIterator = deep.makeAsyncIterator()
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.objects(ChoreOwner.self).first?.name = "Anna" }
        }
        #expect(await deepIterator.next()?.told == .change("one", ["owner"]))
        try await worker.rename(1, "uno")
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.objects(ChoreOwner.self).first?.name = "Annika" }
        }
        #expect(await plainIterator.next()?.told == .change("uno", ["name"]))
        #expect(await deepIterator.next()?.told == .change("uno", ["owner"]))
    }

    @Test("the changes of a realm tell keys per class, which references resolve")
    func realmChanges() async throws {
        let worker = try await Worker(file.configuration)
        let changes = await worker.with { _, realm in realm.changes }
        var iterator = changes.makeAsyncIterator()
        let one = try await worker.add(1, "one")
        let two = try await worker.add(2, "two")
        try await worker.delete(1)
        let first = try #require(await iterator.next())
        #expect(first.classes.keys.sorted() == ["Chore"])
        #expect(first.classes["Chore"]?.inserted == [two])
        #expect(first.classes["Chore"]?.deleted == [])
        #expect(one != two)
        try await worker.rename(2, "zwei")
        let second = try #require(await iterator.next())
        #expect(second.version > first.version)
        #expect(second.classes["Chore"]?.modified == [two])
        await worker.with { _, realm in
            #expect(realm.resolve(ObjectReference<Chore>(key: two))?.name == "zwei")
        }
    }
}
