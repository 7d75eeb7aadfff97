import ActorRealm
import Foundation
import Testing

/// What an observer of sections was told, without objects.
struct SectionsTold: Equatable, Sendable {
    var sections: [String]
    var deletions: [[Int]] = []
    var insertions: [[Int]] = []
    var modifications: [[Int]] = []
    var sectionsToInsert: [Int] = []
    var sectionsToDelete: [Int] = []
}

extension SectionedResultsChange {
    func told(_ describe: (Collection) -> [String]) -> SectionsTold {
        switch self {
        case .initial(let collection): return SectionsTold(sections: describe(collection))
        case .update(let collection, let deletions, let insertions, let modifications, let inserted, let deleted):
            func pairs(_ paths: [IndexPath]) -> [[Int]] { paths.map { [$0.section, $0.item] } }
            return SectionsTold(
                sections: describe(collection),
                deletions: pairs(deletions),
                insertions: pairs(insertions),
                modifications: pairs(modifications),
                sectionsToInsert: Array(inserted),
                sectionsToDelete: Array(deleted)
            )
        }
    }
}

private func describe(_ sections: SectionedResults<Int, Chore>) -> [String] {
    sections.map { "\($0.key): \($0.map(\.name).joined(separator: " "))" }
}

@Suite(.timeLimit(.minutes(60))) struct SectionObservingTests {
    let file = ObservedFile()

    @Test @MainActor func `a row goes to another section by a value five links away`() async throws {
        let file = TestFile()
        var configuration = file.fast
        configuration.objectTypes = objectTestTypes
        let realm = try await Realm(configuration: configuration)
        let last = try realm.write {
            let last = realm.create(Keeper.self, value: ["id": 0])
            var boss = last
            for id in 1...5 {
                let keeper = realm.create(Keeper.self, value: ["id": id])
                keeper.boss = boss
                boss = keeper
            }
            return last
        }
        func text(_ sections: SectionedResults<Int, Keeper>) -> [String] {
            sections.map { section in "\(section.key): " + section.map { "\($0.id)" }.joined(separator: " ") }
        }
        let all = realm.objects(Keeper.self)
        for (round, keepers) in [all, all.distinct(by: ["id"])].enumerated() {
            var told: [[String]] = []
            let token =
                keepers.sectioned(
                    by: { keeper in keeper.boss?.boss?.boss?.boss?.boss?.age ?? 0 },
                    sortDescriptors: [SortDescriptor(keyPath: "boss.boss.boss.boss.boss.age")]
                )
                .observe { change in
                    switch change {
                    case .initial(let sections), .update(let sections, _, _, _, _, _): told.append(text(sections))
                    }
                }
            await realm.asyncRefresh()
            try realm.write { last.age = 40 + round }
            await realm.asyncRefresh()
            // The others have no keeper so far above them.
            #expect(told.last == ["0: 0 1 2 3 4", "\(40 + round): 5"])
            token.invalidate()
        }
    }

    @Test("Key paths of sections lead through linking objects, as those of collections do")
    func linkingObjects() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                let chore = realm.create(Chore.self, value: ["id": 1, "name": "one"])
                chore.owner = realm.create(ChoreOwner.self, value: ["name": "Ann"])
            }
            let owners = realm.objects(ChoreOwner.self)
            var plain = owners.changes(keyPaths: ["owned.name"]).makeAsyncIterator()
            var sections = owners.sectioned(by: \.name).changes(keyPaths: ["owned.name"]).makeAsyncIterator()
            _ = await plain.next()
            _ = await sections.next()
            try await realm.asyncWrite { realm.object(ofType: Chore.self, forPrimaryKey: 1)?.name = "uno" }
            // So that there is something to tell in any case.
            try await realm.asyncWrite { _ = realm.create(ChoreOwner.self, value: ["name": "Bea"]) }
            guard case .update(_, _, _, let expected)? = await plain.next(),
                case .update(_, _, _, let modifications, _, _)? = await sections.next()
            else {
                Issue.record("no update")
                return
            }
            #expect(expected == [0])
            #expect(modifications.map { [$0.section, $0.item] } == [[0, 0]])
        }
    }

    @Test("Key paths of sections lead as far as they are spelled out")
    @MainActor
    func farKeyPaths() async throws {
        let file = TestFile()
        var configuration = file.fast
        configuration.objectTypes = objectTestTypes
        let realm = try await Realm(configuration: configuration)
        try realm.write {
            var boss = realm.create(Keeper.self, value: ["id": 0])
            for id in 1...5 {
                let keeper = realm.create(Keeper.self, value: ["id": id])
                keeper.boss = boss
                boss = keeper
            }
        }
        let keepers = realm.objects(Keeper.self).sectioned(by: \.id)
        var sections = keepers.changes(keyPaths: ["boss.boss.boss.boss.boss.name"]).makeAsyncIterator()
        _ = await sections.next()
        try realm.write { realm.object(ofType: Keeper.self, forPrimaryKey: 0)?.name = "somebody" }
        // So that there is something to tell in any case.
        try realm.write { _ = realm.create(Keeper.self, value: ["id": 6]) }
        guard case .update(_, _, _, let modifications, _, _)? = await sections.next() else {
            Issue.record("no update")
            return
        }
        #expect(modifications.map { [$0.section, $0.item] } == [[5, 0]])
    }

    @Test func `an observer is told rows and sections that come and go`() async throws {
        let worker = try await Worker(file.configuration)
        for (id, priority) in [(1, 10), (2, 20), (3, 10)] { try await worker.add(id, "t\(id)", priority: priority) }
        let journal = Journal<SectionsTold>()
        let single = Journal<SectionsTold>()
        let tokens = await worker.with { worker, realm in
            let sections = realm.objects(Chore.self).sectioned(by: \.priority)
            return [
                sections.observe { change in
                    worker.assertIsolated()
                    journal.add(change.told(describe))
                },
                sections[0]
                    .observe { change in
                        single.add(change.told { ["\($0.key): \($0.map(\.name).joined(separator: " "))"] })
                    },
            ]
        }
        #expect(await journal.wait(for: 1) == [SectionsTold(sections: ["10: t1 t3", "20: t2"])])
        #expect(await single.wait(for: 1) == [SectionsTold(sections: ["10: t1 t3"])])

        try await worker.add(4, "t4", priority: 15)
        #expect(
            await journal.wait(for: 2).last
                == SectionsTold(
                    sections: ["10: t1 t3", "15: t4", "20: t2"],
                    insertions: [[1, 0]],
                    sectionsToInsert: [1]
                )
        )
        try await worker.rename(3, "T3")
        _ = await single.wait(for: 2)
        #expect(
            await journal.wait(for: 3).last
                == SectionsTold(sections: ["10: t1 T3", "15: t4", "20: t2"], modifications: [[0, 1]])
        )
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.object(ofType: Chore.self, forPrimaryKey: 1)?.priority = 15 }
        }
        #expect(
            await journal.wait(for: 4).last
                == SectionsTold(
                    sections: ["10: T3", "15: t1 t4", "20: t2"],
                    deletions: [[0, 0]],
                    insertions: [[1, 0]]
                )
        )
        try await worker.delete(2)
        #expect(
            await journal.wait(for: 5).last
                == SectionsTold(sections: ["10: T3", "15: t1 t4"], sectionsToDelete: [2])
        )
        // The single section heard of its own rows only.
        _ = await single.wait(for: 3)
        #expect(
            await single.settled(worker) == [
                SectionsTold(sections: ["10: t1 t3"]),
                SectionsTold(sections: ["10: t1 T3"], modifications: [[0, 1]]),
                SectionsTold(sections: ["10: T3"], deletions: [[0, 0]]),
            ]
        )
        for token in tokens { token.invalidate() }
    }

    @Test func `an observer on another actor gets that actor's sections, with the key paths it asked for`() async throws
    {
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        try await worker.add(1, "one", priority: 1)
        let journal = Journal<SectionsTold>()
        let token = await worker.with { _, realm in
            await realm.objects(Chore.self)
                .sectioned(by: { $0.priority / 10 }, sortDescriptors: [SortDescriptor(keyPath: "priority")])
                .observe(keyPaths: [\.isDone], on: other) { actor, change in
                    if case .initial(let sections) = change { #expect(sections.realm === actor.realm) }
                    journal.add(change.told(describe))
                }
        }
        #expect(await journal.wait(for: 1) == [SectionsTold(sections: ["0: one"])])
        try await worker.rename(1, "uno")
        #expect(await journal.settled(worker, other).count == 1)
        // The order does not change, the section does.
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                let chore = realm.object(ofType: Chore.self, forPrimaryKey: 1)
                chore?.priority = 25
                chore?.isDone = true
            }
        }
        #expect(
            await journal.wait(for: 2).last
                == SectionsTold(
                    sections: ["2: uno"],
                    insertions: [[0, 0]],
                    sectionsToInsert: [0],
                    sectionsToDelete: [0]
                )
        )
        token.invalidate()
    }

    @Test func `the changes are an asynchronous sequence`() async throws {
        let worker = try await Worker(file.configuration)
        let writer = try await Worker(file.configuration)
        try await worker.add(1, "one", priority: 1)
        let told = try await worker.with { _, realm in
            var told: [SectionsTold] = []
            for await change in realm.objects(Chore.self).sectioned(by: \.priority).changes() {
                told.append(change.told(describe))
                if told.count == 2 { break }
                try await writer.add(2, "two", priority: 1)
            }
            return told
        }
        #expect(
            told == [
                SectionsTold(sections: ["1: one"]), SectionsTold(sections: ["1: one two"], insertions: [[0, 1]]),
            ]
        )
    }
}
