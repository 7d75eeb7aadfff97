import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// A database whose commits become records, and a replica that is made of nothing but them.
final class RecordedDatabase {
    let database: TestDatabase
    let replica: StorageFile
    private let directory: TemporaryDirectory
    private let log = LogIdentifier(low: 7, high: 11)
    private var place: CommitRecord.Place
    private var position: UInt64 = 0
    /// The length of each record.
    private(set) var byteCounts: [Int] = []
    /// The content of each record.
    private(set) var contents: [[UInt8]] = []
    /// The kind of each record.
    private(set) var kinds: [CommitRecord.Kind] = []

    init(_ classes: [ClassSchema]) throws {
        directory = TemporaryDirectory()
        var options = StorageOptions()
        options.durability = .none
        replica = try StorageFile.open(path: directory.path("replica.realm"), options: options)
        place = CommitRecord.Place(log: log, offset: 0, previous: 0)
        database = try TestDatabase([])
        // The version numbers of both are the same.
        try TestDatabase.reconcile(DatabaseSchema(classes: [], version: 1), in: replica)
        try reconcile(classes, version: 1)
    }

    /// Prints what a random test came to: `Tests/campaigns` adds these lines up.
    func tell(_ what: String, seed: UInt64, operations: Int) {
        let schemaCount = kinds.count(where: { $0 == .schema })
        print("\(what): seed \(seed), \(operations) operations, \(kinds.count) records, \(schemaCount) of schemas")
        // At once, so that nothing that another test prints comes into the line.
        fflush(nil)
    }

    /// What a transaction of the database is begun with.
    func begin(_ view: TestDatabase? = nil, joining: Bool = false) throws {
        let transaction = try database.file.beginWrite(joining: joining)
        transaction.recording = .record
        try (view ?? database).model.begin(transaction)
    }

    /// Runs a transaction in the database, and applies its record to the replica.
    func write(_ body: (ModelView) throws -> Void) throws {
        try database.file.lockForWriting()
        defer { database.file.unlockForWriting() }
        try begin()
        do {
            try body(database.model)
            let record = try #require(try database.model.record(heading))
            let changes = database.model.transaction?.changes
            try database.file.publish([database.model.prepareCommit()])
            try database.model.endTransaction(advancingTo: database.file.beginRead())
            try replay(record.kind, record.content, changing: changes)
        } catch {
            database.model.rollback()
            throw error
        }
    }

    /// What the next record says of its commit.
    var heading: RecordHeading { heading(behind: 0) }

    /// What a record says of its commit that comes behind so many others, which are not applied yet.
    func heading(behind count: Int) -> RecordHeading {
        let position = position + UInt64(count)
        return RecordHeading(
            time: 1_700_000_000_000 + Int64(position),
            identity: CommitIdentity(high: 1, low: position),
            metadata: Array("commit \(position)".utf8)
        )
    }

    /// Brings the database to another schema, and the replica with it.
    func reconcile(_ classes: [ClassSchema], version: UInt64) throws {
        var migration = RandomMigration()
        migration.declared = classes
        try migrate(migration, version: version)
    }

    /// Carries out a migration in the database, and applies its record to the replica.
    ///
    /// What `beforeCommit` throws rolls the migration back.
    func migrate(_ migration: RandomMigration, version: UInt64, beforeCommit: () throws -> Void = {}) throws {
        let file = database.file
        let base = try file.beginRead()
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        do {
            if !migration.firstSteps.isEmpty {
                try SchemaReconciler.apply(SchemaPlan(steps: migration.firstSteps), in: transaction)
            }
            var plan = try SchemaReconciler.plan(
                stored: SchemaReconciler.storedSchema(of: transaction),
                declared: DatabaseSchema(classes: migration.declared, version: version)
            )
            plan.steps += migration.lastSteps
            try SchemaReconciler.apply(plan, in: transaction)
            try beforeCommit()
            let content = try SchemaRecord.content(of: transaction, since: base, heading)
            try file.publish([transaction.prepareCommit()])
            try replay(.schema, content)
        } catch {
            transaction.rollback()
            throw error
        }
        try database.model.advance(to: file.beginRead())
    }

    /// Frames a record, reads it back, and applies it: whoever observes the replica is told of the same changes.
    func replay(
        _ kind: CommitRecord.Kind,
        _ content: [UInt8],
        expecting expected: RecordHeading? = nil,
        changing changes: ChangeSet? = nil
    ) throws {
        let record = CommitRecord(
            kind: kind,
            isLastOfVersion: true,
            position: position,
            version: database.file.newestVersion,
            content: content
        )
        let (bytes, checksum) = try record.encoded(at: place)
        byteCounts.append(bytes.count)
        contents.append(content)
        kinds.append(kind)
        let found = try bytes.withUnsafeBytes { try CommitRecord.read($0, at: place) }
        guard case .record(let read, checksum, let end) = found else {
            Issue.record("A record does not fit in its own place")
            return
        }
        #expect(read == record)
        let expected = expected ?? heading
        position += 1
        place = CommitRecord.Place(log: log, offset: end, previous: checksum)
        try apply(read, expecting: expected, changing: changes)
    }

    private func apply(
        _ record: CommitRecord,
        expecting heading: RecordHeading,
        changing changes: ChangeSet?
    ) throws {
        try replica.lockForWriting()
        defer { replica.unlockForWriting() }
        let transaction = try replica.beginWrite()
        transaction.recording = .replay
        var heading = heading
        heading.schemaGeneration = transaction.schemaGeneration + (record.kind == .schema ? 1 : 0)
        guard record.kind == .changes else {
            do {
                let read = try record.content.withUnsafeBytes { try SchemaRecord.replay($0, in: transaction) }
                #expect(read == heading)
                try replica.publish([transaction.prepareCommit()])
            } catch {
                transaction.rollback()
                throw error
            }
            return
        }
        let model = try ModelView(snapshot: replica.beginRead())
        try model.begin(transaction)
        do {
            #expect(try record.content.withUnsafeBytes { try model.replayChanges($0) } == heading)
            if let changes { #expect(model.transaction?.changes == changes) }
            try model.checkUniqueness()
            try replica.publish([model.prepareCommit()])
            try model.endTransaction()
        } catch {
            model.rollback()
            throw error
        }
    }

    /// Applies records of rows to the replica in one transaction.
    func applyAtOnce(_ contents: [[UInt8]]) throws {
        try replica.lockForWriting()
        defer { replica.unlockForWriting() }
        let transaction = try replica.beginWrite()
        transaction.recording = .replay
        let model = try replicated()
        try model.begin(transaction)
        do {
            for content in contents { _ = try content.withUnsafeBytes { try model.replayChanges($0) } }
            try model.checkUniqueness()
            try replica.publish([model.prepareCommit()])
            try model.endTransaction()
        } catch {
            model.rollback()
            throw error
        }
    }

    /// The replica as it is now.
    func replicated() throws -> ModelView { try ModelView(snapshot: replica.beginRead()) }

    /// Requires that both hold the same rows under the same keys, and that everything about them is consistent.
    ///
    /// With `mayLackKeys` the original may have spent row keys on members of groups that were rolled back since.
    func requireEqual(_ when: String, mayLackKeys: Bool = false) throws {
        let copy = try replicated()
        try DatabaseComparison.requireEqual(database.model, copy, when, mayLackKeys: mayLackKeys)
        try ModelVerifier.verify(copy)
        try FileVerifier.verify(copy.snapshot)
    }
}
