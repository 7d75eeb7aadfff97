import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmModel
@testable import RealmStorage

@Suite("Opening applies the records of a log")
struct LogReplayTests {
    private static let classes: [ClassSchema] = [
        ClassSchema(
            name: "Item",
            properties: [
                PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                PropertySchema(name: "name", kind: .string, isIndexed: true),
                PropertySchema(name: "code", kind: .int, isOptional: true, isUnique: true),
                PropertySchema(name: "numbers", kind: .int, collection: .list),
            ]
        )
    ]

    /// Whether the log holds records behind the header's version.
    private func replaysSomething(_ database: LoggedDatabase) throws -> Bool {
        let copy = try database.killed()
        defer { for suffix in ["", ".log", ".lock"] { try? FileManager.default.removeItem(atPath: copy + suffix) } }
        var options = LoggedDatabase.options()
        let count = Counted()
        options.log = LogOptions(forEachPage: ModelVerifier.forEachReachablePage) { records, transaction in
            count.value = records.count
            return try LogReplay.apply(records, in: transaction)
        }
        _ = try StorageFile.open(path: copy, options: options)
        return count.value > 0
    }

    private final class Counted: @unchecked Sendable {
        // Used by one thread: opening applies the records on the caller's.
        var value = 0
    }

    @Test(
        "Rule 29: after a kill, the records of random commits make in one transaction what the commits made",
        arguments: RandomRecordsTests.seeds
    )
    func randomCommits(seed: UInt64) throws {
        let database = try LoggedDatabase(WideOperations.classes)
        var operations = WideOperations(random: SplitMix64(seed: seed))
        var replays = 0
        for step in 0..<30 {
            try database.write { model in
                for _ in 0..<1 + operations.random.below(30) { try operations.runOne(in: model) }
            }
            guard step % 5 == 4 else { continue }
            if try replaysSomething(database) { replays += 1 }
            try database.requireRecovery("step \(step) of seed \(seed)")
        }
        #expect(replays > 0)
    }

