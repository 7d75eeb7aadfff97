import RealmTestSupport
import Testing

@testable import RealmQuery

@Suite("Keys in an order")
struct KeyOrderTests {
    @Test("ascending keys of every density are found, counted and edited as in an array")
    func ascending() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SplitMix64(seed: seed)
        for round in 0..<20 {
            // From a key each to one in a million, with gaps, and at the ends of what there is.
            let spread = [1, 2, 7, 100, 1_000_000][round % 5]
            var next: Int64 = round % 3 == 0 ? .min : round % 3 == 1 ? 0 : -5_000
            var plain: [Int64] = []
            for _ in 0..<Int.random(in: 0...12_000, using: &generator) {
                plain.append(next)
                next += Int64(Int.random(in: 1...spread, using: &generator))
                if Int.random(in: 0..<500, using: &generator) == 0 { next += 1_000_000 }
            }
            if round % 4 == 0, plain.last != .max { plain.append(.max) }
            var order = KeyOrder(plain, isAscending: true)
            for _ in 0..<12 {
                let comment: Comment = "seed \(seed), round \(round)"
                let edits = round % 2 == 0 ? 3 : 800
                let removed = (0..<min(edits, plain.count))
                    .map { _ in Int.random(in: 0..<plain.count, using: &generator) }
                let positions = Set(removed).sorted()
                var remaining = plain
                for position in positions.reversed() { remaining.remove(at: position) }
                var added: Set<Int64> = []
                for _ in 0..<edits {
                    let near = plain.isEmpty ? 0 : plain[Int.random(in: 0..<plain.count, using: &generator)]
                    added.insert(near &+ Int64(Int.random(in: -spread...spread, using: &generator)))
                }
                added.subtract(remaining)
                let insertions = added.sorted()
                    .map { key in KeyOrder.Insertion(rank: remaining.partitioningIndex { $0 >= key }, key: key) }
                let before = order
                order.edit(removing: positions, inserting: insertions)
                #expect(before.array() == plain, comment)
                plain = (remaining + added).sorted()
                #expect(order.array() == plain, comment)
                expectSame(order, plain, &generator, comment)
                for _ in 0..<20 {
                    let key =
                        (plain.randomElement(using: &generator) ?? 0)
                        &+ Int64(Int.random(in: -2...2, using: &generator))
                    let rank = plain.partitioningIndex { $0 >= key }
                    #expect(order.rank(of: key) == rank, comment)
                    #expect(order.contains(key) == (rank < plain.count && plain[rank] == key), comment)
                    #expect(order.firstIndex(of: key) == (order.contains(key) ? rank : nil), comment)
                }
            }
        }
    }

    @Test("keys in any order are edited as in an array, and found by comparing")
    func anyOrder() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SplitMix64(seed: seed)
        for round in 0..<12 {
            let comment: Comment = "seed \(seed), round \(round)"
            let count = Int.random(in: 0...6_000, using: &generator)
            var plain = (0..<Int64(count)).map { $0 * 3 }.sorted { Self.scattered($0) < Self.scattered($1) }
            var order = KeyOrder(plain, isAscending: false)
            for _ in 0..<10 {
                let edits = round % 2 == 0 ? 2 : 500
                let positions = Set(
                    (0..<min(edits, plain.count)).map { _ in Int.random(in: 0..<plain.count, using: &generator) }
                )
                .sorted()
                for position in positions.reversed() { plain.remove(at: position) }
                var added: Set<Int64> = []
                for _ in 0..<edits { added.insert(Int64.random(in: 0..<30_000, using: &generator) * 3 + 1) }
                added.subtract(plain)
                order.edit(removing: positions)
                let incoming = added.sorted { Self.scattered($0) < Self.scattered($1) }
                order.edit(
                    inserting: incoming.map { key in
                        KeyOrder.Insertion(
                            rank: order.rank(of: key) { Self.scattered($0) < Self.scattered($1) },
                            key: key
                        )
                    }
                )
                plain = (plain + added).sorted { Self.scattered($0) < Self.scattered($1) }
                #expect(order.array() == plain, comment)
                expectSame(order, plain, &generator, comment)
            }
        }
    }

    @Test("removing everything leaves nothing, and what comes then is there")
    func emptied() {
        for isAscending in [true, false] {
            var order = KeyOrder(Array(0..<5_000), isAscending: isAscending)
            order.edit(removing: Array(0..<5_000))
            #expect(order.isEmpty)
            #expect(order.array().isEmpty)
            order.edit(inserting: [KeyOrder.Insertion(rank: 0, key: 7), KeyOrder.Insertion(rank: 0, key: 9)])
            #expect(order.array() == [7, 9])
        }
    }

    private static func scattered(_ key: Int64) -> UInt64 {
        var generator = SplitMix64(seed: UInt64(bitPattern: key))
        return generator.next()
    }

    private func expectSame(
        _ order: KeyOrder,
        _ plain: [Int64],
        _ generator: inout SplitMix64,
        _ comment: Comment
    ) {
        #expect(order.count == plain.count, comment)
        guard order.count == plain.count else { return }
        for _ in 0..<20 where !plain.isEmpty {
            let position = Int.random(in: 0..<plain.count, using: &generator)
            #expect(order[position] == plain[position], comment)
        }
    }
}
