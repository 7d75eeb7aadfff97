import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// Members of a group that are rolled back, or cannot be, beside what earlier members wrote.
@Suite("Members that fail", .timeLimit(.minutes(60)))
struct FailingMembersTests {
    private static let classes = [
        .item([
            PropertySchema(name: "body", kind: .data),
            PropertySchema(name: "next", kind: .object, targetClass: "Item"),
        ]),
        ClassSchema(name: "Note", properties: [PropertySchema(name: "text", kind: .string)]),
    ]

    /// What the member does that is rolled back.
    enum Rest: String, CaseIterable, Sendable {
        /// It only appends.
        case appends
        /// It appends, and then changes a row of an earlier member.
        case appendsAndChanges
        /// It changes a row of an earlier member, and then appends.
        case changesAndAppends
        /// It appends, deletes rows of earlier members, and appends.
        case deletes
        /// It appends values that take pages of their own.
        case appendsLongValues
    }

    private func add(_ ids: Range<Int>, byteCount: Int, to database: TestDatabase) throws {
        let table = try database.table("Item")
        for id in ids {
            let key = try table.insert(intPrimaryKey: Int64(id))
            try table.set("name", key, .string("item \(id)"))
            try table.set("body", key, .data([UInt8](repeating: UInt8(truncatingIfNeeded: id), count: byteCount)))
        }
    }

    private func change(_ id: Int, in database: TestDatabase) throws {
        let table = try database.table("Item")
        let key = try #require(try table.findInt(Int64(id)))
        try table.set("name", key, .string("changed"))
        try table.set("body", key, .data([1, 2, 3]))
    }

    /// Checks that a view shows the items of some numbers, as they were added.
    private func check(_ ids: [Int], byteCount: Int, in database: TestDatabase) throws {
        let table = try database.table("Item")
        try #require(table.count == ids.count)
        for (position, id) in ids.enumerated() {
            let key = try #require(try table.findInt(Int64(id)), "item \(id)")
            try #require(try table.key(at: position) == key)
            try #require(try table.value(table.ordinal("name"), key: key) == .string("item \(id)"))
            let body = [UInt8](repeating: UInt8(truncatingIfNeeded: id), count: byteCount)
            try #require(try table.value(table.ordinal("body"), key: key) == .data(body))
        }
    }

    /// Begins a member that keeps little in memory, as one does that writes much.
    private func begin(_ database: TestDatabase, openByteLimit: Int) throws {
        let transaction = try database.file.beginWrite(joining: true)
        transaction.openByteLimit = openByteLimit
        transaction.unspilledPageLimit = 64
        try database.model.begin(transaction)
    }

