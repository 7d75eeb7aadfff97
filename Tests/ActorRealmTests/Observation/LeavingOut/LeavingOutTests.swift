import ActorRealm
import Dispatch
import Foundation
import RealmTestSupport
import Synchronization
import Testing

@Suite("A write that leaves out observers, beside those of others", .timeLimit(.minutes(60)))
struct LeavingOutTests {
    let file = ObservedFile()

    /// An actor that observes, and notes what it is told.
    actor Observer {
        var realm: Realm!
        var token: NotificationToken?
        let inserted = Journal<Int>()
        let begun = Journal<Int>()

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func observe() {
            token = realm.objects(Chore.self).sorted(byKeyPath: "id")
                .observe { [inserted, begun] change in
                    // What stands there by then is not told as inserted.
                    if case .initial(let chores) = change { begun.add(chores.count) }
                    guard case .update(let chores, _, let insertions, _) = change else { return }
                    for index in insertions { inserted.add(chores[index].id) }
                }
        }

        /// Waits until the observer knows what was committed by now.
        func isTold() async { await realm.asyncRefresh() }

        func write(_ id: Int, silently: Bool) async throws {
            let tokens = silently ? [token!] : []
            try await realm.asyncWrite(withoutNotifying: tokens) {
                _ = realm.create(Chore.self, value: ["id": id, "name": "\(id)"])
            }
        }
    }

    @Test("of many writes at once on one actor and others, those left out are not told, and all others are, once")
    func together() async throws {
        let observer = try await Observer(file.configuration)
        let other = try await Observer(file.configuration)
        await observer.observe()
        #expect(await observer.begun.wait(for: 1) == [0])
        let count = 60
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                group.addTask { try await observer.write(3 * index, silently: true) }
                group.addTask { try await observer.write(3 * index + 1, silently: false) }
                group.addTask { try await other.write(3 * index + 2, silently: false) }
            }
            try await group.waitForAll()
        }
        let expected = (0..<3 * count).filter { !$0.isMultiple(of: 3) }
        _ = await observer.inserted.wait(for: expected.count)
        await observer.isTold()
        #expect(observer.inserted.entries.sorted() == expected)
    }

    @Test("sections told after a write that left them out show each object under its key")
    func sections() async throws {
        let worker = try await Worker(file.configuration)
        for id in 1...4 { try await worker.add(id, "t\(id)", priority: id % 2) }
        let journal = Journal<SectionsTold>()
        let token = await worker.with { _, realm in
            realm.objects(Chore.self).sorted(byKeyPath: "id").sectioned(by: \.priority)
                .observe { change in
                    journal.add(change.told { $0.map { "\($0.key): \($0.map(\.name).joined(separator: " "))" } })
                }
        }
        #expect(await journal.wait(for: 1) == [SectionsTold(sections: ["0: t2 t4", "1: t1 t3"])])
        try await worker.with { _, realm in
            try realm.write(withoutNotifying: [token]) {
                realm.object(ofType: Chore.self, forPrimaryKey: 2)!.priority = 1
            }
        }
        try await worker.rename(3, "three")
        let told = await journal.wait(for: 2).last
        #expect(told == SectionsTold(sections: ["0: t4", "1: t1 t2 three"], modifications: [[1, 2]]))
        try await worker.rename(4, "four")
        let next = await journal.wait(for: 3).last
        #expect(next == SectionsTold(sections: ["0: four", "1: t1 t2 three"], modifications: [[0, 0]]))
        token.invalidate()
    }

    func describe(_ sections: SectionedResults<Int, Chore>) -> [String] {
        sections.map { "\($0.key): \($0.map(\.name).joined(separator: " "))" }
    }

    @Test("sections with key paths tell what others put elsewhere, and not what a write that left them out did")
    func keyPaths() async throws {
        let worker = try await Worker(file.configuration)
        for id in 1...4 { try await worker.add(id, "t\(id)", priority: id % 2) }
        let queue = DispatchQueue(label: "others")
        let others = try queue.sync { try Realm(configuration: file.configuration, queue: queue) }
        let journal = Journal<SectionsTold>()
        let token = await worker.with { _, realm in
            realm.objects(Chore.self).sorted(byKeyPath: "id")
                .sectioned(bySendable: { $0.priority }, sortDescriptors: ["id"])
                .observe(keyPaths: ["name"]) { change in journal.add(change.told { self.describe($0) }) }
        }
        _ = await journal.wait(for: 1)
        nonisolated(unsafe) let elsewhere = others
        @Sendable func write(_ id: Int, _ priority: Int) throws {
            try queue.sync {
                try elsewhere.write { elsewhere.object(ofType: Chore.self, forPrimaryKey: id)!.priority = priority }
            }
        }
        try await worker.with { _, realm in
            try write(4, 1)
            try realm.write(withoutNotifying: [token]) {
                realm.object(ofType: Chore.self, forPrimaryKey: 2)!.priority = 1
            }
        }
        #expect(
            await journal.wait(for: 2).last
                == SectionsTold(sections: ["1: t1 t2 t3 t4"], insertions: [[0, 3]], sectionsToDelete: [1])
        )
        // Nobody asked for the property, and no row goes elsewhere.
        try await worker.with { _, realm in
            try realm.write { realm.object(ofType: Chore.self, forPrimaryKey: 1)!.isDone = true }
        }
        try await worker.rename(1, "one")
        #expect(
            await journal.wait(for: 3).last == SectionsTold(sections: ["1: one t2 t3 t4"], modifications: [[0, 0]])
        )
        #expect(journal.entries.count == 3)
        token.invalidate()
    }
}
