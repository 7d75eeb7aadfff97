import RealmModel
import RealmQuery
import Testing

@Suite("Queries against a plain evaluator")
struct CompiledQueryPropertyTests {
    /// Runs random predicates and compares everything a query can answer with the plain evaluator.
    func check(_ world: QueryWorld, queries: Int, depth: Int, seed: UInt64) throws {
        let table = try world.table("Item")
        let all = world.keys("Item")
        let evaluator = PlainEvaluator(world: world)
        var matchCount = 0
        try #require(try world.differences() == [], "seed \(seed): the rows themselves differ")
        for _ in 0..<queries {
            let predicate = world.randomPredicate(depth: depth)
            let query = try CompiledQuery(predicate, table: table)
            let expected = all.filter { evaluator.matches(predicate, "Item", $0) }
            matchCount += expected.count
            let context = "seed \(seed), in transaction \(world.model.isInTransaction): \(query.describe())"
            let keys = try query.keys()
            try #require(
                keys == expected,
                "\(context)\nmissing \(Set(expected).subtracting(keys)), surplus \(Set(keys).subtracting(expected))"
            )
            #expect(try query.count() == expected.count, "\(context)")
            #expect(try query.first() == expected.first, "\(context)")
            if let limit = (1...5).randomElement(using: &world.random) {
                #expect(try query.keys(limit: limit) == Array(expected.prefix(limit)), "\(context)")
            }
            let set = Set(expected)
            let sample = (0..<5).compactMap { _ in all.randomElement(using: &world.random) } + [-1, 1 << 40]
            for key in sample {
                #expect(try query.matches(key: key) == set.contains(key), "\(context), key \(key)")
            }
            #expect(try query.filter(sample) == sample.filter(set.contains), "\(context)")
        }
        #expect(matchCount > 0)
    }

    @Test("Many small tables: snapshot, then inside a write transaction, then committed", arguments: 1...4)
    func small(seed: UInt64) throws {
        let world = try QueryWorld(seed: seed, itemCount: 90)
        try check(world, queries: 160, depth: 2, seed: seed)
        try world.begin()
        try world.mutate()
        try check(world, queries: 160, depth: 2, seed: seed)
        try world.commit()
        try check(world, queries: 50, depth: 3, seed: seed)
    }

    @Test("A table of several leaves", arguments: [100])
    func large(seed: UInt64) throws {
        let world = try QueryWorld(seed: seed, itemCount: 1_400)
        try check(world, queries: 30, depth: 1, seed: seed)
        try world.begin()
        try world.mutate()
        try check(world, queries: 30, depth: 1, seed: seed)
        try world.commit()
    }
}
