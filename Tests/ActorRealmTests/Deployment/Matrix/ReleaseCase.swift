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
            [.propertyRemoved, .propertyRetyped, .madeOptional, .madeRequired],
            [.propertyAdded, .propertyMoved], [.linkTargetChanged], [.keyAdded, .keyRemoved, .keyChanged],
            [.embeddednessChanged], [.indexAdded, .indexRemoved],
            [.uniqueAdded, .uniqueRemoved, .compoundAdded, .compoundRemoved], [.inverseAdded, .inverseRemoved],
        ]
        return groups.shuffled(using: &random).prefix(Int.random(in: 2...4, using: &random))
            .map { $0.randomElement(using: &random)! }
    }

    /// Whether the older release goes on.
    var fits: Bool { changes.allSatisfy(\.leavesTheOldReleaseRunning) }

    /// Says in a migration that all values may go whose properties go or change their type.
    func discardValues(in migration: Migration) {
        for declared in before.classes {
            for property in declared.properties {
                migration.discardValues(ofProperty: property.name, onType: declared.name)
            }
        }
    }

    /// The classes that the later release removes.
    var removedClasses: [String] { before.classes.map(\.name).filter { after[$0] == nil } }

    /// The values of an object that a release creates later: the same for both processes.
    func row(_ number: Int, of shape: ReleaseShape) -> ReleaseWorld.Row {
        var random = SplitMix64(seed: seed &+ UInt64(number))
        return ReleaseWorld().row(shape["Item"]!, number, using: &random)
    }

    var description: String { "seed \(seed) \(changes.map(\.rawValue).joined(separator: "+"))" }
}
