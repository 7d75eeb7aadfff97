import RealmStorage

/// Trees that lag behind their rows inside a transaction.
///
/// The tree of a single-valued property is a function of the rows. So the rows that a transaction appends are not put
/// into it one by one: `pendingFrom` says from which key on they are missing, writes to such rows leave the tree alone,
/// and when the tree is read, or at the commit, the entries are made from the columns, sorted, and inserted in order.
/// When very many rows are waiting, their entries are put aside in a sorted tree of their own.
///
/// What becomes of the index entries of other rows, when they are changed or deleted, is collected as well, and applied
/// in order after that.
extension TableView {
    /// Brings a tree up to date.
    @inline(__always)
    func catchUp(_ property: Int) throws(StorageError) {
        try catchUp(tree: Int(slots[property].tree))
    }

    /// Brings a tree up to date.
    @inline(__always)
    func catchUp(tree: Int) throws(StorageError) {
        guard let writer else { return }
        if pendingFrom[tree] >= writer.tree.nextKey, !lagsBehind[tree] { return }
        try catchUpSlowly(tree, writer)
    }

    @inline(never)
    private func catchUpSlowly(_ tree: Int, _ writer: ClusterWriter) throws(StorageError) {
        guard let source = sources.first(where: { $0.tree == tree }) else { return }
        let first = pendingFrom[tree]
        pendingFrom[tree] = writer.tree.nextKey
        lagsBehind[tree] = false
        let parts = asideTrees.removeValue(forKey: tree) ?? []
        if source.hasKeyRuns {
            try applyChanges(source, writer)
            try writer.insertRuns(source.slots[0], from: first, into: &trees[tree])
            return
        }
        if first < writer.tree.nextKey || !parts.isEmpty {
            var entries = PendingEntries(source, parts: parts)
            try writer.collect(from: first, into: &entries)
            try entries.insert(into: &trees[tree], in: writer.transaction)
        }
        try applyChanges(source, writer)
    }

    // MARK: - Changes of other rows

    /// Notes that an entry goes, or comes.
    @inline(__always)
    func noteChange(_ tree: Int, removes: Bool, _ write: (UnsafeMutableRawPointer) -> Int) {
        lagsBehind[tree] = true
        let changes: PendingChanges
        if let known = pendingChanges[tree] {
            changes = known
        } else {
            changes = PendingChanges()
            pendingChanges[tree] = changes
        }
        if !removes { changes.removesOnly = false }
        changes.list.append(removes: removes, write)
    }

    /// Whether a tree has an entry for each row that there is, and besides none but those of rows that were deleted.
    ///
    /// Then it can be read as it is, where each row that is found is asked for: deleting objects that are looked up one by one
    /// would else change the tree as often.
    @inline(__always)
    func lacksNothing(tree: Int) -> Bool {
        guard let writer, lagsBehind[tree], pendingFrom[tree] >= writer.tree.nextKey, asideTrees[tree] == nil,
            let changes = pendingChanges[tree]
        else { return false }
        return changes.removesOnly
    }

    /// Applies the changes in a list that has become long.
    @inline(__always)
    func limitChanges(tree: Int) throws(StorageError) {
        guard let changes = pendingChanges[tree], changes.list.isFull else { return }
        try catchUp(tree: tree)
    }

    private func applyChanges(_ source: TreeSource, _ writer: ClusterWriter) throws(StorageError) {
        let tree = source.tree
        guard let changes = pendingChanges[tree] else { return }
        pendingChanges[tree] = nil
        changes.list.sort()
        let transaction = writer.transaction
        if source.hasKeyRuns {
            var values: [Int64?] = []
            values.reserveCapacity(changes.list.count)
            for index in 0..<changes.list.count { values.append(IndexKey.int(of: changes.list.key(at: index))) }
            try KeyRuns.remove(sorted: values, from: &trees[tree], in: transaction)
            return
        }
        var index = 0
        while index < changes.list.count {
            if changes.list.isSuperseded(at: index) {
                index += 1
            } else if changes.list.removes(at: index) {
                // With all that are to be taken out behind it.
                try trees[tree]
                    .removeAscending(in: transaction) {
                        while index < changes.list.count, changes.list.isSuperseded(at: index) { index += 1 }
                        guard index < changes.list.count, changes.list.removes(at: index) else { return nil }
                        defer { index += 1 }
                        return changes.list.key(at: index)
                    }
            } else {
                try trees[tree].insert(changes.list.key(at: index), value: .none, in: transaction)
                index += 1
            }
        }
    }

