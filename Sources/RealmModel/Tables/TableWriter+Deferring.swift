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
extension TableWriter {
    /// Whether rows or changes wait for a tree.
    @inline(__always)
    private func isBehind(_ tree: Int) -> Bool {
        trees[tree].pendingFrom < rows.tree.nextKey || trees[tree].lagsBehind
    }

    /// Brings a tree up to date.
    @inline(__always)
    func catchUp(tree: Int) throws(StorageError) {
        if isBehind(tree) { try catchUpSlowly(tree) }
    }

    @inline(never)
    private func catchUpSlowly(_ tree: Int) throws(StorageError) {
        guard let source = layout.sources.first(where: { $0.tree == tree }) else { return }
        try catchUp(source)
    }

    /// Brings the tree of a source up to date.
    ///
    /// A tree that could not be changed whole cannot be committed: its transaction can only be rolled back then.
    func catchUp(_ source: TreeSource) throws(StorageError) {
        guard isBehind(source.tree) else { return }
        do throws(StorageError) {
            try applyWhatWaits(source)
        } catch {
            rows.transaction.refuseCommit(because: error)
            throw error
        }
    }

    private func applyWhatWaits(_ source: TreeSource) throws(StorageError) {
        let tree = source.tree
        let first = trees[tree].pendingFrom
        trees[tree].pendingFrom = rows.tree.nextKey
        trees[tree].lagsBehind = false
        let parts = trees[tree].aside
        trees[tree].aside = []
        if source.hasKeyRuns { try applyChanges(source) }
        if parts.isEmpty, try insertOnlyRow(source, first) {
            // As many transactions do that add one object.
        } else if source.hasKeyRuns {
            try rows.insertRuns(source.slots[0], from: first, into: &trees[tree].tree)
        } else if first < rows.tree.nextKey || !parts.isEmpty {
            var entries = PendingEntries(source, parts: parts)
            try rows.collect(from: first, into: &entries)
            try entries.insert(into: &trees[tree].tree, in: rows.transaction)
        }
        if !source.hasKeyRuns { try applyChanges(source) }
    }

    /// Puts the entry of a row into a tree of one property, when no other row waits for it.
    ///
    /// - Returns: false when nothing was done: there are more rows or none, or the tree is empty and is to be built.
    private func insertOnlyRow(_ source: TreeSource, _ key: Int64) throws(StorageError) -> Bool {
        let tree = source.tree
        guard key &+ 1 == rows.tree.nextKey, !source.isCompound, !trees[tree].tree.isEmpty,
            let location = try rows.leaf(containing: key)
        else { return false }
        let slot = source.slots[0]
        let column = try location.leaf.column(Int(slot.column), isNullable: slot.isNullable)
        let value = try TableView.value(slot, in: column, row: location.row)
        if source.hasKeyRuns {
            try KeyRuns.insert(KeyRun(value, row: key), into: &trees[tree].tree, in: rows.transaction)
            return true
        }
        if slot.isLink, value.isNull { return true }
        try withUnsafeTemporaryAllocation(byteCount: IndexKey.maximumByteCount, alignment: 8) {
            (buffer) throws(StorageError) in
            guard let bytes = buffer.baseAddress else { return }
            let length = PendingEntries.encode(value, slot: slot, rowKey: key, to: bytes)
            let entry = UnsafeRawBufferPointer(start: bytes, count: length)
            try trees[tree].tree.insert(entry, value: .none, in: rows.transaction)
        }
        return true
    }

    // MARK: Changes of other rows

    /// Notes that an entry goes, or comes.
    @inline(__always)
    func noteChange(_ tree: Int, removes: Bool, _ write: (UnsafeMutableRawPointer) -> Int) {
        trees[tree].lagsBehind = true
        let changes: WrittenTree.PendingChanges
        if let known = trees[tree].changes {
            changes = known
        } else {
            changes = WrittenTree.PendingChanges()
            trees[tree].changes = changes
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
        guard trees[tree].lagsBehind, trees[tree].pendingFrom >= rows.tree.nextKey, trees[tree].aside.isEmpty,
            let changes = trees[tree].changes
        else { return false }
        return changes.removesOnly
    }

    /// Applies the changes in a list that has become long.
    @inline(__always)
    func limitChanges(tree: Int) throws(StorageError) {
        guard let changes = trees[tree].changes, changes.list.isFull else { return }
        try catchUp(tree: tree)
    }

    private func applyChanges(_ source: TreeSource) throws(StorageError) {
        let tree = source.tree
        guard let changes = trees[tree].changes else { return }
        trees[tree].changes = nil
        changes.list.sort()
        let transaction = rows.transaction
        if source.hasKeyRuns {
            var values: [Int64?] = []
            values.reserveCapacity(changes.list.count)
            for index in 0..<changes.list.count { values.append(IndexKey.int(of: changes.list.key(at: index))) }
            try KeyRuns.remove(sorted: values, from: &trees[tree].tree, in: transaction)
            return
        }
        var index = 0
        while index < changes.list.count {
            if changes.list.isSuperseded(at: index) {
                index += 1
            } else if changes.list.removes(at: index) {
                // With all that are to be taken out behind it.
                try trees[tree].tree
                    .removeAscending(in: transaction) {
                        while index < changes.list.count, changes.list.isSuperseded(at: index) { index += 1 }
                        guard index < changes.list.count, changes.list.removes(at: index) else { return nil }
                        defer { index += 1 }
                        return changes.list.key(at: index)
                    }
            } else {
                try trees[tree].tree.insert(changes.list.key(at: index), value: .none, in: transaction)
                index += 1
            }
        }
    }

    // MARK: Rows that wait

    /// Puts the entries of the rows that wait aside.
    @inline(never)
    func putAside() throws(StorageError) {
        for source in layout.sources {
            if source.hasKeyRuns {
                try catchUp(source)
            } else if trees[source.tree].pendingFrom < rows.tree.nextKey {
                try putAside(source)
            }
        }
    }

    private func putAside(_ source: TreeSource) throws(StorageError) {
        let tree = source.tree
        var entries = PendingEntries(source, parts: trees[tree].aside)
        do throws(StorageError) {
            try rows.collect(from: trees[tree].pendingFrom, into: &entries)
            try entries.putAside(in: rows.transaction)
        } catch {
            rows.transaction.refuseCommit(because: error)
            throw error
        }
        trees[tree].aside = entries.parts
        trees[tree].pendingFrom = rows.tree.nextKey
        trees[tree].lagsBehind = true
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
