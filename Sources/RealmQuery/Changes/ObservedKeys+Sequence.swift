import RealmModel
import RealmStorage

// Collections that are evaluated as a whole and compared.
extension ObservedKeys {
    mutating func advanceSequence(
        _ own: TableChanges,
        _ membership: ChangePaths,
        _ step: ChangeStep
    ) throws -> CollectionDelta {
        let modified = try modified { try $0.changedKeys(in: step) }
        guard try isEvaluated(own, membership, step) else {
            var delta = CollectionDelta()
            if !modified.isEmpty {
                delta.addModifications(of: current.array()) { AscendingKeys.contains($0, in: modified) }
            }
            return delta
        }
        let next = try query.keys(in: step.new)
        isSourceGone = next == nil
        let isPlainList = query.predicate == nil && query.steps.isEmpty && next != nil && hasPlaces(in: step.new)
        return replace(with: next ?? [], modified: modified, pairsReplacements: isPlainList)
    }

    /// Whether the query has to be evaluated again.
    func isEvaluated(_ own: TableChanges, _ membership: ChangePaths, _ step: ChangeStep) throws -> Bool {
        if try sourceChanged(own, step) { return true }
        return try !membership.isEmpty && !membership.changedKeys(in: step).isEmpty
    }

    /// Moves to a version with other classes: everything is evaluated anew and compared.
    mutating func advanceAcrossSchemas(_ step: ChangeStep) throws -> CollectionDelta {
        var next = try ObservedKeys(
            query,
            keyPaths: collection.keyPaths,
            asked: collection.askedPaths,
            in: step.new
        )
        let before = try order?.array() ?? ObservedKeys.rows(query, in: step.old)
        let after = try next.order?.array() ?? ObservedKeys.rows(query, in: step.new)
        let modified = try next.modified { try $0.changedKeys(in: step) }
        var delta = SequenceDiff.delta(from: before, to: after, pairsReplacements: false)
        delta.addModifications(of: before) { AscendingKeys.contains($0, in: modified) }
        next.isSourceGone = next.isSourceGone || isSourceGone
        self = next
        return delta
    }

    private static func rows(_ query: ObservedQuery, in model: ModelView) throws -> [Int64] {
        try query.keys(in: model) ?? []
    }

    /// Whether elements have places where others come in for them: those of sets, and what links to an object, do not.
    private func hasPlaces(in model: ModelView) -> Bool {
        guard case .list(let ownerClass, _, let property) = query.source else { return false }
        return model.schema[ownerClass]?[property]?.collection != .set
    }

    /// Whether the rows that the collection is made of may have changed, filter and order apart.
    private func sourceChanged(_ own: TableChanges, _ step: ChangeStep) throws -> Bool {
        let schema = step.new.schema
        switch query.source {
        case .table:
            return !own.inserted.isEmpty || !own.deleted.isEmpty
        case .list(let ownerClass, let ownerKey, let property):
            guard let owner = schema[ownerClass], let ordinal = owner.ordinal(of: property) else { return true }
            return ObservedKeys.wasWritten(ownerKey, ordinal, in: step.changes.tables[owner.tableID])
        case .backlinks(let targetClass, let targetKey, let property):
            if let target = schema[targetClass],
                step.changes(in: target.tableID).deleted.contains(targetKey)
            {
                return true
            }
            guard let ordinal = schema[query.className]?.ordinal(of: property) else { return true }
            return !own.inserted.isEmpty || !own.deleted.isEmpty
                || own.modified.contains { $0.columns.contains(ordinal) }
        }
    }

    /// Whether a row was deleted, or one of its properties written.
    static func wasWritten(_ key: Int64, _ property: Int, in changes: TableChanges?) -> Bool {
        guard let changes else { return false }
        if changes.deleted.contains(key) { return true }
        let index = changes.modified.partitioningIndex { $0.key >= key }
        return index < changes.modified.count && changes.modified[index].key == key
            && changes.modified[index].columns.contains(property)
    }

    /// Compares with contents evaluated anew, and takes them.
    mutating func replace(
        with next: [Int64],
        modified: [Int64],
        pairsReplacements: Bool
    ) -> CollectionDelta {
        let before = current.array()
        var delta = SequenceDiff.delta(from: before, to: next, pairsReplacements: pairsReplacements)
        if !modified.isEmpty { delta.addModifications(of: before) { AscendingKeys.contains($0, in: modified) } }
        take(next)
        return delta
    }
}

extension CollectionDelta {
    /// Adds the elements that stayed and were written to.
    mutating func addModifications<Element>(of elements: [Element], where isModified: (Element) -> Bool) {
        let deleted = Set(deletions)
        var indices = Set(modifications)
        for (index, element) in elements.enumerated() where isModified(element) && !deleted.contains(index) {
            indices.insert(index)
        }
        setModifications(oldIndices: indices.sorted())
    }
}
