import ActorRealm
import Dispatch
import Foundation
import RealmTestSupport
import Testing

/// Commits that leave out an observer one behind the other, while something of others' is untold: the actor is not let go of, so
/// that nothing is delivered between them.
@Suite(
    "Several writes that leave out an observer, beside what others did and it was not told",
    .timeLimit(.minutes(60))
)
struct ConsecutiveLeavingOutTests {
    /// Somebody else, or the observer's actor, which leaves it out.
    enum Step: Sendable {
        case others(@Sendable (Realm) -> Void)
        case silent(@Sendable (Realm) -> Void)
    }

    /// An actor with one observer, and a realm of others on a queue.
    actor Observer {
        private var realm: Realm!
        private nonisolated let others: Others
        private var token: NotificationToken?
        let told = Journal<String>()

        init(_ others: Others, _ configuration: Realm.Configuration) async throws {
            self.others = others
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func observe(_ begin: (Realm, Journal<String>) -> NotificationToken) { token = begin(realm, told) }

        /// Writes without letting go of the actor, and says how many versions somebody holds then.
        @discardableResult
        func perform(_ steps: [Step]) throws -> Int {
            for step in steps {
                switch step {
                case .others(let block): try others.write(block)
                case .silent(let block): try realm.write(withoutNotifying: [token!]) { block(realm) }
                }
            }
            return realm.activeVersions.count
        }

        /// Waits until everything was told that there is to tell.
        func settle() async { await realm.asyncRefresh() }

        func stop() { token = nil }
    }

    /// Whoever else writes, and waits for it.
    final class Others: @unchecked Sendable {
        private let queue = DispatchQueue(label: "others")
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) throws {
            try queue.sync { realm = try Realm(configuration: configuration, queue: queue) }
        }

        func write(_ block: @Sendable (Realm) -> Void) throws {
            try queue.sync { try realm.write { block(realm) } }
        }

        func close() { queue.sync { realm = nil } }
    }

