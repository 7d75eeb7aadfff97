package import RealmModel
package import RealmStorage

/// The ordered keys of an observed collection of objects at one version, and how to get to a later one.
///
/// The work of `advance` depends on what changed: rows that nobody touched are not looked at, unless the change is so
/// large that evaluating the query again is cheaper. A collection of every row of a class keeps no keys at all: the
/// table counts its rows.
package struct ObservedKeys: Sendable {
    /// More changed rows than this, and than the given share of the collection, are not tested one by one.
    private static let bulkChange = 1024

    private enum Strategy: Sendable {
        /// Every row of the table, in key order.
        case wholeTable
        /// Rows of the table that fulfil a predicate, in key order.
        case filtered(membership: ChangePaths)
        /// Rows of the table in the order of a sort.
        case sorted(SortOrder, membership: ChangePaths?, ordering: ChangePaths)
        /// Everything else: evaluated again when something it reads changed, and compared.
        case sequence(membership: ChangePaths)
    }

    package let query: ObservedQuery
    /// What counts as a modification of an object.
    private let counted: ChangePaths
    private let strategy: Strategy
    private var current: [Int64]
    /// Whether the owner of the list, or the target of the links, has been deleted: nothing will change any more.
    package private(set) var isSourceGone = false

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
        counted =
            if let keyPaths {
                try paths(keyPaths.map { PropertyPath($0) })
            } else {
                ChangePaths(everythingIn: schema.tableID, schema: model.schema)
            }
        let membership = try query.predicate.map { try paths($0.readPaths) }
        switch (query.source, query.steps.count, query.steps.first) {
        case (.table, 0, _):
            strategy = membership.map { .filtered(membership: $0) } ?? .wholeTable
        case (.table, 1, .sort(let order)?):
            strategy = .sorted(order, membership: membership, ordering: try paths(order.keys.map(\.path)))
        default:
            let read = query.steps.flatMap { step -> [PropertyPath] in
                switch step {
                case .sort(let order): order.keys.map(\.path)
                case .distinct(let paths): paths
                case .limit: []
                case .filter(let predicate): predicate.readPaths
                }
            }
            strategy = .sequence(membership: try paths((query.predicate?.readPaths ?? []) + read))
        }
        current = []
        if case .wholeTable = strategy { return }
        let keys = try query.keys(in: model)
        isSourceGone = keys == nil
        current = keys ?? []
    }

    /// The keys in order; nil for a collection of every row of the class, in key order.
    package var keys: [Int64]? {
        if case .wholeTable = strategy { nil } else { current }
    }

    /// Moves to a later version.
    ///
    /// `changes` is everything that changed between the two versions; the result is the exact difference.
    package mutating func advance(
        by changes: ChangeSet,
        from old: ModelView,
        to new: ModelView
    ) throws -> CollectionDelta {
        guard !isSourceGone, !changes.tables.isEmpty, let table = try new.table(named: query.className) else {
            return CollectionDelta()
        }
        let own = changes.tables[table.id] ?? TableChanges()
        switch strategy {
        case .wholeTable:
            return try advanceTable(table, own, changes, from: old, to: new)
        case .filtered(let membership):
            return try advanceFiltered(table, own, membership, changes, from: old, to: new)
        case .sorted(let order, let membership, let ordering):
            return try advanceSorted(table, own, order, membership, ordering, changes, from: old, to: new)
        case .sequence(let membership):
            return try advanceSequence(own, membership, changes, from: old, to: new)
        }
    }
}

extension ObservedKeys {
    private func advanceTable(
        _ table: TableView,
        _ own: TableChanges,
        _ changes: ChangeSet,
        from old: ModelView,
        to new: ModelView
    ) throws -> CollectionDelta {
        var delta = CollectionDelta()
        let before = try old.table(id: table.id)
        delta.insertions = try ObservedKeys.indices(of: own.inserted, in: table)
        guard let before else { return delta }
        delta.deletions = try ObservedKeys.indices(of: own.deleted, in: before)
        var modified = try counted.changedKeys(in: changes, from: old, to: new)
        modified = try modified.filter { key in
            try !AscendingKeys.contains(key, in: own.inserted) && table.contains(key: key)
        }
        delta.setModifications(oldIndices: try ObservedKeys.indices(of: modified, in: before))
        return delta
    }