    @Test(
        "Rolling a member back that writes more than memory keeps leaves what earlier members wrote",
        arguments: Rest.allCases,
        [1 << 20, 16 << 20]
    )
    func largeMember(rest: Rest, openByteLimit: Int) throws {
        let database = try TestDatabase(Self.classes)
        let file = database.file
        try database.write { _ in try add(0..<300, byteCount: 400, to: database) }
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        var ids = Array(0..<300)
        for member in 0..<3 {
            let start = 10_000 * (member + 1)
            try begin(database, openByteLimit: openByteLimit)
            try add(start..<(start + 5_000), byteCount: 400, to: database)
            try database.model.join()
            ids += Array(start..<(start + 5_000))

            try begin(database, openByteLimit: openByteLimit)
            let big = 100_000 * (member + 1)
            switch rest {
            case .appends:
                try add(big..<(big + 8_000), byteCount: 400, to: database)
            case .appendsAndChanges:
                try add(big..<(big + 4_000), byteCount: 400, to: database)
                try change(start + 5, in: database)
                try add((big + 4_000)..<(big + 8_000), byteCount: 400, to: database)
            case .changesAndAppends:
                try change(start + 5, in: database)
                try add(big..<(big + 8_000), byteCount: 400, to: database)
            case .deletes:
                try add(big..<(big + 4_000), byteCount: 400, to: database)
                let table = try database.table("Item")
                for id in ids.suffix(600) { try table.delete(key: #require(try table.findInt(Int64(id)))) }
                try add((big + 4_000)..<(big + 8_000), byteCount: 400, to: database)
            case .appendsLongValues:
                try add(big..<(big + 1_000), byteCount: 9_000, to: database)
            }
            database.model.rollback()
        }
        try file.publish([#require(try file.sealGroup())])
        try database.model.advance(to: file.beginRead())
        try check(ids, byteCount: 400, in: database)
        try ModelVerifier.verify(database.model)
        try FileVerifier.verify(database.model.snapshot)
    }

    @Test("No row key is given out again, also when one of the tables of a member cannot be rolled back")
    func keysOfOtherTables() throws {
        let failures = StepFailures()
        let database = try TestDatabase(Self.classes, failures: failures)
        let file = database.file
        try database.write { _ in try add(0..<10, byteCount: 10, to: database) }
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        func addNotes(_ count: Int) throws -> Int64 {
            let table = try database.table("Note")
            for _ in 1..<count { _ = try table.insert() }
            return try table.insert()
        }
        try begin(database, openByteLimit: 1 << 20)
        try add(100..<110, byteCount: 10, to: database)
        _ = try addNotes(5)
        try database.model.join()

        try begin(database, openByteLimit: 1 << 20)
        try add(1_000..<9_000, byteCount: 400, to: database)
        let last = try addNotes(4)
        let lastItem = try database.table("Item").nextKey - 1
        file.doubtEveryPage()
        failures.arm(after: 0)
        database.model.rollback()
        #expect(failures.outcome.failed == .pageRead, "the rollback of the first table was to fail")
        failures.arm(after: nil)
        // The group is lost, and its keys stay spent.
        #expect(try file.sealGroup() == nil)
        try database.model.begin(file.beginWrite())
        #expect(try addNotes(1) > last)
        #expect(try database.table("Item").insert(intPrimaryKey: 5_000) > lastItem)
        database.model.rollback()
    }

    @Test("No row key is given out again that a transaction made behind an early seal")
    func keysAfterSealingEarly() throws {
        let database = try TestDatabase(Self.classes)
        let file = database.file
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try database.model.begin(file.beginWrite())
        let table = try database.table("Note")
        _ = try table.insert()
        let copy = database.directory.path("copy.realm")
        try StorageFile.build(at: copy, replaces: false, beginning: FileBeginning(version: database.model.version)) {
            try FileCompactor.copy(transactionOf: database.model, to: $0)
        }
        let last = try table.insert()
        database.model.rollback()
        try database.model.begin(file.beginWrite())
        #expect(try table.insert() > last)
        database.model.rollback()
    }
    @Test("A member that fails while it puts the rows of earlier ones into pages takes all of them with it, or none")
    func failureWhileSettling() throws {
        let failures = StepFailures()
        let database = try TestDatabase(Self.classes, failures: failures)
        let file = database.file
        try database.write { _ in try add(0..<300, byteCount: 200, to: database) }
        var ids = Array(0..<300)
        var lostCount = 0
        for number in 0... {
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            let start = 1_000 * (number + 1)
            try database.model.begin(file.beginWrite(joining: true))
            try add(start..<(start + 20), byteCount: 200, to: database)
            let other = try database.table("Item").nextKey - 1
            try database.model.join()

            try database.model.begin(file.beginWrite(joining: true))
            file.doubtEveryPage()
            failures.arm(after: number)
            var thrown: (any Error)?
            do { try change(start + 5, in: database) } catch { thrown = error }
            let outcome = failures.outcome
            failures.arm(after: nil)
            #expect((thrown != nil) == (outcome.failed != nil), "step \(number)")
            var isLost = false
            if thrown != nil {
                do { try database.table("Item").set("name", other, .string("other")) } catch { isLost = true }
            }
            database.model.rollback()
            let prepared = try file.sealGroup()
            #expect(isLost == (prepared == nil), "step \(number): what is settled by half is not settled again")
            if let prepared {
                try file.publish([prepared])
                ids += Array(start..<(start + 20))
            } else {
                lostCount += 1
            }
            try database.model.advance(to: file.beginRead())
            try check(ids, byteCount: 200, in: database)
            try ModelVerifier.verify(database.model)
            try FileVerifier.verify(database.model.snapshot)
            if outcome.failed == nil {
                #expect(prepared != nil)
                break
            }
        }
        #expect(lostCount > 0, "no step of settling failed")
    }
    @Test("A rollback that fails at any step loses the group, and one that does not leaves what earlier members wrote")
    func failureWhileRollingBack() throws {
        let failures = StepFailures()
        let database = try TestDatabase(Self.classes, failures: failures)
        let file = database.file
        var ids = Array(0..<10)
        try database.write { _ in try add(0..<10, byteCount: 200, to: database) }
        var lostCount = 0
        for number in 0... {
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            let start = 10_000 * (number + 1)
            try begin(database, openByteLimit: 1 << 10)
            try add(start..<(start + 20), byteCount: 200, to: database)
            try database.model.join()
            try begin(database, openByteLimit: 1 << 10)
            try add((start + 100)..<(start + 4_100), byteCount: 200, to: database)
            file.doubtEveryPage()
            failures.arm(after: number)
            database.model.rollback()
            let failed = failures.outcome.failed
            failures.arm(after: nil)
            if let prepared = try file.sealGroup() {
                try file.publish([prepared])
                ids += Array(start..<(start + 20))
            } else {
                lostCount += 1
            }
            try database.model.advance(to: file.beginRead())
            try check(ids, byteCount: 200, in: database)
            try FileVerifier.verify(database.model.snapshot)
            if failed == nil { break }
        }
        #expect(lostCount > 2, "no step of a rollback failed")
    }

    @Test("A member that fails before anything is sealed leaves what earlier members wrote")
    func failureBeforeSealing() throws {
        let failures = StepFailures()
        let database = try TestDatabase(Self.classes, failures: failures)
        let file = database.file
        try database.write { _ in try add(0..<300, byteCount: 200, to: database) }
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try begin(database, openByteLimit: 1 << 10)
        try add(1_000..<1_020, byteCount: 200, to: database)
        try database.model.join()
        try begin(database, openByteLimit: 1 << 10)
        // The entry of its name is changed at the end.
        try change(5, in: database)
        file.doubtEveryPage()
        failures.arm(after: 0)
        #expect(throws: StorageError.self) { try database.model.prepareCommit() }
        failures.arm(after: nil)
        database.model.rollback()
        try file.publish([#require(try file.sealGroup())])
        try database.model.advance(to: file.beginRead())
        try check(Array(0..<300) + Array(1_000..<1_020), byteCount: 200, in: database)
        try ModelVerifier.verify(database.model)
    }
}