    /// A collection, what others and the observer's actor do, and what is told of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let begin: @Sendable (Realm, Journal<String>) -> NotificationToken
        let steps: [Step]
        let told: String
    }

    private static func rows<C: RealmCollection>(_ journal: Journal<String>) -> (RealmCollectionChange<C>) -> Void {
        { change in
            guard case .update(_, let deletions, let insertions, let modifications) = change else {
                return journal.add("begins")
            }
            journal.add("-\(deletions) +\(insertions) *\(modifications)")
        }
    }

    private static func add(_ ids: String..., rank: Int = 0, shades: [Int] = []) -> @Sendable (Realm) -> Void {
        { realm in
            for (index, id) in ids.enumerated() {
                let shade = shades.isEmpty ? 0 : shades[index]
                realm.create(Berry.self, value: ["id": id, "rank": Double(rank), "shade": shade])
            }
        }
    }

    private static func row(_ id: String, _ realm: Realm) -> Berry {
        realm.object(ofType: Berry.self, forPrimaryKey: id)!
    }
    private static func basket(_ realm: Realm) -> Basket { realm.objects(Basket.self).first! }

    /// In each, the first of two writes takes away what others added and was not told, and the second one puts it there again;
    /// something else that others added remains to be told.
    static let cases: [Case] = [
        Case(
            testDescription: "filtered results",
            begin: { realm, journal in
                realm.objects(Berry.self).where { $0.rank < 5 }.sorted(byKeyPath: "id").observe(rows(journal))
            },
            steps: [
                .others(add("d", "f")),
                .silent { row("d", $0).rank = 9 },
                .silent { row("d", $0).rank = 0 },
            ],
            told: "-[] +[2] *[]"
        ),
        Case(
            testDescription: "limited results",
            begin: { realm, journal in
                realm.objects(Berry.self).sorted(byKeyPath: "id").limit(3).observe(rows(journal))
            },
            steps: [
                .others(add("d", "f")),
                .silent(add("a")),
                .silent { $0.delete(row("a", $0)) },
            ],
            told: "-[] +[1] *[]"
        ),
        Case(
            testDescription: "distinct results",
            begin: { realm, journal in
                realm.objects(Berry.self).sorted(byKeyPath: "id").distinct(by: ["shade"]).observe(rows(journal))
            },
            steps: [
                .others(add("d", "f", shades: [1, 2])),
                .silent(add("a", shades: [1])),
                .silent { $0.delete(row("a", $0)) },
            ],
            told: "-[] +[2] *[]"
        ),
        Case(
            testDescription: "a list of objects",
            begin: { realm, journal in basket(realm).berries.observe(rows(journal)) },
            steps: [
                .others { realm in
                    add("d", "f", "h")(realm)
                    basket(realm).berries.insert(row("d", realm), at: 0)
                    basket(realm).berries.append(row("f", realm))
                },
                .silent { basket($0).berries.remove(at: 0) },
                .silent { basket($0).berries.insert(row("h", $0), at: 0) },
            ],
            told: "-[] +[2] *[]"
        ),
        Case(
            testDescription: "a list of values",
            begin: { realm, journal in basket(realm).labels.observe(rows(journal)) },
            steps: [
                .others { realm in
                    basket(realm).labels.insert("d", at: 0)
                    basket(realm).labels.append("f")
                },
                .silent { basket($0).labels.remove(at: 0) },
                .silent { basket($0).labels.insert("h", at: 0) },
            ],
            told: "-[] +[2] *[]"
        ),
        Case(
            testDescription: "a map",
            begin: { realm, journal in
                basket(realm).weights
                    .observe { change in
                        guard case .update(_, let deletions, let insertions, let modifications) = change else {
                            return journal.add("begins")
                        }
                        journal.add("-\(deletions) +\(insertions) *\(modifications)")
                    }
            },
            steps: [
                .others { realm in for name in ["d", "f"] { basket(realm).weights[name] = 1 } },
                .silent { basket($0).weights.removeObject(for: "d") },
                .silent { basket($0).weights["d"] = 2 },
            ],
            told: "-[] +[\"f\"] *[]"
        ),
    ]

    private func observed(
        _ begin: @Sendable (Realm, Journal<String>) -> NotificationToken,
        _ body: (Observer) async throws -> Void
    ) async throws {
        let directory = TemporaryDirectory()
        var configuration = Realm.Configuration(fileURL: directory.url.appendingPathComponent("berries.realm"))
        configuration.objectTypes = [Berry.self, Basket.self]
        configuration.durability = .unflushed
        let others = try Others(configuration)
        try others.write { realm in
            Self.add("b")(realm)
            let basket = realm.create(Basket.self)
            basket.berries.append(Self.row("b", realm))
            basket.labels.append("b")
            basket.weights["b"] = 1
        }
        let observer = try await Observer(others, configuration)
        await observer.observe(begin)
        _ = await observer.told.wait(for: 1)
        try await body(observer)
        await observer.stop()
        others.close()
    }

    @Test("what one of them takes away and the next one puts there is not told, and all else is", arguments: cases)
    func oneByOne(_ one: Case) async throws {
        try await observed(one.begin) { observer in
            try await observer.perform(one.steps)
            #expect(await observer.told.wait(for: 2) == ["begins", one.told])
        }
    }

    @Test(
        "an element of a list that one of them puts where it took another one is told with the place that others made"
    )
    func replaced() async throws {
        let labels = Self.cases.first { $0.testDescription == "a list of values" }!
        try await observed(labels.begin) { observer in
            try await observer.perform([
                .others { Self.basket($0).labels.insert("d", at: 0) },
                .silent { realm in
                    Self.basket(realm).labels.remove(at: 0)
                    Self.basket(realm).labels.insert("h", at: 0)
                },
            ])
            #expect(await observer.told.wait(for: 2) == ["begins", "-[] +[0] *[]"])
        }
    }

    @Test("The end of a list is told, also when all that others had put there goes with it")
    func endedList() async throws {
        let labels = Self.cases.first { $0.testDescription == "a list of values" }!
        try await observed(labels.begin) { observer in
            try await observer.perform([
                .silent { Self.basket($0).labels.removeAll() },
                .others { Self.basket($0).labels.append("f") },
                .silent { Self.basket($0).commit = 1 },
                .others { $0.delete(Self.basket($0)) },
                .silent(Self.add("z")),
            ])
            await observer.settle()
            #expect(observer.told.entries == ["begins", "-[] +[] *[]"])
        }
    }

    @Test("The end of a map is told, also when all that others had put there goes with it")
    func endedMap() async throws {
        let weights = Self.cases.first { $0.testDescription == "a map" }!
        try await observed(weights.begin) { observer in
            try await observer.perform([
                .silent { Self.basket($0).weights.removeAll() },
                .others { Self.basket($0).weights["f"] = 1 },
                .silent { Self.basket($0).commit = 1 },
                .others { $0.delete(Self.basket($0)) },
                .silent(Self.add("z")),
            ])
            await observer.settle()
            #expect(observer.told.entries == ["begins", "-[] +[] *[]"])
        }
    }

    @Test("sections go on from what they show when others took back what they did between two of them")
    func takenBack() async throws {
        @Sendable func begin(_ realm: Realm, _ journal: Journal<String>) -> NotificationToken {
            realm.objects(Berry.self).sectioned(bySendable: { $0.shade }, sortDescriptors: ["id"])
                .observe { change in
                    let told = change.told {
                        $0.map { "\($0.key.intValue ?? -1): \($0.map(\.id).joined(separator: " "))" }
                    }
                    journal.add("\(told)")
                }
        }
        try await observed(begin) { observer in
            try await observer.perform([.others(Self.add("c", "d", shades: [1, 0]))])
            _ = await observer.told.wait(for: 2)
            try await observer.perform([
                .silent(Self.add("k")),
                .others(Self.add("a")),
                .silent { $0.delete(Self.row("c", $0)) },
                .others { $0.delete(Self.row("a", $0)) },
            ])
            await observer.settle()
            try await observer.perform([.others { Self.row("d", $0).note = "told" }])
            let told = await observer.told.wait(for: 3)
            #expect(told.count == 3)
            #expect(told.last == "\(SectionsTold(sections: ["0: b d k"], modifications: [[0, 1]]))")
        }
    }

    private static let byID: @Sendable (Realm, Journal<String>) -> NotificationToken = { realm, journal in
        realm.objects(Berry.self).where { $0.rank < 5 }.sorted(byKeyPath: "id").observe(rows(journal))
    }
    private static let inSections: @Sendable (Realm, Journal<String>) -> NotificationToken = { realm, journal in
        realm.objects(Berry.self).where { $0.rank < 5 }.sectioned(bySendable: { $0.shade }, sortDescriptors: ["id"])
            .observe { change in journal.add("\(change.told { $0.map { "\($0.key.intValue ?? -1): \($0.count)" } })") }
    }

    @Test(
        "however many they are beside others', few versions are held, and what is told is as exact",
        arguments: [false, true]
    )
    func many(isSectioned: Bool) async throws {
        try await observed(isSectioned ? Self.inSections : Self.byID) { observer in
            var steps: [Step] = [.others { Self.row("b", $0).note = "told" }]
            for index in 0..<60 {
                let id = "d\(100 + index)"
                steps.append(.others(Self.add(id)))
                steps.append(.silent { Self.row(id, $0).rank = 9 })
                steps.append(.silent { Self.row(id, $0).rank = 0 })
            }
            let held = try await observer.perform(steps)
            #expect(held < 40)
            let told = await observer.told.wait(for: 2).last
            let sections = SectionsTold(sections: ["0: 61"], modifications: [[0, 0]])
            #expect(told == (isSectioned ? "\(sections)" : "-[] +[] *[0]"))
        }
    }
}
