import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ByteTreeCursorTests {
    private static func seek(_ cursor: inout ByteTreeCursor, _ bound: [UInt8]) throws -> Bool {
        try bound.withUnsafeBytes { try cursor.seek($0) }
    }

    @Test func `a cursor walks both ways from any bound as a sorted array does`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        let store = try TreeFile()
        let keys = Set((0..<2500).map { _ in random.bytes(Int.random(in: 0...12, using: &random)) })
            .sorted { $0.lexicographicallyPrecedes($1) }
        let snapshot = try store.write { transaction in
            for key in keys.shuffled(using: &random) { try transaction.catalog.set(key, key, in: transaction) }
        }
        var cursor = snapshot.catalog.cursor(in: snapshot.view)
        for _ in 0..<200 {
            let bound = random.bytes(Int.random(in: 0...12, using: &random))
            let expected = keys.firstIndex { !$0.lexicographicallyPrecedes(bound) } ?? keys.count
            var isValid = try Self.seek(&cursor, bound)
            for index in expected..<min(expected + 120, keys.count + 1) {
                #expect(isValid == (index < keys.count), "seed \(seed)")
                guard isValid else { break }
                #expect([UInt8](cursor.key) == keys[index], "seed \(seed)")
                #expect(cursor.keyByteCount == keys[index].count)
                isValid = try cursor.next()
            }
            isValid = try bound.withUnsafeBytes { try cursor.seek(before: $0) }
            for index in (max(-1, expected - 120)..<expected).reversed() {
                #expect(isValid == (index >= 0), "seed \(seed)")
                guard isValid else { break }
                #expect([UInt8](cursor.key) == keys[index], "seed \(seed)")
                #expect([UInt8](try cursor.value) == keys[index], "seed \(seed)")
                isValid = try cursor.previous()
            }
        }
    }

    @Test func `the whole tree can be walked backwards`() throws {
        let store = try TreeFile()
        let snapshot = try store.write { transaction in
            for number in 0..<3000 as Range<UInt64> { try transaction.catalog.set(number.key, [], in: transaction) }
        }
        var cursor = snapshot.catalog.cursor(in: snapshot.view)
        var isValid = try cursor.seekLast()
        var expected: UInt64 = 3000
        while isValid {
            expected -= 1
            #expect(cursor.lastEightBytes == expected)
            isValid = try cursor.previous()
        }
        #expect(expected == 0)
        #expect(!cursor.isValid)
    }

    @Test func `prefix, bound and last bytes are right wherever the page's prefix ends`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        let store = try TreeFile()
        let snapshot = try store.write { transaction in
            for number in 0..<600 as Range<UInt64> {
                let key =
                    [UInt8](repeating: 5, count: Int(number % 3) * 6) + (number / 3).key.suffix(Int(number % 8) + 1)
                try transaction.catalog.set(key, [], in: transaction)
            }
        }
        var cursor = snapshot.catalog.cursor(in: snapshot.view)
        var isValid = try cursor.seekFirst()
        var last: [UInt8]?
        while isValid {
            let key = [UInt8](cursor.key)
            #expect(last.map { $0.lexicographicallyPrecedes(key) } ?? true)
            last = key
            #expect(cursor.lastEightBytes == key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
            for length in 0...key.count {
                #expect(key.prefix(length).withUnsafeBytes { cursor.hasPrefix($0) })
                let end = key.prefix(length).withUnsafeBytes { cursor.lastEightBytes(behind: $0) }
                #expect(end == cursor.lastEightBytes)
                #expect(
                    !(key.prefix(length) + [key.count > length ? key[length] ^ 1 : 0])
                        .withUnsafeBytes { cursor.lastEightBytes(behind: $0) != nil || cursor.hasPrefix($0) }
                )
            }
            for _ in 0..<3 {
                let bound =
                    [[], key, key + [0], random.bytes(3), Array(key.dropLast())].randomElement(using: &random) ?? []
                #expect(
                    bound.withUnsafeBytes { cursor.isBelow($0) } == key.lexicographicallyPrecedes(bound),
                    "seed \(seed)"
                )
            }
            isValid = try cursor.next()
        }
    }

    @Test func `a copy of a cursor keeps its own key`() throws {
        let store = try TreeFile()
        let snapshot = try store.write { transaction in
            for number in 0..<400 as Range<UInt64> { try transaction.catalog.set(number.key, [], in: transaction) }
        }
        var first = snapshot.catalog.cursor(in: snapshot.view)
        _ = try first.seekLast()
        let key = first.key
        var second = first
        _ = try second.previous()
        #expect([UInt8](second.key) == UInt64(398).key)
        #expect([UInt8](key) == UInt64(399).key)
    }

    @Test func `a cursor of an empty tree stands nowhere`() throws {
        let store = try TreeFile()
        let snapshot = try store.write { _ in }
        var cursor = ByteTree().cursor(in: snapshot.view)
        #expect(try !cursor.seekFirst())
        #expect(try !cursor.seekLast())
        #expect(try !Self.seek(&cursor, [1]))
        #expect(try !cursor.next())
        #expect(try !cursor.previous())
        #expect(!cursor.isValid)
    }
}
