import ActorRealm
import Foundation
import RealmTestSupport
import Testing

class Leaf: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var value = 0
}

class Bag: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var numbers: List<Int>
    @Persisted var words: List<String?>
    @Persisted var leaves: List<Leaf>
    @Persisted var anything: List<AnyRealmValue>
    @Persisted var names: MutableSet<String>
    @Persisted var leafSet: MutableSet<Leaf>
    @Persisted var counts: Map<String, Int>
    @Persisted var places: Map<String, Leaf?>
}

/// Lists, sets and maps of everything under random commits, seen by observers that ask now and then, against plain arrays.
@Suite("Observed lists, sets and maps under random commits", .timeLimit(.minutes(60)))
struct RandomCollectionsTests {
    private let directory = TemporaryDirectory()

    /// An observed list or set: what was told of it last.
    private struct Watched<Collection: RealmCollection> {
        var iterator: CollectionChanges<Collection>.Iterator
        var told: [String] = []
        private let text: (Collection.Element) -> String

        init(_ changes: CollectionChanges<Collection>, text: @escaping (Collection.Element) -> String = { "\($0)" }) {
            iterator = changes.makeAsyncIterator()
            self.text = text
        }

        /// Takes the next change, and checks that it leads from what was told to `expected`.
        mutating func check(_ expected: [String], inAnyOrder: Bool = false, _ comment: Comment) async {
            guard let change = await iterator.next() else {
                Issue.record(comment)
                return
            }
            let now = change.collection.map { $0.map(text) } ?? []
            switch change {
            case .initial: #expect(told.isEmpty, comment)
            case .error(let error): Issue.record(error, comment)
            case .update(_, let deletions, let insertions, let modifications):
                var applied = told
                #expect((deletions + modifications).allSatisfy(told.indices.contains), comment)
                #expect(Set(deletions).isDisjoint(with: modifications), comment)
                for index in modifications where told.indices.contains(index) { applied[index] = "written" }
                for index in deletions.reversed() where applied.indices.contains(index) { applied.remove(at: index) }
                for index in insertions where index <= applied.count && now.indices.contains(index) {
                    applied.insert(now[index], at: index)
                }
                #expect(applied.count == now.count, comment)
                for (one, other) in zip(applied, now) where one != "written" { #expect(one == other, comment) }
            }
            if inAnyOrder {
                #expect(now.sorted() == expected.sorted(), comment)
            } else {
                #expect(now == expected, comment)
            }
            told = now
        }
    }

    /// An observed map: what was told of it last.
    private struct WatchedMap<Value: RealmCollectionValue> {
        var iterator: MapChanges<String, Value>.Iterator
        var told: [String: String] = [:]
        private let text: (Value) -> String

        init(_ changes: MapChanges<String, Value>, text: @escaping (Value) -> String = { "\($0)" }) {
            iterator = changes.makeAsyncIterator()
            self.text = text
        }

        mutating func check(_ expected: [String: String], _ comment: Comment) async {
            guard let change = await iterator.next() else {
                Issue.record(comment)
                return
            }
            var now: [String: String] = [:]
            for entry in change.collection.map({ Array($0) }) ?? [] { now[entry.key] = text(entry.value) }
            switch change {
            case .initial: #expect(told.isEmpty, comment)
            case .error(let error): Issue.record(error, comment)
            case .update(_, let deletions, let insertions, let modifications):
                var applied = told
                for key in deletions { #expect(applied.removeValue(forKey: key) != nil, comment) }
                for key in insertions {
                    #expect(applied[key] == nil, comment)
                    applied[key] = now[key]
                }
                for key in modifications {
                    #expect(applied[key] != nil, comment)
                    applied[key] = now[key]
                }
                #expect(applied == now, comment)
            }
            #expect(now == expected, comment)
            told = now
        }
    }

    /// What the bag holds, in plain values.
    private struct Plain: Sendable {
        var numbers: [Int] = []
        var words: [String?] = []
        var leaves: [Int] = []
        var anything: [String] = []
        var names: Set<String> = []
        var leafSet: Set<Int> = []
        var counts: [String: Int] = [:]
        var places: [String: Int?] = [:]
        var values = [Int](repeating: 0, count: 12)
    }

