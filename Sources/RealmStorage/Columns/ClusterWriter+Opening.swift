/// Loading the parts of the tree that change.
extension ClusterWriter {
    /// Opens the cluster whose key range holds a key; nil in an empty table.
    func open(for key: Int64) throws(StorageError) -> OpenCluster? {
        guard let top = root else { return nil }
        switch top {
        case .cluster(let cluster):
            current = cluster
            return cluster
        case .node(let node):
            return try open(for: key, below: node)
        case .sealed(let reference):
            let loaded = try load(reference, as: ClusterClaim(rootOf: tree))
            root = loaded
            switch loaded {
            case .node(let node): return try open(for: key, below: node)
            case .cluster(let cluster):
                current = cluster
                return cluster
            case .sealed: return nil
            }
        }
    }

    /// The cluster whose key range holds a key, when it is open.
    func openCluster(for key: Int64) -> OpenCluster? {
        var child = root
        while case .node(let node) = child { child = node.children[node.child(for: key)] }
        guard case .cluster(let cluster) = child else { return nil }
        return cluster
    }

    private func open(for key: Int64, below node: OverlayNode) throws(StorageError) -> OpenCluster? {
        var node = node
        var endKey = tree.nextKey
        while true {
            let index = node.child(for: key)
            var child = node.children[index]
            if case .sealed(let reference) = child {
                child = try load(reference, as: ClusterClaim(of: index, in: node, endKey: endKey))
                node.children[index] = child
            }
            switch child {
            case .node(let below):
                if index + 1 < node.keys.count { endKey = node.keys[index + 1] }
                node = below
            case .cluster(let cluster):
                current = cluster
                return cluster
            case .sealed: return nil
            }
        }
    }

    /// Loads an inner node or opens a cluster, which must be what its parent says.
    private func load(_ reference: PageReference, as claim: ClusterClaim) throws(StorageError) -> OverlayChild {
        let (base, level) = try claim.load(reference, in: transaction.view)
        if level > 0 { return .node(OverlayNode(loading: base, level: level, origin: reference)) }
        let cluster = try OpenCluster(
            opening: LeafView(base: base, view: transaction.view),
            at: reference,
            layouts: columns,
            memory: memory
        )
        // Columns inside the node are read there until they change.
        transaction.forgetSeal(of: reference)
        openOrder.append(cluster)
        bumpGeneration()
        return .cluster(cluster)
    }

    /// The cluster that takes a new row at the end: the last one if it is small or open, else a new one.
    func openTail(key: Int64) throws(StorageError) -> OpenCluster {
        guard key >= 0 else { throw StorageError(.corrupt, "The next row key of a table is negative: \(key)") }
        countTail()
        let previous = tail
        tail = nil
        if previous == nil, let last = try reopenLast() {
            tail = last
            current = last
            return last
        }
        if let previous, previous.isOpen, memory.byteCount > openByteLimit / 64, !isUnsettled(previous) {
            // A full one is unlikely to change again soon, and need not push others out. Kept open it costs memory to the end.
            try encodeEarly(previous)
        }
        // After a full one in the same transaction more rows are likely to come.
        let cluster = OpenCluster(
            layouts: columns,
            firstKey: key,
            rowCapacity: previous == nil ? 64 : rowLimit,
            memory: memory,
            view: transaction.view
        )
        openOrder.append(cluster)
        try attach(cluster, key: key)
        tail = cluster
        return cluster
    }

    /// The last cluster, if it should take more rows.
    private func reopenLast() throws(StorageError) -> OpenCluster? {
        var child = root
        // Rows to come have keys behind all of those that there are: what is not so was no writer's.
        var claim = ClusterClaim(rootOf: tree)
        while let here = child {
            switch here {
            case .node(let node):
                child = node.children.last
                claim = ClusterClaim(of: node.children.count - 1, in: node, endKey: claim.endKey)
            case .cluster(let cluster):
                guard cluster.rowCount < rowLimit, cluster.heapByteCount < Self.heapByteLimit else { return nil }
                if cluster.origin.isNone { return cluster }
                let (base, _) = try ClusterDescent.load(cluster.origin, level: 0, in: transaction.view)
                let stored = LeafView(base: base, view: transaction.view)
                return stored.isCompact(pageCount: cluster.origin.pageCount) ? cluster : nil
            case .sealed(let reference):
                let (base, level) = try claim.load(reference, in: transaction.view)
                if level > 0 {
                    let inner = InnerView(base: base)
                    child = .sealed(inner.reference(inner.count - 1))
                    claim = ClusterClaim(ofLastIn: inner, level: level, endKey: claim.endKey)
                    continue
                }
                let leaf = LeafView(base: base, view: transaction.view)
                guard leaf.rowCount < rowLimit, leaf.isCompact(pageCount: reference.pageCount) else { return nil }
                return try open(for: leaf.firstKey)
            }
        }
        return nil
    }

