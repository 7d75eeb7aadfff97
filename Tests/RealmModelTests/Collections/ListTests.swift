import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ListTests {
    static let kinds: [PropertyKind] = [.int, .bool, .string, .data, .date, .float, .double, .objectId, .uuid]

    @Test("Lists of every kind grow large and shrink again", arguments: kinds, [false, true])
    func crossesTheThreshold(_ kind: PropertyKind, isOptional: Bool) throws {
        let database = try TestDatabase([
            ClassSchema(
                name: "Row",
                properties: [PropertySchema(name: "list", kind: kind, collection: .list, isOptional: isOptional)]
            )
        ])
        var random = SplitMix64(seed: UInt64(kind.rawValue) * 2 + (isOptional ? 1 : 0))
        var expected: [StoredValue] = []
        try database.write { _ in _ = try database.table("Row").insert() }
        var wasLarge = false
        for count in [3, 40, 1_500, 1_200, 30, 0, 700, 2] {
            try database.write { _ in
                let table = try database.table("Row")
                while expected.count < count {
                    let value = random.value(of: kind, isOptional: isOptional)
                    let position = random.chance(50) ? expected.count : random.below(expected.count + 1)
                    try table.listInsert(0, key: 0, at: position, value)
                    expected.insert(value, at: position)
                }
                while expected.count > count {
                    let position = random.below(expected.count)
                    try table.listRemove(0, key: 0, at: position)
                    expected.remove(at: position)
                }
                #expect(try table.list(0, key: 0).values() == expected)
            }
            let list = try database.table("Row").list(0, key: 0)
            #expect(list.count == count)
            #expect(try list.values() == expected)
            if count > 0 {
                #expect(try list.value(at: count - 1) == expected[count - 1])
                #expect(try list.firstIndex(of: expected[count / 2]) == expected.firstIndex(of: expected[count / 2]))
            }
            if count >= 1_200 { wasLarge = wasLarge || list.isLarge }
            if count == 0 { #expect(!list.isLarge) }
            try ModelVerifier.verify(database.model)
        }
        #expect(wasLarge)
    }

    @Test("A large list that is rolled back or deleted leaves the version before alone, and its pages with the row")
    func rollsBackLargeLists() throws {
        let database = try TestDatabase([
            ClassSchema(name: "Row", properties: [PropertySchema(name: "list", kind: .int, collection: .list)])
        ])
        try database.write { _ in
            let table = try database.table("Row")
            let key = try table.insert()
            for index in 0..<3_000 { try table.listAppend(0, key: key, .int(Int64(index))) }
        }
        let before = try database.model.duplicate()
        try database.rollBack { _ in
            try database.table("Row").listRemoveAll(0, key: 0)
            #expect(try database.table("Row").list(0, key: 0).isEmpty)
        }
        #expect(try database.table("Row").list(0, key: 0).count == 3_000)
        try database.write { _ in
            try database.table("Row").listReplace(0, key: 0, at: 1_000, with: StoredValue.int(-1))
        }
        #expect(try database.table("Row").list(0, key: 0).int(at: 1_000) == -1)
        #expect(try before.table(named: "Row")?.list(0, key: 0).int(at: 1_000) == 1_000)
        try database.write { _ in try database.table("Row").delete(key: 0) }
        #expect(try before.table(named: "Row")?.list(0, key: 0).int(at: 2_999) == 2_999)
        var pages = 0
        try ModelVerifier.forEachReachablePage(in: database.model.snapshot) { pages += Int($0.pageCount) }
        #expect(pages < 4)
    }

    @Test("A value of no bytes that stands nowhere in memory is an element like others", arguments: [false, true])
    func emptyElements(isOptional: Bool) throws {
        let database = try TestDatabase([
            ClassSchema(
                name: "Row",
                properties: [PropertySchema(name: "list", kind: .data, collection: .list, isOptional: isOptional)]
            )
        ])
        let empty = BorrowedValue.bytes(UnsafeRawBufferPointer(start: nil, count: 0))
        let count = 2_000
        try database.write { _ in
            let table = try database.table("Row")
            let key = try table.insert()
            for _ in 0..<count { try table.listAppend(0, key: key, empty) }
        }
        let list = try database.table("Row").list(0, key: 0)
        #expect(list.isLarge)
        #expect(try list.values() == Array(repeating: .data([]), count: count))
    }

    @Test("A value that does not fit a list is refused")
    func refusesWrongValues() throws {
        let database = try TestDatabase([
            ClassSchema(name: "Row", properties: [PropertySchema(name: "list", kind: .int, collection: .list)])
        ])
        func error(_ value: String?) -> ModelError {
            .invalidValue(className: "Row", property: "list", expected: "array<int>", value: value)
        }
        try database.write { _ in
            let table = try database.table("Row")
            let key = try table.insert()
            #expect(throws: error("'x'")) { try table.listAppend(0, key: key, StoredValue.string("x")) }
            #expect(throws: error(nil)) { try table.listAppend(0, key: key, StoredValue.null) }
            #expect(throws: error(nil)) { try table.set(0, key: key, to: StoredValue.int(1)) }
        }
        #expect(try database.table("Row").list(0, key: 0).isEmpty)
    }
}
