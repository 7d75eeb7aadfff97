import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// Sections and their rows, without objects: applied changes must lead from one to the next.
private struct SectionRows: Equatable {
    struct Section: Equatable {
        var key: Int
        /// Rows by what they show; nil for one that was written to, or that came in.
        var rows: [String?]
    }

    var sections: [Section]

    init(_ results: SectionedResults<Int, Chore>) {
        sections = results.map { Section(key: $0.key, rows: $0.map { Self.text($0) }) }
    }

    init(_ section: ResultsSection<Int, Chore>) {
        sections = [Section(key: section.key, rows: section.map { Self.text($0) })]
    }

    /// What the sections must hold, by plain Swift.
    init(_ realm: Realm, by key: (Chore) -> Int, order: (Chore, Chore) -> Bool) {
        sections = []
        let chores = Array(realm.objects(Chore.self)).enumerated()
            .sorted { one, other in
                if order(one.element, other.element) { return true }
                return !order(other.element, one.element) && one.offset < other.offset
            }
            .map(\.element)
        for chore in chores {
            let place = sections.firstIndex { $0.key == key(chore) } ?? sections.count
            if place == sections.count { sections.append(Section(key: key(chore), rows: [])) }
            sections[place].rows.append(Self.text(chore))
        }
    }

    /// Chores by priority and name, in sections by priority.
    static func byPriority(_ realm: Realm) -> SectionRows {
        SectionRows(realm, by: \.priority, order: { ($0.priority, $0.name) < ($1.priority, $1.name) })
    }

    /// Chores by name, in sections whose order among each other changes with the names.
    static func byName(_ realm: Realm) -> SectionRows {
        SectionRows(realm, by: { $0.priority % 3 }, order: { $0.name < $1.name })
    }

    private static func text(_ chore: Chore) -> String { "\(chore.id) \(chore.name) \(chore.priority)" }

    /// Whether a change leads to what there is now, where rows that were written to or came in are not looked at.
    func leads<Collection>(to now: SectionRows, by change: SectionedResultsChange<Collection>) -> Bool {
        guard case .update(_, let deletions, let insertions, let modifications, let inserted, let deleted) = change
        else {
            return false
        }
        var sections = sections
        for path in modifications { sections[path.section].rows[path.item] = nil }
        for path in deletions.reversed() { sections[path.section].rows.remove(at: path.item) }
        for section in deleted.reversed() { sections.remove(at: section) }
        for section in inserted { sections.insert(Section(key: now.sections[section].key, rows: []), at: section) }
        for path in insertions { sections[path.section].rows.insert(nil, at: path.item) }
        guard sections.map(\.key) == now.sections.map(\.key) else { return false }
        return zip(sections, now.sections)
            .allSatisfy { one, other in
                one.rows.count == other.rows.count
                    && zip(one.rows, other.rows).allSatisfy { $0 == nil || $0 == $1 }
            }
    }
}

@Suite("Changes of sections, anywhere", .timeLimit(.minutes(60)))
struct SectionChangesTests {
    let file = ObservedFile()

    private var configuration: Realm.Configuration {
        var configuration = file.configuration
        configuration.durability = .unflushed
        return configuration
    }

    /// Iterates on its own actor, and takes its time.
    private actor Follower {
        private var iterator: SectionChanges<SectionedResults<Int, Chore>>.Iterator?
        private var told: SectionRows?
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        /// Takes the next change; false when it does not lead on from the one before.
        func follow(
            _ changes: SectionChanges<SectionedResults<Int, Chore>>,
            expecting expected: @Sendable (Realm) -> SectionRows
        ) async -> Bool {
            // The iterator is the actor's own, and used by one call at a time.
            nonisolated(unsafe) var iterator = self.iterator ?? changes.makeAsyncIterator()
            let change = await iterator.next()
            self.iterator = iterator
            guard let change else { return false }
            let sections: SectionedResults<Int, Chore>
            switch change {
            case .initial(let first): sections = first
            case .update(let now, _, _, _, _, _): sections = now
            }
            assertIsolated()
            guard sections.realm === realm, !sections.isFrozen else { return false }
            let now = SectionRows(sections)
            guard now == expected(realm) else { return false }
            defer { told = now }
            guard let told else {
                if case .initial = change { return true }
                return false
            }
            return told.leads(to: now, by: change)
        }
    }

