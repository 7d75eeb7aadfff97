import ActorRealm
import Dispatch
import Foundation
import RealmTestSupport
import Testing

@Suite("Observers that do not come back for their changes", .timeLimit(.minutes(60)))
struct StalledObserverTests {
    let file = ObservedFile()

    func configuration(lag: UInt?) -> Realm.Configuration {
        var configuration = file.configuration
        configuration.durability = .unflushed
        configuration.maximumObserverLag = lag
        return configuration
    }

    /// Renames an object so many times, a commit each.
    func rename(_ worker: Worker, _ id: Int, times: Int) async throws {
        try await worker.with { _, realm in
            for number in 0..<times {
                try realm.write { realm.object(ofType: Chore.self, forPrimaryKey: id)?.name = "\(number)" }
            }
        }
    }

    /// Renames an object until no observer of it holds a version, and says what it is called then.
    ///
    /// The hub goes over the observers some time after a commit, and over several commits at once when it is late. An
    /// observer may for a moment hold nothing because it knows everything; that does not last for twenty commits.
    private func renameUntilLetGo(_ worker: Worker, _ id: Int) async throws -> String {
        var number = 0
        var looks = 0
        while looks < 20, !Task.isCancelled {
            number += 1
            let name = "name \(number)"
            try await worker.with { _, realm in
                try realm.write { realm.object(ofType: Chore.self, forPrimaryKey: id)?.name = name }
            }
            try? await Task.sleep(for: .milliseconds(2))
            looks = await observedAt(worker).isEmpty ? looks + 1 : 0
        }
        return "name \(number)"
    }

    func observedAt(_ worker: Worker) async -> [String] {
        await worker.with { _, realm in realm.activeVersions.flatMap(\.observedAt) }
    }

    @Test("a stalled loop is listed with the place where it was registered, until it is too far behind")
    func listed() async throws {
        let worker = try await Worker(configuration(lag: 40))
        try await worker.add(1, "one")
        let line: UInt = #line + 1
        let changes = await worker.with { _, realm in realm.objects(Chore.self).changes() }
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next()?.told == .initial(["one"]))
        try await rename(worker, 1, times: 20)
        #expect(await eventually { await !observedAt(worker).isEmpty })
        let place = "\(#fileID):\(line)"
        let versions = await worker.with { _, realm in realm.activeVersions }
        let held = try #require(versions.first { $0.observedAt == [place] })
        #expect(held.description.contains("by an observer registered at \(place)"))
        #expect(held.isThisProcess)

