import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

@Suite struct KeyListTests {
    @Test(arguments: [10, 129, 3_000])
    func `keys come out in order, equal ones as they came`(count: Int) {
        var random = SplitMix64(seed: UInt64(count))
        var list = KeyList()
        var expected: [(key: [UInt8], removes: Bool, place: Int)] = []
        for place in 0..<count {
            var key = (0..<random.below(14)).map { _ in [0, 0, 1, 7, 255][random.below(5)] as UInt8 }
            if random.chance(30) { key = [1, 97, 98, 99, 97, 98, 99, 97] + key }
            if random.chance(1) { key += Array(repeating: 3, count: 400) }
            let removes = random.chance(50)
            expected.append((key, removes, place))
            list.append(removes: removes) { out in
                key.withUnsafeBytes { out.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
                return key.count
            }
        }
        expected.sort { left, right in
            left.key == right.key ? left.place < right.place : left.key.lexicographicallyPrecedes(right.key)
        }
        list.sort()
        #expect(list.count == count)
        for index in 0..<count {
            #expect(Array(list.key(at: index)) == expected[index].key)
            #expect(list.removes(at: index) == expected[index].removes)
            let isSuperseded = index + 1 < count && expected[index + 1].key == expected[index].key
            #expect(list.isSuperseded(at: index) == isSuperseded)
        }
    }

    @Test func `short row keys are in the order of row keys and can be read from their end`() throws {
        var keys: [Int64] = [0, 1, .max]
        for bits in 1..<63 { keys += [(1 << Int64(bits)) - 1, 1 << Int64(bits), (1 << Int64(bits)) + 1] }
        keys = Array(Set(keys)).sorted()
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 8)
        defer { bytes.deallocate() }
        var previous: [UInt8] = []
        let database = try TestDatabase([ClassSchema(name: "Row", properties: [])])
        try database.rollBack { model in
            let transaction = model.transaction!.storage
            var tree = ByteTree()
            for key in keys {
                let length = IndexKey.append(rowKey: key, to: bytes, at: 0)
                let encoded = Array(UnsafeRawBufferPointer(start: bytes, count: length))
                #expect(length >= 2 && length <= 9)
                #expect(IndexKey.rowKeyByteCount(last: encoded[length - 1]) == length)
                #expect(previous.lexicographicallyPrecedes(encoded), "\(key)")
                previous = encoded
                try tree.insert(UnsafeRawBufferPointer(start: bytes, count: length), value: .none, in: transaction)
            }
            var cursor = tree.cursor(in: transaction.view)
            var isOnEntry = try cursor.seekFirst()
            var found: [Int64] = []
            while isOnEntry {
                found.append(IndexKey.rowKey(at: cursor))
                isOnEntry = try cursor.next()
            }
            #expect(found == keys)
            let upper = IndexKey.appendUpperBound(to: bytes, at: 0)
            #expect(previous.lexicographicallyPrecedes(Array(UnsafeRawBufferPointer(start: bytes, count: upper))))
        }
    }

    @Test func `no more rows than the limit wait for their index entries`() throws {
        let database = try TestDatabase([
            ClassSchema(name: "Row", properties: [PropertySchema(name: "size", kind: .int, isIndexed: true)])
        ])
        try database.write { _ in
            let table = try database.table("Row")
            table.pendingRowLimit = 64
            var most: Int64 = 0
            for number in Int64(0)..<1_000 {
                let key = try table.insert()
                try table.set("size", key, .int(number % 7))
                let writer = try #require(table.writer)
                let tree = writer.trees[Int(table.slots[0].tree)]
                most = max(most, writer.rows.tree.nextKey - tree.pendingFrom)
            }
            #expect(most == 64)
        }
        try ModelVerifier.verify(database.model)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `changes of indexed values in one transaction leave the index that the rows say`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let database = try TestDatabase([
            ClassSchema(
                name: "Row",
                properties: [
                    PropertySchema(name: "name", kind: .string, isOptional: true, isIndexed: true),
                    PropertySchema(name: "size", kind: .int, isIndexed: true),
                ]
            )
        ])
        var rows: [Int64: (name: String, size: Int64)] = [:]
        for round in 0..<5 {
            try database.write { model in
                let table = try database.table("Row")
                table.pendingRowLimit = 64
                model.transaction!.storage.unspilledPageLimit = [2, 8192][random.below(2)]
                for _ in 0..<1_500 {
                    if rows.isEmpty || random.chance(40) {
                        let key = try table.insert()
                        rows[key] = ("", 0)
                        try table.set("name", key, .string(""))
                    }
                    let key = Int64(random.below(Int(table.nextKey)))
                    guard rows[key] != nil else { continue }
                    if random.chance(15) {
                        try table.delete(key: key)
                        rows[key] = nil
                    } else if random.chance(50) {
                        // Few values, so that one is often put back within the transaction.
                        let name = "name \(random.below(3))"
                        try table.set("name", key, .string(name))
                        rows[key]!.name = name
                    } else {
                        let size = Int64(random.below(4))
                        try table.set("size", key, .int(size))
                        rows[key]!.size = size
                    }
                    if random.chance(1) {
                        let expected = rows.filter { $0.value.name == "name 1" }.keys.sorted()
                        #expect(try table.indexedKeys(property: 0, equalTo: .string("name 1")) == expected)
                    }
                }
            }
            try ModelVerifier.verify(database.model)
            let table = try database.table("Row")
            for size in 0..<4 as Range<Int64> {
                let expected = rows.filter { $0.value.size == size }.keys.sorted()
                #expect(
                    try table.indexedKeys(property: 1, equalTo: .int(size)) == expected,
                    "seed \(seed), round \(round)"
                )
            }
        }
    }
}
