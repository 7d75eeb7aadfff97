import RealmModel
import RealmQuery
import RealmStorage

/// A whole realm that is observed.
struct RealmSubject: ChangeSubject {
    struct State: Sendable {}

    /// What the program calls its classes.
    let classNames: Set<String>

    init() { classNames = [] }

    init(of core: RealmCore) { classNames = Set(core.registry.schema.classes.map(\.name)) }

    var tellsInitialState: Bool { false }

    func state(at view: FixedView) -> State { State() }

    func advance(_ state: inout State, by step: ChangeStep, from old: FixedView) -> RealmChange? {
        var classes: [String: RealmChange.ClassChange] = [:]
        for (table, changes) in step.changes.tables where !changes.isEmpty {
            let schema = step.new.schema.schema(of: table) ?? step.old.schema.schema(of: table)
            guard let schema else { continue }
            var name = schema.name
            if let other = schema.storedName, !classNames.contains(name), classNames.contains(other) { name = other }
            classes[name] = RealmChange.ClassChange(
                inserted: Array(changes.inserted),
                deleted: Array(changes.deleted),
                modified: changes.modified.map(\.key)
            )
        }
        return classes.isEmpty ? nil : RealmChange(version: step.new.snapshot.version, classes: classes)
    }

    func merged(_ first: RealmChange, _ second: RealmChange) -> RealmChange? {
        RealmChange.merged([first, second])
    }

    func leavingOut(_ left: RealmChange, from untold: RealmChange, upTo view: FixedView) -> RealmChange? {
        untold.leavingOut(left)
    }

    func resetDelta(_ state: State, at view: FixedView) -> RealmChange? {
        RealmChange(version: view.version, classes: [:], isReset: true)
    }

    func tables(_ state: State, in model: ModelView) -> Set<UInt32>? { nil }

    func isFinal(_ state: State) -> Bool { false }
}
