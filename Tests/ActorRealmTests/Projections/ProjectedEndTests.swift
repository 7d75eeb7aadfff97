import ActorRealm
import RealmTestSupport
import Testing

/// The values of one property of a collection's objects, when the collection's owner goes.
@Suite("The last change of a projected collection", .timeLimit(.minutes(60)))
struct ProjectedEndTests {
    class Crew: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var list: List<Hand>
        @Persisted var set: MutableSet<Hand>
    }

    class Hand: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var name = ""
    }

    enum Kind: CaseIterable {
        case list, set

        func names(_ crew: Crew) -> ProjectedCollection<String> {
            switch self {
            case .list: crew.list.projectTo.name
            case .set: crew.set.projectTo.name
            }
        }
    }

    private let file = TestFile()

    private func filled() async throws -> Worker {
        var configuration = file.fast
        configuration.objectTypes = [Crew.self, Hand.self]
        let worker = try await Worker(configuration)
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                let crew = realm.create(Crew.self)
                let hand = realm.create(Hand.self, value: ["name": "one"])
                crew.list.append(hand)
                crew.set.insert(hand)
            }
        }
        return worker
    }

    private func deleteOwner(_ worker: Worker) async throws {
        try await worker.with { _, realm in try await realm.asyncWrite { realm.delete(realm.objects(Crew.self)) } }
    }

    @Test("is an empty collection outside actors", arguments: Kind.allCases)
    func outsideActors(_ kind: Kind) async throws {
        let worker = try await filled()
        let changes = await worker.with { _, realm in kind.names(realm.objects(Crew.self)[0]).changes() }
        var iterator = changes.makeAsyncIterator()
        guard case .initial(let first)? = await iterator.next() else {
            Issue.record("no initial values")
            return
        }
        #expect(Array(first) == ["one"])
        try await deleteOwner(worker)
        guard case .update(let last, let deletions, let insertions, let modifications)? = await iterator.next() else {
            Issue.record("no end of the values")
            return
        }
        #expect(deletions == [0] && insertions.isEmpty && modifications.isEmpty)
        #expect(last.isEmpty && Array(last) == [] && last.isFrozen)
        #expect(Array(first) == ["one"])
        let end = await iterator.next()
        #expect(end == nil)
    }

    @Test("is an empty collection on an actor", arguments: Kind.allCases)
    func onAnActor(_ kind: Kind) async throws {
        let worker = try await filled()
        let told = try await worker.with { _, realm in
            var iterator = kind.names(realm.objects(Crew.self)[0]).changes().makeAsyncIterator()
            guard case .initial? = await iterator.next() else { return [-1] }
            try await realm.asyncWrite { realm.delete(realm.objects(Crew.self)) }
            guard case .update(let last, let deletions, _, _)? = await iterator.next() else { return [-2] }
            return [last.count] + deletions
        }
        #expect(told == [0, 0])
    }
}
