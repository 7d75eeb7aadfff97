import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

/// What a log tells of row keys whose rows a rollback has taken back.
@Suite("Row keys that were spent on rows which were rolled back")
struct SpentKeysTests {
    private static let classes = ["Item", "Other"]
        .map { ClassSchema(name: $0, properties: [PropertySchema(name: "number", kind: .int)]) }

    private func insert(_ name: String, in model: ModelView) throws -> Int64 {
        try #require(try model.table(named: name)).insert()
    }

    /// Rolls a transaction back that has made rows, alone or between others of its group; returns the last key that it had.
    private func spend(in database: LoggedDatabase, inGroup: Bool) throws -> Int64 {
        let model = database.model
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        func join(_ name: String) throws {
            try database.begin(joining: true)
            _ = try insert(name, in: model)
            try model.keepRecord(RecordHeading())
            try model.join()
        }
        if inGroup { try join("Item") }
        try database.begin(joining: inGroup)
        var spent: Int64 = -1
        for _ in 0..<3 { spent = try insert("Item", in: model) }
        model.rollback()
        if inGroup {
            try join("Other")
            try database.file.publish([#require(try database.file.sealGroup())])
            try model.advance(to: database.file.beginRead())
        }
        return spent
    }

    /// Until then nothing on the disk tells of them, with a log and without one: only the lock file does, which a power cut may take.
    @Test("Rule 37: the next record of the class tells of them, though it has no new row", arguments: [false, true])
    func nextRecord(inGroup: Bool) throws {
        let database = try LoggedDatabase(Self.classes)
        try database.write { model in _ = try insert("Item", in: model) }
        let spent = try spend(in: database, inGroup: inGroup)
        try database.write { model in
            try #require(try model.table(named: "Item")).set("number", 0, .int(7))
        }
        try database.requireRecovery("behind the next record")
        let recovered = try LoggedDatabase(at: database.killed())
        try recovered.write { model in
            let key = try insert("Item", in: model)
            #expect(key > spent)
        }
        withExtendedLifetime(database) {}
    }
}
