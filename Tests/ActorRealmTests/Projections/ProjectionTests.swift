import ActorRealm
import Foundation
import RealmTestSupport
import Testing

class KeeperProjection: Projection<Keeper>, ObjectKeyIdentifiable {
    @Projected(\Keeper.name) var title: String
    @Projected(\Keeper.age) var age: Int
    @Projected(\Keeper.favourite?.name) var favouriteName: String?
    @Projected(\Keeper.boss) var boss: Keeper?
    @Projected(\Keeper.puppies) var puppies: List<Puppy>
    @Projected(\Keeper.puppies.projectTo.name) var puppyNames: ProjectedCollection<String>
    @Projected(\Keeper.toy?.price) var toyPrice: Int?

    var shout: String { title.uppercased() }
}

class OlderProjection: KeeperProjection {
    @Projected(\Keeper.height) var height: Double?
}

@Suite struct ProjectionTests {
    private func filled() throws -> Realm {
        let realm = try memoryRealm()
        try realm.write {
            let keeper = realm.create(
                Keeper.self,
                value: ["id": 1, "name": "Ann", "age": 41, "puppies": [["name": "a"], ["name": "b"]]]
            )
            keeper.favourite = keeper.puppies[1]
            keeper.toy = Toy(value: ["name": "ball", "price": 3])
            realm.create(Keeper.self, value: ["id": 2, "name": "Bob", "age": 20, "boss": keeper])
        }
        return realm
    }

    @Test func `projections read and write their objects`() throws {
        let realm = try filled()
        let all = realm.objects(KeeperProjection.self)
        #expect(all.count == 2 && all.map(\.title) == ["Ann", "Bob"])
        let ann = try #require(all.first)
        #expect(ann.age == 41 && ann.favouriteName == "b" && ann.toyPrice == 3 && ann.shout == "ANN")
        #expect(all[1].favouriteName == nil && all[1].boss?.name == "Ann" && all[1].toyPrice == nil)
        try realm.write {
            ann.title = "Anna"
            ann.age += 1
            ann.puppyNames[0] = "z"
        }
        #expect(ann.rootObject.name == "Anna" && ann.rootObject.age == 42 && ann.rootObject.puppies[0].name == "z")
        #expect(Array(ann.puppyNames) == ["z", "b"] && ann.puppyNames.count == 2 && ann.puppies.count == 2)
        #expect(ann.description.contains("title(\\.name) = Anna;") && ann.puppyNames.description.contains("[0] z"))
        let plain = KeeperProjection(projecting: Keeper(id: 9, name: "free"))
        plain.title = "freer"
        #expect(plain.rootObject.name == "freer" && plain.realm == nil && plain.puppyNames.isEmpty)
    }

    @Test func `results of projections are searched, sorted, divided and counted`() throws {
        let realm = try filled()
        let all = realm.objects(KeeperProjection.self)
        #expect(all.filter("age > 30").map(\.title) == ["Ann"])
        #expect(all.where { $0.title == "Bob" }.map(\.age) == [20])
        #expect(all.where { $0.favouriteName == "b" }.count == 1)
        #expect(all.where { $0.puppies.name == "a" }.count == 1)
        #expect(all.where { $0.puppyNames == "a" }.count == 1)
        #expect(all.where { $0.boss.age > 40 }.map(\.title) == ["Bob"])
        #expect(all.sorted(by: \.age).map(\.title) == ["Bob", "Ann"])
        #expect(all.sorted(by: [SortDescriptor(keyPath: \KeeperProjection.title, ascending: false)]).first?.age == 20)
        #expect(all.sectioned(by: \.title).allKeys == ["Ann", "Bob"])
        #expect(all.distinct(by: [\.age]).count == 2)
        #expect(all.index(of: all[1]) == 1 && all.index(matching: { $0.age < 30 }) == 1)
        #expect(realm.objects(OlderProjection.self).where { $0.height == nil && $0.title == "Ann" }.count == 1)
    }

    @Test func `a projected collection is changed in place, and nothing else is assigned to it`() throws {
        func rename(_ names: inout ProjectedCollection<String>) { names[1] = "c" }
        let realm = try filled()
        let keeper = realm.objects(KeeperProjection.self)[0]
        try realm.write {
            rename(&keeper.puppyNames)
            keeper.puppyNames = KeeperProjection(projecting: keeper.rootObject).puppyNames
        }
        #expect(Array(keeper.puppyNames) == ["a", "c"])
    }

    @Test func `projections of one object are equal`() throws {
        let realm = try filled()
        let all = realm.objects(KeeperProjection.self)
        #expect(all[0] == all[0] && all[0] != all[1] && Set([all[0], all[0], all[1]]).count == 2)
        #expect(all[0].id == all[0].id && all[0].id != all[1].id)
        #expect(all[0].puppyNames == all[0].puppyNames && all[0].puppyNames != all[1].puppyNames)
    }

