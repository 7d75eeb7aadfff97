extension Realm.Configuration {
    /// Whether the program has something to do when the schema version rises.
    var hasMigration: Bool { throwingMigrationBlock != nil || migrationBlock != nil || !migrationSteps.isEmpty }

    /// Runs the block, or the steps that a file of a version has not seen.
    func migrate(_ migration: Migration, from version: UInt64, _ log: MigrationLog) throws {
        if let block = throwingMigrationBlock ?? migrationBlock { return try block(migration, version) }
        for step in migrationSteps.keys.sorted() where step > version {
            guard step <= schemaVersion else {
                log.leavesOut(step: step)
                continue
            }
            try migrationSteps[step]?(migration, version)
            try migration.checkMistakes()
            log.didStep(to: step)
        }
    }
}
