import Foundation
import RealmModel
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Everything that a realm is made of can be moved off the end of its file, and is the same afterwards.
@Suite struct SpaceMaintenanceTests {
    private func length(_ file: StorageFile) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int)
    }

    /// Takes steps until nothing is left to do; returns how many commits that were.
    private func shrink(
        _ file: StorageFile,
        with maintenance: SpaceMaintenance = SpaceMaintenance(),
        budget: Int = 64
    ) throws -> Int {
        maintenance.pageBudget = budget
        var commits = 0
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        for _ in 0..<2_000 {
            switch try maintenance.step(file) {
            case .commit(let commit):
                try file.publish([commit])
                commits += 1
            case .more: break
            case .done: return commits
            }
        }
        Issue.record("shrinking did not end")
        return commits
    }

    private static let classes = [
        .item([
            PropertySchema(name: "photo", kind: .data, isOptional: true),
            PropertySchema(name: "numbers", kind: .int, collection: .list),
            PropertySchema(name: "texts", kind: .string, collection: .list),
            PropertySchema(name: "others", kind: .object, collection: .list, targetClass: "Item"),
            PropertySchema(name: "next", kind: .object, targetClass: "Item"),
        ]),
        ClassSchema(name: "Ballast", properties: [PropertySchema(name: "bytes", kind: .data)]),
    ]

    /// Adds rows of 200,000 bytes, which are deleted later.
    private func addBallast(_ count: Int, to database: TestDatabase) throws {
        try database.write { _ in
            let table = try database.table("Ballast")
            for _ in 0..<count {
                let key = try table.insert()
                try table.set("bytes", key, .data([UInt8](repeating: 7, count: 200_000)))
            }
        }
    }

    /// What a database holds, as text.
    private func describe(_ model: ModelView) throws -> [String] {
        let table = try #require(try model.table(named: "Item"))
        var rows: [String] = []
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            for row in 0..<leaf.rowCount {
                let key = leaf.key(at: row)
                let location = RowLocation(leaf: leaf, row: row)
                var text = "\(key)"
                for property in 0..<3 { text += " \(try table.value(property, at: location))" }
                for property in 3..<6 { text += " \(try table.list(property, at: location, key: key).values())" }
                text += " \(try table.value(6, at: location))"
                rows.append(text)
            }
        }
        return rows
    }

    private func fill(_ database: TestDatabase, rows: Int, random: inout SplitMix64) throws {
        for batch in 0..<(rows / 50) {
            try database.write { _ in
                let table = try database.table("Item")
                for index in 0..<50 {
                    let id = Int64(batch * 50 + index)
                    let key = try table.insert(primaryKey: .int(id))
                    try table.set("name", key, .string("item \(id % 97)"))
                    if id % 7 == 0 {
                        let bytes = (0..<(1_000 + Int(id) * 13)).map { _ in UInt8.random(in: 0...255, using: &random) }
                        try table.set("photo", key, .data(bytes))
                    }
                    for number in 0..<(id % 50 == 3 ? 900 : Int(id % 5)) {
                        try table.listAppend(table.ordinal("numbers"), key: key, .int(Int64(number) * id))
                    }
                    if id % 60 == 4 {
                        for number in 0..<30 {
                            let text = String(repeating: "\(number)", count: number == 9 ? 5_000 : 100)
                            try table.listAppend(table.ordinal("texts"), key: key, .string(text))
                        }
                    }
                    if key > 10 {
                        try table.set("next", key, .link(key - 7))
                        for other in 0..<(id % 100 == 5 ? 400 : 2) {
                            try table.listAppend(table.ordinal("others"), key: key, .link(Int64(other) % key))
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: [8, 64, 100_000])
    func `everything moves off the end of the file and is what it was`(budget: Int) throws {
        let seed = UInt64.random(in: 0...9999)
        var random = SplitMix64(seed: seed)
        let database = try TestDatabase(Self.classes)
        try addBallast(40, to: database)
        try fill(database, rows: 600, random: &random)
        try database.write { _ in try database.table("Ballast").deleteAll() }
        let content = try describe(database.model)
        let long = try length(database.file)
        var before: ModelView? = try database.model.duplicate()
        var commits = try shrink(database.file, budget: budget)
        #expect(try describe(before!) == content, "seed \(seed)")
        before = nil
        try database.model.advance(to: database.file.beginRead())
        commits += try shrink(database.file, budget: budget)
        try database.model.advance(to: database.file.beginRead())
        #expect(try describe(database.model) == content, "seed \(seed)")
        try FileVerifier.verify(database.file.beginRead())
        print("moved \(budget) pages a step: \(long) to \(try length(database.file)) bytes in \(commits) commits")
        #expect(try length(database.file) < long / 2, "seed \(seed)")
        // What moved can be changed, and the file is found whole by whoever opens it next.
        try database.write { _ in
            let table = try database.table("Item")
            for key in stride(from: Int64(0), to: 600, by: 11) { try table.delete(key: key) }
        }
        try FileVerifier.verify(database.file.beginRead())
        let copy = database.directory.path("copy.realm")
        try FileManager.default.copyItem(atPath: database.file.path, toPath: copy)
        try FileVerifier.verify(StorageFile.open(path: copy).beginRead())
    }

    @Test func `a version that is read while the file becomes shorter than it was is whole`() throws {
        var random = SplitMix64(seed: 7)
        let database = try TestDatabase(Self.classes)
        try fill(database, rows: 100, random: &random)
        try addBallast(40, to: database)
        // Behind two more commits its pages are free in the version that is read.
        try database.write { _ in try database.table("Ballast").deleteAll() }
        for _ in 0..<2 { try database.write { _ in _ = try database.table("Ballast").insert() } }
        try database.model.advance(to: database.file.beginRead())
        let read = try database.file.beginRead()
        _ = try shrink(database.file)
        #expect(try length(database.file) < Int(read.header.pageCount) * pageByteCount)
        try FileVerifier.verify(read)
        try HeaderAudit.check(read)
    }

    @Test func `steps take turns with other writers, and nothing is lost`() throws {
        let seed = UInt64.random(in: 0...9999)
        var random = SplitMix64(seed: seed)
        let database = try TestDatabase(Self.classes)
        try addBallast(20, to: database)
        try fill(database, rows: 300, random: &random)
        try database.write { _ in try database.table("Ballast").deleteAll() }
        let maintenance = SpaceMaintenance()
        maintenance.pageBudget = 4
        var isDone = false
        var steps = 0
        var names: [Int64: String] = [:]
        while !isDone {
            try database.file.lockForWriting()
            switch try maintenance.step(database.file) {
            case .commit(let commit): try database.file.publish([commit])
            case .more: break
            case .done: isDone = true
            }
            database.file.unlockForWriting()
            steps += 1
            try #require(steps < 5_000)
            let key = Int64(Int.random(in: 0..<300, using: &random))
            names[key] = "changed \(steps)"
            try database.write { _ in try database.table("Item").set("name", key, .string("changed \(steps)")) }
            if steps % 10 == 0 { try FileVerifier.verify(database.file.beginRead()) }
        }
        let table = try database.table("Item")
        for (key, name) in names {
            #expect(try table.value(table.ordinal("name"), key: key) == .string(name), "seed \(seed), row \(key)")
        }
        try FileVerifier.verify(database.file.beginRead())
        #expect(steps > 10)
        #expect(try length(database.file) < 3 << 20)
    }

    /// The end of the file stays where it is, and the file mostly free: what a reader needs stands there.
    @Test func `steps end where pages at the end of the file cannot be moved`() throws {
        let database = try TestDatabase(Self.classes)
        try addBallast(40, to: database)
        try database.write { _ in
            let table = try database.table("Item")
            for id in 0..<200 { _ = try table.insert(primaryKey: .int(Int64(id))) }
        }
        try database.write { _ in try database.table("Ballast").deleteAll() }
        let reader = try database.model.duplicate()
        try database.write { _ in try database.table("Item").deleteAll() }
        // Enough commits for records of their own, wherever these come to stand.
        for round in 0..<300 {
            try database.write { _ in
                let key = try database.table("Item").insert(primaryKey: .int(Int64(1_000 + round)))
                try database.table("Item").set("name", key, .string("round \(round)"))
            }
        }
        #expect(try shrink(database.file) < 300)
        let second = SpaceMaintenance()
        #expect(try shrink(database.file, with: second) < 3)
        #expect(!second.hasGained)
        #expect(try reader.table(named: "Item")?.count == 200)
        try FileVerifier.verify(database.file.beginRead())
    }

    /// The picture of free space is longer than any hole below the place where the file should end.
    @Test func `steps end where the log has no room below the end to be`() throws {
        let database = try TestDatabase([
            .item([PropertySchema(name: "photo", kind: .data, isOptional: true)]),
            ClassSchema(name: "Ballast", properties: [PropertySchema(name: "bytes", kind: .data)]),
        ])
        let rows: Int64 = 6_000
        try database.write { _ in
            let table = try database.table("Item")
            for id in 0..<rows {
                let key = try table.insert(primaryKey: .int(id))
                try table.set("photo", key, .data([UInt8](repeating: 3, count: 3_900)))
            }
        }
        try database.write { _ in
            let key = try database.table("Ballast").insert()
            try database.table("Ballast").set("bytes", key, .data([UInt8](repeating: 7, count: 80 << 20)))
        }
        try database.write { _ in
            let key = try database.table("Ballast").insert()
            try database.table("Ballast").set("bytes", key, .data([UInt8](repeating: 7, count: 20_000)))
        }
        func delete(_ remainder: Int64) throws {
            try database.write { _ in
                let table = try database.table("Item")
                for key in stride(from: remainder, to: rows, by: 3) { try table.delete(key: key) }
            }
        }
        try delete(0)
        try database.write { _ in try database.table("Ballast").delete(key: 0) }
        let reader = try database.model.duplicate()
        try delete(1)
        try database.write { _ in try database.table("Ballast").deleteAll() }
        #expect(try shrink(database.file) < 300)
        let second = SpaceMaintenance()
        #expect(try shrink(database.file, with: second) < 3)
        #expect(!second.hasGained)
        #expect(try reader.table(named: "Ballast")?.count == 1)
        try FileVerifier.verify(database.file.beginRead())
    }

    @Test func `a file whose commits stand in a log becomes smaller, and what a kill leaves then is whole`() throws {
        let database = try LoggedDatabase(Self.classes, options: LoggedDatabase.options(ringByteCount: 64 << 10))
        try database.write { model in
            let table = try #require(try model.table(named: "Ballast"))
            for _ in 0..<40 {
                let key = try table.insert()
                try table.set("bytes", key, .data([UInt8](repeating: 7, count: 200_000)))
            }
        }
        try database.write { try $0.table(named: "Ballast")?.deleteAll() }
        func insert(_ ids: Range<Int64>) throws {
            for id in ids {
                try database.write { _ = try $0.table(named: "Item")?.insert(primaryKey: .int(id)) }
            }
        }
        // Behind a checkpoint of theirs nobody needs the pages of what was deleted.
        try insert(0..<200)
        let long = try length(database.file)
        var commits = try shrink(database.file)
        try database.model.advance(to: database.file.beginRead())
        try insert(200..<230)
        commits += try shrink(database.file)
        #expect(commits < 100)
        #expect(database.file.keepsLog)
        #expect(try length(database.file) < long / 2)
        try database.model.advance(to: database.file.beginRead())
        try insert(230..<260)
        try database.requireRecovery("after it was made smaller")
    }

    /// The newest version stands in no slot then, whenever a step looks.
    @Test func `a file becomes smaller whose log is written to between the steps`() throws {
        let database = try LoggedDatabase(Self.classes)
        try database.write { model in
            let table = try #require(try model.table(named: "Ballast"))
            for _ in 0..<40 {
                let key = try table.insert()
                try table.set("bytes", key, .data([UInt8](repeating: 7, count: 200_000)))
            }
        }
        var id: Int64 = 0
        func insert() throws {
            try database.write { _ = try $0.table(named: "Item")?.insert(primaryKey: .int(id)) }
            id += 1
        }
        try insert()
        try database.write { try $0.table(named: "Ballast")?.deleteAll() }
        let long = try length(database.file)
        // Commits that are kept as pages are checkpoints, behind which nobody needs what was deleted.
        for _ in 0..<2 {
            try database.file.lockForWriting()
            try database.file.publish([database.file.beginWrite().prepareCommit()])
            database.file.unlockForWriting()
            try database.model.advance(to: database.file.beginRead())
            try insert()
        }
        let maintenance = SpaceMaintenance()
        var isDone = false
        for _ in 0..<2_000 where !isDone {
            try database.file.lockForWriting()
            switch try maintenance.step(database.file) {
            case .commit(let commit): try database.file.publish([commit])
            case .more: break
            case .done: isDone = true
            }
            database.file.unlockForWriting()
            try database.model.advance(to: database.file.beginRead())
            try insert()
        }
        #expect(isDone)
        print("\(long) to \(try length(database.file)) bytes beside \(id) commits")
        #expect(try length(database.file) < long / 2)
        #expect(database.file.keepsLog)
        try database.requireRecovery("after it was made smaller")
    }

    @Test func `a step that fails before it has a transaction leaves no limit to where pages are put`() throws {
        let failures = StepFailures()
        let database = try TestDatabase(Self.classes, failures: failures)
        try addBallast(40, to: database)
        try database.write { _ in
            let table = try database.table("Item")
            for id in 0..<200 {
                let key = try table.insert(primaryKey: .int(Int64(id)))
                try table.set("photo", key, .data([UInt8](repeating: 3, count: 3_000)))
            }
        }
        try database.write { _ in try database.table("Ballast").deleteAll() }
        try database.write { _ in _ = try database.table("Item").insert(primaryKey: .int(1_000)) }
        let file = database.file
        let maintenance = SpaceMaintenance()
        maintenance.pageBudget = 1
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        guard case .commit(let commit) = try maintenance.step(file) else {
            Issue.record("There is nothing to move.")
            return
        }
        try file.publish([commit])
        try #require(file.placementLimit != nil)
        failures.arm(after: 0)
        #expect(throws: StorageError.self) { try maintenance.step(file) }
        #expect(failures.outcome.failed != nil)
        #expect(file.placementLimit == nil)
    }
}

extension StorageFile {
    /// Where the next transactions put pages, while the file is being made smaller.
    fileprivate var placementLimit: PageNumber? { writer.withLock { $0.state?.space.placementLimit } }
}