    /// A random write, to the bag and to the plain values.
    private static func write(_ bag: Bag, _ realm: Realm, _ plain: inout Plain, _ random: inout SplitMix64) {
        func leaf(_ id: Int) -> Leaf { realm.object(ofType: Leaf.self, forPrimaryKey: id)! }
        let id = Int.random(in: 0..<12, using: &random)
        let number = Int.random(in: 0..<6, using: &random)
        let word = ["a", "b", "c", "d", "é"][number % 5]
        switch Int.random(in: 0..<22, using: &random) {
        case 0, 1:
            let index = Int.random(in: 0...plain.numbers.count, using: &random)
            bag.numbers.insert(number, at: index)
            plain.numbers.insert(number, at: index)
        case 2:
            guard let index = plain.numbers.indices.randomElement(using: &random) else { return }
            bag.numbers.remove(at: index)
            plain.numbers.remove(at: index)
        case 3:
            guard let index = plain.numbers.indices.randomElement(using: &random) else { return }
            bag.numbers[index] = number
            plain.numbers[index] = number
        case 4:
            guard plain.numbers.count > 1 else { return }
            let from = Int.random(in: 0..<plain.numbers.count, using: &random)
            let to = Int.random(in: 0..<plain.numbers.count, using: &random)
            bag.numbers.move(from: from, to: to)
            plain.numbers.insert(plain.numbers.remove(at: from), at: to)
        case 5 where number == 0:
            bag.numbers.removeAll()
            plain.numbers = []
        case 5, 6:
            bag.words.append(number == 5 ? nil : word)
            plain.words.append(number == 5 ? nil : word)
        case 7:
            guard let index = plain.words.indices.randomElement(using: &random) else { return }
            bag.words[index] = word
            plain.words[index] = word
        case 8, 9:
            let index = Int.random(in: 0...plain.leaves.count, using: &random)
            bag.leaves.insert(leaf(id), at: index)
            plain.leaves.insert(id, at: index)
        case 10:
            guard let index = plain.leaves.indices.randomElement(using: &random) else { return }
            bag.leaves.remove(at: index)
            plain.leaves.remove(at: index)
        case 11:
            guard plain.leaves.count > 1 else { return }
            bag.leaves.swapAt(0, plain.leaves.count - 1)
            plain.leaves.swapAt(0, plain.leaves.count - 1)
        case 12, 13:
            leaf(id).value += 1
            plain.values[id] += 1
        case 14:
            let value: AnyRealmValue = [.int(number), .string(word), .none, .bool(true), .double(0.5)][number % 5]
            bag.anything.append(value)
            plain.anything.append("\(value)")
        case 15:
            guard let index = plain.anything.indices.randomElement(using: &random) else { return }
            bag.anything.remove(at: index)
            plain.anything.remove(at: index)
        case 16:
            bag.names.insert(word)
            plain.names.insert(word)
        case 17:
            bag.names.remove(word)
            plain.names.remove(word)
        case 18:
            if plain.leafSet.contains(id) {
                bag.leafSet.remove(leaf(id))
                plain.leafSet.remove(id)
            } else {
                bag.leafSet.insert(leaf(id))
                plain.leafSet.insert(id)
            }
        case 19:
            bag.counts[word] = number
            plain.counts[word] = number
        case 20:
            bag.counts[word] = nil
            plain.counts[word] = nil
        default:
            bag.places[word] = .some(number == 0 ? nil : leaf(id))
            plain.places[word] = .some(number == 0 ? nil : id)
        }
    }