    /// The positions of rows; neighbouring keys are neighbouring rows.
    private static func indices(of keys: [Int64], in table: TableView) throws -> [Int] {
        var result: [Int] = []
        result.reserveCapacity(keys.count)
        var previous: Int64?
        for key in keys {
            if let previous, previous + 1 == key, let last = result.last {
                result.append(last + 1)
            } else if let index = try table.index(of: key) {
                result.append(index)
            }
            previous = key
        }
        return result
    }

    private mutating func advanceFiltered(
        _ table: TableView,
        _ own: TableChanges,
        _ membership: ChangePaths,
        _ changes: ChangeSet,
        from old: ModelView,
        to new: ModelView
    ) throws -> CollectionDelta {
        let candidates = try membership.changedKeys(in: changes, from: old, to: new)
        var removed: [Int64] = []
        var added: [Int64] = []
        if ObservedKeys.isBulk(candidates.count + own.inserted.count, of: table.count) {
            AscendingKeys.compare(current, try query.keys(in: new) ?? [], removed: &removed, added: &added)
        } else {
            let compiled = try CompiledQuery(query.predicate ?? .constant(true), table: table)
            removed = own.deleted.filter { AscendingKeys.contains($0, in: current) }
            for key in AscendingKeys.union(candidates, own.inserted) {
                let isIn = AscendingKeys.contains(key, in: current)
                let fits = try table.contains(key: key) && compiled.matches(key: key)
                if isIn, !fits { removed.append(key) }
                if fits, !isIn { added.append(key) }
            }
            removed = AscendingKeys.union(removed, [])
        }
        let modified = try counted.changedKeys(in: changes, from: old, to: new)
            .filter {
                AscendingKeys.contains($0, in: current) && !AscendingKeys.contains($0, in: removed)
            }
        return AscendingKeys.apply(removed: removed, added: added, modified: modified, to: &current)
    }

    private mutating func advanceSorted(
        _ table: TableView,
        _ own: TableChanges,
        _ order: SortOrder,
        _ membership: ChangePaths?,
        _ ordering: ChangePaths,
        _ changes: ChangeSet,
        from old: ModelView,
        to new: ModelView
    ) throws -> CollectionDelta {
        let modified = try counted.changedKeys(in: changes, from: old, to: new)
        let candidates = try membership?.changedKeys(in: changes, from: old, to: new) ?? []
        let reordered = try ordering.changedKeys(in: changes, from: old, to: new)
        let touched = own.deleted.count + own.inserted.count + candidates.count + reordered.count
        guard let before = try old.table(id: table.id), !ObservedKeys.isBulk(touched, of: current.count) else {
            let next = try query.keys(in: new) ?? []
            return replace(with: next, modified: modified, pairsReplacements: false)
        }
        let sought = AscendingKeys.union(own.deleted, candidates + reordered + modified)
            .filter { !AscendingKeys.contains($0, in: own.inserted) }
        let oldOrder = try CompiledSort(order, table: before)
        let places = try SortedKeys.positions(of: sought, in: current, precedes: oldOrder.precedes)

        let compiled = try query.predicate.map { try CompiledQuery($0, table: table) }
        func fits(_ key: Int64) throws -> Bool {
            guard try table.contains(key: key) else { return false }
            return try compiled?.matches(key: key) ?? true
        }
        var gone = Set(own.deleted.compactMap { places[$0] })
        var added = try own.inserted.filter(fits)
        for key in candidates where !AscendingKeys.contains(key, in: own.inserted) {
            let fits = try fits(key)
            if let place = places[key] {
                if !fits { gone.insert(place) }
            } else if fits {
                added.append(key)
            }
        }
        let newOrder = try CompiledSort(order, table: table)
        return try SortedKeys.apply(
            removed: Array(gone),
            moved: reordered.compactMap { places[$0] }.filter { !gone.contains($0) },
            added: added,
            modified: modified.compactMap { places[$0] }.filter { !gone.contains($0) },
            to: &current,
            precedes: newOrder.precedes
        )
    }

