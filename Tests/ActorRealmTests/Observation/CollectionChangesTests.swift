import ActorRealm
import Foundation
import Testing

@Suite("Changes of collections as sequences", .timeLimit(.minutes(60)))
struct CollectionChangesTests {
    let file = ObservedFile()

    @Test("the first element is the collection as it stands, the next ones lead on from there")
    func initialAndUpdates() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let told = try await worker.with { worker, realm in
            var told: [Told] = []
            for await change in realm.objects(Chore.self).changes() {
                told.append(change.told)
                switch told.count {
                case 1: try await worker.add(2, "two")
                case 2: try await worker.rename(1, "uno")
                case 3: try await worker.delete(1)
                case 4: try await worker.deleteAll()
                default: return told
                }
            }
            return told
        }
        #expect(
            told == [
                .initial(["one"]),
                .update(["one", "two"], deletions: [], insertions: [1], modifications: []),
                .update(["uno", "two"], deletions: [], insertions: [], modifications: [0]),
                .update(["two"], deletions: [0], insertions: [], modifications: []),
                .update([], deletions: [0], insertions: [], modifications: []),
            ]
        )
    }

    @Test("a change says where the modified elements are now")
    func placesInTheNewCollection() {
        // a b c d e: without a and d, with x and y in front and z at the end.
        let change = RealmCollectionChange<[String]>
            .update(
                ["x", "y", "b", "c", "e", "z"],
                deletions: [0, 3],
                insertions: [0, 1, 5],
                modifications: [1, 2, 4]
            )
        #expect(change.modificationsNew == [2, 3, 4])
        #expect(RealmCollectionChange<[String]>.initial(["a"]).modificationsNew.isEmpty)
    }

    @Test("a slow loop gets one element for many commits")
    func merged() async throws {
        let worker = try await Worker(file.configuration)
        var iterator = await worker.changes().makeAsyncIterator()
        #expect(await iterator.next()?.told == .initial([]))
        for id in 1...5 { try await worker.add(id, "\(id)") }
        try await worker.delete(2)
        try await worker.rename(4, "four")
        #expect(
            await iterator.next()?.told
                == .update(["1", "3", "four", "5"], deletions: [], insertions: [0, 1, 2, 3], modifications: [])
        )
    }

    @Test("iterated on an actor it gives live objects of that actor, elsewhere frozen ones")
    func liveAndFrozen() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let changes = await worker.changes()
        for await change in changes {
            #expect(change.collection?.isFrozen == true)
            #expect(change.collection?.first?.name == "one")
            break
        }
        try await worker.with { worker, realm in
            for await change in changes {
                let tasks = try #require(change.collection)
                #expect(!tasks.isFrozen)
                #expect(tasks.realm === realm)
                try realm.write { tasks[0].name = "live" }
                break
            }
        }
        let other = try await Worker(file.configuration)
        await other.with { _, realm in
            for await change in changes {
                #expect(change.collection?.realm === realm)
                #expect(change.told == .initial(["live"]))
                break
            }
        }
    }

    @MainActor
    @Test("a sequence made on one actor can be iterated on the main actor")
    func mainActor() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let changes = await worker.changes()
        var told: [Told] = []
        for await change in changes {
            #expect(change.collection?.isFrozen == false)
            told.append(change.told)
            if told.count == 2 { break }
            try await worker.rename(1, "uno")
        }
        #expect(told.last == .update(["uno"], deletions: [], insertions: [], modifications: [0]))
    }

    @Test("what is committed between the registration and the first element is in the first element")
    func registration() async throws {
        let worker = try await Worker(file.configuration)
        var iterator = await worker.changes().makeAsyncIterator()
        try await worker.add(1, "one")
        #expect(await iterator.next()?.told == .initial(["one"]))
    }

    @Test("a task that was cancelled before it begins gets nothing, and one cancelled while it waits ends")
    func cancellation() async throws {
        let worker = try await Worker(file.configuration)
        let changes = await worker.changes()
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var count = 0
            for await _ in changes { count += 1 }
            return count
        }
        #expect(await early.value == 0)

        let journal = Journal<Told>()
        let waiting = Task {
            for await change in changes { journal.add(change.told) }
            journal.add(.error)
        }
        #expect(await journal.wait(for: 1).count == 1)
        waiting.cancel()
        await waiting.value
        try await worker.add(1, "one")
        #expect(journal.entries == [.initial([]), .error], "its task has ended")
    }

    @Test("an iterator that has ended stays ended")
    func stayEnded() async throws {
        let worker = try await Worker(file.configuration)
        let changes = await worker.changes()
        let task = Task {
            var iterator = changes.makeAsyncIterator()
            _ = await iterator.next()
            withUnsafeCurrentTask { $0?.cancel() }
            let first = await iterator.next()
            let second = await iterator.next()
            return first == nil && second == nil
        }
        #expect(await task.value)
    }

    @Test("two observers of one actor each get every change")
    func twoObservers() async throws {
        let worker = try await Worker(file.configuration)
        let changes = await worker.changes()
        let journals = [Journal<Told>(), Journal<Told>()]
        let tasks = journals.map { journal in
            Task {
                await worker.with { _, _ in
                    for await change in changes { journal.add(change.told) }
                }
            }
        }
        for journal in journals { _ = await journal.wait(for: 1) }
        try await worker.add(1, "one")
        for journal in journals {
            #expect(
                await journal.wait(for: 2)
                    == [.initial([]), .update(["one"], deletions: [], insertions: [0], modifications: [])]
            )
        }
        for task in tasks { task.cancel() }
    }

    @Test("the changes of one actor arrive on another one, each exact, while both write")
    func underLoad() async throws {
        let writer = try await Worker(file.configuration)
        let reader = try await Worker(file.configuration)
        let changes = await writer.changes()
        let begun = Journal<Void>()
        let observing = Task {
            await reader.with { reader, realm in
                var names: [String] = []
                var elements = 0
                for await change in changes {
                    elements += 1
                    switch change {
                    case .initial(let tasks):
                        names = tasks.map(\.name)
                        begun.add(())
                    case .update(let tasks, let deletions, let insertions, let modifications):
                        #expect(realm.objects(Chore.self).count == tasks.count)
                        for index in deletions.reversed() { names.remove(at: index) }
                        for index in insertions { names.insert(tasks[index].name, at: index) }
                        for index in modifications where deletions.isEmpty && insertions.isEmpty {
                            names[index] = tasks[index].name
                        }
                        #expect(names.count == tasks.count)
                        if deletions.isEmpty, insertions.isEmpty { #expect(names == tasks.map(\.name)) }
                        names = tasks.map(\.name)
                    case .error: Issue.record("unexpected")
                    }
                    if names.last == "last" { return elements }
                }
                return elements
            }
        }
        // A loop that begins behind the last write would have one element.
        _ = await begun.wait(for: 1)
        for id in 1...60 {
            try await writer.add(id, "\(id)")
            if id % 3 == 0 { try await reader.rename(id, "renamed") }
            if id % 4 == 0 { try await writer.delete(id - 1) }
        }
        try await writer.add(1000, "last")
        #expect(await observing.value >= 2)
    }

    @Test("closing the iterating actor's realm ends the loop")
    func closing() async throws {
        let worker = try await Worker(file.configuration)
        let changes = await worker.changes()
        let journal = Journal<Told>()
        let task = Task {
            await worker.with { _, _ in
                for await change in changes { journal.add(change.told) }
            }
            journal.add(.error)
        }
        _ = await journal.wait(for: 1)
        await worker.close()
        await task.value
        #expect(journal.entries.last == .error)
    }

    @Test("key paths limit modifications, and a filter limits everything")
    func keyPathsAndFilter() async throws {
        let worker = try await Worker(file.configuration)
        let changes = await worker.with { _, realm in
            realm.objects(Chore.self).where { !$0.isDone }.sorted(byKeyPath: "priority").changes(keyPaths: [\.name])
        }
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next()?.told == .initial([]))
        try await worker.add(1, "late", priority: 9)
        try await worker.add(2, "done", isDone: true)
        try await worker.add(3, "early", priority: 1)
        #expect(
            await iterator.next()?.told
                == .update(["early", "late"], deletions: [], insertions: [0, 1], modifications: [])
        )
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.object(ofType: Chore.self, forPrimaryKey: 1)?.tags.append("x") }
            try await realm.asyncWrite { realm.object(ofType: Chore.self, forPrimaryKey: 3)?.priority = 99 }
        }
        #expect(
            await iterator.next()?.told
                == .update(["late", "early"], deletions: [0], insertions: [1], modifications: [])
        )
    }

    @Test("a change says which elements only went to another place")
    func moves() async throws {
        let worker = try await Worker(file.configuration)
        for (id, name) in ["a", "b", "c"].enumerated() { try await worker.add(id, name, priority: 10 * id) }
        let told = try await worker.with { worker, realm in
            var told: [[RealmCollectionMove]] = []
            var first: RealmCollectionChange<Results<Chore>>?
            for await change in realm.objects(Chore.self).sorted(byKeyPath: "priority").changes() {
                told.append(change.moves)
                switch told.count {
                case 1:
                    try await realm.asyncWrite {
                        realm.object(ofType: Chore.self, forPrimaryKey: 0)?.priority = 99
                        realm.create(Chore.self, value: ["id": 7, "name": "new", "priority": 15])
                    }
                case 2:
                    first = change
                    try await realm.asyncWrite {
                        guard let chore = realm.object(ofType: Chore.self, forPrimaryKey: 2) else { return }
                        realm.delete(chore)
                        realm.create(Chore.self, value: ["id": 2, "name": "c", "priority": 1])
                    }
                default:
                    #expect(first?.moves == [], "a later change was delivered")
                    return told
                }
            }
            return told
        }
        // a b c -> b new c a; then c is another object.
        #expect(told == [[], [RealmCollectionMove(from: 0, to: 3)], []])
    }

    @Test("elements of a list that change places are moves")
    func movesInLists() async throws {
        let worker = try await Worker(file.configuration)
        let moves = try await worker.with { worker, realm in
            let owner = try await realm.asyncWrite {
                let owner = realm.create(ChoreOwner.self, value: ["name": "Ann"])
                for id in 0..<4 { owner.tasks.append(realm.create(Chore.self, value: ["id": id])) }
                return owner
            }
            for await change in owner.tasks.changes() {
                if case .initial = change {
                    try await realm.asyncWrite { owner.tasks.move(from: 0, to: 3) }
                } else {
                    return change.moves
                }
            }
            return []
        }
        #expect(moves == [RealmCollectionMove(from: 0, to: 3)])
    }

    @Test("A change tells no moves of a later one that has the same places")
    func laterMoves() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.with { worker, realm in
            let owner = try await realm.asyncWrite {
                let owner = realm.create(ChoreOwner.self, value: ["name": "Ann"])
                for id in 0..<3 { owner.tasks.append(realm.create(Chore.self, value: ["id": id])) }
                return owner
            }
            var first: RealmCollectionChange<List<Chore>>?
            for await change in owner.tasks.changes() {
                guard case .update(_, let deletions, let insertions, _) = change else {
                    try await realm.asyncWrite {
                        owner.tasks.remove(at: 0)
                        owner.tasks.append(realm.create(Chore.self, value: ["id": 3]))
                    }
                    continue
                }
                #expect(deletions == [0] && insertions == [2])
                if first == nil {
                    first = change
                    try await realm.asyncWrite { owner.tasks.move(from: 0, to: 2) }
                } else {
                    #expect(change.moves == [RealmCollectionMove(from: 0, to: 2)])
                    #expect(first?.moves == [])
                    return
                }
            }
        }
    }

    @Test("the deletion of a list's owner is the last change of the list")
    func ownerDeleted() async throws {
        let worker = try await Worker(file.configuration)
        let told = try await worker.with { worker, realm in
            let owner = try await realm.asyncWrite {
                let owner = realm.create(ChoreOwner.self, value: ["name": "Ann"])
                owner.tasks.append(realm.create(Chore.self, value: ["id": 1, "name": "one"]))
                return owner
            }
            var told: [Told] = []
            for await change in owner.tasks.changes() {
                if told.count == 1 {
                    if case .update(_, let deletions, let insertions, _) = change {
                        told.append(.update([], deletions: deletions, insertions: insertions, modifications: []))
                    }
                } else {
                    told.append(change.told)
                    try await realm.asyncWrite { realm.delete(owner) }
                }
            }
            return told
        }
        #expect(told == [.initial(["one"]), .update([], deletions: [0], insertions: [], modifications: [])])
    }

    @Test("a list of values tells its changes")
    func values() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        try await worker.with { worker, realm in
            let task = try #require(realm.object(ofType: Chore.self, forPrimaryKey: 1))
            var step = 0
            for await change in task.tags.changes() {
                step += 1
                switch (step, change) {
                case (1, .initial(let tags)):
                    #expect(tags.isEmpty)
                    try await realm.asyncWrite { task.tags.append(objectsIn: ["a", "b", "c"]) }
                case (2, .update(let tags, _, let insertions, _)):
                    #expect(Array(tags) == ["a", "b", "c"])
                    #expect(insertions == [0, 1, 2])
                    try await realm.asyncWrite { task.tags[1] = "B" }
                case (3, .update(_, let deletions, let insertions, let modifications)):
                    #expect(deletions.isEmpty && insertions.isEmpty)
                    #expect(modifications == [1])
                    return
                default: Issue.record("step \(step)")
                }
            }
        }
    }

    @Test("linking objects tell of objects that begin and cease to link")
    func linkingObjects() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        try await worker.add(2, "two")
        try await worker.with { worker, realm in
            let owner = try await realm.asyncWrite { realm.create(ChoreOwner.self, value: ["name": "Ann"]) }
            var told: [Told] = []
            for await change in owner.owned.changes() {
                told.append(change.told)
                if told.count == 3 { break }
                try await realm.asyncWrite {
                    realm.object(ofType: Chore.self, forPrimaryKey: told.count == 1 ? 2 : 1)?.owner = owner
                }
            }
            #expect(
                told == [
                    .initial([]),
                    .update(["two"], deletions: [], insertions: [0], modifications: []),
                    .update(["one", "two"], deletions: [], insertions: [0], modifications: []),
                ]
            )
        }
    }

    @Test("an object that links in place of another one is an insertion, and the other one a deletion")
    func linkingObjectsInPlace() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        try await worker.add(2, "two")
        let changes = try await worker.with { _, realm in
            let owner = try await realm.asyncWrite {
                let owner = realm.create(ChoreOwner.self, value: ["name": "Ann"])
                realm.object(ofType: Chore.self, forPrimaryKey: 1)?.owner = owner
                return owner
            }
            return owner.owned.changes()
        }
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next()?.told == .initial(["one"]))
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                let one = realm.object(ofType: Chore.self, forPrimaryKey: 1)
                realm.object(ofType: Chore.self, forPrimaryKey: 2)?.owner = one?.owner
                one?.owner = nil
            }
        }
        #expect(await iterator.next()?.told == .update(["two"], deletions: [0], insertions: [0], modifications: []))
        // What is told last has no elements, though it is frozen where there were some.
        try await worker.with { _, realm in try await realm.asyncWrite { realm.delete(realm.objects(ChoreOwner.self)) }
        }
        let last = try #require(await iterator.next())
        #expect(last.told == .update([], deletions: [0], insertions: [], modifications: []))
        for chore in try #require(last.collection) { Issue.record("\(chore.name) is told still") }
        #expect(await iterator.next()?.told == nil)
    }
}
