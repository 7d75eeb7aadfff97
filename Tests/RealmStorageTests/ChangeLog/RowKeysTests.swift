import RealmTestSupport
import Testing

@testable import RealmStorage

/// Runs of keys against sets of single ones.
@Suite("Keys of rows")
struct RowKeysTests {
    private func expectSame(_ keys: RowKeys, _ expected: Set<Int64>, _ seed: UInt64) {
        let sorted = expected.sorted()
        #expect(Array(keys) == sorted, "seed \(seed)")
        #expect(keys == RowKeys(sorted), "the runs are joined, seed \(seed)")
        #expect(keys.count == sorted.count && keys.first == sorted.first && keys.last == sorted.last, "seed \(seed)")
        #expect(keys.indices.map { keys[$0] } == sorted, "seed \(seed)")
        let touching = (1..<max(1, keys.runCount)).count { keys.run($0).lowerBound <= keys.run($0 - 1).upperBound }
        #expect(touching == 0, "seed \(seed)")
        for key in -3...Int64(103) { #expect(keys.contains(key) == expected.contains(key), "\(key), seed \(seed)") }
    }

    private func random(_ random: inout SplitMix64) -> Set<Int64> {
        var keys: Set<Int64> = []
        for _ in 0..<random.next() % 9 {
            let first = Int64(random.next() % 100)
            for key in first..<first + Int64(1 + random.next() % 12) where key <= 100 { keys.insert(key) }
        }
        return keys
    }

    @Test("Unions and differences of random keys are those of sets", arguments: 1...200 as ClosedRange<UInt64>)
    func operations(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let (one, other) = (random(&generator), random(&generator))
        let (a, b) = (RowKeys(one.sorted()), RowKeys(other.sorted()))
        expectSame(a, one, seed)
        expectSame(a.union(b), one.union(other), seed)
        expectSame(a.subtracting(b), one.subtracting(other), seed)
        expectSame(b.subtracting(a), other.subtracting(one), seed)
    }

    @Test func `neighbouring keys are one run, and keys that are there already stay`() {
        var keys = RowKeys()
        for key in Int64(5)..<10_005 { keys.append(key) }
        keys.append(10_004)
        keys.append(10_000..<10_010)
        #expect(keys.runCount == 1)
        #expect(keys.count == 10_005)
        keys.append(20_000)
        #expect(keys.runCount == 2)
        #expect(keys.last == 20_000)
    }

    @Test func `a record of billions of rows takes no memory, and runs that do not ascend are refused`() throws {
        func changes(_ runs: [(gap: Int64, count: UInt64)]) throws -> ChangeSet {
            var writer = ByteWriter()
            writer.write(1)
            writer.write(UInt32(7))
            writer.write(runs.count)
            for run in runs {
                writer.write(UInt64(bitPattern: run.gap))
                writer.write(run.count)
            }
            writer.write(0)
            writer.write(0)
            return try writer.bytes.withUnsafeBytes {
                var reader = ByteReader($0)
                return try ChangeSet(from: &reader)
            }
        }
        let many = try changes([(3, 1 << 38), (1, 1)])
        #expect(many.tables[7]?.inserted.count == 1 << 38 + 1)
        for runs: [(Int64, UInt64)] in [
            [(3, 0)], [(3, 1 << 41)], [(3, 5), (0, 1)], [(3, 5), (-2, 1)], [(.max - 2, 5)],
        ] {
            #expect(throws: ByteReader.Truncated.self, "\(runs)") { try changes(runs) }
        }
    }
}
