import RealmModel
import RealmQuery
import RealmStorage
import Synchronization

/// A collection that is observed.
struct CollectionSubject: ChangeSubject {
    enum State: Sendable {
        case keys(ObservedKeys)
        case values(ObservedValues)
    }

    /// What the collection holds, and the properties whose writes are modifications.
    let key: CollectionKey

    /// What the collection holds.
    var descriptor: CollectionDescriptor { key.descriptor }
    /// The properties whose writes are modifications; nil for all of them.
    var keyPaths: [String]? { key.keyPaths }

    var requiredClasses: [String] { descriptor.requiredClasses }
    var tellsInitialState: Bool { true }

    /// Throws when a key path does not fit the schema.
    func validate(in model: ModelView) throws {
        guard let className = descriptor.className, let keyPaths = keyPaths ?? key.asked else { return }
        _ = try ChangePaths(keyPaths.map { PropertyPath($0) }, in: className, schema: model.schema)
    }

    func state(at view: FixedView) throws -> State {
        if let known = view.collections.withLock({ $0[key] }) { return known }
        let state = try evaluated(at: view)
        return view.collections.withLock { known in
            // Somebody may have been faster.
            if let other = known[key] { return other }
            known[key] = state
            return state
        }
    }

    private func evaluated(at view: FixedView) throws -> State {
        guard let className = descriptor.className else {
            let read: ObservedValues.Reading
            let place: (ownerClass: String, ownerKey: Int64, property: String)
            switch descriptor.source {
            case .list(let ownerClass, let ownerKey, let property):
                place = (ownerClass, ownerKey, property)
                read = { table, property, key in
                    guard try table.contains(key: key) else { return nil }
                    return table.collection(of: property) == .map
                        ? try table.map(property, key: key).entries().map(\.value)
                        : try table.list(property, key: key).values()
                }
            case .nested(let ownerClass, let ownerKey, let property, let path, let isMap):
                place = (ownerClass, ownerKey, property)
                read = { table, property, key in
                    try table.nestedValues(property, key: key, path, isMap: isMap)
                }
            case .table, .backlinks: throw QueryError("A collection of values belongs to an object.")
            }
            var transform: (@Sendable ([StoredValue]) -> [StoredValue])?
            if !descriptor.steps.isEmpty { transform = { [descriptor] in descriptor.transformed($0) } }
            return .values(
                try ObservedValues(
                    ownerClass: place.ownerClass,
                    ownerKey: place.ownerKey,
                    property: place.property,
                    transform: transform,
                    // Key paths name properties of one class.
                    countsLinks: keyPaths == nil,
                    asksForLinks: key.asked == nil,
                    read: read,
                    in: view.model
                )
            )
        }
        return .keys(
            try ObservedKeys(
                descriptor.observedQuery(of: className),
                keyPaths: keyPaths,
                asked: key.asked,
                in: view.model
            )
        )
    }

    func advanced(_ state: State, by commit: ObservedCommit) throws -> (State, ChangeHolding<Self>.Pending?) {
        // Most of those that observe the same refer to the same description, and need not compare what it says.
        let identity: ObjectIdentifier? =
            if case .keys(let keys) = state, !commit.step.changesSchema { keys.identity } else { nil }
        if let identity, let known = commit.identified[identity] { return known.advanced }
        let advanced = try commit.collections[key] ?? computed(state, by: commit)
        if let identity { commit.identified[identity] = (state, advanced) }
        commit.collections[key] = advanced
        return advanced
    }

    func advance(_ state: inout State, by step: ChangeStep, from old: FixedView) throws -> CollectionDelta? {
        let wasFinal = isFinal(state)
        let delta: CollectionDelta
        switch state {
        case .keys(var keys):
            delta = try keys.advance(by: step)
            state = .keys(keys)
        case .values(var values):
            delta = try values.advance(by: step)
            state = .values(values)
        }
        // The end of a collection's owner is told even when the collection was empty.
        return delta.isEmpty && isFinal(state) == wasFinal ? nil : delta
    }

    func merged(_ first: CollectionDelta, _ second: CollectionDelta) -> CollectionDelta? {
        let delta = first.merging(second)
        return delta.isEmpty && !(first.isEmpty || second.isEmpty) ? nil : delta
    }

    var ending: CollectionDelta? { CollectionDelta() }

    func leavingOut(
        _ left: CollectionDelta,
        from untold: CollectionDelta,
        upTo view: FixedView
    ) -> CollectionDelta? {
        let delta = untold.leavingOut(left).delta
        return delta.isEmpty && !untold.isEmpty ? nil : delta
    }

    func isFinal(_ state: State) -> Bool {
        switch state {
        case .keys(let keys): keys.isSourceGone
        case .values(let values): values.isSourceGone
        }
    }

    func tables(_ state: State, in model: ModelView) -> Set<UInt32>? {
        switch state {
        case .keys(let keys): keys.tables
        case .values(let values): values.tables(in: model)
        }
    }

    func check(_ state: State, reusing other: FollowerCheck?) -> FollowerCheck? {
        switch state {
        case .keys(let keys): return CollectionCheck(keys, reusing: other as? CollectionCheck)
        case .values(let values): return ValuesCheck(values)
        }
    }

    func isQuick(_ state: State, _ step: ChangeStep) -> Bool {
        switch state {
        case .keys(let keys): step.isSmall && keys.isQuick
        case .values: false
        }
    }
}

extension CollectionDescriptor {
    /// The values of a list as the steps order and thin them out.
    fileprivate func transformed(_ values: [StoredValue]) -> [StoredValue] {
        var values = values
        for step in steps {
            switch step {
            case .sort(let descriptors):
                let ascending = descriptors.first?.ascending ?? true
                values = values.enumerated()
                    .sorted { first, second in
                        let order = StoredValue.compare(first.element, second.element)
                        return order == 0 ? first.offset < second.offset : (order < 0) == ascending
                    }
                    .map(\.element)
            case .distinct:
                var seen: Set<StoredValue> = []
                values = values.filter { seen.insert($0).inserted }
            case .limit(let count, let offset):
                values = Array(values.dropFirst(offset).prefix(count))
            case .filter: break
            }
        }
        return values
    }
}
