import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

/// Commits that fail when some of their tables are sealed already.
@Suite("Commits that fail half way", .timeLimit(.minutes(60)))
struct FailingCommitTests {
    private static let classes = ["First", "Second", "Third"]
        .map { name in
            ClassSchema(
                name: name,
                properties: [
                    PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                    PropertySchema(name: "text", kind: .string, isIndexed: true),
                ]
            )
        }

    private typealias Rows = [Int64: String]

    private let failures = StepFailures()

    private func write(_ range: Range<Int64>, _ text: String, to database: TestDatabase, _ rows: inout Rows) throws {
        for schema in Self.classes {
            let table = try database.table(schema.name)
            for id in range {
                let key = try table.findInt(id) ?? table.insert(intPrimaryKey: id)
                try table.set("text", key, .string("\(text) \(id)"))
            }
        }
        for id in range { rows[id] = "\(text) \(id)" }
    }

    private func check(_ rows: Rows, in database: TestDatabase, _ when: String) throws {
        for schema in Self.classes {
            let table = try database.table(schema.name)
            try #require(table.count == rows.count, "\(schema.name) \(when)")
            for (id, text) in rows {
                let key = try #require(try table.findInt(id), "\(schema.name) \(id) \(when)")
                try #require(try table.value(table.ordinal("text"), key: key) == .string(text), "\(when)")
                let found = try table.indexedKeys(property: table.ordinal("text"), equalTo: .string(text))
                try #require(found == [key], "\(when)")
            }
        }
    }

