import ActorRealm
import Foundation
import RealmTestSupport
import Synchronization
import Testing

/// What is easily got wrong at the ends of an observation.
@Suite("The fine print of observing", .timeLimit(.minutes(60)))
struct FinePrintTests {
    let file = ObservedFile()

    private func pins(_ worker: Worker) async -> [String] {
        await worker.with { _, realm in realm.activeVersions.flatMap(\.observedAt) }
    }

    @Test("a sequence that nobody iterates registers nothing")
    func lazy() async throws {
        let worker = try await Worker(file.configuration)
        let changes = await worker.changes()
        try await worker.add(1, "one")
        #expect(await pins(worker).isEmpty)
        withExtendedLifetime(changes) {}
    }

    @Test("leaving a loop unregisters at once, and so does letting go of an iterator")
    func breaking() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let changes = await worker.changes()
        for await _ in changes { break }
        #expect(await pins(worker).isEmpty)
        do {
            var iterator = changes.makeAsyncIterator()
            _ = await iterator.next()
            // It is concerned, and asks for nothing: it holds what it knows.
            try await worker.add(2, "two")
            #expect(await eventually { await pins(worker).count == 1 })
            withExtendedLifetime(iterator) {}
        }
        #expect(await pins(worker).isEmpty)
    }

    @Test("a task that is cancelled in the loop's body gets nothing more")
    func cancelledInBody() async throws {
        let worker = try await Worker(file.configuration)
        let changes = await worker.changes()
        let task = Task {
            var count = 0
            for await _ in changes {
                count += 1
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return count
        }
        #expect(await task.value == 1)
        #expect(await pins(worker).isEmpty)
    }

    @Test("two iterators of one sequence know nothing of each other")
    func twoIterators() async throws {
        let worker = try await Worker(file.configuration)
        let changes = await worker.changes()
        var first = changes.makeAsyncIterator()
        #expect(await first.next()?.told == .initial([]))
        try await worker.add(1, "one")
        var second = changes.makeAsyncIterator()
        #expect(await second.next()?.told == .initial(["one"]))
        #expect(await first.next()?.told == .update(["one"], deletions: [], insertions: [0], modifications: []))
        try await worker.add(2, "two")
        let both = Told.update(["one", "two"], deletions: [], insertions: [1], modifications: [])
        #expect(await first.next()?.told == both)
        #expect(await second.next()?.told == both)
    }

    @Test("an iteration that is carried to another actor ends with an error that says so")
    func movedIteration() async throws {
        /// Takes an iterator where the compiler would not let it go.
        final class Smuggled: @unchecked Sendable {
            var iterator: CollectionChanges<Results<Chore>>.Iterator
            init(_ iterator: CollectionChanges<Results<Chore>>.Iterator) { self.iterator = iterator }
        }
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        let smuggled = Smuggled(await worker.changes().makeAsyncIterator())
        await worker.with { _, _ in
            var iterator = smuggled.iterator
            #expect(await iterator.next()?.told == .initial([]))
            smuggled.iterator = iterator
        }
        await other.with { _, _ in
            var iterator = smuggled.iterator
            guard case .error(let error)? = await iterator.next() else {
                Issue.record("no error")
                return
            }
            #expect((error as? Realm.Error)?.code == .wrongIsolation)
            #expect(
                error.localizedDescription.contains("began on the actor Worker and was to go on on the actor Worker")
            )
            #expect(await iterator.next() == nil)
        }
    }

    @Test("On an actor whose realm lacks the class, changes end with an error that says so, and tell of no deletion")
    func classElsewhere() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        var configuration = file.configuration
        configuration.objectTypes = [Newcomer.self]
        let other = try await Worker(configuration)
        let journal = Journal<String>()
        let token = await worker.with { _, realm in
            await realm.object(ofType: Chore.self, forPrimaryKey: 1)!
                .observe(on: other) { _, change in journal.add(DockFile.text(change)) }
        }
        let object = try #require(await worker.changes(ofTask: 1))
        let all = await worker.changes()
        let sections = await worker.with { _, realm in realm.objects(Chore.self).sectioned(by: \.priority).changes() }
        try await other.with { _, _ in
            var objects = object.makeAsyncIterator()
            var rows = all.makeAsyncIterator()
            try await worker.rename(1, "uno")
            guard case .error(let error)? = await objects.next() else {
                Issue.record("no error of the object")
                return
            }
            #expect(error.localizedDescription.contains("'Chore' is not managed by the Realm"))
            #expect(await objects.next() == nil)
            #expect(await rows.next()?.told == .error)
            #expect(await rows.next()?.told == nil)
            var divided = sections.makeAsyncIterator()
            #expect(await divided.next() == nil)
        }
        #expect(await journal.wait(for: 1) == ["error"])
        token.invalidate()
        await other.close()
    }

    final class Seen: Object {
        override class func _realmObjectName() -> String? { "SeenByTwo" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var label = ""
    }

    final class SeenOtherwise: Object {
        override class func _realmObjectName() -> String? { "SeenByTwo" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var label = ""
    }

    @Test("On an actor whose realm has another class of that name, changes end with an error, and tell of no deletion")
    func otherClassOfThatName() async throws {
        var (one, two) = (file.configuration, file.configuration)
        one.objectTypes = [Seen.self]
        two.objectTypes = [SeenOtherwise.self]
        let worker = try await Worker(one)
        let other = try await Worker(two)
        let journal = Journal<String>()
        let (object, all, token) = try await worker.with { _, realm in
            let seen = try await realm.asyncWrite { realm.create(Seen.self, value: ["label": "a"]) }
            let token = await realm.objects(Seen.self)
                .observe(on: other) { _, change in
                    if case .error = change { journal.add("error") } else { journal.add("told") }
                }
            return (seen.changes(), realm.objects(Seen.self).changes(), token)
        }
        let told = try await other.with { _, _ in
            var told: [String] = []
            var objects = object.makeAsyncIterator()
            var rows = all.makeAsyncIterator()
            try await worker.with { _, realm in
                try await realm.asyncWrite { realm.objects(Seen.self)[0].label = "b" }
            }
            switch await objects.next() {
            case .deleted?: told.append("deleted")
            case .error?: told.append("error")
            case .change?: told.append("change")
            case nil: told.append("end")
            }
            if case .error? = await rows.next() { told.append("error") } else { told.append("end") }
            return told
        }
        #expect(told == ["error", "error"])
        #expect(await journal.wait(for: 1) == ["error"])
        token.invalidate()
    }

    @Test("an object that was deleted and made again in between is a deletion and an insertion")
    func recreated() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        try await worker.add(2, "two")
        var iterator = await worker.changes().makeAsyncIterator()
        _ = await iterator.next()
        try await worker.delete(1)
        try await worker.add(1, "one again")
        let told = await iterator.next()?.told
        guard case .update(let names, let deletions, let insertions, let modifications)? = told else {
            Issue.record("no update")
            return
        }
        #expect(Set(names) == ["one again", "two"])
        #expect(deletions == [0])
        #expect(insertions.map { names[$0] } == ["one again"])
        #expect(modifications.isEmpty)
    }

    @Test("deleteAll is the deletion of everything, and observing goes on")
    func deleteAll() async throws {
        let worker = try await Worker(file.configuration)
        for id in 1...3 { try await worker.add(id, "\(id)") }
        var iterator = await worker.changes().makeAsyncIterator()
        _ = await iterator.next()
        try await worker.deleteAll()
        #expect(await iterator.next()?.told == .update([], deletions: [0, 1, 2], insertions: [], modifications: []))
        try await worker.add(4, "four")
        #expect(await iterator.next()?.told == .update(["four"], deletions: [], insertions: [0], modifications: []))
    }

    @Test("a commit that changes nothing observed is no element, and an equal value written is a modification")
    func irrelevant() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let names = await worker.with { _, realm in realm.objects(Chore.self).changes(keyPaths: [\.name]) }
        var iterator = names.makeAsyncIterator()
        _ = await iterator.next()
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.object(ofType: Chore.self, forPrimaryKey: 1)?.priority = 7 }
            try await realm.asyncWrite {}
            try await realm.asyncWrite { realm.create(ChoreOwner.self, value: ["name": "Ann"]) }
        }
        try await worker.rename(1, "one")
        #expect(await iterator.next()?.told == .update(["one"], deletions: [], insertions: [], modifications: [0]))
    }

    @Test("a write that was cancelled, or that threw, is told to nobody")
    func cancelledWrite() async throws {
        struct Failure: Error {}
        let worker = try await Worker(file.configuration)
        let journal = Journal<Told>()
        let token = await worker.with { _, realm in realm.objects(Chore.self).observe { journal.add($0.told) } }
        _ = await journal.wait(for: 1)
        try await worker.with { _, realm in
            realm.beginWrite()
            realm.create(Chore.self, value: ["id": 1])
            realm.cancelWrite()
            do {
                try await realm.asyncWrite {
                    realm.create(Chore.self, value: ["id": 2])
                    throw Failure()
                }
                Issue.record("not thrown")
            } catch is Failure {
            }
        }
        #expect(await journal.settled(worker).count == 1)
        token.invalidate()
    }

    @Test("a loop's body may write, and gets its own write as the next element")
    func writingInBody() async throws {
        let worker = try await Worker(file.configuration)
        let told = try await worker.with { _, realm in
            var told: [Told] = []
            for await change in realm.objects(Chore.self).changes() {
                told.append(change.told)
                let id = told.count
                if id == 4 { break }
                try await realm.asyncWrite { realm.create(Chore.self, value: ["id": id, "name": "\(id)"]) }
            }
            return told
        }
        #expect(told.first == .initial([]))
        #expect(told.last == .update(["1", "2", "3"], deletions: [], insertions: [2], modifications: []))
    }

    @Test("the realm stands at the version of the change for as long as the body does not suspend")
    func exactVersion() async throws {
        let worker = try await Worker(file.configuration)
        let writer = try await Worker(file.configuration)
        let writing = Task {
            for id in 0..<120 {
                try await writer.add(id, "\(id)")
                if id % 5 == 4 { try await writer.delete(id - 2) }
            }
        }
        await worker.with { _, realm in
            var count = 0
            for await change in realm.objects(Chore.self).changes() {
                switch change {
                case .initial(let chores): count = chores.count
                case .update(let chores, let deletions, let insertions, _):
                    count += insertions.count - deletions.count
                    #expect(chores.count == count)
                    #expect(realm.objects(Chore.self).count == count)
                    for index in insertions { #expect(chores[index].name == "\(chores[index].id)") }
                case .error(let error): Issue.record(error)
                }
                if count == 96 { break }
            }
            #expect(count == 96)
        }
        try await writing.value
    }

    @Test("a token may be invalidated in its own block, and from anywhere, once")
    func invalidatedInBlock() async throws {
        let worker = try await Worker(file.configuration)
        let journal = Journal<Told>()
        let token = Mutex<NotificationToken?>(nil)
        await worker.with { _, realm in
            let registered = realm.objects(Chore.self)
                .observe { change in
                    journal.add(change.told)
                    if journal.entries.count == 2 { token.withLock { $0 }?.invalidate() }
                }
            token.withLock { $0 = registered }
        }
        _ = await journal.wait(for: 1)
        try await worker.add(1, "one")
        #expect(await journal.wait(for: 2).count == 2)
        try await worker.add(2, "two")
        #expect(await journal.settled(worker).count == 2)
        #expect(token.withLock { $0 }?.invalidate() == false)
        #expect(await pins(worker).isEmpty)
    }

    @Test("closing a realm ends its blocks and its loops, not those of other actors")
    func closing() async throws {
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        let own = Journal<Told>()
        let others = Journal<Told>()
        let ended = Journal<String>()
        let tokens = await worker.with { _, realm in
            [
                realm.objects(Chore.self).observe { own.add($0.told) },
                await realm.objects(Chore.self).observe(on: other) { _, change in others.add(change.told) },
            ]
        }
        let changes = await worker.changes()
        let loop = Task {
            await worker.with { _, _ in for await _ in changes { ended.add("element") } }
            ended.add("end")
        }
        _ = await own.wait(for: 1)
        _ = await others.wait(for: 1)
        _ = await ended.wait(for: 1)
        await worker.close()
        await loop.value
        try await other.add(1, "one")
        #expect(await others.wait(for: 2).count == 2)
        // Another realm of the actor is told of what came later.
        let later = Journal<Told>()
        try await worker.reopen(file.configuration)
        let token = await worker.with { _, realm in realm.objects(Chore.self).observe { later.add($0.told) } }
        _ = await later.wait(for: 1)
        try await other.add(2, "two")
        _ = await later.wait(for: 2)
        #expect(own.entries.count == 1)
        #expect(ended.entries == ["element", "end"])
        for token in tokens + [token] { token.invalidate() }
    }

    @Test("an observer outlives invalidate(): its realm reads anew, and it goes on from what it knows")
    func invalidating() async throws {
        let worker = try await Worker(file.configuration)
        let journal = Journal<Told>()
        let token = await worker.with { _, realm in realm.objects(Chore.self).observe { journal.add($0.told) } }
        _ = await journal.wait(for: 1)
        await worker.with { _, realm in realm.invalidate() }
        try await worker.add(1, "one")
        let told = await journal.wait(for: 2)
        #expect(told.last == .update(["one"], deletions: [], insertions: [0], modifications: []))
        token.invalidate()
    }

    @Test("the methods of the standard library run outside the actor, and get what is frozen")
    func standardLibrary() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let changes = await worker.changes()
        let first = await changes.first { _ in true }
        #expect(first?.collection?.isFrozen == true)
        #expect(await worker.changes().contains { $0.collection?.isFrozen == true })
        let mapped = await worker.changes().prefix(1).map { $0.collection?.isFrozen }
        #expect(await mapped.reduce(into: []) { $0.append($1) } == [true])
        let found = await worker.changes().filter { $0.collection?.count == 1 }.compactMap(\.collection)
        #expect(await found.first { _ in true }?.isFrozen == true)
    }

    @Test("an element that moves in a list is a deletion and an insertion, one that is replaced a modification")
    func lists() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.with { _, realm in
            let owner = try await realm.asyncWrite {
                let owner = realm.create(ChoreOwner.self, value: ["name": "Ann"])
                for id in 0..<4 { owner.tasks.append(realm.create(Chore.self, value: ["id": id, "name": "\(id)"])) }
                return owner
            }
            var told: [Told] = []
            for await change in owner.tasks.changes(keyPaths: ["name"]) {
                told.append(change.told)
                switch told.count {
                case 1: try await realm.asyncWrite { owner.tasks.move(from: 3, to: 0) }
                case 2: try await realm.asyncWrite { owner.tasks[1] = owner.tasks[3] }
                default: break
                }
                if told.count == 3 { break }
            }
            #expect(
                told == [
                    .initial(["0", "1", "2", "3"]),
                    .update(["3", "0", "1", "2"], deletions: [3], insertions: [0], modifications: []),
                    .update(["3", "2", "1", "2"], deletions: [], insertions: [], modifications: [1]),
                ]
            )
        }
    }

    // MARK: Other processes

    private static func shared(by process: pid_t) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: FileManager.default.temporaryDirectory.appendingPathComponent("observed-\(process).realm")
        )
        configuration.objectTypes = [Chore.self, ChoreOwner.self]
        configuration.durability = .unflushed
        return configuration
    }

    @Test("another process may add properties and classes while its neighbours observe")
    func migratedElsewhere() async throws {
        let configuration = Self.shared(by: getpid())
        _ = try? Realm.deleteFiles(for: configuration)
        let worker = try await Worker(configuration)
        try await worker.add(1, "one")
        var all = await worker.changes().makeAsyncIterator()
        let filtered = await worker.with { _, realm in
            realm.objects(Chore.self).where { $0.priority < 5 }.sorted(byKeyPath: "name").changes()
        }
        var some = filtered.makeAsyncIterator()
        var object = try #require(await worker.changes(ofTask: 1)).makeAsyncIterator()
        _ = await all.next()
        _ = await some.next()
        await #expect(processExitsWith: .success) {
            var configuration = FinePrintTests.shared(by: getppid())
            configuration.objectTypes = [Chore.self, ChoreOwner.self, Newcomer.self]
            configuration.schemaVersion = 1
            try withNewRealm(configuration) { realm in
                try realm.write {
                    realm.create(Newcomer.self, value: ["name": "new"])
                    realm.create(Chore.self, value: ["id": 2, "name": "another"])
                    realm.object(ofType: Chore.self, forPrimaryKey: 1)?.name = "uno"
                }
            }
        }
        let change = await all.next()
        if case .update(let chores, let deletions, let insertions, let modifications)? = change {
            #expect(chores.map(\.name) == ["uno", "another"])
            #expect(deletions == [])
            #expect(insertions == [1])
            #expect(modifications == [0])
        } else {
            Issue.record("\(String(describing: change))")
        }
        if case .update(let chores, _, let insertions, _)? = await some.next() {
            #expect(chores.map(\.name) == ["another", "uno"])
            #expect(insertions.contains(0))
        } else {
            Issue.record("no update")
        }
        if case .change(let chore, let properties)? = await object.next() {
            #expect(chore.name == "uno")
            #expect(properties.map(\.name) == ["name"])
        } else {
            Issue.record("no change")
        }
        await worker.close()
    }
}

class Newcomer: Object {
    @Persisted var name = ""
}
