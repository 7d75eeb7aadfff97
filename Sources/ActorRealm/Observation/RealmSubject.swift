import RealmModel
import RealmStorage

/// A whole realm that is observed.
struct RealmSubject: ChangeSubject {
    struct State: Sendable {}

    var tellsInitialState: Bool { false }

    func state(at view: FixedView) -> State { State() }

    func advance(
        _ state: inout State,
        by changes: ChangeSet,
        from old: FixedView,
        to new: FixedView
    ) -> RealmChange? {
        var classes: [String: RealmChange.ClassChange] = [:]
        for (table, changes) in changes.tables where !changes.isEmpty {
            let schema = new.model.schema.schema(of: table) ?? old.model.schema.schema(of: table)
            guard let name = schema?.name else { continue }
            classes[name] = RealmChange.ClassChange(
                inserted: changes.inserted,
                deleted: changes.deleted,
                modified: changes.modified.map(\.key)
            )
        }
        return classes.isEmpty ? nil : RealmChange(version: new.version, classes: classes)
    }

    func isFinal(_ state: State) -> Bool { false }
}
