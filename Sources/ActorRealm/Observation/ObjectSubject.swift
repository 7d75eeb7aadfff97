import RealmModel
import RealmQuery
import RealmStorage

/// An object that is observed.
struct ObjectSubject: ChangeSubject {
    struct State: Sendable {
        /// The observed properties: their names, and which writes count for each; nil to observe the object's own.
        var observed: [(name: String, paths: ChangePaths)]?
        var table: UInt32
        var isDeleted: Bool
    }

    enum Delta: Sendable {
        /// These properties were written, in any order; where their old values are, nil when those are no longer known, and where those of some of
        /// them are that a commit wrote which was left out.
        case changed([String], before: FixedView?, since: [String: FixedView] = [:])
        case deleted
    }

    /// Key paths told under a name of their own.
    struct Label: Sendable {
        let name: String
        let keyPaths: [String]
    }

    let className: String
    let key: Int64
    /// The properties to observe, across links too; nil or none for the object's own.
    let keyPaths: [String]?
    /// What to observe under other names; nil for `keyPaths`.
    var labels: [Label]?
    /// Whether the object is a dynamic one.
    var isDynamic = false

    var requiredClasses: [String] { isDynamic ? [] : [className] }
    var tellsInitialState: Bool { false }

    /// Throws when a key path does not fit the schema.
    func validate(in model: ModelView) throws {
        guard let keyPaths = labels?.flatMap(\.keyPaths) ?? keyPaths else { return }
        _ = try ChangePaths(keyPaths.map { PropertyPath($0) }, in: className, schema: model.schema)
    }

    func state(at view: FixedView) throws -> State { try state(in: view.model) }

    private func state(in model: ModelView) throws -> State {
        guard let table = try model.table(named: className) else {
            return State(observed: nil, table: 0, isDeleted: true)
        }
        var observed: [(name: String, paths: ChangePaths)]?
        if let labels {
            observed = try labels.map { label in
                let paths = label.keyPaths.map { PropertyPath($0) }
                return (label.name, try ChangePaths(paths, in: className, schema: model.schema))
            }
        } else if let keyPaths, !keyPaths.isEmpty {
            var names: [String] = []
            var paths: [String: [PropertyPath]] = [:]
            for keyPath in keyPaths {
                let name = keyPath.prefix { $0 != "." }
                if paths[String(name)] == nil { names.append(String(name)) }
                paths[String(name), default: []].append(PropertyPath(keyPath))
            }
            let schema = model.schema
            observed = try names.map {
                ($0, try ChangePaths(paths[$0] ?? [], in: className, schema: schema))
            }
        }
        return State(observed: observed, table: table.id, isDeleted: try !table.contains(key: key))
    }

    func advance(_ state: inout State, by step: ChangeStep, from old: FixedView) throws -> Delta? {
        guard !state.isDeleted else { return nil }
        if step.changesSchema { state = try self.state(in: step.new) }
        guard try !state.isDeleted && step.new.table(id: state.table)?.contains(key: key) == true else {
            state.isDeleted = true
            return .deleted
        }
        let names: [String]
        if let observed = state.observed {
            names = try observed.filter { try $0.paths.changedKeys(in: step).contains(key) }.map(\.name)
        } else {
            let written = step.columns(of: key, in: state.table) ?? ColumnSet()
            let properties = step.new.schema.schema(of: state.table)?.properties ?? []
            names = written.columns.filter(properties.indices.contains).map { properties[$0].name }
        }
        return names.isEmpty ? nil : .changed(names, before: old)
    }

    func merged(_ first: Delta, _ second: Delta) -> Delta? {
        guard case .changed(let names, let before, var since) = first,
            case .changed(let others, let later, let sinceLater) = second
        else { return .deleted }
        let new = others.filter { !names.contains($0) }
        for name in new { since[name] = sinceLater[name] ?? later }
        return .changed(names + new, before: before, since: since)
    }

    func leavingOut(_ left: Delta, from untold: Delta, upTo view: FixedView) -> Delta? {
        guard case .changed(let names, let before, var since) = untold else { return untold }
        guard case .changed(let known, _, _) = left else { return nil }
        // Others' writes are told; what the observer shows of the same properties is its own.
        for name in names where known.contains(name) { since[name] = view }
        return .changed(names, before: before, since: since)
    }

    func resetDelta(_ state: State, at view: FixedView) -> Delta? {
        if state.isDeleted { return .deleted }
        let all = view.model.schema.schema(of: state.table)?.properties.filter(\.isStored).map(\.name) ?? []
        return .changed(state.observed?.map(\.name) ?? all, before: nil)
    }

    func tables(_ state: State, in model: ModelView) -> Set<UInt32>? {
        var tables: Set<UInt32> = [state.table]
        for observed in state.observed ?? [] { tables.formUnion(observed.paths.tables) }
        return tables
    }

    func check(_ state: State, reusing other: FollowerCheck?) -> FollowerCheck? {
        state.observed == nil ? ObjectCheck(table: state.table, key: key) : nil
    }

    func isFinal(_ state: State) -> Bool { state.isDeleted }
}
