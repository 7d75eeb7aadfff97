import RealmModel

/// Values that a migration drops.
struct MigrationLoss: Sendable, Equatable {
    let className: String
    /// The property as the file names it.
    let propertyName: String
    /// The type of the values.
    let oldType: String
    /// The type of the property that takes the name, for a property that changes its type; nil for one that goes.
    let newType: String?
    /// How many objects lose a value.
    let count: Int
    /// Whether the block has read the property of other objects.
    let isPartlyRead: Bool

    /// What is lost, as a part of a sentence.
    var summary: String {
        let objects = count == 1 ? "1 object" : "\(count) objects"
        guard let newType else {
            return "'\(className).\(propertyName)' is removed, which has values in \(objects)"
                + (isPartlyRead ? " of which the block has not read it" : "")
        }
        return
            "'\(className).\(propertyName)' changes from '\(oldType)' to '\(newType)', and the block writes nothing for the "
            + "values of \(objects)"
    }

    /// The error of an opening that must not drop values.
    static func refusal(of losses: [MigrationLoss], _ core: RealmCore) -> Realm.Error {
        let first = losses[0]
        let all = losses.map { "\n- \($0.summary)" }.joined()
        return Realm.Error(
            .lossyMigration,
            "The migration would lose values, and the file is left as it was:\(all)\nWrite them to other properties in the "
                + "migration block, for each object, or call "
                + "`migration.discardValues(ofProperty: \"\(first.propertyName)\", "
                + "onType: \"\(first.className)\")` in it where they are to go.",
            fileURL: core.configuration.fileURL,
            details: Realm.Error.Details(
                className: first.className,
                propertyName: first.propertyName,
                count: first.count
            )
        )
    }
}
