import Foundation
import RealmTestSupport
import Testing

@testable import RealmModel
@testable import RealmStorage

/// Rule 46: what a log holds behind the header of a damaged file is in the new one as far as it fits, and the report says what is not.
@Suite("Salvage applies the records of a log")
struct SalvagedLogTests {
    private static let classes: [ClassSchema] = [
        .item([
            PropertySchema(name: "numbers", kind: .int, collection: .list),
            PropertySchema(name: "next", kind: .object, targetClass: "Item"),
        ]),
        ClassSchema(name: "Other", properties: [PropertySchema(name: "size", kind: .int)]),
    ]

    private let folder = TemporaryDirectory()

    // MARK: What is salvaged

    /// What salvage makes of a file.
    private struct Salvaged {
        let report: SalvageReport
        /// The rows by class and key, as text.
        let rows: [String: [Int64: [String]]]
    }

    private func salvage(_ path: String, _ when: String = "") throws -> Salvaged {
        let files = try contents(of: path)
        let result = folder.path("salvaged-\(UInt64.random(in: 0 ... .max)).realm")
        var report: SalvageReport?
        let damaged = try DamagedFile(path: path)
        try StorageFile.build(
            at: result,
            replaces: false,
            beginning: FileBeginning(version: damaged.roots[0].version)
        ) {
            report = try Salvager.salvage(damaged, to: $0)
        }
        #expect(try contents(of: path) == files, "salvage leaves the files as they are, \(when)")
        let snapshot = try StorageFile.open(path: result).beginRead()
        try FileVerifier.verify(snapshot)
        let model = try ModelView(snapshot: snapshot)
        try ModelVerifier.verify(model)
        return Salvaged(report: try #require(report), rows: try rows(of: model))
    }

    private func rows(of model: ModelView) throws -> [String: [Int64: [String]]] {
        var all: [String: [Int64: [String]]] = [:]
        for schema in model.schema.classes.values {
            let table = try #require(try model.table(named: schema.name))
            var rows: [Int64: [String]] = [:]
            for position in 0..<table.count {
                let key = try #require(try table.key(at: position))
                rows[key] = try schema.properties.enumerated()
                    .filter { $0.element.isStored }
                    .map { ordinal, property in
                        property.collection == .none
                            ? "\(try table.value(ordinal, key: key))"
                            : "\(try table.list(ordinal, key: key).values())"
                    }
            }
            all[schema.name] = rows
        }
        return all
    }

    /// The bytes of a file and of its log.
    private func contents(of path: String) throws -> [Data] {
        try [path, path + ".log"].filter { FileManager.default.fileExists(atPath: $0) }
            .map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
    }

    // MARK: What is written

    private func add(_ ids: some Sequence<Int>, to database: LoggedDatabase) throws {
        for id in ids {
            try database.write { model in
                let table = try #require(try model.table(named: "Item"))
                let key = try table.insert(primaryKey: .int(Int64(id)))
                try table.set("name", key, .string("name \(id)"))
                let numbers = table.ordinal("numbers")
                for value in 0..<id * 40 { try table.listAppend(numbers, key: key, StoredValue.int(Int64(value))) }
                if let first = try table.key(at: 0) { try table.set("next", key, .link(first)) }
            }
        }
    }

    private func addOther(to database: LoggedDatabase, size: Int64) throws {
        try database.write { model in
            let table = try #require(try model.table(named: "Other"))
            try table.set("size", table.insert(), .int(size))
        }
    }

    /// A database of three items that a header tells of, without a log.
    private func beginning() throws -> LoggedDatabase {
        let database = try LoggedDatabase(Self.classes)
        try add(0..<3, to: database)
        return try LoggedDatabase(at: kill(database, "beginning-\(UInt64.random(in: 0 ... .max))"))
    }

    /// Copies what a kill would leave now to files that are no database's.
    private func kill(_ database: LoggedDatabase, _ name: String, withLog: Bool = true) throws -> String {
        let copy = folder.path(name + ".realm")
        for suffix in withLog ? ["", ".log"] : [""] {
            try FileManager.default.copyItem(atPath: database.path + suffix, toPath: copy + suffix)
        }
        return copy
    }

    private func ids(_ salvaged: Salvaged) -> [String] {
        (salvaged.rows["Item"] ?? [:]).sorted { $0.key < $1.key }.map { $0.value[1] }
    }

    private func names(_ ids: Range<Int>) -> [String] { ids.map { "\(StoredValue.string("name \($0)"))" } }

    // MARK: Tests

    @Test(
        "Rule 46: salvage of a file that was killed gives what salvage of the same file gives behind its recovery",
        arguments: RandomRecordsTests.seeds
    )
    func randomCommits(seed: UInt64) throws {
        let database = try LoggedDatabase(WideOperations.classes)
        var operations = WideOperations(random: SplitMix64(seed: seed))
        var applied = 0
        for step in 0..<20 {
            try database.write { model in
                for _ in 0..<1 + operations.random.below(30) { try operations.runOne(in: model) }
            }
            guard step % 5 == 4 else { continue }
            let when = "step \(step) of seed \(seed)"
            let (killed, recovered) = try (kill(database, "killed-\(step)"), kill(database, "recovered-\(step)"))
            _ = try StorageFile.open(path: recovered, options: LoggedDatabase.options())
            try #require(!FileManager.default.fileExists(atPath: recovered + ".log"), "\(when)")
            let (found, wanted) = try (salvage(killed, when), salvage(recovered, when))
            #expect(found.rows == wanted.rows, "\(when)")
            #expect(found.report.log.problem == nil, "\(when)")
            #expect(found.report.log.recordsLeftOut == 0, "\(when)")
            #expect(found.report.damagedPages.isEmpty, "\(when)")
            #expect(wanted.report.log.recordsApplied == 0, "a file that was closed has no log, \(when)")
            applied += found.report.log.recordsApplied
        }
        #expect(applied > 0)
    }

    @Test("Rule 46: the report counts the records, and says that nothing is lost")
    func counted() throws {
        let database = try beginning()
        try add(3..<8, to: database)
        let salvaged = try salvage(kill(database, "killed"))
        #expect(salvaged.report.log.recordsApplied == 5)
        #expect(salvaged.report.log.recordsLeftOut == 0)
        #expect(salvaged.report.isComplete)
        #expect(ids(salvaged) == names(0..<8))
        #expect(salvaged.report.version == database.model.version)
        #expect(try salvaged.rows == rows(of: database.model))
    }

    @Test("Rule 46: where the log is missing, salvage copies the version of the header, and says that more may be lost")
    func missing() throws {
        let database = try beginning()
        try add(3..<5, to: database)
        let killed = try kill(database, "killed", withLog: false)
        let refused = #expect(throws: StorageError.self) {
            try StorageFile.open(path: killed, options: LoggedDatabase.options())
        }
        #expect(refused?.message.contains("salvage") == true)
        let salvaged = try salvage(killed)
        #expect(ids(salvaged) == names(0..<3))
        #expect(salvaged.report.log.recordsApplied == 0)
        #expect(salvaged.report.log.problem?.message.contains("missing") == true)
        #expect(!salvaged.report.isComplete)
    }

