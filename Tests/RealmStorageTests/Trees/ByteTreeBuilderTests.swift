import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ByteTreeBuilderTests {
    @Test(arguments: [0, 1, 2, 100, 5000])
    func `a built tree holds what was appended and can be changed afterwards`(count: Int) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        let store = try TreeFile()
        var model: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<count {
            let key = random.bytes(Int.random(in: 0...30, using: &random))
            model[key] = random.bytes([0, 8, 600].randomElement(using: &random) ?? 0)
        }
        let sorted = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        let snapshot = try store.write { transaction in
            transaction.catalog = try ByteTree.build(
                sorted: sorted.map { (key: $0.key, value: $0.value) },
                in: transaction
            )
            try transaction.catalog.verify(in: transaction.view)
        }
        try snapshot.catalog.verify(in: snapshot.view)
        #expect(try snapshot.catalog.holds(model, in: snapshot.view), "seed \(seed)")
        let changed = try store.write { transaction in
            for _ in 0..<200 {
                let key = random.bytes(Int.random(in: 0...30, using: &random))
                model[key] = [1]
                try transaction.catalog.set(key, [1], in: transaction)
            }
        }
        try changed.catalog.verify(in: changed.view)
        #expect(try changed.catalog.holds(model, in: changed.view), "seed \(seed)")
    }

    @Test func `keys that do not ascend are refused`() throws {
        let store = try TreeFile()
        try store.write { transaction in
            #expect {
                try ByteTree.build(sorted: [(key: [2], value: []), (key: [2], value: [])], in: transaction)
            } throws: { ($0 as? StorageError)?.code == .corrupt }
        }
    }
}
