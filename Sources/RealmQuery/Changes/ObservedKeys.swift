package import RealmModel
package import RealmStorage

/// The ordered keys of an observed collection of objects at one version, and how to get to a later one.
///
/// The work of `advance` depends on what changed: rows that nobody touched are not looked at, unless the change is so
/// large that evaluating the query again is cheaper. A collection of every row of a class keeps no keys at all: the
/// table counts its rows.
package struct ObservedKeys: Sendable {
    let collection: ObservedCollection
    var current: ObservedOrder
    /// The rows known of a sorted collection of which only the first ones are observed.
    var window: SortedWindow?
    /// Whether the owner of the list, or the target of the links, has been deleted: nothing will change any more.
    package internal(set) var isSourceGone = false

    /// Evaluates the query.
    ///
    /// Key paths name the properties whose writes are modifications; nil stands for all of them, those of linked objects
    /// included, down to `ChangePaths.defaultDepth` links.
    ///
    /// `asked` names those of them of which something is told: the others' modifications are `unasked`. Nil stands for all that count.
    ///
    /// - Throws: `QueryError` when the predicate, the order or a key path does not fit the schema.
    package init(_ query: ObservedQuery, keyPaths: [String]?, asked: [String]? = nil, in model: ModelView) throws {
        collection = try ObservedCollection(query, keyPaths: keyPaths, asked: asked, in: model)
        current = .list([])
        try evaluate(in: model)
    }

    package var query: ObservedQuery { collection.query }
    var counted: ChangePaths { collection.counted }

    /// The rows of an ordered collection that were modified: of those, as well, whose place was decided anew, and
    /// those of which something was asked that lies further away.
    func modified(_ changed: (ChangePaths) throws -> [Int64]) rethrows -> [Int64] {
        var modified = try changed(counted)
        for further in collection.further { modified = AscendingKeys.union(modified, try changed(further)) }
        return modified
    }

    /// The tables of which a change can concern the collection.
    package var tables: Set<UInt32> { collection.tables }

    /// Evaluates the query as a whole.
    mutating func evaluate(in model: ModelView) throws {
        switch collection.strategy {
        case .wholeTable: break
        case .window(let order, var window, _, _):
            current = .list(try window.evaluate(query, order, in: model))
            self.window = window
        default:
            let keys = try query.keys(in: model)
            isSourceGone = keys == nil
            take(keys ?? [])
        }
    }

    /// Takes keys that were evaluated as a whole.
    mutating func take(_ keys: [Int64]) {
        switch collection.strategy {
        case .filtered: current = .tree(KeyOrder(keys, isAscending: true))
        case .sorted: current = .tree(KeyOrder(keys, isAscending: false))
        case .wholeTable, .window, .sequence: current = .list(keys)
        }
    }

    /// The keys in order; nil for a collection of every row of the class, in key order.
    package var order: ObservedOrder? {
        if case .wholeTable = collection.strategy { nil } else { current }
    }

    /// Moves to a later version.
    ///
    /// - Returns: the exact difference.
    package mutating func advance(by step: ChangeStep) throws -> CollectionDelta {
        let before = order
        var delta = try difference(by: step)
        if let asked = collection.asked, let before, !delta.modifications.isEmpty {
            let told = try asked.changedKeys(in: step)
            delta.unasked = delta.modifications.filter { !AscendingKeys.contains(before[$0], in: told) }
        }
        delta.remember(before: before, after: order)
        return delta
    }

    private mutating func difference(by step: ChangeStep) throws -> CollectionDelta {
        if isSourceGone { return CollectionDelta() }
        if step.changesSchema { return try advanceAcrossSchemas(step) }
        guard !step.changes.tables.isEmpty, let table = try step.new.table(named: query.className) else {
            return CollectionDelta()
        }
        let own = step.changes(in: table.id)
        let isBulk = ObservedKeys.isBulk(own.rowCount, of: table.count)
        let near = try isBulk ? nil : collection.watch.flatMap { try step.keys(within: $0) }
        let rows = ConcernedRows(own, near: near, step)
        if rows.isNone { return CollectionDelta() }
        switch collection.strategy {
        case .wholeTable:
            return try advanceTable(table, own, step)
        case .filtered(let membership):
            return try advanceFiltered(table, own, membership, step)
        case .sorted(let order, let membership, let ordering):
            return try advanceSorted(table, rows, order, membership, ordering, step)
        case .window(let order, _, let membership, let ordering):
            return try advanceWindow(table, rows, order, membership, ordering, step)
        case .sequence(let membership):
            return try advanceSequence(own, membership, step)
        }
    }

    /// Moves to a later version.
    package mutating func advance(
        by changes: ChangeSet,
        from old: ModelView,
        to new: ModelView
    ) throws -> CollectionDelta {
        try advance(by: ChangeStep(changes, from: old, to: new))
    }

    /// Whether a ``ChangeProbe`` may be made for the collection.
    package var canBeProbed: Bool {
        if case .filtered(let membership) = collection.strategy { membership.isShallow } else { false }
    }

    /// Which rows alone can concern the collection; nil for all.
    package var watch: RowWatch? { collection.watch }

    /// Whether a step touches, or links lead to something touched from, a row that can concern the collection.
    package func mayBeConcerned(by step: ChangeStep) throws -> Bool {
        guard let watch, !step.changesSchema, let near = try step.keys(within: watch) else { return true }
        return !near.isEmpty
    }

    /// Tells collections apart, as long as they exist: those with the same identity are of one query, and are equal at one version.
    package var identity: ObjectIdentifier { ObjectIdentifier(collection) }

    /// Whether a probe that was made for one serves for the other.
    package func sharesProbe(with other: ObservedKeys) -> Bool { collection === other.collection }

    /// Whether a change of few rows takes little work, however many rows there are.
    package var isQuick: Bool {
        switch collection.strategy {
        case .wholeTable, .filtered, .sorted, .window: true
        case .sequence: current.count <= 512 && query.source != .table
        }
    }

    /// Whether so many rows were touched that evaluating the query over all rows is cheaper than to test them one by one.
    static func isBulk(_ touched: Int, of count: Int) -> Bool {
        touched > 1024 && touched > count / 32
    }
}

/// The keys of an observed collection in its order.
package enum ObservedOrder: Sendable {
    case tree(KeyOrder)
    case list([Int64])

    /// The number of keys.
    package var count: Int {
        switch self {
        case .tree(let keys): keys.count
        case .list(let keys): keys.count
        }
    }

    /// The key at a position that exists.
    package subscript(position: Int) -> Int64 {
        switch self {
        case .tree(let keys): keys[position]
        case .list(let keys): keys[position]
        }
    }

    /// All of them.
    package func array() -> [Int64] {
        switch self {
        case .tree(let keys): keys.array()
        case .list(let keys): keys
        }
    }

    /// Where a key stands.
    package func firstIndex(of key: Int64) -> Int? {
        switch self {
        case .tree(let keys): keys.firstIndex(of: key)
        case .list(let keys): keys.firstIndex(of: key)
        }
    }

    /// The tree; empty for a list.
    var tree: KeyOrder {
        get { if case .tree(let keys) = self { keys } else { KeyOrder([], isAscending: true) } }
        set { self = .tree(newValue) }
    }
}
