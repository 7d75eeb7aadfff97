import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// A database, its replica that is made of records, and a plain model, through random commits, groups, rollbacks and migrations.
///
/// Each record is applied by itself, and then all three are compared.
struct ReplicatedRun {
    let recorded: RecordedDatabase
    /// The views that members of groups write through; the first is that of all other transactions.
    private let views: [TestDatabase]
    private(set) var schemas: RandomSchemas
    private var version: UInt64 = 1

    /// What a transaction is rolled back with that could be committed.
    private struct RolledBack: Error {}

    init(seed: UInt64) throws {
        schemas = try RandomSchemas(random: SplitMix64(seed: seed))
        recorded = try RecordedDatabase(schemas.declared)
        views = [recorded.database, try TestDatabase(sharing: recorded.database)]
        try compare("the beginning")
    }

    /// A commit, a group, a commit that may be rolled back, and a migration, in turn.
    mutating func take(_ step: Int) throws {
        switch step % 4 {
        case 0: try commit(isKept: true)
        case 1: try group()
        case 2: try commit(isKept: schemas.random.chance(50))
        default: try migrate(isKept: schemas.random.chance(80))
        }
        for view in views { try view.model.advance(to: recorded.database.file.beginRead()) }
        try compare("the end")
    }

    /// Requires that all three hold the same.
    private func compare(_ when: String) throws {
        try Self.compare(schemas.plain, with: recorded.database.model, "the original at \(when)")
        try Self.compare(schemas.plain, with: recorded.replicated(), "the replica at \(when)")
        try recorded.requireEqual(when, mayLackKeys: schemas.plain.hasLostKeys)
    }

    private static func compare(_ plain: PlainModel, with model: ModelView, _ what: String) throws {
        guard let difference = try plain.difference(from: model) else { return }
        throw PlainDifference("\(what), \(difference)")
    }

    // MARK: Rows

    private mutating func commit(isKept: Bool) throws {
        let before = schemas
        do {
            try recorded.write { model in
                try schemas.changeRows(in: model)
                if !isKept { throw RolledBack() }
            }
        } catch let error where error is RolledBack || error is RandomSchemas.Refused {
            schemas.rollBack(to: before)
        }
    }

    /// Transactions that are sealed and flushed together, each on top of the one before, some of them rolled back.
    private mutating func group() throws {
        let file = recorded.database.file
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        var members: [(content: [UInt8], changes: ChangeSet?, plain: PlainModel)] = []
        for _ in 0..<1 + schemas.random.below(5) {
            let model = views[schemas.random.below(views.count)].model
            let transaction = try file.beginWrite(joining: true)
            transaction.recording = .record
            try model.begin(transaction)
            let before = schemas
            do {
                try Self.compare(schemas.plain, with: model, "the original before member \(members.count)")
                try schemas.changeRows(in: model)
                try Self.compare(schemas.plain, with: model, "the original inside member \(members.count)")
                if schemas.random.chance(25) { throw RolledBack() }
                let heading = recorded.heading(behind: members.count)
                let record = try #require(try model.record(heading))
                members.append((record.content, model.transaction?.changes, schemas.plain))
                try model.join()
            } catch let error where error is RolledBack || error is RandomSchemas.Refused {
                model.rollback()
                schemas.rollBack(to: before)
            } catch {
                model.rollback()
                throw error
            }
        }
        if let prepared = try file.sealGroup() { try file.publish([prepared]) }
        for (index, member) in members.enumerated() {
            try recorded.replay(.changes, member.content, changing: member.changes)
            try Self.compare(member.plain, with: recorded.replicated(), "the replica behind member \(index)")
        }
    }

    // MARK: Migrations

    private mutating func migrate(isKept: Bool) throws {
        version += 1
        let before = schemas
        let migration = schemas.change()
        do {
            if schemas.random.chance(35) {
                try migrateBetweenRows(migration, isKept: isKept)
            } else {
                let (recorded, version) = (recorded, version)
                try carryOut(migration) {
                    try recorded.migrate(migration, version: version) { if !isKept { throw RolledBack() } }
                }
            }
        } catch let error where error is RolledBack || error is RandomSchemas.Refused {
            schemas.rollBack(to: before)
        }
    }

    /// A migration in a transaction that changes rows before and behind it.
    private mutating func migrateBetweenRows(_ migration: RandomMigration, isKept: Bool) throws {
        let version = version
        try recorded.write { model in
            try schemas.changeRows(in: model)
            try carryOut(migration) {
                try model.changeSchema(SchemaPlan(steps: migration.firstSteps))
                var plan = try SchemaReconciler.plan(
                    stored: model.schema,
                    declared: DatabaseSchema(classes: migration.declared, version: version)
                )
                plan.steps += migration.lastSteps
                try model.changeSchema(plan)
            }
            try Self.compare(schemas.plain, with: model, "the original inside a migration")
            try schemas.changeRows(in: model)
            if !isKept { throw RolledBack() }
        }
    }

    /// Does a migration to the plain model and to the database: both do it, or both refuse.
    private mutating func carryOut(_ migration: RandomMigration, _ body: () throws -> Void) throws {
        do {
            try schemas.plain.migrate(migration)
        } catch let refusal as PlainRefusal {
            do {
                try body()
            } catch let error as ModelError where refusal.fits(error) {
                throw RolledBack()
            }
            throw PlainDifference("a migration", found: "done", expected: refusal)
        }
        try body()
    }
}

extension PlainRefusal {
    /// Whether the database refuses a migration for the same reason.
    fileprivate func fits(_ error: ModelError) -> Bool {
        switch (self, error) {
        case (.denied, .deletionDenied), (.duplicates, .duplicateValues): true
        default: false
        }
    }
}
