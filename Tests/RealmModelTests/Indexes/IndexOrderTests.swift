import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

@Suite struct IndexOrderTests {
    struct Kind: CustomTestStringConvertible, Sendable {
        var kind: PropertyKind
        /// Values in their order, smallest first.
        var values: [StoredValue]
        var testDescription: String { kind.name }
    }

    static func string(_ head: String, _ count: Int, _ tail: String = "") -> StoredValue {
        .string(String(repeating: head, count: count) + tail)
    }

    static let kinds: [Kind] = [
        Kind(
            kind: .int,
            values: [.null, .int(.min), .int(-65_536), .int(-1), .int(0), .int(1), .int(255), .int(256), .int(.max)]
        ),
        Kind(kind: .bool, values: [.null, .bool(false), .bool(true)]),
        Kind(
            kind: .date,
            values: [
                .null, .date(-.infinity), .date(-.greatestFiniteMagnitude), .date(-1.5), .date(-.leastNonzeroMagnitude),
                .date(0), .date(.leastNonzeroMagnitude), .date(1), .date(.infinity),
            ]
        ),
        Kind(
            kind: .string,
            values: [
                .null, .string(""), .string("\0"), .string("\0\0"), .string("\0a"), .string("\u{1}"), .string("a"),
                .string("a\0"), .string("a\0b"), .string("a\u{1}"), .string("aa"), .string("b"),
                string("x", 255), string("x", 256), string("x", 257), string("x", 300, "a"), string("x", 300, "b"),
                string("x", 301), .string("é"), .string("日本"),
            ]
        ),
        Kind(
            kind: .objectId,
            values: [
                .null, .objectId(ObjectIDBytes(high: 0, low: 0)), .objectId(ObjectIDBytes(high: 0, low: .max)),
                .objectId(ObjectIDBytes(high: 1, low: 0)), .objectId(ObjectIDBytes(high: .max, low: .max)),
            ]
        ),
        Kind(
            kind: .uuid,
            values: [
                .null, .uuid(UUIDBytes(high: 0, low: 0)), .uuid(UUIDBytes(high: 0, low: .max)),
                .uuid(UUIDBytes(high: 1 << 63, low: 0)), .uuid(UUIDBytes(high: .max, low: .max)),
            ]
        ),
    ]

    static func schema(_ kind: PropertyKind) -> [ClassSchema] {
        [
            ClassSchema(
                name: "Row",
                properties: [PropertySchema(name: "value", kind: kind, isOptional: true, isIndexed: true)]
            )
        ]
    }

