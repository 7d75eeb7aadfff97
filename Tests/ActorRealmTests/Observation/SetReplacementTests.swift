import ActorRealm
import Foundation
import RealmTestSupport
import Testing

class Sail: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var color = ""
}

class Locker: Object {
    @Persisted var sails: MutableSet<Sail>
    @Persisted var colors: MutableSet<String>
}

/// The elements of a set have no places of their own: one that comes for another one is not the same, changed.
@Suite("An element of a set that comes for another one")
struct SetReplacementTests {
    private let directory = TemporaryDirectory()

    private var configuration: Realm.Configuration {
        Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory.path("sails.realm")),
            objectTypes: [Locker.self, Sail.self]
        )
    }

    /// Where a change says that elements came, went and changed.
    private struct Told: Equatable {
        var deletions: [Int]
        var insertions: [Int]
        var modifications: [Int]

        init?<Element>(_ change: RealmCollectionChange<Element>?) {
            guard case .update(_, let deletions, let insertions, let modifications) = change else { return nil }
            (self.deletions, self.insertions, self.modifications) = (deletions, insertions, modifications)
        }

        init(_ deletions: [Int], _ insertions: [Int], _ modifications: [Int]) {
            (self.deletions, self.insertions, self.modifications) = (deletions, insertions, modifications)
        }
    }

    @Test("is an insertion, and the other one a deletion, for objects and for values")
    func replaced() async throws {
        let worker = try await Worker(configuration)
        let (sails, colors) = try await worker.with { _, realm in
            let locker = try await realm.asyncWrite {
                for id in 1...3 { realm.create(Sail.self, value: ["id": id, "color": "red"]) }
                let locker = realm.create(Locker.self)
                locker.sails.insert(objectsIn: realm.objects(Sail.self).where { $0.id <= 2 })
                locker.colors.insert(objectsIn: ["blue", "red"])
                return locker
            }
            return (locker.sails.changes(), locker.colors.changes())
        }
        var iterator = sails.makeAsyncIterator()
        var values = colors.makeAsyncIterator()
        _ = await iterator.next()
        _ = await values.next()
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                let locker = try #require(realm.objects(Locker.self).first)
                locker.sails.remove(try #require(realm.object(ofType: Sail.self, forPrimaryKey: 2)))
                locker.sails.insert(try #require(realm.object(ofType: Sail.self, forPrimaryKey: 3)))
                locker.colors.remove("red")
                locker.colors.insert("sand")
            }
        }
        #expect(Told(await iterator.next()) == Told([1], [1], []))
        #expect(Told(await values.next()) == Told([1], [1], []))
        // One that stays and is written to is a modification.
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.object(ofType: Sail.self, forPrimaryKey: 3)?.color = "white" }
        }
        #expect(Told(await iterator.next()) == Told([], [], [1]))
    }
}
