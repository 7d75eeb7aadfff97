import RealmStorage

extension RealmChange {
    /// One change for two that follow each other: keys that came and went are in no list, and an inserted key is never among
    /// the modified ones.
    ///
    /// - Complexity: O(the number of keys of both).
    public func merging(_ later: RealmChange) -> RealmChange {
        var merged = classes
        for (name, change) in later.classes {
            let both = merged[name]?.merging(change) ?? change
            merged[name] = both.isEmpty ? nil : both
        }
        return RealmChange(
            version: later.version,
            classes: merged,
            isReset: isReset || later.isReset,
            isOutdated: later.isOutdated
        )
    }
}

extension RealmChange {
    /// Whether it says nothing but that there is a later version.
    var isEmpty: Bool { classes.isEmpty && !isReset && !isOutdated }

    /// One change for those that follow each other; nil when nothing is left to tell.
    ///
    /// - Complexity: O(*n* log *m*) for *n* keys in *m* changes.
    static func merged(_ changes: [RealmChange]) -> RealmChange? {
        let change = changes.mergedInPairs { $0 = $0.merging($1) }
        return change?.isEmpty == true ? nil : change
    }

    /// What is left to tell of a change whose observer knows the one behind it; nil for nothing.
    func leavingOut(_ later: RealmChange) -> RealmChange? {
        var left = classes
        for (name, change) in later.classes {
            guard let rest = left[name]?.leavingOut(change) else { continue }
            left[name] = rest.isEmpty ? nil : rest
        }
        return left.isEmpty && !isReset ? nil : RealmChange(version: later.version, classes: left, isReset: isReset)
    }
}

extension RealmChange.ClassChange {
    /// Objects that the later change deleted are known to be gone.
    fileprivate func leavingOut(_ later: Self) -> Self {
        let gone = Set(later.deleted)
        return Self(
            inserted: inserted.filter { !gone.contains($0) },
            deleted: deleted,
            modified: modified.filter { !gone.contains($0) }
        )
    }

    fileprivate var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && modified.isEmpty }

    fileprivate func merging(_ later: Self) -> Self {
        var sets = ChangeSet()
        sets.tables[0] = tableChanges
        var others = ChangeSet()
        others.tables[0] = later.tableChanges
        sets.merge(later: others)
        let result = sets.tables[0] ?? TableChanges()
        return Self(
            inserted: Array(result.inserted),
            deleted: Array(result.deleted),
            modified: result.modified.map(\.key)
        )
    }

    private var tableChanges: TableChanges {
        var changes = TableChanges()
        changes.inserted = RowKeys(inserted)
        changes.deleted = RowKeys(deleted)
        changes.modified = modified.map { TableChanges.Modification(key: $0, columns: ColumnSet(0)) }
        return changes
    }
}
