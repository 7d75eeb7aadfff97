import ActorRealm
import Testing

/// Results that show a part of what there is, and what may be done with delivered ones.
@Suite("Observing refined results", .timeLimit(.minutes(60)))
struct ObservedResultsTests {
    private let file = DockFile()

    @Test("limited, distinct and sorted results across links tell exactly what they show")
    func refined() async throws {
        let worker = try await file.worker()
        let told = try await worker.with { _, realm in
            var limited = realm.objects(Boat.self).sorted(byKeyPath: "tons").limit(2).changes().makeAsyncIterator()
            var offset = realm.objects(Boat.self).sorted(byKeyPath: "tons").limit(1, offset: 1).changes()
                .makeAsyncIterator()
            var linked = realm.objects(Boat.self).sorted(byKeyPath: "home.name").changes().makeAsyncIterator()
            var distinct = realm.objects(Boat.self).distinct(by: ["home.name"]).changes().makeAsyncIterator()
            _ = await (limited.next(), offset.next(), linked.next(), distinct.next())
            try await realm.asyncWrite {
                realm.object(ofType: Boat.self, forPrimaryKey: 3)!.tons = 5
                let west = realm.create(Dock.self, value: ["id": 2, "name": "west"])
                realm.object(ofType: Boat.self, forPrimaryKey: 1)!.home = west
            }
            func text(_ change: RealmCollectionChange<Results<Boat>>?) -> String {
                guard case .update(let boats, let deletions, let insertions, let modifications)? = change else {
                    return "none"
                }
                let moves = change!.moves.map { "\($0.from)>\($0.to)" }
                return "\(Array(boats.map(\.id))) \(deletions) \(insertions) \(modifications) \(moves)"
            }
            let first = await limited.next()
            let second = await offset.next()
            let third = await linked.next()
            let fourth = await distinct.next()
            return [text(first), text(second), text(third), text(fourth)]
        }
        #expect(
            told == [
                "[3, 1] [1] [0] [0] []", "[1] [0] [0] [] []", "[2, 3, 1] [0] [2] [1, 2] [\"0>2\"]",
                "[1, 2] [] [1] [0] []",
            ]
        )
    }

    @Test("what is delivered outside actors may be searched, sorted, added up and read by several threads at once")
    func frozenDelivery() async throws {
        let worker = try await file.worker()
        let changes = await worker.with { _, realm in
            realm.objects(Boat.self).where { $0.tons > 10 && $0.home.name == "east" }
                .sorted(byKeyPath: "tons", ascending: false)
                .limit(2)
                .changes()
        }
        var iterator = changes.makeAsyncIterator()
        _ = await iterator.next()
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.object(ofType: Boat.self, forPrimaryKey: 1)!.tons = 40 }
        }
        let boats = try #require(await iterator.next()?.collection?.frozen)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let boats = boats.value
                    #expect(boats.map { $0.id } == [1, 3])
                    #expect(boats.count == 2 && boats.first?.id == 1 && boats.last?.id == 3)
                    #expect(boats.sum(of: \.tons) == 70)
                    #expect(boats.max(of: \.tons) == 40)
                    #expect(boats.where { $0.tons < 40 }.map { $0.id } == [3])
                    #expect(boats.filter("tons < 40").count == 1)
                    #expect(boats.sorted(byKeyPath: "tons").map { $0.id } == [3, 1])
                    #expect(boats.index(matching: { $0.tons == 30 }) == 1)
                    #expect(boats.freeze() == boats)
                }
            }
        }
    }
}