    @Test("Rule 46: another file's log is not applied, and neither is one of another life")
    func foreign() throws {
        let database = try beginning()
        try add(3..<5, to: database)
        let other = try beginning()
        try add(3..<6, to: other)
        let later = try LoggedDatabase(at: kill(database, "later"))
        try add(5..<6, to: later)
        for (index, source) in [other, later].enumerated() {
            let killed = try kill(database, "killed-\(index)", withLog: false)
            try FileManager.default.copyItem(atPath: source.path + ".log", toPath: killed + ".log")
            let salvaged = try salvage(killed)
            #expect(ids(salvaged) == names(0..<3))
            #expect(salvaged.report.log.recordsApplied == 0)
            #expect(salvaged.report.log.problem?.message.contains("stands beside") == true)
            #expect(!salvaged.report.isComplete)
        }
        let killed = try kill(database, "no-log", withLog: false)
        try Data("no log".utf8).write(to: URL(fileURLWithPath: killed + ".log"))
        let salvaged = try salvage(killed)
        #expect(ids(salvaged) == names(0..<3))
        #expect(salvaged.report.log.problem?.code == .corrupt)
    }

    // Nothing tells the last one, when it is damaged, from one that was never acknowledged.
    @Test("Rule 46: of a log that is damaged in the middle, what stands before the damage is applied", arguments: 0..<4)
    func damaged(record: Int) throws {
        let database = try beginning()
        try add(3..<8, to: database)
        let killed = try kill(database, "killed")
        // Each of them was flushed, and begins a block. The longest takes less than one.
        let log = try FileHandle(forUpdating: URL(fileURLWithPath: killed + ".log"))
        try log.seek(toOffset: UInt64(LogHeader.blockByteCount * (record + 1) + 20))
        try log.write(contentsOf: Data([0xFF]))
        try log.close()
        let refused = #expect(throws: StorageError.self) {
            try StorageFile.open(path: killed, options: LoggedDatabase.options())
        }
        #expect(refused?.message.contains("salvage") == true)
        let salvaged = try salvage(killed, "record \(record)")
        #expect(ids(salvaged) == names(0..<3 + record))
        #expect(salvaged.report.log.recordsApplied == record)
        #expect(salvaged.report.log.problem?.message.contains("durable up to") == true)
        #expect(!salvaged.report.isComplete)
    }

    @Test("Rule 46: a record that meets a damaged page is left out with those behind it, and the page is named")
    func misfit() throws {
        let database = try beginning()
        let page = try #require(try database.model.table(named: "Item")).clusters.root.page
        try addOther(to: database, size: 1)
        try addOther(to: database, size: 2)
        try database.write { model in
            let table = try #require(try model.table(named: "Item"))
            try table.set("name", #require(try table.key(at: 1)), .string("changed"))
        }
        try addOther(to: database, size: 3)
        let killed = try kill(database, "killed")
        #expect(try salvage(killed).report.log.recordsApplied == 4)
        try PageEditor(path: killed).damage(page: page)
        let salvaged = try salvage(killed)
        #expect(salvaged.report.log.recordsApplied == 2)
        #expect(salvaged.report.log.recordsLeftOut == 2)
        #expect(salvaged.report.log.problem?.page == page)
        #expect(salvaged.report.damagedPages.contains(page))
        #expect(salvaged.rows["Other"]?.count == 2)
        #expect(salvaged.rows["Item"]?.isEmpty == true)
        #expect(!salvaged.report.isComplete)
    }

    @Test("Rule 46: pages that no record touches may be damaged: all records are applied")
    func damagedElsewhere() throws {
        let database = try beginning()
        let page = try #require(try database.model.table(named: "Item")).clusters.root.page
        for size in 0..<4 { try addOther(to: database, size: Int64(size)) }
        let killed = try kill(database, "killed")
        try PageEditor(path: killed).damage(page: page)
        let salvaged = try salvage(killed)
        #expect(salvaged.report.log.recordsApplied == 4)
        #expect(salvaged.report.log.problem == nil)
        #expect(salvaged.rows["Other"]?.count == 4)
        #expect(salvaged.report.damagedPages.contains(page))
    }

    @Test("Rule 46: damage that is met only when pages are made costs the records that need the page, and none before")
    func damagedIndex() throws {
        let database = try beginning()
        let table = try #require(try database.model.table(named: "Item"))
        let page = table.tree(at: Int(table.slots[table.ordinal("name")].tree)).root.page
        for size in 0..<3 { try addOther(to: database, size: Int64(size)) }
        try add(3..<5, to: database)
        let killed = try kill(database, "killed")
        try PageEditor(path: killed).damage(page: page)
        let salvaged = try salvage(killed)
        #expect(salvaged.report.log.recordsApplied == 3)
        #expect(salvaged.report.log.recordsLeftOut == 2)
        #expect(salvaged.report.log.problem?.page == page)
        #expect(salvaged.rows["Other"]?.count == 3)
        #expect(ids(salvaged) == names(0..<3))
    }
}