        let last = try await renameUntilLetGo(worker, 1)
        #expect(await iterator.next()?.told == .initial([last]), "it begins anew")
        try await worker.add(2, "two")
        let next = await iterator.next()?.told
        #expect(next == .update([last, "two"], deletions: [], insertions: [1], modifications: []))
    }

    @Test("too many versions in use are an error that names the observer")
    func limitError() async throws {
        var configuration = configuration(lag: nil)
        configuration.maximumNumberOfActiveVersions = 3
        let worker = try await Worker(configuration)
        try await worker.add(1, "one")
        var iterators: [CollectionChanges<Results<Chore>>.Iterator] = []
        let error = await #expect(throws: Realm.Error.self) {
            for number in 0..<10 {
                var iterator = await worker.changes().makeAsyncIterator()
                _ = await iterator.next()
                iterators.append(iterator)
                try await worker.rename(1, "\(number)")
            }
        }
        let module = String(#fileID.prefix { $0 != "/" })
        #expect(error?.localizedDescription.contains("by an observer registered at \(module)/") == true)
    }

    @Test("without a limit, and within it, a stalled loop gets everything in one change")
    func merged() async throws {
        for lag in [nil, 1_000] as [UInt?] {
            let worker = try await Worker(configuration(lag: lag))
            try await worker.deleteAll()
            try await worker.add(1, "one")
            var iterator = await worker.changes().makeAsyncIterator()
            _ = await iterator.next()
            try await rename(worker, 1, times: 300)
            #expect(await eventually { await !observedAt(worker).isEmpty })
            let told = await iterator.next()?.told
            #expect(told == .update(["299"], deletions: [], insertions: [], modifications: [0]))
            await worker.close()
        }
    }

    @Test("twenty thousand commits beside a stalled loop leave the file as small as without it")
    func bounded() async throws {
        func byteCount(lag: UInt?, observes: Bool) async throws -> Int {
            let file = ObservedFile()
            var configuration = file.configuration
            configuration.durability = .unflushed
            configuration.maximumObserverLag = lag
            let worker = try await Worker(configuration)
            try await worker.with { _, realm in
                try realm.write {
                    for id in 0..<2_000 { realm.create(Chore.self, value: ["id": id, "name": "chore \(id)"]) }
                }
            }
            var iterator = observes ? await worker.changes().makeAsyncIterator() : nil
            _ = await iterator?.next()
            try await worker.with { _, realm in
                for number in 0..<20_000 {
                    // The threads of the pool are other tests' too.
                    if number % 20 == 0 { await Task.yield() }
                    try realm.write {
                        realm.object(ofType: Chore.self, forPrimaryKey: number * 7 % 2_000)?.priority = number
                    }
                }
            }
            if observes {
                #expect(await eventually { await observedAt(worker).isEmpty })
                let told = await iterator?.next()
                if case .initial(let chores)? = told {
                    #expect(chores.count == 2_000)
                } else {
                    Issue.record("no reset")
                }
            }
            await worker.close()
            let path = try #require(configuration.fileURL).path
            return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? .max
        }
        let alone = try await byteCount(lag: 1_000, observes: false)
        let beside = try await byteCount(lag: 1_000, observes: true)
        // What it held until it let go was the pages of one version.
        #expect(beside <= alone * 2 + 1 << 20, "\(beside) bytes beside a stalled observer, \(alone) without")
    }

    @Test("a block whose queue does not get to run it is let go of, and then begins anew")
    func blockedQueue() async throws {
        let worker = try await Worker(configuration(lag: 30))
        try await worker.add(1, "one")
        let journal = Journal<Told>()
        let queue = DispatchQueue(label: "blocked")
        let token = await worker.with { _, realm in
            realm.objects(Chore.self).observe(on: queue) { change in journal.add(change.told) }
        }
        #expect(await journal.wait(for: 1) == [.initial(["one"])])
        let gate = DispatchSemaphore(value: 0)
        queue.async { gate.wait() }
        let last = try await renameUntilLetGo(worker, 1)
        gate.signal()
        #expect(await journal.wait(for: 2) == [.initial(["one"]), .initial([last])])
        token.invalidate()
    }

    @Test("limited results begin anew then, and what is told from there on leads on exactly")
    func limited() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SplitMix64(seed: seed)
        let worker = try await Worker(configuration(lag: 10))
        try await worker.with { _, realm in
            try realm.write {
                for id in 1...40 {
                    realm.create(Chore.self, value: ["id": id, "name": "\(id)", "priority": id == 1 ? -1 : id])
                }
            }
        }
        let changes = await worker.with { _, realm in
            realm.objects(Chore.self).sorted(byKeyPath: "priority").limit(6, offset: 0).changes()
        }
        var iterator = changes.makeAsyncIterator()
        guard case .initial(var names)? = await iterator.next()?.told else {
            Issue.record("no initial results")
            return
        }
        var updates = 0
        for round in 0..<12 {
            let comment: Comment = "seed \(seed), round \(round)"
            // Past the limit, with another order each time. The first chore is always among those that are shown.
            try await shuffle(worker, &generator)
            let last = try await renameUntilLetGo(worker, 1)
            try await shuffle(worker, &generator)
            guard case .initial(let begun)? = await iterator.next()?.told else {
                Issue.record("no reset")
                return
            }
            #expect(begun == (await shown(worker)), comment)
            #expect(begun.first == last, comment)
            #expect(begun.count == 6, comment)
            names = begun
            for _ in 0..<8 {
                try await shuffle(worker, &generator)
                try await worker.rename(1, "round \(updates)")
                guard
                    case .update(let now, let deletions, let insertions, let modifications)? = await iterator.next()?
                        .told
                else {
                    Issue.record("no update")
                    return
                }
                #expect(now == (await shown(worker)), comment)
                var applied: [String?] = names
                for index in modifications { applied[index] = nil }
                for index in deletions.reversed() { applied.remove(at: index) }
                for index in insertions { applied.insert(now[index], at: index) }
                #expect(applied.count == now.count, comment)
                #expect(zip(applied, now).allSatisfy { $0 == nil || $0 == $1 }, comment)
                names = now
                updates += 1
            }
        }
    }

    /// Gives some chores another place, and adds and deletes one, in several commits.
    private func shuffle(_ worker: Worker, _ generator: inout SplitMix64) async throws {
        for _ in 0..<3 {
            let changes = (0..<3)
                .map { _ in (Int.random(in: 2...40, using: &generator), Int.random(in: 0..<50, using: &generator)) }
            let deleted = Int.random(in: 2...40, using: &generator)
            try await worker.with { _, realm in
                try realm.write {
                    if let chore = realm.object(ofType: Chore.self, forPrimaryKey: deleted) { realm.delete(chore) }
                    for (id, priority) in changes {
                        realm.create(
                            Chore.self,
                            value: ["id": id, "name": "\(id)", "priority": priority],
                            update: .all
                        )
                    }
                }
            }
        }
    }

    private func shown(_ worker: Worker) async -> [String] {
        await worker.with { _, realm in
            let chores = Array(realm.objects(Chore.self)).enumerated()
                .sorted { ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset) }
            return chores.prefix(6).map(\.element.name)
        }
    }

    @Test("an observed object tells all its properties then, or that it is gone")
    func object() async throws {
        let worker = try await Worker(configuration(lag: 10))
        try await worker.add(1, "one")
        try await worker.add(2, "two")
        var first = try #require(await worker.changes(ofTask: 1)).makeAsyncIterator()
        var named = try #require(await worker.changes(ofTask: 1, keyPaths: ["name", "owner.name"])).makeAsyncIterator()
        var second = try #require(await worker.changes(ofTask: 2)).makeAsyncIterator()
        try await worker.delete(2)
        let last = try await renameUntilLetGo(worker, 1)
        guard case .change(let chore, let properties)? = await first.next() else {
            Issue.record("no change")
            return
        }
        #expect(chore.name == last)
        #expect(properties.map(\.name) == ["id", "name", "isDone", "priority", "owner", "tags"])
        #expect(properties.allSatisfy { $0.oldValue == nil })
        #expect(properties[1].newValue as? String == last)
        if case .change(_, let properties)? = await named.next() {
            #expect(properties.map(\.name) == ["name", "owner"])
        } else {
            Issue.record("no change")
        }
        if case .deleted? = await second.next() {} else { Issue.record("no deletion") }
        #expect(await second.next() == nil)
        // From here on it is as before.
        try await worker.rename(1, "last")
        if case .change(_, let properties)? = await first.next() {
            #expect(properties.map(\.name) == ["name"])
            #expect(properties[0].oldValue as? String == last)
        } else {
            Issue.record("no change")
        }
    }

    @Test("the changes of a realm say that more changed than they tell")
    func realm() async throws {
        let worker = try await Worker(configuration(lag: 10))
        try await worker.add(1, "one")
        let changes = await worker.with { _, realm in realm.changes }
        var iterator = changes.makeAsyncIterator()
        try await rename(worker, 1, times: 3)
        let merged = await iterator.next()
        #expect(merged?.isReset == false)
        #expect(merged?.classes["Chore"]?.modified.count == 1)
        _ = try await renameUntilLetGo(worker, 1)
        let reset = await iterator.next()
        #expect(reset?.isReset == true)
        #expect(reset?.classes.isEmpty == true)
        try await rename(worker, 1, times: 1)
        let next = await iterator.next()
        #expect(next?.isReset == false)
        #expect(next?.classes["Chore"]?.modified.count == 1)
        if let reset, let next { #expect(reset.merging(next).isReset) }
    }

    @Test("an observer of what nobody writes to holds nothing, however long it does not ask")
    func unconcerned() async throws {
        let worker = try await Worker(configuration(lag: 10))
        try await worker.with { _, realm in
            try realm.write { _ = realm.create(ChoreOwner.self, value: ["name": "Ann"]) }
        }
        let changes = await worker.with { _, realm in
            realm.objects(ChoreOwner.self).where { $0.name == "Ann" }.changes(keyPaths: ["name"])
        }
        var iterator = changes.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first?.collection?.count == 1)
        try await worker.add(1, "one")
        try await rename(worker, 1, times: 50)
        #expect(await eventually { await observedAt(worker).isEmpty })
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.objects(ChoreOwner.self).first?.name = "Anna" }
        }
        let next = await iterator.next()
        if case .update(_, let deletions, _, _)? = next {
            #expect(deletions == [0], "nothing was missed, and nothing begins anew")
        } else {
            Issue.record("no update, but \(String(describing: next))")
        }
    }
}
