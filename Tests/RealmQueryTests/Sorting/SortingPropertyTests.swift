import RealmModel
import RealmQuery
import Testing

@Suite("Sorting, distinct and aggregates against plain Swift")
struct SortingPropertyTests {
    static let paths = [
        "id", "i", "oi", "small", "b", "ob", "s", "os", "d", "od", "f", "date", "data", "oid", "u", "next.i",
        "box.name",
        "box.weight", "next.next.oi",
    ]

    /// The value at the end of a path of to-one links.
    static func value(_ world: QueryWorld, _ path: String, _ key: Int64) -> StoredValue {
        var className = "Item"
        var key = key
        let names = path.split(separator: ".").map(String.init)
        for name in names.dropLast() {
            guard case .link(let target)? = world.rows[className]?[key]?.values[name] else { return .null }
            className = QueryWorld.schema.classes[className]![name]!.targetClass!
            key = target
        }
        return world.rows[className]![key]!.values[names.last!]!
    }

    /// The order that `Docs/Queries.md` promises; negative when the left value comes first.
    static func order(_ left: StoredValue, _ right: StoredValue) -> Int { DocumentedOrder.compare(left, right) }

    private func check(_ world: QueryWorld, rounds: Int, seed: UInt64) throws {
        let table = try world.table("Item")
        for _ in 0..<rounds {
            let sortKeys = (0..<Int.random(in: 1...3, using: &world.random))
                .map { _ in
                    (path: Self.paths.randomElement(using: &world.random)!, ascending: world.chance(0.5))
                }
            let context = "seed \(seed): \(sortKeys)"
            let sort = try CompiledSort(SortOrder(sortKeys), table: table)
            let input = world.keys("Item").shuffled(using: &world.random)
            func compare(_ a: Int64, _ b: Int64) -> Int {
                for (path, ascending) in sortKeys {
                    let result = Self.order(Self.value(world, path, a), Self.value(world, path, b))
                    if result != 0 { return ascending ? result : -result }
                }
                return 0
            }
            func sorted(_ keys: [Int64]) -> [Int64] {
                keys.enumerated()
                    .sorted { first, second in
                        let result = compare(first.element, second.element)
                        return result == 0 ? first.offset < second.offset : result < 0
                    }
                    .map(\.element)
            }
            let expected = sorted(input)
            #expect(try sort.sorted(input) == expected, "\(context)")
            let limit = Int.random(in: 0...20, using: &world.random)
            #expect(try sort.sorted(input, limit: limit) == Array(expected.prefix(limit)), "\(context), limit \(limit)")
            #expect(try sort.compare(input[0], input[1]).signum() == compare(input[0], input[1]), "\(context)")

            let predicate = try Predicate.parse("small > 0")
            let query = try CompiledQuery(predicate, table: table)
            let matching = sorted(try query.keys())
            #expect(try query.keys(sortedBy: sort) == matching, "\(context)")
            #expect(try query.keys(sortedBy: sort, limit: limit) == Array(matching.prefix(limit)), "\(context)")

            let distinct = try CompiledDistinct(sortKeys.map { PropertyPath($0.path) }, table: table)
            var kept: [Int64] = []
            for key in input where !kept.contains(where: { compare($0, key) == 0 }) { kept.append(key) }
            #expect(try distinct.distinct(input) == kept, "\(context)")
        }
    }

    @Test("Random orders and groups, in a snapshot and inside a write transaction", arguments: 1...4)
    func ordersAndGroups(seed: UInt64) throws {
        let world = try QueryWorld(seed: seed, itemCount: seed == 1 ? 400 : 80)
        try check(world, rounds: 12, seed: seed)
        try world.begin()
        try world.mutate()
        try check(world, rounds: 12, seed: seed)
        try world.commit()
    }

    @Test("Aggregates of every numeric property", arguments: 11...13)
    func aggregates(seed: UInt64) throws {
        let world = try QueryWorld(seed: seed, itemCount: 200)
        try checkAggregates(world, seed: seed)
        try world.begin()
        try world.mutate()
        try checkAggregates(world, seed: seed)
        try world.commit()
    }

    private func checkAggregates(_ world: QueryWorld, seed: UInt64) throws {
        let table = try world.table("Item")
        let query = try CompiledQuery(try Predicate.parse("small IN {0, 1, 2}"), table: table)
        let matching = try query.keys()
        let sample = (0..<50).map { _ in world.keys("Item").randomElement(using: &world.random)! }
        for path in ["i", "oi", "small", "d", "od", "f", "next.small", "box.weight", "box.size"] {
            for operation in [AggregateOperation.sum, .minimum, .maximum, .average] {
                let aggregate = try Aggregation(operation, of: PropertyPath(path), table: table)
                let context = "seed \(seed): \(operation.name) of \(path)"
                try check(aggregate.value(), world, path, operation, world.keys("Item"), context)
                try check(aggregate.value(where: query), world, path, operation, matching, context)
                try check(aggregate.value(of: sample + [1 << 40]), world, path, operation, sample, context)
                try check(aggregate.value(of: []), world, path, operation, [], context)
            }
        }
        for operation in [AggregateOperation.minimum, .maximum] {
            let aggregate = try Aggregation(operation, of: "date", table: table)
            let dates = world.keys("Item").map { Self.value(world, "date", $0) }.filter { $0 != .null }
                .sorted { Self.order($0, $1) < 0 }
            #expect(try Self.order(aggregate.value(), (operation == .minimum ? dates.first : dates.last)!) == 0)
        }
    }

    private func check(
        _ actual: StoredValue,
        _ world: QueryWorld,
        _ path: String,
        _ operation: AggregateOperation,
        _ keys: [Int64],
        _ context: String
    ) throws {
        let values = keys.map { Self.value(world, path, $0) }.filter { $0 != .null }
        let isInt = ["i", "oi", "small", "next.small", "box.size"].contains(path)
        let ints: [Int64] = values.compactMap { if case .int(let value) = $0 { value } else { nil } }
        let doubles = values.compactMap(PlainEvaluator.double)
        let expected: Double?
        switch operation {
        case .sum:
            if isInt {
                #expect(actual == .int(ints.reduce(0, &+)), "\(context)")
                return
            }
            expected = doubles.reduce(0, +)
        case .average: expected = doubles.isEmpty ? nil : doubles.reduce(0, +) / Double(doubles.count)
        case .minimum: expected = doubles.isEmpty ? nil : doubles.filter { !$0.isNaN }.min() ?? .nan
        case .maximum: expected = doubles.isEmpty ? nil : doubles.filter { !$0.isNaN }.max() ?? .nan
        }
        guard let expected else {
            #expect(actual == .null, "\(context)")
            return
        }
        let value = try #require(PlainEvaluator.double(actual), "\(context)")
        let isClose =
            value == expected || (value.isNaN && expected.isNaN) || abs(value - expected) <= abs(expected) * 1e-9
        #expect(isClose, "\(context): \(value) instead of \(expected)")
    }
}
