import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

@Suite struct BacklinkTests {
    static let classes = [
        ClassSchema(
            name: "Person",
            properties: [
                PropertySchema(name: "friend", kind: .object, targetClass: "Person"),
                PropertySchema(name: "dogs", kind: .object, collection: .list, targetClass: "Dog"),
            ]
        ),
        ClassSchema(name: "Dog", properties: [PropertySchema(name: "age", kind: .int)]),
    ]

    @Test("A list that holds a row twice links to it twice, until both elements are gone")
    func countsMultiplicity() throws {
        let database = try TestDatabase(Self.classes)
        try database.write { _ in
            let people = try database.table("Person")
            let dogs = try database.table("Dog")
            let person = try people.insert()
            let dog = try dogs.insert()
            for _ in 0..<3 { try people.listAppend(1, key: person, .link(dog)) }
            #expect(try dogs.backlinkKeys(of: dog, from: people.id, property: 1) == [person, person, person])
            try people.listRemove(1, key: person, at: 1)
            #expect(try dogs.backlinkCount(of: dog, from: people.id, property: 1) == 2)
            try people.listRemoveAll(1, key: person)
            #expect(try !dogs.hasBacklinks(to: dog))
        }
        try ModelVerifier.verify(database.model)
    }

    @Test("A row whose key has more bits than a link has room for is not taken for another table's")
    func keysBeyondLinks() throws {
        let database = try TestDatabase(
            ["First", "Second", "Third"]
                .map {
                    ClassSchema(name: $0, properties: [PropertySchema(name: "any", kind: .any)])
                }
        )
        let first = try database.table("First")
        let third = try database.table("Third")
        #expect(first.id == 1 && third.id == 3)
        // As a damaged lock file or page would have the table give out.
        let beyond: Int64 = 1 << 44
        try database.write { _ in
            let origin = try database.table("Second").insert()
            #expect(try third.insert() == 0)
            try database.table("Second").set(0, key: origin, to: StoredValue.anyLink(table: third.id, key: 0))
            try first.openWriter().rows.skipKeys(to: beyond)
            #expect(try first.insert() == beyond)
        }
        #expect(try !first.hasBacklinks(to: beyond) && third.hasBacklinks(to: 0))
        try database.write { _ in try first.delete(key: beyond) }
        #expect(try third.hasBacklinks(to: 0))
        try ModelVerifier.verify(database.model)
        try database.write { _ in try third.delete(key: 0) }
        #expect(try database.table("Second").value(0, key: 0) == .null)
        try ModelVerifier.verify(database.model)
    }

    @Test("A link of a row whose backlink was put aside is the one that it has at the commit")
    func changesLinksPutAside() throws {
        let database = try TestDatabase(Self.classes)
        try database.write { _ in
            let people = try database.table("Person")
            people.pendingRowLimit = 8
            for _ in 0..<8 { _ = try people.insert() }
            for key in 0..<8 as Range<Int64> { try people.setLink(0, key: key, to: 7 - key) }
            // Before the ninth row the backlinks of those before it are put aside.
            _ = try people.insert()
            #expect(try people.openWriter().trees[Int(people.slots[0].tree)].aside.count == 1)
            // Another one; none; none and the same one again; the same one; a row that waits itself.
            try people.setLink(0, key: 0, to: 5)
            try people.setLink(0, key: 1, to: nil)
            try people.setLink(0, key: 2, to: nil)
            try people.setLink(0, key: 2, to: 5)
            try people.setLink(0, key: 3, to: 4)
            try people.setLink(0, key: 8, to: 8)
            try people.setLink(0, key: 8, to: 0)
        }
        let people = try database.table("Person")
        let origins = try (0..<9 as Range<Int64>).map { try people.backlinkKeys(of: $0, from: people.id, property: 0) }
        #expect(origins == [[7, 8], [6], [5], [4], [3], [0, 2], [], [], []])
        try ModelVerifier.verify(database.model)
        try database.write { _ in try database.table("Person").delete(key: 7) }
        #expect(try database.table("Person").value(0, key: 0) == .link(5))
    }

