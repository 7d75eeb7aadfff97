import RealmModel
import RealmQuery
import RealmStorage

/// A map that is observed.
struct MapSubject: ChangeSubject {
    /// Where the map is.
    let source: CollectionDescriptor.Source
    /// The class of its objects; nil for values.
    let className: String?
    /// The properties of the objects whose writes are modifications; nil for all of them.
    let keyPaths: [String]?

    /// Whether the objects are dynamic ones.
    var isDynamic = false

    var requiredClasses: [String] { isDynamic ? [] : source.requiredClasses }
    var tellsInitialState: Bool { true }

    /// Throws when a key path does not fit the schema.
    func validate(in model: ModelView) throws {
        guard let className, let keyPaths else { return }
        _ = try ChangePaths(keyPaths.map { PropertyPath($0) }, in: className, schema: model.schema)
    }

    func state(at view: FixedView) throws -> ObservedEntries {
        func observed(
            _ owner: (className: String, key: Int64, property: String),
            _ read: @escaping ObservedEntries.Reading
        ) throws -> ObservedEntries {
            try ObservedEntries(
                ownerClass: owner.className,
                ownerKey: owner.key,
                property: owner.property,
                className: className,
                keyPaths: keyPaths,
                read: read,
                in: view.model
            )
        }
        switch source {
        case .list(let ownerClass, let ownerKey, let property):
            return try observed((ownerClass, ownerKey, property)) { table, property, key in
                try table.contains(key: key) ? try table.map(property, key: key).entries() : nil
            }
        case .nested(let ownerClass, let ownerKey, let property, let path, _):
            return try observed((ownerClass, ownerKey, property)) { table, property, key in
                guard case .dictionary(let entries)? = try table.nested(property, key: key, path) else { return nil }
                return entries
            }
        case .table, .backlinks: throw QueryError("A map belongs to an object.")
        }
    }

    func advance(_ state: inout ObservedEntries, by step: ChangeStep, from old: FixedView) throws -> EntriesDelta? {
        let wasFinal = state.isSourceGone
        let delta = try state.advance(by: step)
        // The end of a map's owner is told even when the map was empty.
        return delta.isEmpty && state.isSourceGone == wasFinal ? nil : delta
    }

    func merged(_ first: EntriesDelta, _ second: EntriesDelta) -> EntriesDelta? {
        let delta = first.merging(second)
        return delta.isEmpty && !(first.isEmpty || second.isEmpty) ? nil : delta
    }

    var ending: EntriesDelta? { EntriesDelta() }

    func leavingOut(_ left: EntriesDelta, from untold: EntriesDelta, upTo view: FixedView) -> EntriesDelta? {
        let delta = untold.leavingOut(left)
        return delta.isEmpty && !untold.isEmpty ? nil : delta
    }

    func tables(_ state: ObservedEntries, in model: ModelView) -> Set<UInt32>? { state.tables(in: model) }

    func isFinal(_ state: ObservedEntries) -> Bool { state.isSourceGone }
}
