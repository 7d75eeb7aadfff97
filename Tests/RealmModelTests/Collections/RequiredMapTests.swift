import Testing

@testable import RealmModel
@testable import RealmStorage

/// Dictionaries whose values may be null, and those whose values may not.
@Suite struct RequiredMapTests {
    private static func classes(isOptional: Bool) -> [ClassSchema] {
        [
            ClassSchema(
                name: "Owner",
                properties: [
                    PropertySchema(
                        name: "pets",
                        kind: .object,
                        collection: .map,
                        isOptional: isOptional,
                        targetClass: "Pet"
                    ),
                    PropertySchema(name: "scores", kind: .int, collection: .map, isOptional: isOptional),
                    PropertySchema(name: "prices", kind: .decimal128, collection: .map, isOptional: isOptional),
                    PropertySchema(name: "marks", kind: .int, collection: .set, isOptional: isOptional),
                ]
            ),
            ClassSchema(name: "Pet", properties: [PropertySchema(name: "age", kind: .int)]),
        ]
    }

    /// An owner of so many pets.
    private func database(isOptional: Bool, pets count: Int64) throws -> TestDatabase {
        let database = try TestDatabase(Self.classes(isOptional: isOptional))
        try database.write { _ in
            let owners = try database.table("Owner")
            let pets = try database.table("Pet")
            let owner = try owners.insert()
            for number in 0..<count {
                try owners.mapSet(0, key: owner, "pet \(number)", to: .link(try pets.insert()))
            }
        }
        return database
    }

    private func entries(_ database: TestDatabase, _ property: Int = 0) throws -> [String: StoredValue] {
        let entries = try database.table("Owner").map(property, key: 0).entries()
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.value) })
    }

    /// Puts null into an entry, as earlier releases did where its object was deleted.
    private func leaveNull(_ name: String, in database: TestDatabase) throws {
        try database.write { _ in
            let owners = try database.table("Owner")
            let place = try owners.map(0, key: 0).position(of: name)
            guard case .link(let target)? = try owners.map(0, key: 0).value(for: name) else { return }
            try owners.removeBacklink(0, target: target, origin: 0)
            let bytes = try MapFormat.encode(name, .null, owners.slots[0])
            try bytes.withUnsafeBytes {
                try owners.rawSplice(0, key: 0, place.index..<place.index + 1, with: .bytes($0))
            }
        }
    }

    @Test(arguments: [3, 200] as [Int64])
    func `a dictionary of required links loses the entry of an object that is deleted`(count: Int64) throws {
        let database = try database(isOptional: false, pets: count)
        let changes = try database.write { _ in try database.table("Pet").delete(key: 1) }
        #expect(changes.tables[try database.table("Owner").id]?.modified.map(\.key) == [0])
        let entries = try entries(database)
        #expect(entries.count == Int(count) - 1)
        #expect(entries["pet 0"] == .link(0))
        #expect(entries["pet 1"] == nil)
        try FileVerifier.verify(database.file.beginRead())
        try database.write { _ in try database.table("Pet").deleteAll() }
        #expect(try self.entries(database).isEmpty)
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test func `a dictionary of required links loses all entries of an object that has several names`() throws {
        let database = try database(isOptional: false, pets: 5)
        try database.write { _ in
            let owners = try database.table("Owner")
            for name in ["a", "pet 3", "z", "zz"] { try owners.mapSet(0, key: 0, name, to: .link(1)) }
        }
        try database.write { _ in try database.table("Pet").delete(key: 1) }
        #expect(try entries(database) == ["pet 0": .link(0), "pet 2": .link(2), "pet 4": .link(4)])
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test(arguments: [3, 200] as [Int64])
    func `a dictionary of optional links keeps the name with null`(count: Int64) throws {
        let database = try database(isOptional: true, pets: count)
        try database.write { _ in try database.table("Pet").delete(key: 1) }
        let entries = try entries(database)
        #expect(entries.count == Int(count))
        #expect(entries["pet 1"] == .null)
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test(arguments: [3, 200] as [Int64])
    func `null that an earlier release left in a dictionary of required links is read`(count: Int64) throws {
        let database = try database(isOptional: false, pets: count)
        try leaveNull("pet 1", in: database)
        #expect(try entries(database)["pet 1"] == .null)
        #expect(try database.table("Owner").map(0, key: 0).value(for: "pet 2") == .link(2))
        try FileVerifier.verify(database.file.beginRead())
        try database.write { _ in
            let owners = try database.table("Owner")
            try database.table("Pet").delete(key: 2)
            try owners.mapSet(0, key: 0, "pet 9", to: .link(0))
            #expect(throws: ModelError.self) { try owners.mapSet(0, key: 0, "pet 0", to: .null) }
            try owners.mapSet(0, key: 0, "pet 1", to: .link(0))
        }
        let entries = try entries(database)
        #expect(entries["pet 1"] == .link(0))
        #expect(entries["pet 2"] == nil)
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test func `values that become optional, or required, keep what they are`() throws {
        let database = try database(isOptional: false, pets: 3)
        let price = StoredValue.decimal(DecimalBytes(DecimalNumber(parsing: "1.5")!))
        try database.write { _ in
            let owners = try database.table("Owner")
            try owners.mapSet(1, key: 0, "a", to: .int(1))
            try owners.mapSet(2, key: 0, "a", to: price)
            try owners.setAssign(3, key: 0, [.int(-5), .int(0), .int(5)])
        }
        try leaveNull("pet 1", in: database)
        try database.reconcile(Self.classes(isOptional: true), version: 2)
        #expect(try entries(database) == ["pet 0": .link(0), "pet 1": .null, "pet 2": .link(2)])
        #expect(try entries(database, 1) == ["a": .int(1)])
        #expect(try entries(database, 2) == ["a": price])
        try database.write { _ in
            let owners = try database.table("Owner")
            try owners.mapSet(1, key: 0, "b", to: .null)
            try owners.mapSet(2, key: 0, "b", to: .null)
            try owners.setInsert(3, key: 0, .null)
        }
        try database.reconcile(Self.classes(isOptional: false), version: 3)
        #expect(try entries(database) == ["pet 0": .link(0), "pet 2": .link(2)])
        #expect(try entries(database, 1) == ["a": .int(1), "b": .int(0)])
        #expect(try entries(database, 2)["b"] == .decimal(DecimalBytes(high: 0, low: 0)))
        #expect(try database.table("Owner").list(3, key: 0).values() == [.int(-5), .int(0), .int(5)])
        try FileVerifier.verify(database.file.beginRead())
    }
}
