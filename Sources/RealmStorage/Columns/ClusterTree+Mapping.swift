extension ClusterTree {
    /// Takes every run of the table through a mapper: nodes, columns, overflow values, and what the values themselves refer
    /// to, until it has enough.
    ///
    /// The tree must be sealed, and is sealed afterwards.
    ///
    /// - Parameters:
    ///   - key: Where the walk before stopped; nil for the beginning.
    ///   - lists: The columns of bytes whose values may hold the root of a sequence.
    ///   - rootOffset: Where that root stands in a value; nil for a value without one.
    ///   - mapper: What is done with the runs.
    /// - Returns: the row key at which the next walk goes on; nil when the table is done.
    /// - Throws: `StorageError` when a page is damaged, or what the mapper throws.
    package mutating func map(
        from key: Int64? = nil,
        lists: Set<Int>,
        rootOffset: (UnsafeRawBufferPointer) -> Int?,
        through mapper: inout some RunMapper
    ) throws(StorageError) -> Int64? {
        guard !root.isNone else { return nil }
        mapper.beginWalk()
        var walk = ClusterWalk(lists: lists, mapper: mapper)
        let top = root
        root = try walk.mapped(root, level: nil, from: key, rootOffset)
        mapper = walk.mapper
        if let key, let next = walk.next, next < key {
            // Walks that go back would never be done.
            throw .corrupt("Row keys do not ascend.", page: top.page)
        }
        return walk.next
    }
}

private struct ClusterWalk<Mapper: RunMapper> {
    let lists: Set<Int>
    var mapper: Mapper
    var next: Int64?

    init(lists: Set<Int>, mapper: Mapper) {
        self.lists = lists
        self.mapper = mapper
    }

    private typealias Change = (offset: Int, reference: PageReference)

    mutating func mapped(
        _ reference: PageReference,
        level: Int?,
        from key: Int64?,
        _ rootOffset: (UnsafeRawBufferPointer) -> Int?
    ) throws(StorageError) -> PageReference {
        try mapper.enter(reference)
        let (base, level) = try ClusterDescent.load(reference, level: level, in: mapper.view)
        var changes: [Change] = []
        if level == 0 {
            let leaf = LeafView(base: base, view: mapper.view)
            let moved = try mapper.mapped(reference, mappedColumns(of: leaf, rootOffset))
            if mapper.isCutShort {
                mapper.isCutShort = false
                // Writers may have merged leaves since: the one that a walk goes on in may begin before the key.
                next = max(leaf.firstKey, key ?? .min)
            }
            return moved
        } else {
            let node = InnerView(base: base)
            let first = key.map { node.child(for: $0) } ?? 0
            for index in first..<node.count where next == nil {
                // The first one always, so that every walk gets on.
                if index > first, mapper.isExhausted {
                    next = node.key(index)
                    break
                }
                let child = node.reference(index)
                let moved = try mapped(child, level: level - 1, from: index == first ? key : nil, rootOffset)
                if moved != child {
                    let offset = ClusterFormat.innerReferencesOffset + index * PageReference.byteCount
                    changes.append((offset, moved))
                }
            }
        }
        return try mapper.mapped(reference, changes)
    }

    /// Takes what a leaf refers to; returns the references in it that change.
    private mutating func mappedColumns(
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
                if isBytes { changes += try mappedValues(leaf.column(index), index, in: leaf.base, rootOffset) }
                continue
            }
            try mapper.enter(external)
            var inner: [Change] = []
            if isBytes {
                inner = try mappedValues(
                    leaf.column(index),
                    index,
                    in: mapper.view.pointer(to: external),
                    rootOffset
                )
            }
            let moved = try mapper.mapped(external, inner)
            if moved != external { changes.append((place + ClusterFormat.descriptorPlaceOffset, moved)) }
        }
        return changes
    }

    /// Takes what the values of a column refer to; the offsets are those in the run that holds the column.
    private mutating func mappedValues(
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
                try mapper.enter(old)
                let moved = try mapper.mapped(old, [])
                guard moved != old, let start = column.storedBytes(row).baseAddress else { continue }
                changes.append((run.distance(to: start), moved))
            } else if mayHoldLists {
                let value = column.storedBytes(row)
                guard let offset = rootOffset(value), let start = value.baseAddress else { continue }
                var tree = SequenceTree(root: PageReference(load: start + offset))
                let old = tree.root
                try tree.map(through: &mapper)
                if tree.root != old { changes.append((run.distance(to: start) + offset, tree.root)) }
            }
        }
        return changes
    }
}
