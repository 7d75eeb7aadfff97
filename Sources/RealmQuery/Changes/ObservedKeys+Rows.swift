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

    mutating func advanceFiltered(
        _ table: TableView,
        _ own: TableChanges,
        _ membership: ChangePaths,
        _ step: ChangeStep
    ) throws -> CollectionDelta {
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
                for key in touched {
                    let isIn = keys.contains(key)
                    let fits = try compiled.matches(key: key)
                    if isIn, !fits { removed.append(key) }
                    if fits, !isIn { added.append(key) }
                }
                removed = AscendingKeys.union(removed, [])
            }
        }
        let modified = try counted.changedKeys(in: step)
            .filter { keys.contains($0) && !AscendingKeys.contains($0, in: removed) }
        if removed.isEmpty, added.isEmpty, modified.isEmpty { return CollectionDelta() }
        // Given up here, so that the edit is made in one tree and not in a copy.
        var edited = keys
        let delta = AscendingKeys.apply(removed: removed, added: added, modified: modified, to: &edited)
        current = .tree(edited)
        return delta
    }
}
