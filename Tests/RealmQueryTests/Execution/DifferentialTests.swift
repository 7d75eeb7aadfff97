import Foundation
import RealmModel
import RealmQuery
import RealmTestSupport
import Testing

/// Random schemas, rows and predicates: the engine against plain Swift, and against SQLite where SQL says the same.
///
/// `REALM_DIFFERENTIAL_QUERIES` sets the number of queries, `REALM_DIFFERENTIAL_SEED` the first seed; without it the
/// queries are always the same.
@Suite struct DifferentialTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let queryCount = environment["REALM_DIFFERENTIAL_QUERIES"].flatMap { Int($0) } ?? 800
    private static let firstSeed = environment["REALM_DIFFERENTIAL_SEED"].flatMap { UInt64($0) } ?? 1

    private struct Tally {
        var queries = 0
        var bySQLite = 0
        var matches = 0
        var byIndexOrder = 0
        var worlds = 0
    }

    @Test(arguments: [ValueDomain.plain, .edges])
    func `random queries on random schemas agree`(domain: ValueDomain) throws {
        var tally = Tally()
        var seed = Self.firstSeed
        while tally.queries < Self.queryCount {
            let world = try QueryWorld.random(seed: seed, everyType: true, domain: domain)
            try compare(world, queries: 100, seed: seed, &tally)
            try world.begin()
            try world.mutate()
            try compare(world, queries: 100, seed: seed, &tally)
            try world.commit()
            seed += 1
            tally.worlds += 1
        }
        print(
            "differential: \(tally.queries) queries over \(domain) values on \(tally.worlds) schemas from seed \(Self.firstSeed), "
                + "\(tally.bySQLite) of them also by SQLite, \(tally.byIndexOrder) in the order of an index, "
                + "\(tally.matches) rows matched"
        )
        CampaignRecord.add(
            "queries of \(domain == .edges ? "edge" : "plain") values",
            seeds: Self.firstSeed..<seed,
            cases: tally.queries,
            violations: 0
        )
        if tally.queries >= 800 { #expect(tally.byIndexOrder > 0) }
        #expect(tally.matches > tally.queries / 2)
    }

    private func compare(_ world: QueryWorld, queries: Int, seed: UInt64, _ tally: inout Tally) throws {
        let name = world.mainClass
        let table = try world.table(name)
        let all = world.keys(name)
        let evaluator = PlainEvaluator(world: world)
        // SQLite has no NaN.
        let mirror = world.usesNaN ? nil : try SQLiteMirror(world)
        for number in 0..<queries {
            let predicate = world.randomPredicate(depth: number % 3)
            let query = try CompiledQuery(predicate, table: table)
            let expected = all.filter { evaluator.matches(predicate, name, $0) }
            let context =
                "seed \(seed), in transaction \(world.model.isInTransaction): \(predicate)\n\(query.describe())"
            let keys = try query.keys()
            try #require(
                keys == expected,
                "\(context)\nmissing \(Set(expected).subtracting(keys)), surplus \(Set(keys).subtracting(expected))"
            )
            #expect(try query.count() == expected.count, "\(context)")
            #expect(try query.first() == expected.first, "\(context)")
            #expect(try query.filter(all) == expected, "\(context)")
            #expect(try query.profile().matched == expected.count, "\(context)")
            let order = world.randomOrder(about: name)
            let sort = try CompiledSort(SortOrder(order), table: table)
            let limit = world.chance(0.5) ? Int.random(in: 1...8, using: &world.random) : .max
            let ordered = try query.keys(sortedBy: sort, limit: limit)
            let planned = try query.plannedOrder(sort, limit: limit)
            let plain = Array(evaluator.sorted(expected, of: name, by: order).prefix(limit))
            try #require(
                ordered == plain,
                "\(context)\nby \(order), limit \(limit), \(planned ?? "sorted"): \(ordered), expected \(plain)"
            )
            if planned != nil { tally.byIndexOrder += 1 }
            let paths = order.map { PropertyPath($0.path) }
            let groups = try CompiledDistinct(paths, table: table).distinct(expected)
            #expect(groups == evaluator.distinct(expected, of: name, by: order.map(\.path)), "\(context)\nby \(order)")
            if let answer = try mirror?.keys(predicate, name) {
                try #require(answer == expected, "SQLite says otherwise: \(context)\n\(answer), expected \(expected)")
                tally.bySQLite += 1
            }
            tally.queries += 1
            tally.matches += expected.count
        }
    }
}

extension CompiledQuery {
    /// The index that gives the rows in order, in words.
    fileprivate func plannedOrder(_ sort: CompiledSort, limit: Int) throws -> String? {
        try sort.indexExplanation(matching: self, limit: limit)
    }
}
