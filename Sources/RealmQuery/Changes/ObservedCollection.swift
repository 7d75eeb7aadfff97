import RealmModel

/// What is fixed about an observed collection of objects for as long as the classes stay as they are.
final class ObservedCollection: Sendable {
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

    let query: ObservedQuery
    let keyPaths: [String]?
    /// What counts as a modification of an object.
    let counted: ChangePaths
    /// What counts as well and lies further away than what links lead to: what decides the order, what was asked for.
    let further: [ChangePaths]
    /// The properties whose modifications are told; nil for all that count.
    let askedPaths: [String]?
    let asked: ChangePaths?
    let strategy: Strategy
    /// The tables of which a change can concern the collection.
    let tables: Set<UInt32>
    /// What rows of a filtered collection have in common, where its predicate says so of a single property.
    let bound: RowBound?
    /// Which rows alone can concern the collection; nil for all.
    let watch: RowWatch?

    init(_ query: ObservedQuery, keyPaths: [String]?, asked askedPaths: [String]? = nil, in model: ModelView) throws {
        guard let schema = model.schema[query.className] else {
            throw QueryError("Object type '\(query.className)' is not managed by the Realm.")
        }
        func paths(_ paths: [PropertyPath]) throws -> ChangePaths {
            try ChangePaths(paths, in: query.className, schema: model.schema)
        }
        self.query = query
        self.keyPaths = keyPaths
        self.askedPaths = askedPaths
        asked = try askedPaths.map { try paths($0.map { PropertyPath($0) }) }
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
        let deep = steps.flatMap { step -> [PropertyPath] in
            guard case .sort(let order) = step else { return [] }
            return order.keys.map(\.path).filter { $0.steps.count > ChangePaths.defaultDepth + 1 }
        }
        var further: [ChangePaths] = []
        if keyPaths == nil, !deep.isEmpty { further.append(try paths(deep)) }
        if let asked, !asked.isWithinEverything {
            further.append(asked)
            tables.formUnion(asked.tables)
        }
        self.further = further
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
        if case .filtered = strategy, let predicate = query.predicate,
            let table = try model.table(named: query.className)
        {
            bound = RowBound(predicate, in: table)
        } else {
            bound = nil
        }
        let read: [ChangePaths] =
            switch strategy {
            case .wholeTable: []
            case .filtered(let membership), .sequence(let membership): [membership]
            case .sorted(_, let membership, let ordering), .window(_, _, let membership, let ordering):
                [ordering] + (membership.map { [$0] } ?? [])
            }
        watch = try ObservedCollection.watch(query, counted: counted, read: read + further, in: model)
        switch query.source {
        case .table: break
        case .list(let owner, _, _), .backlinks(let owner, _, _):
            if let owner = model.schema[owner] { tables.insert(owner.tableID) }
        }
        self.tables = tables
    }
}