    @Test("Rows that a transaction keeps in memory make more links than the pages have room for")
    func manyInMemory() throws {
        let database = try TestDatabase(Self.classes)
        try database.write { _ in
            let people = try database.table("Person")
            let dogs = try database.table("Dog")
            let dog = try dogs.insert()
            for _ in 0..<1_500 {
                let person = try people.insert()
                try people.listAssign(1, key: person, Array(repeating: .link(dog), count: 100))
            }
            #expect(try dogs.backlinkCount(of: dog, from: people.id, property: 1) == 150_000)
            // Four bytes for each would not go into the pages.
            #expect(try people.openTransaction.storage.pageCount * pageByteCount < 150_000 * 4)
            try dogs.delete(key: dog)
        }
        #expect(try database.table("Person").list(1, key: 1_499).count == 0)
        try ModelVerifier.verify(database.model)
    }

    @Test("A backlink that names a row that is not there is damage, which deleting throws", arguments: [0, 1])
    func damagedBacklink(property: Int) throws {
        let database = try TestDatabase(Self.classes)
        try database.write { _ in
            let people = try database.table("Person")
            let (first, second, dog) = (try people.insert(), try people.insert(), try database.table("Dog").insert())
            try people.setLink(0, key: first, to: second)
            try people.listAppend(1, key: first, .link(dog))
        }
        let error = #expect(throws: StorageError.self) {
            try database.write { _ in
                let people = try database.table("Person")
                // As a forged file has it: the row goes, and what it makes stays.
                _ = try people.openWriter().rows.delete(key: 0) { _ in }
                _ = property == 0 ? try people.delete(key: 1) : try database.table("Dog").delete(key: 0)
            }
        }
        #expect(error?.code == .corrupt)
    }

    @Test("Deleting a row nullifies links and empties lists, and the change set names their rows and properties")
    func nullifiesLinks() throws {
        let database = try TestDatabase(Self.classes)
        try database.write { _ in
            let people = try database.table("Person")
            let dogs = try database.table("Dog")
            for _ in 0..<3 { _ = try people.insert() }
            for _ in 0..<2 { _ = try dogs.insert() }
            try people.setLink(0, key: 0, to: 2)
            try people.setLink(0, key: 2, to: 2)
            for dog in [0, 1, 0, 1, 0] as [Int64] { try people.listAppend(1, key: 1, .link(dog)) }
        }
        let changes = try database.write { _ in
            try database.table("Dog").delete(key: 0)
            try database.table("Person").delete(key: 2)
        }
        let people = try database.table("Person")
        #expect(try people.value(0, key: 0) == .null)
        #expect(try people.list(1, key: 1).links() == [1, 1])
        let change = try #require(changes.tables[people.id])
        #expect(change.deleted == [2])
        #expect(change.modified.map(\.key) == [0, 1])
        #expect(change.modified.map(\.columns.columns) == [[0], [1]])
        try ModelVerifier.verify(database.model)
    }

    @Test("A link to a row that does not exist is refused")
    func refusesDanglingLinks() throws {
        let database = try TestDatabase(Self.classes)
        try database.write { _ in
            let people = try database.table("Person")
            let person = try people.insert()
            #expect(throws: ModelError.noSuchTarget(className: "Person", property: "friend", target: 9)) {
                try people.setLink(0, key: person, to: 9)
            }
            #expect(throws: ModelError.noSuchTarget(className: "Person", property: "dogs", target: 0)) {
                try people.listAppend(1, key: person, .link(0))
            }
            #expect(throws: ModelError.noSuchRow(className: "Person", key: 5)) { try people.setLink(0, key: 5, to: 0) }
        }
        try ModelVerifier.verify(database.model)
    }

    @Test("Views of one snapshot are read from many threads at once")
    func readsConcurrently() async throws {
        let database = try TestDatabase(Self.classes)
        try database.write { _ in
            let dogs = try database.table("Dog")
            for age in 0..<3_000 { try dogs.setInt(0, key: dogs.insert(), to: Int64(age)) }
        }
        struct Shared: @unchecked Sendable { let model: ModelView }
        let shared = Shared(model: try database.model.duplicate())
        try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let dogs = try shared.model.table(named: "Dog")!
                    var sum: Int64 = 0
                    for key in 0..<Int64(dogs.count) {
                        if case .int(let age) = try dogs.value(0, key: key) { sum += age }
                    }
                    return sum
                }
            }
            for try await sum in group { #expect(sum == 2_999 * 3_000 / 2) }
        }
    }
}
