package import RealmModel
package import RealmStorage

/// The ordered keys of an observed collection of objects at one version, and how to get to a later one.
///
/// The work of `advance` depends on what changed: rows that nobody touched are not looked at, unless the change is so
/// large that evaluating the query again is cheaper. A collection of every row of a class keeps no keys at all: the
/// table counts its rows.
package struct ObservedKeys: Sendable {
    enum Strategy: Sendable {
        /// Every row of the table, in key order.
        case wholeTable
        /// Rows of the table that fulfil a predicate, in key order.
        case filtered(membership: ChangePaths)
        /// Rows of the table in the order of a sort.
        case sorted(SortOrder, membership: ChangePaths?, ordering: ChangePaths)
        /// The first rows of a sort, or those behind some of them.
        case window(SortOrder, SortedWindow, membership: ChangePaths?, ordering: ChangePaths)
        /// Everything else: evaluated again when something it reads changed, and compared.
        case sequence(membership: ChangePaths)
    }

    package let query: ObservedQuery
    let keyPaths: [String]?
    /// What counts as a modification of an object.
    let counted: ChangePaths
    var strategy: Strategy
    var current: ObservedOrder
    /// Whether the owner of the list, or the target of the links, has been deleted: nothing will change any more.
    package internal(set) var isSourceGone = false
    /// The tables of which a change can concern the collection.
    package let tables: Set<UInt32>

    /// Evaluates the query.
    ///
    /// Key paths name the properties whose writes are modifications; nil stands for all of them, those of linked objects
    /// included, down to `ChangePaths.defaultDepth` links.
    ///
    /// - Throws: `QueryError` when the predicate, the order or a key path does not fit the schema.
    package init(_ query: ObservedQuery, keyPaths: [String]?, in model: ModelView) throws {
        guard let schema = model.schema[query.className] else {
            throw QueryError("Object type '\(query.className)' is not managed by the Realm.")
        }
        func paths(_ paths: [PropertyPath]) throws -> ChangePaths {
            try ChangePaths(paths, in: query.className, schema: model.schema)
        }
        self.query = query
        self.keyPaths = keyPaths
        counted =
            if let keyPaths {
                try paths(keyPaths.map { PropertyPath($0) })
            } else {
                ChangePaths(everythingIn: schema.tableID, schema: model.schema)
            }
        let membership = try query.predicate.map { try paths($0.readPaths) }
        var tables = counted.tables.union([schema.tableID])
        if let membership { tables.formUnion(membership.tables) }
        let steps = query.steps
        if case .table = query.source, steps.isEmpty {
            strategy = membership.map { .filtered(membership: $0) } ?? .wholeTable
        } else if case .table = query.source, case .sort(let order)? = steps.first, steps.count == 1 {
            let ordering = try paths(order.keys.map(\.path))
            tables.formUnion(ordering.tables)
            strategy = .sorted(order, membership: membership, ordering: ordering)
        } else if case .table = query.source, case .sort(let order)? = steps.first, steps.count == 2,
            case .limit(let count, let offset) = steps[1], let window = SortedWindow(count: count, offset: offset)
        {
            let ordering = try paths(order.keys.map(\.path))
            tables.formUnion(ordering.tables)
            strategy = .window(order, window, membership: membership, ordering: ordering)
        } else {
            let read = steps.flatMap { step -> [PropertyPath] in
                switch step {
                case .sort(let order): order.keys.map(\.path)
                case .distinct(let paths): paths
                case .limit: []
                case .filter(let predicate): predicate.readPaths
                }
            }
            let all = try paths((query.predicate?.readPaths ?? []) + read)
            tables.formUnion(all.tables)
            strategy = .sequence(membership: all)
        }
        switch query.source {
        case .table: break
        case .list(let owner, _, _), .backlinks(let owner, _, _):
            if let owner = model.schema[owner] { tables.insert(owner.tableID) }
        }
        self.tables = tables
        current = .list([])
        try evaluate(in: model)
    }

    /// Evaluates the query as a whole.
    mutating func evaluate(in model: ModelView) throws {
        switch strategy {
        case .wholeTable: break
        case .window(let order, var window, let membership, let ordering):
            current = .list(try window.evaluate(query, order, in: model))
            strategy = .window(order, window, membership: membership, ordering: ordering)
        default:
            let keys = try query.keys(in: model)
            isSourceGone = keys == nil
            take(keys ?? [])
        }
    }

    /// Takes keys that were evaluated as a whole.
    mutating func take(_ keys: [Int64]) {
        switch strategy {
        case .filtered: current = .tree(KeyOrder(keys, isAscending: true))
        case .sorted: current = .tree(KeyOrder(keys, isAscending: false))
        case .wholeTable, .window, .sequence: current = .list(keys)
        }
    }

    /// The keys in order; nil for a collection of every row of the class, in key order.
    package var order: ObservedOrder? {
        if case .wholeTable = strategy { nil } else { current }
    }

    /// Moves to a later version.
    ///
    /// - Returns: the exact difference.
    package mutating func advance(by step: ChangeStep) throws -> CollectionDelta {
        let before = order
        var delta = try difference(by: step)
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
        switch strategy {
        case .wholeTable:
            return try advanceTable(table, own, step)
        case .filtered(let membership):
            return try advanceFiltered(table, own, membership, step)
        case .sorted(let order, let membership, let ordering):
            return try advanceSorted(table, own, order, membership, ordering, step)
        case .window(let order, let window, let membership, let ordering):
            return try advanceWindow(table, own, order, window, membership, ordering, step)
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
        if case .filtered(let membership) = strategy { membership.isShallow } else { false }
    }

    /// Whether a change of few rows takes little work, however many rows there are.
    package var isQuick: Bool {
        switch strategy {
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