    @Test(
        "Rule 15: The pages of a database that a checkpoint does not have are found, all of them",
        arguments: RandomRecordsTests.seeds
    )
    func youngPages(seed: UInt64) throws {
        let recorder = RecordedFiles.Recorder()
        let options = LoggedDatabase.options(recorder: recorder, stepping: true)
        let database = try LoggedDatabase(WideOperations.classes, options: options)
        var operations = WideOperations(random: SplitMix64(seed: seed &+ 900))
        var written = 0
        for step in 0..<12 {
            try database.write { model in
                for _ in 0..<1 + operations.random.below(40) { try operations.runOne(in: model) }
            }
            let (file, before) = (database.file, recorder.operations.count)
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            if step == 6 {
                file.beginCheckpoint()
                file.finishCheckpoint()
            }
            // What is not found, and what is no page that was written, is an error.
            let image = try #require(file.lock?.image)
            try file.writeOnceMore(behind: image)
            #expect(!file.hasStopped)
            let writes = recorder.operations[before...]
                .count { operation in
                    guard case .write(.realm, let offset, _) = operation else { return false }
                    return offset >= FileHeader.slotPageCount * pageByteCount
                }
            if step == 6 { #expect(writes == 0) }
            written += writes
            let slots = recorder.operations[before...]
                .compactMap { operation -> Int? in
                    guard case .write(.realm, let offset, _) = operation else { return nil }
                    return offset / (FileHeader.copiesPerSlot * pageByteCount)
                }
            #expect(slots.contains(0) && slots.contains(1))
        }
        #expect(written > 0)
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test("Rule 15: To find them nothing is read that the checkpoint has, but for the way there")
    func readsForYoungPages() throws {
        let failures = StepFailures()
        var options = LoggedDatabase.options(stepping: true)
        options.failures = failures
        let database = try LoggedDatabase(Self.classes, options: options)
        let file = database.file
        try database.write { model in
            let table = try #require(try model.table(named: "Item"))
            let numbers = table.ordinal("numbers")
            for id in 0..<2_000 {
                let key = try table.insert(primaryKey: .int(Int64(id)))
                try table.set("name", key, .string("name \(id)"))
                // A large list has pages of its own.
                guard id % 10 == 0 else { continue }
                for value in 0..<150 { try table.listAppend(numbers, key: key, .int(Int64(value))) }
            }
        }
        func change(_ name: String) throws {
            try database.write { model in
                let table = try #require(try model.table(named: "Item"))
                try table.set("name", #require(try table.key(at: 7)), .string(name))
            }
        }
        // The log begins with them.
        for index in 0..<3 { try change("first \(index)") }
        try file.lockForWriting()
        file.beginCheckpoint()
        file.finishCheckpoint()
        file.unlockForWriting()
        try change("second")
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let image = try #require(file.lock?.image)
        file.doubtEveryPage()
        failures.arm(after: nil)
        try file.writeOnceMore(behind: image)
        // Reads and writes.
        let stepCount = failures.outcome.taken
        #expect(!file.hasStopped)
        var runCount = 0
        try ModelVerifier.forEachReachablePage(in: file.beginRead()) { _ in runCount += 1 }
        #expect(runCount > 200)
        #expect(stepCount > 0 && stepCount < runCount / 2)
    }

    @Test("Rule 15: Nor is a column of lists read that the checkpoint has, whose rows have changed in another one")
    func columnsOfLists() throws {
        let database = try TestDatabase(Self.classes)
        try database.write { model in
            let table = try #require(try model.table(named: "Item"))
            let numbers = table.ordinal("numbers")
            for id in 0..<400 {
                let key = try table.insert(primaryKey: .int(Int64(id)))
                for value in 0..<12 { try table.listAppend(numbers, key: key, .int(Int64(value))) }
            }
        }
        func reachablePages() throws -> [Bool] {
            var isReached: [Bool] = []
            try ModelVerifier.forEachReachablePage(in: database.model.snapshot) { run in
                let end = Int(run.page) + Int(run.pageCount)
                if isReached.count < end { isReached += [Bool](repeating: false, count: end - isReached.count) }
                for page in Int(run.page)..<end { isReached[page] = true }
            }
            return isReached
        }
        let before = try reachablePages()
        try database.write { model in
            let table = try #require(try model.table(named: "Item"))
            try table.set("code", #require(try table.key(at: 7)), .int(5))
        }
        let young = try reachablePages().enumerated().map { $1 && !($0 < before.count && before[$0]) }
        let table = try database.table("Item")
        var leaves = table.leaves()
        let leaf = try #require(try leaves.next())
        let lists = try #require(leaf.externalReference(table.column(table.ordinal("numbers"))))
        try #require(!young[Int(lists.page)])
        // Whoever reads it gets an error.
        try PageEditor(path: database.directory.path("test.realm")).damage(page: lists.page)
        database.file.doubtEveryPage()
        #expect(throws: StorageError.self) {
            try ModelVerifier.forEachReachablePage(in: database.model.snapshot) { _ in }
        }
        var visited = VisitedPages(only: young)
        var pageCount = 0
        try ModelVerifier.forEachReachablePage(in: database.model.snapshot, &visited) { run in
            pageCount += Int(run.pageCount)
        }
        let youngCount = young.count { $0 }
        #expect(pageCount > 0 && pageCount == youngCount)
    }

    @Test(
        "Rule 41: members of a group have a record each, and all of them arrive",
        arguments: RandomRecordsTests.seeds
    )
    func groups(seed: UInt64) throws {
        let database = try LoggedDatabase(WideOperations.classes)
        let views = [database, try LoggedDatabase(sharing: database)]
        var operations = WideOperations(random: SplitMix64(seed: seed &+ 500))
        for step in 0..<16 {
            try database.file.lockForWriting()
            defer { database.file.unlockForWriting() }
            for _ in 0..<1 + operations.random.below(4) {
                let view = views[operations.random.below(2)]
                try view.begin(joining: true)
                for _ in 0..<operations.random.below(12) { try operations.runOne(in: view.model) }
                if operations.random.chance(20) {
                    view.model.rollback()
                } else {
                    try view.model.keepRecord(RecordHeading())
                    try view.model.join()
                }
            }
            if let prepared = try database.file.sealGroup() { try database.file.publish([prepared]) }
            for view in views { try view.model.advance(to: database.file.beginRead()) }
            guard step > 0, step % 3 == 0 else { continue }
            try database.requireRecovery("step \(step) of seed \(seed)", mayLackKeys: true)
        }
    }

    @Test("Rule 19: what changes very much is kept as pages, as a change of the schema is; records go on behind both")
    func pagesBetweenRecords() throws {
        let database = try LoggedDatabase(Self.classes)
        func add(_ ids: Range<Int>, _ name: String) throws {
            try database.write { model in
                let table = try #require(try model.table(named: "Item"))
                for id in ids {
                    let key = try table.insert(primaryKey: .int(Int64(id)))
                    try table.set("name", key, .string(name))
                }
            }
        }
        try add(0..<10, "first")
        try database.requireRecovery("records")
        try add(10..<40, String(repeating: "long", count: 20_000))
        try #require(try !replaysSomething(database), "pages that were flushed need no record")
        try add(40..<50, "behind")
        try database.requireRecovery("pages")
        var classes = Self.classes
        classes.append(ClassSchema(name: "Other", properties: [PropertySchema(name: "size", kind: .int)]))
        try TestDatabase.reconcile(DatabaseSchema(classes: classes, version: 2), in: database.file)
        try database.model.advance(to: database.file.beginRead())
        try database.requireRecovery("schema")
        try database.write { model in _ = try model.table(named: "Other")?.insert() }
        try add(50..<60, "last")
        try database.requireRecovery("records behind a schema")
        #expect(try replaysSomething(database))
    }

    @Test("Rule 36: unique values that a commit exchanged, or that one freed and the next took, are no contradiction")
    func uniqueness() throws {
        let database = try LoggedDatabase(Self.classes)
        try database.write { model in
            let table = try #require(try model.table(named: "Item"))
            for id in 1...4 { try table.set("code", table.insert(primaryKey: .int(Int64(id))), .int(Int64(id))) }
        }
        try database.write { model in
            let table = try #require(try model.table(named: "Item"))
            try table.set("code", #require(try table.key(at: 0)), .int(2))
            try table.set("code", #require(try table.key(at: 1)), .int(1))
        }
        try database.write { model in
            let table = try #require(try model.table(named: "Item"))
            try table.delete(key: #require(try table.key(at: 3)))
            try table.set("code", table.insert(primaryKey: .int(9)), .int(4))
        }
        #expect(try replaysSomething(database))
        try database.requireRecovery("exchanged")
    }

    @Test("Rule 29: the records of a changed schema and of rows before and behind it are applied in one transaction")
    func schemaRecords() throws {
        let recorded = try RecordedDatabase(Self.classes)
        let folder = TemporaryDirectory()
        var options = StorageOptions()
        options.durability = .none
        let copy = try StorageFile.open(path: folder.path("copy.realm"), options: options)
        try TestDatabase.reconcile(DatabaseSchema(classes: [], version: 1), in: copy)
        func write(_ name: String) throws {
            try recorded.write { model in
                let table = try #require(try model.table(named: name))
                if name == "Item" {
                    let key = try table.insert(primaryKey: .int(Int64(table.nextKey)))
                    let numbers = table.ordinal("numbers")
                    for value in 0..<300 { try table.listAppend(numbers, key: key, .int(Int64(value))) }
                } else {
                    _ = try table.insert()
                }
            }
        }
        try write("Item")
        try write("Item")
        var classes = Self.classes
        classes.append(ClassSchema(name: "Other", properties: [PropertySchema(name: "size", kind: .int)]))
        try recorded.reconcile(classes, version: 2)
        try write("Other")
        try write("Item")
        let version = recorded.database.file.newestVersion
        try copy.lockForWriting()
        defer { copy.unlockForWriting() }
        // The stamp of a schema is the version that made it.
        while copy.newestVersion + 1 < version { try copy.publish([copy.beginWrite().prepareCommit()]) }
        let transaction = try copy.beginWrite()
        transaction.recording = .replay
        let records = zip(recorded.kinds, recorded.contents)
            .map { CommitRecord(kind: $0, isLastOfVersion: true, position: 0, version: version, content: $1) }
        try copy.publish([LogReplay.apply(records, in: transaction)])
        let replayed = try ModelView(snapshot: copy.beginRead())
        try DatabaseComparison.requireEqual(recorded.database.model, replayed, "all at once")
        try ModelVerifier.verify(replayed)
    }

    /// What the records say of their commits that a killed process has left.
    private func headings(
        in copy: String,
        _ change: @escaping @Sendable ([CommitRecord]) -> [CommitRecord] = { $0 }
    ) throws -> [RecordHeading] {
        let found = Mutex<[RecordHeading]>([])
        var options = LoggedDatabase.options()
        options.log = LogOptions(forEachPage: ModelVerifier.forEachReachablePage) { records, transaction in
            for record in records {
                let heading = try record.content.withUnsafeBytes { bytes in
                    var reader = RecordReader(bytes)
                    return try RecordHeading(from: &reader)
                }
                found.withLock { $0.append(heading) }
            }
            return try LogReplay.apply(change(records), in: transaction)
        }
        _ = try StorageFile.open(path: copy, options: options)
        return found.withLock { $0 }
    }

    @Test("A record says which commit it is, of which schema, and a time that is never before that of the last one")
    func headings() throws {
        let database = try LoggedDatabase(Self.classes)
        let source = CommitIdentity.Source()
        func add(_ id: Int, to database: LoggedDatabase, time: Int64) throws {
            try database.write(RecordHeading(time: time, identity: source.next(), metadata: [UInt8(id)])) { model in
                _ = try model.table(named: "Item")?.insert(primaryKey: .int(Int64(id)))
            }
        }
        // A clock that is put back.
        for (id, time) in [5_000, 3_000, 6_000].enumerated() { try add(id, to: database, time: Int64(time)) }
        let copy = try database.killed()
        let generation = try database.file.beginRead().header.numbers.schemaGeneration
        let first = try headings(in: copy)
        #expect(first.map(\.time) == [5_000, 5_000, 6_000])
        #expect(Set(first.map(\.identity)).count == 3 && first.allSatisfy { $0.identity != .none })
        #expect(first.allSatisfy { $0.schemaGeneration == generation } && generation > 0)
        #expect(first.map(\.metadata) == [[0], [1], [2]])
        // Behind a replay, and behind a close, which leaves no record.
        for id in 3...4 {
            let opened = try LoggedDatabase(at: copy)
            try add(id, to: opened, time: 1_000)
            let again = try opened.killed()
            #expect(try headings(in: again).map(\.time) == [6_000])
        }
        #expect(CommitIdentity.Source().next() != CommitIdentity.Source().next())
    }

    @Test("A record of another schema, or one that is missing between others, makes the opening fail")
    func misfits() throws {
        let database = try LoggedDatabase(Self.classes)
        for id in 1...3 {
            try database.write { model in
                _ = try model.table(named: "Item")?.insert(primaryKey: .int(Int64(id)))
            }
        }
        let copy = try database.killed()
        let error = #expect(throws: StorageError.self) {
            _ = try headings(in: copy) { records in
                var records = records
                // Behind the time, which is 0, and the identity.
                records[1].content[17] += 1
                return records
            }
        }
        #expect(error?.code == .corrupt && error.map { "\($0)".contains("another schema") } == true)
        let file = try StorageFile.open(path: copy, options: LoggedDatabase.options())
        func requirePositions(_ positions: [UInt64]) throws {
            let records = positions.map { position in
                CommitRecord(kind: .changes, isLastOfVersion: true, position: position, version: 9)
            }
            try file.requirePositions(of: records, behind: 7)
        }
        for positions: [UInt64] in [[], [8, 9, 10], [8, 8, 9], [7, 8]] { try requirePositions(positions) }
        for positions: [UInt64] in [[9], [8, 10], [8, 7], [6]] {
            let error = #expect(throws: StorageError.self) { try requirePositions(positions) }
            #expect(error?.code == .corrupt, "\(positions)")
        }
    }

    @Test("Rule 29: a record that does not fit makes the opening fail, and leaves both files for another one")
    func damagedRecord() throws {
        let database = try LoggedDatabase(Self.classes)
        for id in 1...3 {
            try database.write { model in
                _ = try model.table(named: "Item")?.insert(primaryKey: .int(Int64(id)))
            }
        }
        let copy = try database.killed()
        var options = LoggedDatabase.options()
        options.log = LogOptions(forEachPage: ModelVerifier.forEachReachablePage) { records, transaction in
            var records = records
            // As if one were missing.
            records.remove(at: 0)
            return try LogReplay.apply(records, in: transaction)
        }
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: copy, options: options) }
        #expect(error?.code == .corrupt)
        let opened = try StorageFile.open(path: copy, options: LoggedDatabase.options())
        let model = try ModelView(snapshot: opened.beginRead())
        #expect(try model.table(named: "Item")?.count == 3)
    }
}