    /// The changes of a tree.
    final class PendingChanges {
        @exclusivity(unchecked) var list = KeyList()
        /// Whether no entry comes.
        @exclusivity(unchecked) var removesOnly = true
    }

    // MARK: - All trees

    /// Brings the trees of all link properties up to date.
    func catchUpLinks() throws(StorageError) {
        guard writer != nil else { return }
        for property in linkProperties where slots[property].isDeferrable { try catchUp(property) }
    }

    /// Brings every tree up to date.
    func catchUpAll() throws(StorageError) {
        guard writer != nil else { return }
        for index in sources.indices { try catchUp(tree: sources[index].tree) }
    }

    /// Called when rows are appended: bounds the number of rows that wait.
    @inline(__always)
    func limitPending(before key: Int64) throws(StorageError) {
        guard (key &- firstNewKey) & (pendingRowLimit - 1) == 0, key != firstNewKey else { return }
        try putAside()
    }

    /// Puts the entries of the rows that wait aside.
    @inline(never)
    private func putAside() throws(StorageError) {
        guard let writer else { return }
        for source in sources {
            let tree = source.tree
            if source.hasKeyRuns {
                try catchUp(tree: tree)
                continue
            }
            let first = pendingFrom[tree]
            guard first < writer.tree.nextKey else { continue }
            var entries = PendingEntries(source, parts: asideTrees[tree] ?? [])
            try writer.collect(from: first, into: &entries)
            try entries.putAside(in: writer.transaction)
            asideTrees[tree] = entries.parts
            pendingFrom[tree] = writer.tree.nextKey
            lagsBehind[tree] = true
        }
    }
}

extension ClusterWriter {
    /// Collects the index entries of the rows from a key on.
    func collect(from first: Int64, into entries: inout PendingEntries) throws(StorageError) {
        guard first < tree.nextKey else { return }
        var cursor = leaves(from: first)
        try entries.collect(&cursor, from: first, in: transaction) { (leaf, slot) throws(StorageError) -> ColumnView in
            try leaf.column(Int(slot.column), isNullable: slot.isNullable)
        }
    }

    /// Puts the rows from a key on into the index of an int primary key.
    func insertRuns(_ slot: PropertySlot, from first: Int64, into index: inout ByteTree) throws(StorageError) {
        guard first < tree.nextKey else { return }
        var runs: [KeyRun] = []
        var isAscending = true
        var cursor = leaves(from: first)
        while let leaf = try cursor.next() {
            let start = leaf.lowerBound(of: first)
            guard start < leaf.rowCount else { continue }
            let column = try leaf.column(Int(slot.column), isNullable: slot.isNullable)
            try KeyRun.append(of: column, slot, rows: start..<leaf.rowCount, leaf, to: &runs, &isAscending)
        }
        if !isAscending { KeyRun.sort(&runs) }
        try KeyRuns.insert(sorted: runs, into: &index, in: transaction)
    }
}

extension KeyRun {
    /// Appends the runs of some rows of a column.
    static func append(
        of column: ColumnView,
        _ slot: PropertySlot,
        rows: Range<Int>,
        _ leaf: LeafView,
        to runs: inout [KeyRun],
        _ isAscending: inout Bool
    ) throws(StorageError) {
        for row in rows {
            let run = KeyRun(try TableView.value(slot, in: column, row: row), row: leaf.key(at: row))
            if let last = runs.last {
                if last.isContinued(by: run) {
                    runs[runs.count - 1].count += 1
                    continue
                }
                if run.value.map({ $0 <= last.value ?? .min }) ?? true { isAscending = false }
            }
            runs.append(run)
        }
    }

    /// Puts runs into the order of their values, null first.
    static func sort(_ runs: inout [KeyRun]) {
        runs.sort { left, right in
            guard let value = right.value else { return false }
            return left.value.map { $0 < value } ?? true
        }
    }
}
