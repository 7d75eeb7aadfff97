import RealmModel

/// How long steps of a migration take, about.
struct MigrationCost {
    private(set) var duration = Duration.zero
    /// How many objects are rewritten, each counted once.
    var objectCount: Int { rewritten.values.reduce(0, +) }
    private var rewritten: [String: Int] = [:]

    /// Adds a step on a class of so many objects.
    ///
    /// The figures are those of Docs/Performance.md, rounded up.
    mutating func add(_ step: SchemaPlan.Step, rowCount: Int, hasDefault: Bool) {
        let nanoseconds: Int
        var rewrites: String?
        switch step {
        case .removeProperty(let name, _):
            rewrites = name
            nanoseconds = 400
        case .replaceProperty(let name, _, let keepsValues):
            rewrites = name
            nanoseconds = keepsValues ? 1_400 : 500
        case .addProperty(let name, _):
            rewrites = hasDefault ? name : nil
            nanoseconds = hasDefault ? 500 : 0
        case .addIndex, .setUnique(_, _, true), .setPrimaryKey, .addCompoundIndex: nanoseconds = 1_200
        case .setEmbedded(_, true): nanoseconds = 500
        case .addClass, .recordName, .removeClass, .renameProperty, .replaceComputedProperty, .removeIndex, .setUnique,
            .removeCompoundIndex, .setDeleteRule, .removePrimaryKey, .setEmbedded, .setVersion:
            nanoseconds = 0
        }
        if let rewrites { rewritten[rewrites] = rowCount }
        duration += .nanoseconds(nanoseconds) * rowCount
    }
}