    private mutating func advanceSequence(
        _ own: TableChanges,
        _ membership: ChangePaths,
        _ changes: ChangeSet,
        from old: ModelView,
        to new: ModelView
    ) throws -> CollectionDelta {
        let modified = try counted.changedKeys(in: changes, from: old, to: new)
        var isEvaluated = try sourceChanged(own, changes, in: new)
        if !isEvaluated, !membership.isEmpty {
            isEvaluated = try !membership.changedKeys(in: changes, from: old, to: new).isEmpty
        }
        guard isEvaluated else {
            return replace(with: current, modified: modified, pairsReplacements: false)
        }
        let next = try query.keys(in: new)
        isSourceGone = next == nil
        let isPlainList = query.predicate == nil && query.steps.isEmpty && next != nil && !isSet(in: new)
        return replace(with: next ?? [], modified: modified, pairsReplacements: isPlainList)
    }

    /// Whether the collection is a set, whose elements have no places to be replaced in.
    private func isSet(in model: ModelView) -> Bool {
        guard case .list(let ownerClass, _, let property) = query.source else { return false }
        return model.schema[ownerClass]?[property]?.collection == .set
    }

    /// Whether the rows that the collection is made of may have changed, filter and order apart.
    private func sourceChanged(_ own: TableChanges, _ changes: ChangeSet, in new: ModelView) throws -> Bool {
        switch query.source {
        case .table:
            return !own.inserted.isEmpty || !own.deleted.isEmpty
        case .list(let ownerClass, let ownerKey, let property):
            guard let owner = new.schema[ownerClass], let ordinal = owner.ordinal(of: property) else { return true }
            return ObservedKeys.wasWritten(ownerKey, ordinal, in: changes.tables[owner.tableID])
        case .backlinks(let targetClass, let targetKey, let property):
            if let target = new.schema[targetClass], let changed = changes.tables[target.tableID],
                AscendingKeys.contains(targetKey, in: changed.deleted)
            {
                return true
            }
            guard let ordinal = new.schema[query.className]?.ordinal(of: property) else { return true }
            return !own.inserted.isEmpty || !own.deleted.isEmpty
                || own.modified.contains { $0.columns.contains(ordinal) }
        }
    }

    /// Whether a row was deleted, or one of its properties written.
    static func wasWritten(_ key: Int64, _ property: Int, in changes: TableChanges?) -> Bool {
        guard let changes else { return false }
        if AscendingKeys.contains(key, in: changes.deleted) { return true }
        let index = changes.modified.partitioningIndex { $0.key >= key }
        return index < changes.modified.count && changes.modified[index].key == key
            && changes.modified[index].columns.contains(property)
    }

    /// Compares with contents evaluated anew, and takes them.
    private mutating func replace(
        with next: [Int64],
        modified: [Int64],
        pairsReplacements: Bool
    ) -> CollectionDelta {
        var delta = SequenceDiff.delta(from: current, to: next, pairsReplacements: pairsReplacements)
        if !modified.isEmpty {
            let deleted = Set(delta.deletions)
            var indices = Set(delta.modifications)
            for (index, key) in current.enumerated() where AscendingKeys.contains(key, in: modified) {
                if !deleted.contains(index) { indices.insert(index) }
            }
            delta.setModifications(oldIndices: indices.sorted())
        }
        current = next
        return delta
    }

    private static func isBulk(_ touched: Int, of count: Int) -> Bool {
        touched > bulkChange && touched > count / 8
    }
}

extension Array {
    /// The first index whose element fulfils a condition that all later ones fulfil too.
    fileprivate func partitioningIndex(where isLater: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isLater(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
