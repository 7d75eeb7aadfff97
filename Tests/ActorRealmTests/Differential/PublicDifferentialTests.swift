import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// Random queries through the public interface against plain Swift: values at the edges of all types, with an index and
/// without, as key, across links and in collections, inside a transaction and outside.
///
/// `REALM_PUBLIC_CASES` sets the number of cases, `REALM_PUBLIC_SEED` the first seed; each is one query with its order, its
/// distinct values and its limit.
@Suite struct PublicDifferentialTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let caseCount = environment["REALM_PUBLIC_CASES"].flatMap { Int($0) } ?? 600
    private static let firstSeed = environment["REALM_PUBLIC_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1 << 40)

    @Test func `queries, orders, distinct values and limits are as plain Swift has them`() throws {
        var (cases, matches, violations) = (0, 0, 0)
        var seed = Self.firstSeed
        while cases < Self.caseCount {
            var random = SplitMix64(seed: seed)
            let realm = try memoryRealm([Specimen.self, SpecimenLabel.self])
            var world = SpecimenWorld()
            try realm.write { world.change(realm, &random, adding: 40) }
            for isInside in [false, true] {
                if isInside {
                    realm.beginWrite()
                    world.change(realm, &random, adding: 6)
                }
                for _ in 0..<100 {
                    let (count, found) = check(realm, world, &random)
                    cases += 1
                    matches += count
                    guard let found else { continue }
                    violations += 1
                    if violations <= 10 {
                        Issue.record("REALM_PUBLIC_SEED=\(seed), in a transaction \(isInside): \(found)")
                    }
                }
            }
            try realm.commitWrite()
            realm.close()
            seed += 1
        }
        CampaignRecord.add("public queries", seeds: Self.firstSeed..<seed, cases: cases, violations: violations)
        #expect(matches > cases)
    }

    private func check(_ realm: Realm, _ world: SpecimenWorld, _ random: inout SplitMix64) -> (Int, String?) {
        let condition = SpecimenCondition.random(&random, depth: Int.random(in: 0..<3, using: &random))
        let expected = world.order.filter { condition.holds(world, world.rows[$0]!) }
        let all = realm.objects(Specimen.self)
        let results: Results<Specimen>
        do {
            results = try all.filter(Self.parse(condition.text, condition.arguments))
        } catch {
            return (0, "\(condition.text) \(condition.arguments): \(error)")
        }
        func differs(_ found: [Int], _ expected: [Int], _ what: String) -> String? {
            if found == expected { return nil }
            let text = "\(condition.text) \(condition.arguments)".debugDescription.prefix(1500)
            return "\(what) of \(text): \(found), expected \(expected)"
        }
        if let found = differs(results.map(\.id), expected, "matches") { return (expected.count, found) }
        if results.count != expected.count || results.first?.id != expected.first || results.last?.id != expected.last {
            return (expected.count, "count, first or last of \(condition.text) \(condition.arguments)")
        }
        let order = randomOrder(&random)
        let sorted = world.sorted(expected, by: order)
        let bySort = results.sorted(by: order)
        if let found = differs(bySort.map(\.id), sorted, "order by \(order)") { return (expected.count, found) }
        let (limit, offset) = (Int.random(in: 0...8, using: &random), Int.random(in: 0...3, using: &random))
        let window = Array(sorted.dropFirst(offset).prefix(limit))
        let limited = bySort.limit(limit, offset: offset)
        if let found = differs(limited.map(\.id), window, "limit \(limit) from \(offset) by \(order)") {
            return (expected.count, found)
        }
        let paths = order.map(\.keyPath).filter { !$0.hasPrefix("link.") }
        if !paths.isEmpty {
            let groups = world.distinct(sorted, by: paths)
            if let found = differs(bySort.distinct(by: paths).map(\.id), groups, "distinct \(paths) by \(order)") {
                return (expected.count, found)
            }
        }
        return (expected.count, nil)
    }

    /// Passes an array where the interface takes arguments one by one.
    private nonisolated(unsafe) static let parse = unsafeBitCast(
        RealmPredicate.init(parsing:_:) as (String, Any...) throws -> RealmPredicate,
        to: ((String, [Any]) throws -> RealmPredicate).self
    )

    private func randomOrder(_ random: inout SplitMix64) -> [ActorRealm.SortDescriptor] {
        (0..<Int.random(in: 1...3, using: &random))
            .map { _ in
                let property = SpecimenKind.properties.randomElement(using: &random)!
                let isIndexed = property.isIndexed && Bool.random(using: &random)
                let isLinked = Int.random(in: 0..<5, using: &random) == 0
                let name = (isLinked ? "link." : "") + (isIndexed ? "x" : "") + property.name
                return ActorRealm.SortDescriptor(keyPath: name, ascending: Bool.random(using: &random))
            }
    }
}
