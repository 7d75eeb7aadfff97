import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// Two properties of a projection that show the same.
@Suite("Properties of a projection with one path", .timeLimit(.minutes(60)))
struct SharedPathTests {
    final class Twice: Projection<Chore> {
        @Projected(\Chore.name) var first: String
        @Projected(\Chore.name) var second: String
        @Projected(\Chore.priority) var third: Int

        var loud: String { second.uppercased() }
    }

    final class Both: Projection<ChoreOwner> {
        @Projected(\ChoreOwner.tasks.projectTo.name) var names: ProjectedCollection<String>
        @Projected(\ChoreOwner.tasks.first?.name) var name: String?
    }

    final class Leading: Projection<ChoreOwner> {
        @Projected(\ChoreOwner.tasks[0].name) var lead: String
    }

    private let file = ObservedFile()

    private func told<Value: ProjectionObservable>(_ change: ObjectChange<Value>?) -> [String] {
        guard case .change(_, let properties)? = change else { return ["no change"] }
        return properties.map { "\($0.name): \($0.newValue.map { "\($0)" } ?? "nil")" }
    }

    @Test("are told under the name of the one that was asked for")
    func names() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let found = try await worker.with { worker, realm in
            let chore = try #require(realm.objects(Twice.self).first)
            var second = chore.changes(keyPaths: [\.second]).makeAsyncIterator()
            var first = chore.changes(keyPaths: [\.first]).makeAsyncIterator()
            var both = chore.changes(keyPaths: [\.second, \.first]).makeAsyncIterator()
            var loud = chore.changes(keyPaths: [\.loud]).makeAsyncIterator()
            try await worker.rename(1, "two")
            return [
                told(await second.next()), told(await first.next()), told(await both.next()).sorted(),
                told(await loud.next()),
            ]
        }
        #expect(found == [["second: two"], ["first: two"], ["first: two", "second: two"], ["second: two"]])
    }

    @Test("are told in the order of the projection")
    func order() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let found = try await worker.with { worker, realm in
            let chore = try #require(realm.objects(Twice.self).first)
            var iterator = chore.changes(keyPaths: [\.third, \.second, \.first]).makeAsyncIterator()
            try await realm.asyncWrite {
                let chore = realm.objects(Chore.self).first
                chore?.name = "two"
                chore?.priority = 7
            }
            return told(await iterator.next())
        }
        #expect(found == ["first: two", "second: two", "third: 7"])
    }

    @Test("are told with a value where that has one, beside a collection")
    func values() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let found = try await worker.with { worker, realm in
            _ = try await realm.asyncWrite {
                realm.create(ChoreOwner.self, value: ["tasks": Array(realm.objects(Chore.self))])
            }
            let owner = try #require(realm.objects(Both.self).first)
            var iterator = owner.changes(keyPaths: [\.name]).makeAsyncIterator()
            try await worker.rename(1, "two")
            return told(await iterator.next())
        }
        #expect(found == ["name: two"])
    }

    @Test("of an element at a position are told as nothing, and said to be unreadable, where there is no such element")
    func positionGone() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([ChoreOwner.self, Chore.self])
            let owner = try realm.write {
                realm.create(ChoreOwner.self, value: ["tasks": [["name": "one"]]] as [String: Any])
            }
            let leading = Leading(projecting: owner)
            try leading.requireReadable()
            #expect(leading.lead == "one" && leading.description.contains("one"))
            try realm.write { owner.tasks.removeAll() }
            #expect(leading.description.contains("unreadable"))
            var code: Realm.Error.Code?
            do { try leading.requireReadable() } catch { code = (error as? Realm.Error)?.code }
            #expect(code == .invalidInput)
        }
    }

    @Test("of an element at a position that is gone are told with no new value")
    func positionObserved() async {
        await #expect(processExitsWith: .success) {
            let worker = try await Worker(
                Realm.Configuration(
                    inMemoryIdentifier: UUID().uuidString,
                    objectTypes: [Chore.self, ChoreOwner.self]
                )
            )
            try await worker.add(1, "one")
            let found = try await worker.with { _, realm in
                _ = try await realm.asyncWrite {
                    realm.create(ChoreOwner.self, value: ["tasks": Array(realm.objects(Chore.self))])
                }
                let owner = try #require(realm.objects(Leading.self).first)
                var iterator = owner.changes().makeAsyncIterator()
                try await realm.asyncWrite { realm.objects(ChoreOwner.self).first?.tasks.removeAll() }
                guard case .change(_, let properties)? = await iterator.next() else { return "no change" }
                return properties.map { "\($0.name) \($0.newValue == nil ? "is gone" : "is there")" }.joined()
            }
            #expect(found == "lead is gone")
            await worker.close()
        }
    }
}
