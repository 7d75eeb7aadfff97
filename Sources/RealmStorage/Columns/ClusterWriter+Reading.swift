/// Reads that see the transaction's own state.
extension ClusterWriter {
    /// The row of a key, nil when there is no such row.
    package func leaf(containing key: Int64) throws(StorageError) -> RowLocation? {
        if let current, let row = current.leaf.row(of: key) { return RowLocation(leaf: current.leaf, row: row) }
        var next: Int64?
        guard let leaf = try leaf(for: key, next: &next, isWhole: false), let row = leaf.row(of: key) else {
            return nil
        }
        return RowLocation(leaf: leaf, row: row)
    }

    /// The row at a position in key order, nil beyond the end.
    package func position(at index: Int) throws(StorageError) -> RowLocation? {
        guard index >= 0, index < tree.rowCount else { return nil }
        countTail()
        var position = index
        var child = root
        while let here = child {
            switch here {
            case .sealed(let reference):
                return try ClusterDescent.row(at: position, from: reference, level: nil, in: transaction.view)
            case .cluster(let cluster):
                try compact(cluster)
                return position < cluster.rowCount ? RowLocation(leaf: cluster.leaf, row: position) : nil
            case .node(let node):
                child = nil
                for index in node.counts.indices {
                    if position < node.counts[index] {
                        child = node.children[index]
                        break
                    }
                    position -= node.counts[index]
                }
            }
        }
        return nil
    }

    /// The position of a key in key order, nil when there is no such row.
    package func index(of key: Int64) throws(StorageError) -> Int? {
        countTail()
        var rank = 0
        var child = root
        while let here = child {
            switch here {
            case .sealed(let reference):
                let below = try ClusterDescent.rank(of: key, from: reference, level: nil, in: transaction.view)
                return below.isPresent ? rank + below.rank : nil
            case .cluster(let cluster):
                try compact(cluster)
                guard let row = cluster.leaf.row(of: key) else { return nil }
                return rank + row
            case .node(let node):
                let index = node.child(for: key)
                rank += node.counts[..<index].reduce(0, +)
                child = node.children[index]
            }
        }
        return nil
    }

    /// The leaves in key order, as the transaction sees them.
    ///
    /// Writes between two steps are allowed; they may make the leaf at hand stale (see `generation`), not the cursor.
    package func leaves(from key: Int64 = .min) -> LeafCursor {
        LeafCursor(writer: self, from: key)
    }

    /// The last leaf, if it is the one that appended rows go to and a key lies in it or behind it: found without a descent.
    @inline(__always)
    func tailLeaf(for key: Int64) -> LeafView? {
        guard let tail, tail.deadCount == 0, tail.rowCount > 0, tail.firstKey <= key else { return nil }
        return tail.leaf
    }

    /// The leaf whose key range holds a key; the first one for keys before all; nil in an empty table.
    ///
    /// `next` is set to a lower bound of the keys of the leaf after that, if there is one. Unless `isWhole`, rows may
    /// have no key of their own: those that were deleted.
    func leaf(for key: Int64, next: inout Int64?, isWhole: Bool = true) throws(StorageError) -> LeafView? {
        var child = root
        while let here = child {
            switch here {
            case .sealed(let reference):
                return try ClusterDescent.leaf(
                    for: key,
                    from: reference,
                    level: nil,
                    next: &next,
                    in: transaction.view
                )
            case .cluster(let cluster):
                if isWhole { try compact(cluster) }
                return cluster.leaf
            case .node(let node):
                let index = node.child(for: key)
                if index + 1 < node.keys.count { next = node.keys[index + 1] }
                child = node.children[index]
            }
        }
        return nil
    }

    /// Takes deleted rows out of an open cluster.
    private func compact(_ cluster: OpenCluster) throws(StorageError) {
        if try cluster.compact() { bumpGeneration() }
    }
}