    @Test("what was told and the change give what a plain copy holds, however seldom somebody asks")
    func random() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory.path("bags.realm")),
            objectTypes: [Bag.self, Leaf.self]
        )
        configuration.durability = .unflushed
        let worker = try await Worker(configuration)
        var cases = 0
        for round in 0..<4 {
            var plain = Plain()
            typealias Sequences = (
                CollectionChanges<List<Int>>, CollectionChanges<List<String?>>, CollectionChanges<List<Leaf>>,
                CollectionChanges<List<AnyRealmValue>>, CollectionChanges<MutableSet<String>>,
                CollectionChanges<MutableSet<Leaf>>, MapChanges<String, Int>, MapChanges<String, Leaf?>,
                CollectionChanges<Results<Leaf>>
            )
            let changes: Sequences = try await worker.with { _, realm in
                let bag = try await realm.asyncWrite {
                    realm.deleteAll()
                    for id in 0..<12 { realm.create(Leaf.self, value: ["id": id]) }
                    return realm.create(Bag.self, value: ["id": 0])
                }
                return (
                    bag.numbers.changes(), bag.words.changes(), bag.leaves.changes(), bag.anything.changes(),
                    bag.names.changes(), bag.leafSet.changes(), bag.counts.changes(), bag.places.changes(),
                    bag.leaves.where { $0.value > 2 }.sorted(byKeyPath: "value", ascending: false).changes()
                )
            }
            var numbers = Watched(changes.0)
            var words = Watched(changes.1) { "\(String(describing: $0))" }
            var leaves = Watched(changes.2, text: Self.text)
            var anything = Watched(changes.3)
            var names = Watched(changes.4)
            var leafSet = Watched(changes.5, text: Self.text)
            var counts = WatchedMap(changes.6)
            var places = WatchedMap(changes.7) { $0.map(Self.text) ?? "nothing" }
            var high = Watched(changes.8, text: Self.text)
            var isFirst = true
            for number in 0..<90 {
                let before = plain
                let state = random.next()
                plain = try await worker.with { _, realm in
                    let bag = realm.object(ofType: Bag.self, forPrimaryKey: 0)!
                    var random = SplitMix64(seed: state)
                    var plain = before
                    for _ in 0..<Int.random(in: 1...5, using: &random) {
                        try await realm.asyncWrite {
                            for _ in 0..<Int.random(in: 1...3, using: &random) {
                                Self.write(bag, realm, &plain, &random)
                            }
                        }
                    }
                    return plain
                }
                let comment: Comment = "seed \(seed), round \(round), step \(number)"
                func leafText(_ id: Int) -> String { "\(id): \(plain.values[id])" }
                func asks() -> Bool { isFirst || Int.random(in: 0..<3, using: &random) == 0 }
                let expectedNumbers = plain.numbers.map { "\($0)" }
                if asks(), isFirst || numbers.told != expectedNumbers {
                    await numbers.check(expectedNumbers, comment)
                    cases += 1
                }
                let expectedWords = plain.words.map { "\(String(describing: $0))" }
                if asks(), isFirst || words.told != expectedWords {
                    await words.check(expectedWords, comment)
                    cases += 1
                }
                let expectedLeaves = plain.leaves.map(leafText)
                if asks(), isFirst || leaves.told != expectedLeaves {
                    await leaves.check(expectedLeaves, comment)
                    cases += 1
                }
                if asks(), isFirst || anything.told != plain.anything {
                    await anything.check(plain.anything, comment)
                    cases += 1
                }
                if asks(), isFirst || Set(names.told) != plain.names {
                    await names.check(Array(plain.names), inAnyOrder: true, comment)
                    cases += 1
                }
                let expectedSet = plain.leafSet.map(leafText)
                if asks(), isFirst || leafSet.told.sorted() != expectedSet.sorted() {
                    await leafSet.check(expectedSet, inAnyOrder: true, comment)
                    cases += 1
                }
                let expectedCounts = plain.counts.mapValues { "\($0)" }
                if asks(), isFirst || counts.told != expectedCounts {
                    await counts.check(expectedCounts, comment)
                    cases += 1
                }
                let expectedPlaces = plain.places.mapValues { $0.map(leafText) ?? "nothing" }
                if asks(), isFirst || places.told != expectedPlaces {
                    await places.check(expectedPlaces, comment)
                    cases += 1
                }
                let expectedHigh = plain.leaves.enumerated()
                    .filter { plain.values[$0.element] > 2 }
                    .sorted { (-plain.values[$0.element], $0.offset) < (-plain.values[$1.element], $1.offset) }
                    .map { leafText($0.element) }
                if asks(), isFirst || high.told != expectedHigh {
                    await high.check(expectedHigh, comment)
                    cases += 1
                }
                isFirst = false
            }
        }
        print("Observed collections: \(cases) cases, seed \(seed).")
        #expect(cases > 500)
    }

    private static func text(_ leaf: Leaf) -> String { "\(leaf.id): \(leaf.value)" }
}
