import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ByteTreeTests {
    /// What kind of keys a random workload draws.
    enum Keys: CaseIterable, Sendable {
        case dense, random, sharedPrefix, boundaryLengths, clustered, highest

        func draw(_ random: inout SplitMix64) -> [UInt8] {
            switch self {
            case .dense: return UInt64.random(in: 0..<2000, using: &random).key
            case .random: return random.bytes(Int.random(in: 0...24, using: &random))
            case .sharedPrefix:
                let shared = [UInt8](repeating: 0x61, count: [0, 7, 500, 1000].randomElement(using: &random) ?? 0)
                return shared + UInt64.random(in: 0..<400, using: &random).key
            case .boundaryLengths:
                let count = [0, 1, 2, 3, 4, 5, 1023, 1024].randomElement(using: &random) ?? 0
                let fill = UInt8.random(in: 0...2, using: &random)
                var key = [UInt8](repeating: fill, count: count)
                for _ in 0..<2 where count > 0 {
                    key[Int.random(in: 0..<count, using: &random)] = UInt8.random(in: 0...3, using: &random)
                }
                return key
            case .clustered:
                return UInt64.random(in: 0..<20, using: &random).key + UInt64.random(in: 0..<100, using: &random).key
            case .highest:
                // Behind the first four bytes there is no next head to search for; the others keep pages without a prefix.
                let start: [UInt8] = Int.random(in: 0..<8, using: &random) == 0 ? [] : [0xFF, 0xFF, 0xFF, 0xFF]
                return start + random.bytes(Int.random(in: 0...3, using: &random))
            }
        }
    }

    private static func drawValue(_ random: inout SplitMix64) -> [UInt8] {
        let count = [0, 0, 1, 8, 8, 8, 40, 511, 512, 513, 5000].randomElement(using: &random) ?? 0
        return [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: count)
    }

    @Test(arguments: Keys.allCases)
    func `random operations agree with a dictionary, and old snapshots stay as they were`(keys: Keys) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        let store = try TreeFile()
        var model: [[UInt8]: [UInt8]] = [:]
        var kept: [(snapshot: Snapshot, model: [[UInt8]: [UInt8]])] = []
        for round in 0..<12 {
            let removalShare = [1, 3, 8][round % 3]
            let snapshot = try store.write { transaction in
                for _ in 0..<150 {
                    let key = keys.draw(&random)
                    if Int.random(in: 0..<150, using: &random) == 0 {
                        let share = Int.random(in: 1...6, using: &random)
                        let present = model.keys.filter { _ in Int.random(in: 0..<share, using: &random) == 0 }
                        let absent = (0..<20).map { _ in keys.draw(&random) }
                        let victims = Set(present + absent).sorted { $0.lexicographicallyPrecedes($1) }
                        let removed = try transaction.catalog.removeAscending(victims, in: transaction)
                        let expected = victims.count { model.removeValue(forKey: $0) != nil }
                        #expect(removed == expected, "seed \(seed)")
                    } else if Int.random(in: 0..<10, using: &random) < removalShare {
                        let victim = Bool.random(using: &random) ? key : model.keys.first ?? key
                        let removed = try transaction.catalog.remove(victim, in: transaction)
                        #expect(removed == (model.removeValue(forKey: victim) != nil), "seed \(seed)")
                    } else {
                        let value = Self.drawValue(&random)
                        let isNew = try transaction.catalog.set(key, value, in: transaction)
                        #expect(isNew == (model.updateValue(value, forKey: key) == nil), "seed \(seed)")
                    }
                }
                try transaction.catalog.verify(in: transaction.view)
                #expect(try transaction.catalog.holds(model, in: transaction.view), "seed \(seed)")
                for _ in 0..<20 {
                    let key = keys.draw(&random)
                    #expect(try transaction.catalog.get(key, in: transaction.view) == model[key], "seed \(seed)")
                }
            }
            try snapshot.catalog.verify(in: snapshot.view)
            var audit = try SpaceAudit(snapshot)
            try snapshot.catalog.enter(&audit, in: snapshot.view)
            try audit.finish()
            if round % 3 == 0 { kept.append((snapshot, model)) }
        }
        for (snapshot, model) in kept {
            #expect(try snapshot.catalog.holds(model, in: snapshot.view), "seed \(seed)")
        }
    }

    @Test func `removing everything in random order leaves no page behind`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        let store = try TreeFile()
        var keys = (0..<3000 as Range<UInt64>).map(\.key)
        try store.write { transaction in
            for key in keys.shuffled(using: &random) { try transaction.catalog.set(key, key, in: transaction) }
        }
        keys.shuffle(using: &random)
        let snapshot = try store.write { transaction in
            for (index, key) in keys.enumerated() {
                #expect(try transaction.catalog.remove(key, in: transaction), "seed \(seed)")
                if index % 500 == 0 { try transaction.catalog.verify(in: transaction.view) }
            }
        }
        #expect(snapshot.catalog.isEmpty)
        #expect(try snapshot.catalog.count(in: snapshot.view) == 0)
        let audit = try SpaceAudit(snapshot)
        try audit.finish()
    }

    @Test(arguments: [2, 20, 500])
    func `a tree of which a few entries are left has as few pages as one that was made of them`(kept: Int) throws {
        let store = try TreeFile()
        let keys = (0..<5000 as Range<UInt64>).map(\.key)
        try store.write { transaction in
            for key in keys { try transaction.catalog.set(key, key, in: transaction) }
        }
        let step = keys.count / kept
        let sparse = try store.write { transaction in
            for (index, key) in keys.enumerated() where index % step != 0 {
                try transaction.catalog.remove(key, in: transaction)
            }
        }
        let fresh = try TreeFile()
            .write { transaction in
                for (index, key) in keys.enumerated() where index % step == 0 {
                    try transaction.catalog.set(key, key, in: transaction)
                }
            }
        func pageCount(_ snapshot: Snapshot) throws -> Int {
            var count = 0
            try snapshot.catalog.forEachPage(in: snapshot.view) { _ in count += 1 }
            return count
        }
        #expect(try sparse.catalog.count(in: sparse.view) == keys.count / step + (keys.count % step == 0 ? 0 : 1))
        #expect(try pageCount(sparse) <= 4 * pageCount(fresh))
    }

    @Test func `removeAll frees every page, the overflow runs included`() throws {
        let store = try TreeFile()
        try store.write { transaction in
            for number in 0..<500 as Range<UInt64> {
                let value = [UInt8](repeating: 7, count: number % 50 == 0 ? 10_000 : 20)
                try transaction.catalog.set(number.key, value, in: transaction)
            }
        }
        let snapshot = try store.write { try $0.catalog.removeAll(in: $0) }
        #expect(snapshot.catalog.isEmpty)
        let audit = try SpaceAudit(snapshot)
        try audit.finish()
    }

    @Test(arguments: [0, 1, 512, 513, 4064, 4065, 100_000])
    func `a value of any size comes back whole and can be replaced by one of any other`(byteCount: Int) throws {
        let store = try TreeFile()
        let value = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for other in [0, 1, 512, 513, 100_000] {
            let replacement = [UInt8](repeating: 9, count: other)
            var snapshot = try store.write { transaction in
                try transaction.catalog.set([1, 2, 3], value, in: transaction)
                #expect(try transaction.catalog.get([1, 2, 3], in: transaction.view) == value)
            }
            #expect(try snapshot.catalog.get([1, 2, 3], in: snapshot.view) == value)
            snapshot = try store.write { try $0.catalog.set([1, 2, 3], replacement, in: $0) }
            #expect(try snapshot.catalog.get([1, 2, 3], in: snapshot.view) == replacement)
        }
    }

    @Test(arguments: [0, 1, 1023, 1024])
    func `a key of any length up to the limit can be stored`(byteCount: Int) throws {
        let store = try TreeFile()
        let key = [UInt8](repeating: 0xAB, count: byteCount)
        let snapshot = try store.write { transaction in
            try transaction.catalog.set(key, [1], in: transaction)
            try transaction.catalog.set([0xFF], [2], in: transaction)
        }
        #expect(try snapshot.catalog.get(key, in: snapshot.view) == [1])
        #expect(try snapshot.catalog.get([0xFF], in: snapshot.view) == [2])
    }

    @Test func `a key beyond the limit is refused with an error`() throws {
        let store = try TreeFile()
        try store.write { transaction throws in
            let key = [UInt8](repeating: 1, count: ByteTree.maximumKeyByteCount + 1)
            #expect {
                try transaction.catalog.set(key, [], in: transaction)
            } throws: { ($0 as? StorageError)?.code == .limit }
            #expect(try transaction.catalog.get(key, in: transaction.view) == nil)
        }
    }

    @Test func `ascending insertions leave full pages behind`() throws {
        let store = try TreeFile()
        let count = 20_000
        let snapshot = try store.write { transaction in
            for number in 0..<UInt64(count) { try transaction.catalog.set(number.key, number.key, in: transaction) }
        }
        var pageCount = 0
        try snapshot.catalog.forEachPage(in: snapshot.view) { _ in pageCount += 1 }
        // At most 26 bytes an entry without the shared prefix: slot 8, key 8, value length 2, value 8.
        #expect(pageCount <= count * 26 / 4064 + 4)
    }

    @Test func `removing an absent key changes no page`() throws {
        let store = try TreeFile()
        try store.write { try $0.catalog.set([1], [1], in: $0) }
        try store.write { transaction throws in
            let root = transaction.catalog.root
            #expect(try !transaction.catalog.remove([2], in: transaction))
            #expect(transaction.catalog.root == root)
        }
    }

    @Test func `counts of ranges are exact`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        let store = try TreeFile()
        let numbers = (0..<4000).map { _ in UInt64.random(in: 0..<100_000, using: &random) }
        let sorted = Set(numbers).sorted()
        let snapshot = try store.write { transaction in
            for number in numbers { try transaction.catalog.set(number.key, [], in: transaction) }
        }
        #expect(try snapshot.catalog.count(in: snapshot.view) == sorted.count)
        for _ in 0..<100 {
            let bounds = [
                UInt64.random(in: 0..<100_000, using: &random), UInt64.random(in: 0..<100_000, using: &random),
            ]
            .sorted()
            let (lower, upper) = (bounds[0].key, bounds[1].key)
            let view = snapshot.view
            let tree = snapshot.catalog
            let between = try lower.withUnsafeBytes { lower in
                try upper.withUnsafeBytes { upper in try tree.count(from: lower, to: upper, in: view) }
            }
            #expect(between == sorted.count { $0 >= bounds[0] && $0 < bounds[1] }, "seed \(seed)")
            let above = try lower.withUnsafeBytes { try tree.count(from: $0, to: nil, in: view) }
            #expect(above == sorted.count { $0 >= bounds[0] }, "seed \(seed)")
            let below = try upper.withUnsafeBytes { try tree.count(from: nil, to: $0, in: view) }
            #expect(below == sorted.count { $0 < bounds[1] }, "seed \(seed)")
        }
    }

    @Test func `a rolled back transaction leaves the tree as it was`() throws {
        let store = try TreeFile()
        let before = try store.write { transaction in
            for number in 0..<1000 as Range<UInt64> { try transaction.catalog.set(number.key, [1], in: transaction) }
        }
        let transaction = try store.file.beginWrite()
        for number in 500..<1500 as Range<UInt64> { try transaction.catalog.set(number.key, [2], in: transaction) }
        transaction.rollback()
        let after = try store.write { _ in }
        #expect(try after.catalog.count(in: after.view) == 1000)
        #expect(try after.catalog.get(UInt64(700).key, in: after.view) == [1])
        #expect(before.catalog.root == after.catalog.root)
    }
}

extension ByteTree {
    func enter(_ audit: inout SpaceAudit, in view: PageView) throws {
        var pages: [PageReference] = []
        try forEachPage(in: view) { pages.append($0) }
        for page in pages { try audit.enter(page) }
    }
}
