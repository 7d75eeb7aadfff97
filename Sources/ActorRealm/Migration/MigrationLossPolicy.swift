extension Realm.Configuration {
    /// What a migration does with values that the new classes have no place for, and that its block never looked at.
    ///
    /// A block looks at a value when it reads it of the old object that has it: a read of one object says nothing about the others.
    ///
    /// ```swift
    /// var configuration = Realm.Configuration()
    /// configuration.schemaVersion = 2
    /// configuration.migrationLossPolicy = .refuse
    /// ```
    public enum MigrationLossPolicy: Sendable, Hashable {
        /// They go, as in RealmSwift, and a `warning` says of which property and of how many objects.
        ///
        /// It goes to ``Realm/Configuration/logger``, or else to `Logger.shared`. That says warnings to the standard error while the
        /// program has set neither.
        ///
        /// Values of a property that changes its *type* do not: where the block has not written the new ones, opening throws
        /// ``Realm/Error/lossyMigration``.
        case warn
        /// Opening throws ``Realm/Error/lossyMigration``, and the file stays as it was: what servers should have.
        case refuse
    }
}