    /// Adds a cluster at the end of the tree.
    private func attach(_ cluster: OpenCluster, key: Int64) throws(StorageError) {
        guard let top = root else {
            root = .cluster(cluster)
            return
        }
        var node: OverlayNode
        switch top {
        case .node(let existing):
            node = existing
        case .cluster(let existing):
            node = OverlayNode(level: 1)
            node.append(key: existing.firstKey, count: existing.liveRowCount, child: top)
            root = .node(node)
        case .sealed(let reference):
            let (base, level) = try ClusterClaim(rootOf: tree).load(reference, in: transaction.view)
            if level > 0 {
                node = OverlayNode(loading: base, level: level, origin: reference)
            } else {
                let leaf = LeafView(base: base, view: transaction.view)
                node = OverlayNode(level: 1)
                node.append(key: leaf.firstKey, count: leaf.rowCount, child: top)
            }
            root = .node(node)
        }
        while node.level > 1 {
            let last = node.children.count - 1
            switch node.children[last] {
            case .node(let below):
                node = below
            case .sealed(let reference):
                let claim = ClusterClaim(of: last, in: node, endKey: tree.nextKey)
                let (base, level) = try claim.load(reference, in: transaction.view)
                let below = OverlayNode(loading: base, level: level, origin: reference)
                node.children[last] = .node(below)
                node = below
            case .cluster:
                preconditionFailure("A cluster stands where an inner node belongs")
            }
        }
        node.append(key: key, count: 0, child: .cluster(cluster))
    }

    /// Tells the nodes above of rows that were appended to the tail.
    func countTail() {
        guard uncountedTailRows > 0 else { return }
        let rows = uncountedTailRows
        uncountedTailRows = 0
        var child = root
        while case .node(let node) = child {
            let last = node.counts.count - 1
            node.counts[last] += rows
            child = node.children[last]
        }
    }

    /// Tells the nodes above of a deleted row, and removes the cluster when that was its last.
    func countDown(key: Int64, of cluster: OpenCluster) {
        var child = root
        while case .node(let node) = child {
            let index = node.child(for: key)
            node.counts[index] -= 1
            child = node.children[index]
        }
        guard cluster.liveRowCount == 0 else { return }
        var path: [(node: OverlayNode, index: Int)] = []
        child = root
        while case .node(let node) = child {
            let index = node.child(for: key)
            path.append((node, index))
            child = node.children[index]
        }
        release(pagesOf: cluster)
        close(cluster)
        remove(path)
    }

    /// Removes the child at the end of a path, and the nodes that lose their last child with it.
    func remove(_ path: [(node: OverlayNode, index: Int)]) {
        for (node, index) in path.reversed() {
            node.remove(at: index)
            if !node.children.isEmpty { return }
            transaction.free(node.origin)
        }
        root = nil
    }

    /// Forgets a cluster that has left the tree or was encoded.
    func close(_ cluster: OpenCluster) {
        cluster.releaseMemory()
        if tail === cluster { tail = nil }
        if current === cluster { current = nil }
        bumpGeneration()
    }

    /// Frees what a cluster has in the base, overflow values apart.
    func release(pagesOf cluster: OpenCluster) {
        for index in 0..<cluster.columnCount { transaction.free(cluster.columns[index].run) }
        transaction.free(cluster.origin)
    }

    /// Frees everything below a child.
    func free(_ child: OverlayChild) throws(StorageError) {
        var visited = VisitedPages()
        try free(child, level: nil, &visited)
    }

    private func free(_ child: OverlayChild, level: Int?, _ visited: inout VisitedPages) throws(StorageError) {
        switch child {
        case .sealed(let reference):
            try ClusterDescent.forEachPage(from: reference, level: level, in: transaction.view, &visited) {
                transaction.free($0)
            }
        case .node(let node):
            for child in node.children { try free(child, level: node.level - 1, &visited) }
            transaction.free(node.origin)
        case .cluster(let cluster):
            // The overflow values of deleted rows have gone with them.
            try cluster.compact()
            for index in 0..<cluster.columnCount where cluster.columns[index].layout.kind == .bytes {
                try cluster.leaf.column(index).forEachOverflow { transaction.free($0) }
            }
            release(pagesOf: cluster)
            cluster.releaseMemory()
        }
    }
}