    @Test("iterated on other actors they are live there, outside actors frozen, and exact whoever is slow")
    func exactness() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SplitMix64(seed: seed)
        let worker = try await Worker(configuration)
        let byKeyPath = await worker.with { _, realm in
            realm.objects(Chore.self)
                .sectioned(
                    by: \.priority,
                    sortDescriptors: [SortDescriptor(keyPath: "priority"), SortDescriptor(keyPath: "name")]
                )
                .changes()
        }
        let byClosure = await worker.with { _, realm in
            realm.objects(Chore.self)
                .sectioned(bySendable: { $0.priority % 3 }, sortDescriptors: [SortDescriptor(keyPath: "name")])
                .changes()
        }
        let followers = [try await Follower(configuration), try await Follower(configuration)]
        var outside = byClosure.makeAsyncIterator()
        var told: SectionRows?
        var updates = 0
        for round in 0..<150 {
            let comment: Comment = "seed \(seed), round \(round)"
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let actions = (0..<Int.random(in: 1...4, using: &generator))
                    .map { _ in
                        (
                            what: Int.random(in: 0..<6, using: &generator),
                            id: Int.random(in: 0..<25, using: &generator),
                            value: Int.random(in: 0..<6, using: &generator)
                        )
                    }
                try await worker.with { _, realm in
                    try realm.write {
                        for (what, id, value) in actions {
                            let chore = realm.object(ofType: Chore.self, forPrimaryKey: id)
                            switch (what, chore) {
                            case (0, let chore?): realm.delete(chore)
                            case (1, let chore?): chore.name = "n\(value)"
                            case (2, let chore?): chore.isDone.toggle()
                            case (_, let chore?): chore.priority = value
                            case (_, nil):
                                realm.create(Chore.self, value: ["id": id, "name": "n\(value)", "priority": value])
                            }
                        }
                        // So that there is something to tell each time.
                        realm.create(
                            Chore.self,
                            value: ["id": 100, "name": "z\(round)", "priority": round],
                            update: .all
                        )
                    }
                }
            }
            if Bool.random(using: &generator) {
                #expect(await followers[0].follow(byKeyPath, expecting: { .byPriority($0) }), comment)
            }
            if Bool.random(using: &generator) {
                #expect(await followers[1].follow(byClosure, expecting: { .byName($0) }), comment)
            }
            if Bool.random(using: &generator) {
                let change = try #require(await outside.next(), comment)
                switch change {
                case .initial(let sections):
                    #expect(told == nil, comment)
                    #expect(sections.isFrozen, comment)
                    told = SectionRows(sections)
                case .update(let sections, _, _, _, _, _):
                    #expect(sections.isFrozen, comment)
                    let now = SectionRows(sections)
                    #expect(sections.realm.map { .byName($0) } == now, comment)
                    #expect(told?.leads(to: now, by: change) == true, comment)
                    told = now
                    updates += 1
                }
            }
        }
        #expect(updates > 20)
    }

    @Test("one section tells of itself, outside actors too")
    func section() async throws {
        let worker = try await Worker(configuration)
        try await worker.add(1, "one", priority: 5)
        let changes = await worker.with { _, realm in
            realm.objects(Chore.self).sectioned(by: \.priority)[0].changes()
        }
        var iterator = changes.makeAsyncIterator()
        guard case .initial(let first)? = await iterator.next() else {
            Issue.record("no initial sections")
            return
        }
        #expect(first.key == 5)
        #expect(first.isFrozen)
        var told = SectionRows(first)
        for id in 2...30 {
            try await worker.add(id, "\(id)", priority: id % 2 == 0 ? 5 : 6)
            if id % 3 != 0 { continue }
            guard let change = await iterator.next(), case .update(let section, _, _, _, _, _) = change else {
                Issue.record("no update")
                return
            }
            let now = SectionRows(section)
            #expect(told.leads(to: now, by: change))
            told = now
        }
        #expect(told.sections[0].rows.count == 16)
    }

    @Test("what is read from each change may be merged and shared")
    func mapped() async throws {
        let worker = try await Worker(configuration)
        try await worker.add(1, "one", priority: 5)
        let keys = await worker.with { _, realm in
            realm.objects(Chore.self).sectioned(by: \.priority).changes()
                .map { change -> [Int] in
                    switch change {
                    case .initial(let sections), .update(let sections, _, _, _, _, _): sections.allKeys
                    }
                }
        }
        let task = Task {
            var told: [[Int]] = []
            for await some in keys {
                told.append(some)
                if told.count == 2 { break }
                try await worker.add(2, "two", priority: 3)
            }
            return told
        }
        #expect(try await task.value == [[5], [3, 5]])
    }

    @Test("sections made by a closure that may be sent are sent")
    func reference() async throws {
        let worker = try await Worker(configuration)
        let other = try await Worker(configuration)
        try await worker.add(1, "one", priority: 5)
        let reference = await worker.with { _, realm in
            ThreadSafeReference(
                to: realm.objects(Chore.self)
                    .sectioned(bySendable: { $0.priority / 2 }, sortDescriptors: [SortDescriptor(keyPath: "priority")])
            )
        }
        await other.with { _, realm in #expect(realm.resolve(reference)?.allKeys == [2]) }
        let names = await worker.with { _, realm in
            try! realm.write { _ = realm.create(ChoreOwner.self, value: ["name": "Ann"]) }
            return realm.objects(ChoreOwner.self).sectioned(bySendable: { $0.name.count }, sortDescriptors: ["name"])
                .freeze().allKeys
        }
        #expect(names == [3])
        await worker.with { _, realm in
            try! realm.write { realm.objects(Chore.self).first!.tags.append(objectsIn: ["a", "bb", "cc"]) }
            let tags = realm.objects(Chore.self).first!.tags.sectioned(bySendable: { $0.count })
            #expect(tags.map(\.count) == [1, 2])
        }
    }

    @Test("sections made by any other closure are told on the realm's actor, and trap elsewhere with the remedy")
    func localClosure() async throws {
        let worker = try await Worker(configuration)
        let other = try await Worker(configuration)
        let told = await worker.with { _, realm in
            var divisor = 2
            divisor += realm.objects(Chore.self).count
            let changes = realm.objects(Chore.self)
                .sectioned(by: { $0.priority / divisor }, sortDescriptors: [SortDescriptor(keyPath: "priority")])
                .changes()
            var counts: [Int] = []
            for await change in changes {
                if case .update(let sections, _, _, _, _, _) = change {
                    counts = sections.allKeys
                    break
                }
                try! await other.add(1, "one", priority: 6)
            }
            return counts
        }
        #expect(told == [3])
        for isOnActor in [true, false] {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                [isOnActor = isOnActor as Bool] in
                let file = ObservedFile()
                let configuration = file.configuration
                let worker = try await Worker(configuration)
                let changes = await worker.with { _, realm in
                    realm.objects(Chore.self)
                        .sectioned(by: { $0.priority }, sortDescriptors: [SortDescriptor(keyPath: "priority")])
                        .changes()
                }
                if isOnActor {
                    let other = try await Worker(configuration)
                    await other.with { _, _ in for await _ in changes { break } }
                } else {
                    for await _ in changes { break }
                }
                withExtendedLifetime(file) {}
            }
            let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
            #expect(message.contains("sectioned(bySendable:sortDescriptors:)"))
        }
    }
}