    @Test("Every kind of index is in the order of its values, and ranges cut it where they should", arguments: kinds)
    func ordersValues(_ kind: Kind) throws {
        let database = try TestDatabase(Self.schema(kind.kind))
        var random = SplitMix64(seed: 7)
        let shuffled = (kind.values + kind.values).shuffled(using: &random)
        try database.write { _ in
            for value in shuffled { try database.table("Row").set("value", database.table("Row").insert(), value) }
        }
        let table = try database.table("Row")
        func rank(_ key: Int64) -> Int { kind.values.firstIndex(of: shuffled[Int(key)])! }
        func expected(_ range: Range<Int>) -> [Int64] {
            shuffled.indices.map(Int64.init).filter { range.contains(rank($0)) }
                .sorted { (rank($0), $0) < (rank($1), $1) }
        }
        let count = kind.values.count
        #expect(try table.rangeKeys(property: 0, lower: .unbounded, upper: .unbounded) == expected(0..<count))
        for (index, value) in kind.values.enumerated() {
            #expect(try table.indexedKeys(property: 0, equalTo: value) == expected(index..<index + 1).sorted())
            #expect(
                try table.rangeKeys(property: 0, lower: .including(value), upper: .unbounded)
                    == expected(index..<count),
                "from \(value)"
            )
            #expect(
                try table.rangeKeys(property: 0, lower: .excluding(value), upper: .unbounded)
                    == expected(index + 1..<count),
                "after \(value)"
            )
            #expect(
                try table.rangeKeys(property: 0, lower: .unbounded, upper: .including(value))
                    == expected(0..<index + 1),
                "through \(value)"
            )
            #expect(
                try table.rangeKeys(property: 0, lower: .unbounded, upper: .excluding(value)) == expected(0..<index),
                "before \(value)"
            )
            #expect(
                try table.rangeKeys(property: 0, lower: .unbounded, upper: .including(value), limit: 3)
                    == Array(expected(0..<index + 1).prefix(3))
            )
        }
        #expect(
            try table.rangeCount(property: 0, lower: .including(kind.values[1]), upper: .excluding(kind.values[2])) == 2
        )
    }

    @Test("Negative zero is found as zero, and NaN comes last and equals NaN")
    func normalisesDoubles() throws {
        let database = try TestDatabase(Self.schema(.date))
        try database.write { _ in
            let table = try database.table("Row")
            for value in [.nan, -0.0, 0.0, 5, -.nan, .infinity] as [Double] {
                try table.set("value", table.insert(), .date(value))
            }
        }
        let table = try database.table("Row")
        #expect(try table.indexedKeys(property: 0, equalTo: .date(0)) == [1, 2])
        #expect(try table.indexedKeys(property: 0, equalTo: .date(-0.0)) == [1, 2])
        #expect(try table.indexedKeys(property: 0, equalTo: .date(.nan)) == [0, 4])
        #expect(try table.rangeKeys(property: 0, lower: .including(.date(0)), upper: .unbounded) == [1, 2, 3, 5, 0, 4])
    }

    @Test("Prefixes find what begins with them, beyond the key's limit too", arguments: ["", "a", "x", "\0", "é"])
    func findsPrefixes(_ head: String) throws {
        let kind = Self.kinds[3]
        let database = try TestDatabase(Self.schema(.string))
        try database.write { _ in
            for value in kind.values { try database.table("Row").set("value", database.table("Row").insert(), value) }
        }
        let table = try database.table("Row")
        for prefix in [head, String(repeating: head, count: 255), String(repeating: head, count: 300)] {
            let expected = kind.values.indices.filter {
                if case .string(let string) = kind.values[$0] { return Array(string.utf8).starts(with: prefix.utf8) }
                return false
            }
            let found = try Array(prefix.utf8).withUnsafeBytes { try table.prefixKeys(property: 0, prefix: $0) }
            #expect(found == expected.map(Int64.init), "\(prefix.count)")
        }
    }

    @Test("A long string is found among many that begin like it without a look at their rows")
    func findsLongStrings() throws {
        let database = try TestDatabase(Self.schema(.string))
        let count: Int64 = 500
        try database.write { _ in
            let table = try database.table("Row")
            for number in 0..<count { try table.set("value", table.insert(), Self.string("x", 256, "\(number % 250)")) }
        }
        let table = try database.table("Row")
        for number in [Int64(0), 7, 249] {
            let value = Self.string("x", 256, "\(number)")
            #expect(try table.indexedKeys(property: 0, equalTo: value) == [number, number + 250])
            // Those that stand together in the index: no other rows are asked.
            #expect(try table.indexedCount(property: 0, equalTo: value) == 2)
        }
        #expect(try table.indexedCount(property: 0, equalTo: Self.string("x", 256, "other")) == 0)
        try ModelVerifier.verify(database.model)
    }

    @Test("Every file hashes long strings with a key of its own, and keeps it")
    func keepsHashKey() throws {
        func key(_ database: TestDatabase) throws -> SipHash.Key { try database.table("Row").slots[0].hashKey }
        let (one, other) = (try TestDatabase(Self.schema(.string)), try TestDatabase(Self.schema(.string)))
        #expect(try key(one) != .none)
        #expect(try key(one) != key(other))
        let before = try key(one)
        try one.reconcile(Self.schema(.string) + [ClassSchema(name: "Other", properties: [])], version: 2)
        #expect(try key(one) == before)
        let copy = one.directory.path("copy.realm")
        let snapshot = try one.file.beginRead()
        try StorageFile.build(at: copy, replaces: false, beginning: FileBeginning(copyOf: snapshot)) {
            try FileCompactor.copy(snapshot, to: $0)
        }
        let model = try ModelView(snapshot: StorageFile.open(path: copy).beginRead())
        #expect(try #require(try model.table(named: "Row")).slots[0].hashKey == before)
    }

    @Test("String primary keys of any length are told apart by their last byte")
    func distinguishesLongPrimaryKeys() throws {
        let database = try TestDatabase([
            ClassSchema(name: "Row", properties: [PropertySchema(name: "id", kind: .string, isPrimaryKey: true)])
        ])
        let values = (0..<30).map { Self.string("k", $0 < 10 ? 255 : $0 < 20 ? 254 : 300, "\($0)") }
        let absent = Self.string("k", 300, "x")
        try database.write { _ in
            let table = try database.table("Row")
            for value in values { _ = try table.insert(primaryKey: value) }
            let text = TableView.describe([values[4]])
            #expect(
                throws: ModelError.duplicatePrimaryKey(className: "Row", property: "id", value: text, existing: 4)
            ) {
                try table.insert(primaryKey: values[4])
            }
            #expect(throws: ModelError.self) { try table.insert(primaryKey: values[24]) }
        }
        for (key, value) in values.enumerated() {
            #expect(try database.table("Row").find(primaryKey: value) == Int64(key))
        }
        #expect(try database.table("Row").find(primaryKey: Self.string("k", 256)) == nil)
        #expect(try database.table("Row").find(primaryKey: absent) == nil)
        try ModelVerifier.verify(database.model)
    }

    @Test(
        "Indexes that are made up for many rows at once are those of one row at a time",
        arguments: [1 << 18, 256] as [Int64]
    )
    func catchesUp(limit: Int64) throws {
        let classes = [
            ClassSchema(
                name: "Row",
                properties: [
                    PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                    PropertySchema(name: "name", kind: .string, isOptional: true, isIndexed: true),
                    PropertySchema(name: "next", kind: .object, targetClass: "Row"),
                ]
            )
        ]
        let database = try TestDatabase(classes)
        var random = SplitMix64(seed: 11)
        var names: [Int64: String?] = [:]
        for round in 0..<4 {
            try database.write { _ in
                let table = try database.table("Row")
                table.pendingRowLimit = limit
                for index in 0..<[1_500, 20, 3_000, 400][round] {
                    let id = random.chance(90) ? Int64(round * 10_000 + index) : Int64(-random.below(1_000_000))
                    guard try table.find(primaryKey: .int(id)) == nil else { continue }
                    let key = try table.insert(intPrimaryKey: id)
                    let name = random.chance(10) ? nil : "name \(random.below(500))"
                    try table.set("name", key, name.map { .string($0) } ?? .null)
                    let target = Int64(random.below(Int(key) + 1))
                    if try table.contains(key: target) { try table.setLink(2, key: key, to: target) }
                    names[key] = name
                    if random.chance(3) {
                        try table.delete(key: key)
                        names[key] = nil
                    }
                    if random.chance(1) {
                        let expected = names.filter { $0.value == "name 7" }.keys.sorted()
                        #expect(try table.indexedKeys(property: 1, equalTo: .string("name 7")) == expected)
                    }
                }
            }
            try ModelVerifier.verify(database.model)
            let all = try database.table("Row").rangeKeys(property: 1, lower: .unbounded, upper: .unbounded)
            #expect(all.count == names.count)
            let values = all.map { names[$0]! ?? "" }
            #expect(values == values.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
        }
    }
}
