#if DEBUG
extension ClusterWriter {
    /// The rows are counted, the nodes are in order, and every open cluster stands where it is looked for.
    package func checkInvariants() throws(BrokenInvariant) {
        var open: [OpenCluster] = []
        var rows = uncountedTailRows
        if let root {
            var last = Int64.min
            rows += try check(root, level: nil, from: &last, isLast: true, &open)
        }
        // That of a table in pages alone is checked where it is read.
        if case .sealed? = root { rows = tree.rowCount }
        try Invariant.require(rows == tree.rowCount, "\(rows) rows are counted as \(tree.rowCount)")
        try Invariant.require(tree.nextKey >= 0 && tree.nextKey >= Int64(tree.rowCount), "The next key was given out")
        let order = openOrder[openOrderHead...]
        for cluster in open {
            try Invariant.require(order.contains { $0 === cluster }, "An open cluster would never be encoded early")
            try Invariant.require(cluster.lastKey < tree.nextKey, "A row has a key that is still to be given out")
        }
        if let tail {
            try Invariant.require(tail === open.last, "The tail is not the last cluster")
        } else {
            try Invariant.require(uncountedTailRows == 0, "Rows of no tail wait to be counted")
        }
        if let current { try Invariant.require(open.contains { $0 === current }, "The current cluster is in no tree") }
    }

    /// Checks what is loaded below a child, and returns the number of rows that its parent counts.
    private func check(
        _ child: OverlayChild,
        level: Int?,
        from last: inout Int64,
        isLast: Bool,
        _ open: inout [OpenCluster]
    ) throws(BrokenInvariant) -> Int {
        switch child {
        case .sealed: return 0
        case .cluster(let cluster):
            try Invariant.require(level == nil || level == 0, "A cluster stands where an inner node belongs")
            try Invariant.require(cluster.isOpen, "A cluster that was closed stands in the tree")
            try cluster.checkInvariants()
            open.append(cluster)
            return cluster.liveRowCount - (cluster === tail ? uncountedTailRows : 0)
        case .node(let node):
            try Invariant.require(level == nil || level == node.level, "A node has level \(node.level)")
            let count = node.children.count
            try Invariant.require(count > 0, "A loaded node has no children")
            try Invariant.require(node.keys.count == count && node.counts.count == count, "A node has lost its count")
            for index in 0..<count {
                let isFirst = index == 0
                try Invariant.require(isFirst || node.keys[index] > last, "The keys of a node do not ascend")
                last = node.keys[index]
                let isLast = isLast && index == count - 1
                let rows = try check(node.children[index], level: node.level - 1, from: &last, isLast: isLast, &open)
                if case .sealed = node.children[index] { continue }
                try Invariant.require(rows == node.counts[index], "\(rows) rows are counted as \(node.counts[index])")
            }
            return node.rowCount
        }
    }
}

extension OpenCluster {
    /// Keys ascend, columns have their memory, and what is counted is right.
    func checkInvariants() throws(BrokenInvariant) {
        let rows = rowCount
        try Invariant.require(rows <= rowCapacity, "A cluster has \(rows) rows and room for \(rowCapacity)")
        var dead = 0
        for row in 0..<rows where isDead(row) { dead += 1 }
        try Invariant.require(dead == deadCount, "\(dead) deleted rows are counted as \(deadCount)")
        for row in 0..<rows {
            let key = leaf.key(at: row)
            guard row > 0 else { continue }
            let before = leaf.key(at: row - 1)
            try Invariant.require(isDead(row) ? key == before : key > before, "The keys of a cluster do not ascend")
        }
        if isSealed { try Invariant.require(!origin.isNone && deadCount == 0, "A changed cluster counts as sealed") }
        var heap = 0
        for index in 0..<columnCount {
            try columns[index].checkInvariants(rows: rows, capacity: rowCapacity, index)
            if columns[index].state == .expanded { heap += columns[index].liveByteCount }
        }
        try Invariant.require(heap == heapByteCount, "\(heap) bytes of values are counted as \(heapByteCount)")
    }
}

extension OpenColumn {
    /// An expanded column has its memory, and its heap holds what its rows refer to.
    func checkInvariants(rows: Int, capacity: Int, _ index: Int) throws(BrokenInvariant) {
        guard state == .expanded else {
            return try Invariant.require(data == nil && heap == nil, "Column \(index) has memory and does not use it")
        }
        guard let data else { throw BrokenInvariant("Column \(index) is expanded and has no memory") }
        try Invariant.require((nulls != nil) == layout.isNullable, "Column \(index) has the wrong kind of null bitmap")
        try Invariant.require(heapCount <= heapCapacity, "The heap of column \(index) is overfull")
        for row in rows..<capacity {
            let value = UnsafeRawBufferPointer(start: data + row * width, count: width)
            let isDefault = isNull(row) == layout.isNullable && value.allSatisfy { $0 == 0 }
            try Invariant.require(isDefault || width < fullWidth, "A row to come of column \(index) has a value")
        }
        guard layout.kind == .bytes else { return }
        var live = 0
        for row in 0..<rows {
            let length = Int(pairLength(row) & ~ClusterFormat.overflowFlag)
            let offset = Int(data.loadUnaligned(fromByteOffset: row * 8, as: UInt32.self))
            try Invariant.require(offset + length <= heapCount, "A value of column \(index) lies behind its heap")
            live += length
        }
        try Invariant.require(live == liveByteCount, "\(live) bytes of column \(index) are counted as \(liveByteCount)")
    }
}
#endif
