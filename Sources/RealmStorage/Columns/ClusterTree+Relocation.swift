extension ClusterTree {
    /// Moves pages of the table off the end of the file: nodes, columns, overflow values, and what the values themselves
    /// refer to, until a step has done enough.
    ///
    /// The tree must be sealed, and is sealed afterwards.
    ///
    /// - Parameters:
    ///   - key: Where the step before stopped; nil for the beginning.
    ///   - lists: The columns of bytes whose values may hold the root of a sequence.
    ///   - rootOffset: Where that root stands in a value; nil for a value without one.
    ///   - relocation: What to move, and how much of it.
    ///   - transaction: The open write transaction.
    /// - Returns: the row key at which the next step goes on; nil when the table is done.
    /// - Throws: `StorageError` when a page is damaged; then the transaction can only be rolled back.
    package mutating func relocate(
        from key: Int64?,
        lists: Set<Int>,
        rootOffset: (UnsafeRawBufferPointer) -> Int?,
        _ relocation: inout Relocation,
        in transaction: WriteTransaction
    ) throws(StorageError) -> Int64? {
        guard !root.isNone else { return nil }
        var step = ClusterRelocation(lists: lists, transaction: transaction, relocation: relocation)
        root = try step.relocated(root, level: nil, from: key, rootOffset)
        relocation = step.relocation
        return step.next
    }
}

private struct ClusterRelocation {
    let lists: Set<Int>
    let transaction: WriteTransaction
    var relocation: Relocation
    var next: Int64?

    private typealias Change = (offset: Int, reference: PageReference)

    mutating func relocated(
        _ reference: PageReference,
        level: Int?,
        from key: Int64?,
        _ rootOffset: (UnsafeRawBufferPointer) -> Int?
    ) throws(StorageError) -> PageReference {
        relocation.visit()
        let (base, level) = try ClusterDescent.load(reference, level: level, in: transaction.view)
        var changes: [Change] = []
        if level == 0 {
            let leaf = LeafView(base: base, view: transaction.view)
            changes = try relocatedColumns(of: leaf, rootOffset)
            if relocation.isCutShort {
                relocation.isCutShort = false
                next = leaf.firstKey
            }
        } else {
            let node = InnerView(base: base)
            let first = key.map { node.child(for: $0) } ?? 0
            for index in first..<node.count where next == nil {
                // The first one always, so that every step gets on.
                if index > first, relocation.isExhausted {
                    next = node.key(index)
                    break
                }
                let child = node.reference(index)
                let moved = try relocated(child, level: level - 1, from: index == first ? key : nil, rootOffset)
                if moved != child {
                    let offset = ClusterFormat.innerReferencesOffset + index * PageReference.byteCount
                    changes.append((offset, moved))
                }
            }
        }
        return try moved(reference, changes)
    }

    /// The run itself when nothing in it changes and it may stay.
    private mutating func moved(_ reference: PageReference, _ changes: [Change]) throws(StorageError) -> PageReference {
        guard relocation.moves(reference, in: transaction) || !changes.isEmpty else { return reference }
        let copy = try transaction.writable(reference)
        for change in changes { change.reference.store(to: copy.bytes + change.offset) }
        return transaction.seal(copy.reference)
    }

    /// Moves what a leaf refers to; returns the references in it that change.
    private mutating func relocatedColumns(
        of leaf: LeafView,
        _ rootOffset: (UnsafeRawBufferPointer) -> Int?
    ) throws(StorageError) -> [Change] {
        var changes: [Change] = []
        for index in 0..<leaf.columnCount {
            let place = ClusterFormat.descriptorsOffset + (index + 1) * ClusterFormat.descriptorByteCount
            let isBytes =
                leaf.base.load(fromByteOffset: place + 1, as: UInt8.self) == ColumnKind.bytes.rawValue
                && UInt64(leaf.base.load(fromByteOffset: place, as: UInt8.self)) != ClusterFormat.locationAbsent
            guard let external = leaf.externalReference(index) else {
                if isBytes { changes += try relocatedValues(leaf.column(index), index, in: leaf.base, rootOffset) }
                continue
            }
            var inner: [Change] = []
            if isBytes {
                let column = try leaf.column(index)
                inner = try relocatedValues(column, index, in: transaction.view.pointer(to: external), rootOffset)
            }
            let moved = try moved(external, inner)
            if moved != external { changes.append((place + ClusterFormat.descriptorPlaceOffset, moved)) }
        }
        return changes
    }

    /// Moves what the values of a column refer to; the offsets are those in the run that holds the column.
    private mutating func relocatedValues(
        _ column: ColumnView,
        _ index: Int,
        in run: UnsafeRawPointer,
        _ rootOffset: (UnsafeRawBufferPointer) -> Int?
    ) throws(StorageError) -> [Change] {
        var changes: [Change] = []
        let mayHoldLists = lists.contains(index)
        guard mayHoldLists || column.width == 4 else { return [] }
        for row in 0..<column.count {
            if column.isOverflow(row) {
                let old = column.overflowReference(row)
                let moved = try relocation.relocated(old, in: transaction)
                guard moved != old, let start = column.storedBytes(row).baseAddress else { continue }
                changes.append((run.distance(to: start), moved))
            } else if mayHoldLists {
                let value = column.storedBytes(row)
                guard let offset = rootOffset(value), let start = value.baseAddress else { continue }
                var tree = SequenceTree(root: PageReference(load: start + offset))
                let old = tree.root
                try tree.relocate(&relocation, in: transaction)
                if tree.root != old { changes.append((run.distance(to: start) + offset, tree.root)) }
            }
        }
        return changes
    }
}
