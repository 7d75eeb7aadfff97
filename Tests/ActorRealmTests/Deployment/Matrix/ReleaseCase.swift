import ActorRealm
import RealmTestSupport

/// A case of the matrix: two releases, and what the older one has written.
///
/// Both processes make it from the same seed.
struct ReleaseCase: Sendable {
    let seed: UInt64
    let changes: [ReleaseChange]
    let before: ReleaseShape
    let after: ReleaseShape
    let world: ReleaseWorld

    init(seed: UInt64, changes: [ReleaseChange]) {
        self.seed = seed
        self.changes = changes
        var random = SplitMix64(seed: seed)
        var shape = ReleaseShape(using: &random)
        for change in changes { change.prepare(&shape, using: &random) }
        before = shape
        for change in changes { change.apply(to: &shape, using: &random) }
        after = shape
        world = ReleaseWorld(before, using: &random)
    }

    /// Changes that do not touch the same.
    static func randomChanges(using random: inout SplitMix64) -> [ReleaseChange] {
        let groups: [[ReleaseChange]] = [
            [.classAdded, .classRemoved, .classRenamed],
            [
                .propertyRemoved, .propertyRenamed, .propertyRetyped, .madeOptional, .madeRequired,
                .listElementsRetyped, .mapRemoved, .mapElementsRetyped, .setRemoved, .setElementsRetyped,
                .anyRemoved, .anyRetyped,
            ],
            [.propertyAdded, .defaultAdded, .propertyMoved, .mapAdded, .setAdded, .anyAdded], [.linkTargetChanged],
            [.keyAdded, .keyRemoved, .keyChanged],
            [.embeddednessChanged], [.indexAdded, .indexRemoved],
            [.uniqueAdded, .uniqueRemoved, .compoundAdded, .compoundRemoved], [.inverseAdded, .inverseRemoved],
            [.cascadeAdded, .cascadeRemoved, .denyAdded, .denyRemoved, .cascadeToDeny, .denyToCascade],
        ]
        return groups.shuffled(using: &random).prefix(Int.random(in: 2...4, using: &random))
            .map { $0.randomElement(using: &random)! }
    }

    /// Whether the older release goes on.
    var fits: Bool { changes.allSatisfy(\.leavesTheOldReleaseRunning) }

    /// Whether a realm of the older release that only reads could go on: rules are nothing to it.
    var fitsReaders: Bool { changes.allSatisfy { $0.leavesTheOldReleaseRunning || $0 == .cascadeAdded } }

    /// The delete rule that holds while both releases have the file open.
    ///
    /// The older one has declared its own as long as its realm is open, and of two that are declared the one holds that deletes less. That
    /// of a release that deletes more than the older one knows of is there as well: it outdates that.
    var ruleInForce: ReleaseShape.Rule { max(before.rule, after.rule) }

    /// The properties that the later release renames.
    private var renames: [(className: String, from: String, to: String)] {
        after.classes.flatMap { declared in
            declared.properties.compactMap { property in
                property.formerName.map { (className: declared.name, from: $0, to: property.name) }
            }
        }
    }

    /// What the later release's block does: the data of classes that go is deleted, what has another name is renamed, and all values may go
    /// whose properties go or change their type.
    func migrate(_ migration: Migration) {
        for name in removedClasses { migration.deleteData(forType: name) }
        for rename in renames {
            migration.renameProperty(onType: rename.className, from: rename.from, to: rename.to)
        }
        for declared in before.classes {
            for property in declared.properties {
                migration.discardValues(ofProperty: property.name, onType: declared.name)
            }
        }
    }

    /// The classes that the later release removes.
    private var removedClasses: [String] { before.classes.map(\.name).filter { after[$0] == nil } }

    /// The values of an object that a release creates later: the same for both processes.
    func row(_ number: Int, of shape: ReleaseShape) -> ReleaseWorld.Row {
        var random = SplitMix64(seed: seed &+ UInt64(number))
        return ReleaseWorld().row(shape["Item"]!, number, using: &random)
    }

    var description: String { "seed \(seed) \(changes.map(\.rawValue).joined(separator: "+"))" }
}