    @Test("leave nothing in what writers keep from one transaction to the next", arguments: [true, false])
    func nextTransaction(isSameView: Bool) throws {
        let database = try TestDatabase(Self.classes, failures: failures)
        let next = isSameView ? database : try TestDatabase(sharing: database)
        let file = database.file
        var rows: Rows = [:]
        try database.write { _ in try write(0..<160, "first", to: database, &rows) }
        for number in 0... {
            let when = "after step \(number) failed"
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            var inside = rows
            try database.model.begin(file.beginWrite())
            try write(Int64(number)..<Int64(number + 30), "changed \(number)", to: database, &inside)
            try write(10_000..<10_100, "added \(number)", to: database, &inside)
            file.doubtEveryPage()
            failures.arm(after: number)
            var prepared: PreparedCommit?
            do {
                prepared = try database.model.prepareCommit()
                try database.model.endTransaction()
            } catch {
                database.model.rollback()
            }
            let failed = failures.outcome.failed
            failures.arm(after: nil)
            if let prepared {
                // Some failures only cost something.
                try file.publish([prepared])
                try database.model.advance(to: file.beginRead())
                rows = inside
                if failed == nil { return #expect(number > 0, "no step of a commit failed") }
            }
            try check(rows, in: database, when)
            try next.model.begin(file.beginWrite())
            try check(rows, in: next, "inside the transaction \(when)")
            try write(Int64(number)..<Int64(number + 3), "next \(number)", to: next, &rows)
            prepared = try next.model.prepareCommit()
            try next.model.endTransaction()
            try file.publish([#require(prepared)])
            for view in [database, next] {
                try view.model.advance(to: file.beginRead())
                try check(rows, in: view, when)
            }
            if number % 8 == 0 { try FileVerifier.verify(database.model.snapshot) }
        }
    }

    @Test(
        "for want of a page for their record, all of their tables being sealed, leave nothing of these to the next transaction",
        arguments: [true, false]
    )
    func recordWithoutPage(isSameView: Bool) throws {
        let database = try TestDatabase(Self.classes, failures: failures)
        let next = isSameView ? database : try TestDatabase(sharing: database)
        let file = database.file
        var rows: Rows = [:]
        try database.write { _ in try write(0..<20, "first", to: database, &rows) }
        var count = 0
        // The last steps of each commit fail. When the header has no room for its record, the very last one takes a page for that.
        var stepCount = 0
        for number in 0..<500 where count < 2 {
            for step in max(0, stepCount - 3)... {
                try file.lockForWriting()
                defer { file.unlockForWriting() }
                var inside = rows
                try database.model.begin(file.beginWrite())
                try write(0..<20, "changed \(number % 10)", to: database, &inside)
                failures.arm(after: step)
                do {
                    let prepared = try database.model.prepareCommit()
                    stepCount = failures.outcome.taken
                    failures.arm(after: nil)
                    try database.model.endTransaction()
                    try file.publish([prepared])
                    try database.model.advance(to: file.beginRead())
                    rows = inside
                    break
                } catch {
                    failures.arm(after: nil)
                    // Then every table has been sealed.
                    let isSealed = database.model.transaction?.touched.isEmpty ?? false
                    database.model.rollback()
                    guard isSealed else { continue }
                    count += 1
                    try checkNext(next, database, &rows, "after commit \(number) failed")
                }
            }
        }
        #expect(count == 2, "so many commits found no page for their record")
    }

    @Test("are not tried again once tables are sealed, whatever step failed, and can be rolled back")
    func secondAttempt() throws {
        let database = try TestDatabase(Self.classes, failures: failures)
        let file = database.file
        var rows: Rows = [:]
        try database.write { _ in try write(0..<40, "first", to: database, &rows) }
        var count = 0
        for number in 0... {
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            var inside = rows
            try database.model.begin(file.beginWrite())
            try write(0..<30, "changed \(number)", to: database, &inside)
            file.doubtEveryPage()
            failures.arm(after: number)
            var prepared: PreparedCommit?
            do { prepared = try database.model.prepareCommit() } catch {}
            let failed = failures.outcome.failed
            failures.arm(after: nil)
            if let prepared {
                try database.model.endTransaction()
                try file.publish([prepared])
                try database.model.advance(to: file.beginRead())
                rows = inside
            } else {
                if database.model.transaction?.isSealing == true {
                    count += 1
                    #expect(throws: StorageError.self, "step \(number)") { try database.model.prepareCommit() }
                }
                database.model.rollback()
            }
            try check(rows, in: database, "after step \(number)")
            if failed == nil { break }
        }
        #expect(count > 0, "no step of sealing failed")
    }

    @Test("leave nothing in the writers of a member that stands on them, and is refused where it ends")
    func refusedMember() throws {
        let database = try TestDatabase(Self.classes, failures: failures)
        let next = try TestDatabase(sharing: database)
        let file = database.file
        var rows: Rows = [:]
        try database.write { _ in try write(0..<10, "first", to: database, &rows) }
        try next.model.advance(to: file.beginRead())
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        var lost = rows
        try next.model.begin(file.beginWrite())
        try write(0..<10, "lost", to: next, &lost)
        let prepared = try next.model.prepareCommit()
        try next.model.endTransaction()

        try database.model.begin(file.beginWrite(joining: true))
        try write(10..<20, "member", to: database, &lost)
        failures.arm(after: 0)
        #expect(throws: StorageError.self) { try file.publish([prepared]) }
        failures.arm(after: nil)
        let writers = try Self.classes.compactMap { try database.table($0.name).writer }
        #expect(throws: StorageError.self) { try database.model.join() }
        #expect(writers.count == Self.classes.count)
        for writer in writers { #expect(!writer.isDirty, "table \(writer.id) has been left") }
        database.model.rollback()
        try checkNext(next, database, &rows, "behind a member that was refused")
    }

    /// Checks that a transaction goes on from what is committed, and that what it commits is there.
    private func checkNext(
        _ next: TestDatabase,
        _ database: TestDatabase,
        _ rows: inout Rows,
        _ when: String
    ) throws {
        try check(rows, in: database, when)
        try next.model.begin(next.file.beginWrite())
        try check(rows, in: next, "inside the transaction \(when)")
        try write(0..<3, "next", to: next, &rows)
        let prepared = try next.model.prepareCommit()
        try next.model.endTransaction()
        try next.file.publish([prepared])
        for view in [database, next] {
            try view.model.advance(to: view.file.beginRead())
            try check(rows, in: view, when)
        }
        try FileVerifier.verify(database.model.snapshot)
    }
}