    @Test func `frozen projections stay, thawed ones follow`() throws {
        let realm = try filled()
        let live = realm.objects(KeeperProjection.self)[0]
        let frozen = live.freeze()
        let names = live.puppyNames.freeze()
        let shared = live.frozen
        try realm.write {
            live.title = "New"
            live.puppyNames[0] = "new"
        }
        #expect(frozen.title == "Ann" && frozen.isFrozen && !live.isFrozen && shared.title == "Ann")
        #expect(names[0] == "a" && names.isFrozen && names.thaw()?[0] == "new")
        #expect(frozen.thaw()?.title == "New")
        let resolved = try #require(realm.resolve(ThreadSafeReference(to: live)))
        #expect(resolved == live && resolved.title == "New")
        try realm.write { realm.delete(live.rootObject) }
        #expect(live.isInvalidated && frozen.thaw() == nil && names.thaw() == nil)
    }
}

class ChoreProjection: Projection<Chore> {
    @Projected(\Chore.name) var title: String
    @Projected(\Chore.owner?.name) var ownerName: String?
    @Projected(\Chore.tags) var tags: List<String>
}

class OwnerProjection: Projection<ChoreOwner> {
    @Projected(\ChoreOwner.tasks.projectTo.name) var names: ProjectedCollection<String>
}

@Suite(.timeLimit(.minutes(60))) struct ProjectionObservingTests {
    let file = ObservedFile()

    private func text<Value>(_ change: ObjectChange<Value>) -> String {
        switch change {
        case .change(_, let properties):
            properties.map {
                "\($0.name): \($0.oldValue.map { "\($0)" } ?? "nil") -> \($0.newValue.map { "\($0)" } ?? "nil")"
            }
            .joined(separator: ", ")
        case .deleted: "deleted"
        case .error(let error): "\(error)"
        }
    }

    @Test func `only what is projected is told, under its own name`() async throws {
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let journal = Journal<String>()
        let filtered = Journal<String>()
        let elsewhere = Journal<String>()
        let tokens = try await worker.with { _, realm in
            let projection = try #require(realm.objects(ChoreProjection.self).first)
            return [
                projection.observe { journal.add(text($0)) },
                projection.observe(keyPaths: [\.ownerName]) { filtered.add(text($0)) },
                await projection.observe(keyPaths: ["title"], on: other) { actor, change in
                    actor.assertIsolated()
                    elsewhere.add(text(change))
                },
            ]
        }
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.object(ofType: Chore.self, forPrimaryKey: 1)?.priority = 7 }
        }
        try await worker.rename(1, "uno")
        #expect(await journal.wait(for: 1) == ["title: one -> uno"])
        #expect(await elsewhere.wait(for: 1) == ["title: one -> uno"])
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                let owner = realm.create(ChoreOwner.self, value: ["name": "Ann"])
                realm.object(ofType: Chore.self, forPrimaryKey: 1)?.owner = owner
            }
        }
        #expect(await journal.wait(for: 2).last == "ownerName: nil -> Ann")
        // Each is waited for, because one that is slower would be told of both changes as one.
        _ = await filtered.wait(for: 1)
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.objects(ChoreOwner.self).first?.name = "Bea" }
        }
        #expect(await journal.wait(for: 3).last == "ownerName: Ann -> Bea")
        _ = await filtered.wait(for: 2)
        try await worker.delete(1)
        #expect(await journal.wait(for: 4).last == "deleted")
        _ = await filtered.wait(for: 3)
        _ = await elsewhere.wait(for: 2)
        #expect(await filtered.settled(worker) == ["ownerName: nil -> Ann", "ownerName: Ann -> Bea", "deleted"])
        #expect(await elsewhere.settled(other) == ["title: one -> uno", "deleted"])
        for token in tokens { token.invalidate() }
    }

    @Test func `results of projections and projected collections are observed`() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let results = Journal<String>()
        let names = Journal<String>()
        let tokens = try await worker.with { _, realm in
            let owner = try await realm.asyncWrite {
                realm.create(ChoreOwner.self, value: ["tasks": Array(realm.objects(Chore.self))])
            }
            let projection = OwnerProjection(projecting: owner)
            return [
                realm.objects(ChoreProjection.self)
                    .observe { change in results.add(change.collection.map { "\(Array($0.map(\.title)))" } ?? "") },
                projection.names.observe { change in
                    switch change {
                    case .initial(let names_): names.add("\(Array(names_))")
                    case .update(let names_, let deletions, let insertions, let modifications):
                        names.add("\(Array(names_)) \(deletions) \(insertions) \(modifications)")
                    case .error(let error): names.add("\(error)")
                    }
                },
            ]
        }
        #expect(await results.wait(for: 1) == ["[\"one\"]"])
        #expect(await names.wait(for: 1) == ["[\"one\"]"])
        try await worker.rename(1, "uno")
        #expect(await results.wait(for: 2).last == "[\"uno\"]")
        #expect(await names.wait(for: 2).last == "[\"uno\"] [] [] [0]")
        for token in tokens { token.invalidate() }
    }

    @Test func `the changes of a projection are an asynchronous sequence`() async throws {
        let worker = try await Worker(file.configuration)
        let writer = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let changes = try await worker.with { _, realm in
            try #require(realm.objects(ChoreProjection.self).first).changes(keyPaths: [\.title])
        }
        let told = try await worker.with { _, _ in
            var told: [String] = []
            var iterator = changes.makeAsyncIterator()
            try await writer.rename(1, "two")
            if let change = await iterator.next() { told.append(text(change)) }
            try await writer.delete(1)
            while let change = await iterator.next() { told.append(text(change)) }
            return told
        }
        #expect(told == ["title: one -> two", "deleted"])
    }
}
