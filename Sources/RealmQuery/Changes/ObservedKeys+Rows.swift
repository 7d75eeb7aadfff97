import RealmModel
import RealmStorage

// The rows of a class, all or those that fulfil a predicate, in key order.
extension ObservedKeys {
    func advanceTable(_ table: TableView, _ own: TableChanges, _ step: ChangeStep) throws -> CollectionDelta {
        var delta = CollectionDelta()
        let before = try step.old.table(id: table.id)
        delta.insertions = try ObservedKeys.indices(of: own.inserted, in: table)
        guard let before else { return delta }
        delta.deletions = try ObservedKeys.indices(of: own.deleted, in: before)
        var modified = try counted.changedKeys(in: step)
        modified = try modified.filter { key in
            try !own.inserted.contains(key) && table.contains(key: key)
        }
        delta.setModifications(oldIndices: try ObservedKeys.indices(of: modified, in: before))
        return delta
    }

    /// The positions of rows; neighbouring keys are neighbouring rows.
    private static func indices(of keys: some Collection<Int64>, in table: TableView) throws -> [Int] {
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

    mutating func advanceFiltered(
        _ table: TableView,
        _ own: TableChanges,
        _ membership: ChangePaths,
        _ step: ChangeStep
    ) throws -> CollectionDelta {
        if let bound = collection.bound, membership.isShallow, !ObservedKeys.isBulk(own.rowCount, of: table.count) {
            return try advanceBounded(table, own, membership, bound, step)
        }
        let keys = current.tree
        let candidates = try membership.changedKeys(in: step)
        var removed: [Int64] = []
        var added: [Int64] = []
        if ObservedKeys.isBulk(candidates.count + own.inserted.count, of: table.count) {
            AscendingKeys.compare(keys.array(), try query.keys(in: step.new) ?? [], removed: &removed, added: &added)
        } else {
            removed = own.deleted.filter { keys.contains($0) }
            let touched = AscendingKeys.union(candidates, own.inserted)
            if !touched.isEmpty {
                let compiled = try CompiledQuery(query.predicate ?? .constant(true), table: table)
                let moves = try ObservedKeys.moves(of: touched, in: keys, fits: compiled.matches)
                removed = AscendingKeys.union(removed, moves.removed)
                added = moves.added
            }
        }
        let modified = try counted.changedKeys(in: step)
            .filter { keys.contains($0) && !AscendingKeys.contains($0, in: removed) }
        return edit(removed: removed, added: added, modified: modified)
    }

    /// Which of some rows leave keys that ascend, and which join them; ascending, as the rows are.
    static func moves(
        of touched: [Int64],
        in keys: KeyOrder,
        fits: (Int64) throws -> Bool
    ) rethrows -> (removed: [Int64], added: [Int64]) {
        var removed: [Int64] = []
        var added: [Int64] = []
        for key in touched {
            let isIn = keys.contains(key)
            let fits = try fits(key)
            if isIn, !fits { removed.append(key) }
            if fits, !isIn { added.append(key) }
        }
        return (removed, added)
    }

    /// The same for a collection whose rows lie within a bound: no others are looked at.
    private mutating func advanceBounded(
        _ table: TableView,
        _ own: TableChanges,
        _ membership: ChangePaths,
        _ bound: RowBound,
        _ step: ChangeStep
    ) throws -> CollectionDelta {
        let keys = current.tree
        var removed: [Int64] = []
        var added: [Int64] = []
        var modified: [Int64] = []
        var compiled: CompiledQuery?
        for key in try step.keys(within: bound, of: table.id) {
            let isIn = keys.contains(key)
            let columns = own.columns(of: key)
            if columns == nil, own.deleted.contains(key) {
                if isIn { removed.append(key) }
                continue
            }
            // Inserted, or written to where the predicate looks.
            if columns.map(membership.counts) ?? true {
                let query = try compiled ?? CompiledQuery(query.predicate ?? .constant(true), table: table)
                compiled = query
                let fits = try query.matches(key: key)
                if isIn, !fits { removed.append(key) }
                if fits, !isIn { added.append(key) }
                if !fits { continue }
            }
            if isIn, let columns, counted.counts(columns) { modified.append(key) }
        }
        if !counted.isShallow {
            modified = try counted.changedKeys(in: step)
                .filter { keys.contains($0) && !AscendingKeys.contains($0, in: removed) }
        }
        return edit(removed: removed, added: added, modified: modified)
    }

    /// Removes and adds keys of a collection in key order.
    private mutating func edit(removed: [Int64], added: [Int64], modified: [Int64]) -> CollectionDelta {
        if removed.isEmpty, added.isEmpty, modified.isEmpty { return CollectionDelta() }
        // Given up here, so that the edit is made in one tree and not in a copy.
        var edited = current.tree
        let delta = AscendingKeys.apply(removed: removed, added: added, modified: modified, to: &edited)
        current = .tree(edited)
        return delta
    }
}
