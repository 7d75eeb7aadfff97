import Dispatch
import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

class Maker: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var rank: Int
    @Persisted(originProperty: "maker") var goods: LinkingObjects<Good>
}

class Good: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var kind: Int
    @Persisted var price: Double
    @Persisted var name: String?
    @Persisted var maker: Maker?
    @Persisted var parts: List<Good>
    @Persisted var tags: List<String>
    @Persisted var anything: AnyRealmValue
    @Persisted(originProperty: "parts") var wholes: LinkingObjects<Good>
}

/// Results that are read at one version after another are those that the query gives anew.
@Suite(.timeLimit(.minutes(60)))
struct AdvancedResultsTests {
    private let directory = TemporaryDirectory()

    private func configuration(_ name: String = "goods.realm") -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory.path(name)),
            objectTypes: [Maker.self, Good.self]
        )
        configuration.durability = .unflushed
        return configuration
    }

    /// How results are made.
    private typealias Recipe = (text: String, make: (Realm) -> Results<Good>)

    private static func condition(_ random: inout SplitMix64) -> String {
        let number = Int.random(in: 0..<6, using: &random)
        let word = ["a", "b", "ab", "c", "é"].randomElement(using: &random)!
        let conditions = [
            "kind = \(number)", "kind IN {1, \(number)}", "price > \(number)", "price BETWEEN {\(number), 4}",
            "name = nil", "name BEGINSWITH '\(word)'", "name CONTAINS[cd] '\(word)'", "NOT name LIKE '*\(word)?'",
            "maker = nil", "maker.rank >= \(number)", "maker.name = '\(word)'", "ANY parts.price < \(number)",
            "ALL parts.kind = \(number)", "parts.@count > 1", "parts.@sum.kind > \(number)", "ANY tags = '\(word)'",
            "tags.@count = \(number % 3)", "ANY parts.maker.rank = \(number)",
            "SUBQUERY(parts, $p, $p.kind = 1).@count > 0",
            "ANY wholes.kind = \(number)", "wholes.@count = \(number % 3)", "maker.goods.@count > \(number)",
            "anything = \(number)", "kind < id", "maker.rank > kind", "TRUEPREDICATE",
        ]
        let one = conditions.randomElement(using: &random)!
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return "NOT (\(one))"
        case 1: return "(\(one)) OR (\(conditions.randomElement(using: &random)!))"
        case 2: return "(\(one)) AND (\(conditions.randomElement(using: &random)!))"
        default: return one
        }
    }

    private static func recipe(_ random: inout SplitMix64) -> Recipe {
        var recipe: Recipe = ("all", { $0.objects(Good.self) })
        func add(_ text: String, _ change: @escaping (Results<Good>) -> Results<Good>) {
            let before = recipe.make
            recipe = (recipe.text + ", " + text, { change(before($0)) })
        }
        let isFiltered = Int.random(in: 0..<8, using: &random) > 0
        if isFiltered {
            let condition = condition(&random)
            add(condition) { $0.filter(condition) }
        }
        if !isFiltered || Bool.random(using: &random) {
            let paths = ["price", "name", "kind", "maker.rank", "maker.name", "id"]
            let chosen = paths.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random))
                .map { SortDescriptor(keyPath: $0, ascending: Bool.random(using: &random)) }
            add("sorted \(chosen)") { $0.sorted(by: chosen) }
        }
        if Int.random(in: 0..<8, using: &random) == 0 { add("distinct") { $0.distinct(by: ["kind"]) } }
        if Int.random(in: 0..<4, using: &random) == 0 {
            let count = Int.random(in: 0...6, using: &random)
            let offset = Bool.random(using: &random) ? 0 : Int.random(in: 1...3, using: &random)
            add("limit \(count) \(offset)") { $0.limit(count, offset: offset) }
        }
        return recipe
    }

    private static func write(_ realm: Realm, _ nextID: inout Int, _ random: inout SplitMix64) {
        let number = Int.random(in: 0..<6, using: &random)
        let word = ["a", "b", "abc", "Ac", "é", "xb"].randomElement(using: &random)!
        let goods = realm.objects(Good.self)
        let makers = realm.objects(Maker.self)
        func any<Element: Object>(_ all: Results<Element>) -> Element? {
            all.isEmpty ? nil : all[Int.random(in: 0..<all.count, using: &random)]
        }
        switch Int.random(in: 0..<16, using: &random) {
        case 0, 1:
            nextID += 1
            let good = realm.create(Good.self, value: ["id": nextID, "kind": number, "price": Double(number) / 2])
            if number > 2 { good.name = word }
            good.maker = any(makers)
        case 2:
            if goods.count > 8, let good = any(goods) { realm.delete(good) }
        case 3:
            nextID += 1
            realm.create(Maker.self, value: ["id": nextID, "name": word, "rank": number])
        case 4:
            if makers.count > 2, number == 0, let maker = any(makers) { realm.delete(maker) }
        case 5: any(makers)?.rank = number
        case 6: any(makers)?.name = word
        case 7: any(goods)?.maker = number == 0 ? nil : any(makers)
        case 8: any(goods)?.kind = number
        case 9: any(goods)?.price = Double(number)
        case 10: any(goods)?.name = number == 0 ? nil : word
        case 11: if let part = any(goods) { any(goods)?.parts.append(part) }
        case 12: if let good = any(goods), !good.parts.isEmpty { good.parts.removeLast() }
        case 13: any(goods)?.tags.append(word)
        case 14: if let good = any(goods), !good.tags.isEmpty { good.tags.removeFirst() }
        default: any(goods)?.anything = number < 2 ? .none : number < 4 ? .int(number) : .string(word)
        }
    }

    /// A live collection that is read now and then, and copies of it.
    private struct Reader {
        let recipe: Recipe
        let results: Results<Good>
        var frozen: [(results: Results<Good>, ids: [Int])] = []
    }

    private static func ids(_ results: Results<Good>) -> [Int] { results.map(\.id) }

    @Test
    func `what was read before and is read again is what the query gives anew`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        var advanced = 0
        var advancedInWrites = 0
        var reads = 0
        for round in 0..<10 {
            let configuration = configuration("goods\(round).realm")
            let realm = try Realm(configuration: configuration)
            realm.core.resultEconomy = .always
            let queue = DispatchQueue(label: "other writer")
            let other = try queue.sync { try Unchecked(Realm(configuration: configuration, queue: queue)) }
            var nextID = 0
            try realm.write {
                for _ in 0..<80 { Self.write(realm, &nextID, &random) }
            }
            var readers = (0..<14)
                .map { _ in
                    let recipe = Self.recipe(&random)
                    return Reader(recipe: recipe, results: recipe.make(realm))
                }
            func read(_ place: String, every pace: Int) {
                for index in readers.indices where Int.random(in: 0..<pace, using: &random) == 0 {
                    let reader = readers[index]
                    let comment: Comment = "seed \(seed), round \(round), \(place): \(reader.recipe.text)"
                    // Made and computed here.
                    let expected = Self.ids(reader.recipe.make(realm))
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0: #expect(reader.results.count == expected.count, comment)
                    case 1: #expect(reader.results.first?.id == expected.first, comment)
                    case 2:
                        if let place = expected.indices.randomElement(using: &random) {
                            #expect(reader.results[place].id == expected[place], comment)
                        }
                    case 3:
                        if let place = expected.indices.randomElement(using: &random) {
                            let good = realm.object(ofType: Good.self, forPrimaryKey: expected[place])!
                            #expect(reader.results.index(of: good) == place, comment)
                        }
                    default: break
                    }
                    reads += 1
                    if reader.results._backing!.withCache({ $0.order != nil }) {
                        advanced += 1
                        if realm.isInWriteTransaction { advancedInWrites += 1 }
                    }
                    if Int.random(in: 0..<3, using: &random) > 0 {
                        #expect(Self.ids(reader.results) == expected, comment)
                    }
                    #expect(reader.results.count == expected.count, comment)
                    if !realm.isInWriteTransaction, Int.random(in: 0..<12, using: &random) == 0 {
                        readers[index].frozen.append((reader.results.freeze(), expected))
                        if readers[index].frozen.count > 2 { readers[index].frozen.removeFirst() }
                    }
                    for frozen in readers[index].frozen { #expect(Self.ids(frozen.results) == frozen.ids, comment) }
                }
            }
            for step in 0..<60 {
                if Int.random(in: 0..<3, using: &random) == 0 {
                    var state = SplitMix64(seed: random.next())
                    let first = nextID
                    nextID = try queue.sync {
                        var nextID = first
                        try other.value.write {
                            for _ in 0..<Int.random(in: 1...4, using: &state) {
                                Self.write(other.value, &nextID, &state)
                            }
                        }
                        return nextID
                    }
                    if Bool.random(using: &random) { realm.refresh() }
                }
                read("step \(step)", every: 3)
                if Bool.random(using: &random) {
                    realm.beginWrite()
                    for _ in 0..<Int.random(in: 1...4, using: &random) {
                        Self.write(realm, &nextID, &random)
                        read("in the write of step \(step)", every: 5)
                    }
                    if Int.random(in: 0..<5, using: &random) == 0 {
                        realm.cancelWrite()
                    } else {
                        try realm.commitWrite()
                    }
                    read("after the write of step \(step)", every: 2)
                }
            }
            queue.sync { other.value.close() }
        }
        print("Advanced results: \(advanced) of \(reads) reads, \(advancedInWrites) in writes, seed \(seed).")
        #expect(advanced > reads / 3)
        #expect(advancedInWrites > 100)
    }

    /// Takes a realm to the queue that it belongs to.
    private struct Unchecked<Value>: @unchecked Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    @Test
    func `results that nobody reads hold no version`() throws {
        let realm = try Realm(configuration: configuration())
        realm.core.resultEconomy = .always
        try realm.write { for id in 0..<100 { realm.create(Good.self, value: ["id": id, "kind": id % 7]) } }
        let results = realm.objects(Good.self).where { $0.kind < 3 }.sorted(byKeyPath: "price")
        #expect(results.count == 44)
        for id in 0..<20 { try realm.write { realm.object(ofType: Good.self, forPrimaryKey: id)!.price = 5 } }
        #expect(realm.activeVersions.count == 1)
        #expect(results.count == 44)
        #expect(results.last?.price == 5)
    }

    @Test
    func `a bulk change is not gone through row by row`() throws {
        let realm = try Realm(configuration: configuration())
        try realm.write { for id in 0..<3_000 { realm.create(Good.self, value: ["id": id, "kind": id % 7]) } }
        let results = realm.objects(Good.self).where { $0.kind < 3 }.sorted(byKeyPath: "price")
        let isAdvanced = { results._backing!.withCache { $0.order != nil } }
        #expect(results[0].id == 0)
        try realm.write { realm.object(ofType: Good.self, forPrimaryKey: 0)!.price = 5 }
        #expect(results[0].id == 1)
        #expect(isAdvanced())
        try realm.write { for good in realm.objects(Good.self) { good.price = Double(-good.id) } }
        #expect(results[0].id == 2_998)
        #expect(!isAdvanced())
    }
}
