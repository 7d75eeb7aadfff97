/// Encoding what changed.
extension ClusterWriter {
    /// A node of the tree in pages, with what its parent says about it.
    private struct Sealed {
        var key: Int64
        var count: Int
        var reference: PageReference
    }

    /// Encodes the clusters that have been open longest until the rest fits in half of the bound.
    func encodeOldest() throws(StorageError) {
        let goal = openByteLimit / 2
        var spared: [OpenCluster] = []
        // Also where one cannot be encoded, which stays open then.
        defer {
            openOrder.removeSubrange(..<openOrderHead)
            openOrder.append(contentsOf: spared)
            openOrderHead = 0
        }
        while memory.byteCount > goal, openOrderHead < openOrder.count {
            let cluster = openOrder[openOrderHead]
            openOrderHead += 1
            guard cluster.isOpen else { continue }
            if cluster === tail || cluster === current || isUnsettled(cluster) {
                spared.append(cluster)
            } else {
                do throws(StorageError) {
                    try encodeEarly(cluster)
                } catch {
                    if cluster.isOpen { spared.append(cluster) }
                    throw error
                }
            }
        }
    }

    /// Encodes one open cluster before the end of the transaction.
    func encodeEarly(_ cluster: OpenCluster) throws(StorageError) {
        let reference = try encode(cluster)
        close(cluster)
        guard case .node(var node)? = root else {
            root = .sealed(reference)
            return
        }
        while true {
            let index = node.child(for: cluster.firstKey)
            if case .node(let below) = node.children[index] {
                node = below
            } else {
                node.keys[index] = cluster.firstKey
                node.children[index] = .sealed(reference)
                return
            }
        }
    }

    /// Writes a cluster to pages; its first key and row count are exact afterwards.
    private func encode(_ cluster: OpenCluster) throws(StorageError) -> PageReference {
        if cluster.isSealed { return cluster.origin }
        // Before the pages that the cluster has are given up: it is as it was where that fails.
        try transaction.spillIfNeeded()
        var filtered: [FilteredColumn?] = []
        if cluster !== tail || tailPlan == nil { filtered = try cluster.compactForEncoding() }
        let plan: ClusterPlan
        let reference: PageReference
        do throws(StorageError) {
            if cluster === tail, let tailPlan {
                plan = tailPlan
            } else {
                plan = try ClusterPlan(cluster, filtered: filtered)
            }
            reference = try ClusterEncoder(cluster: cluster, plan: plan, transaction: transaction).write()
        } catch {
            // Its rows have moved, and the columns that were to be copied from its pages have not.
            cluster.expand(filtered)
            bumpGeneration()
            throw error
        }
        if cluster === tail, plan.isCompact, cluster.isAllInMemory {
            cluster.origin = reference
            for index in 0..<cluster.columnCount { cluster.columns[index].run = .none }
            cluster.isSealed = true
        }
        return reference
    }

    // MARK: Merging

    /// Joins a tail that has outgrown one node with the cluster before it, if that has room.
    func mergeTail() throws(StorageError) {
        guard let tail, !tail.isSealed, case .node? = root else { return }
        try tail.compact()
        let plan = try ClusterPlan(tail)
        if plan.isCompact {
            tailPlan = plan
            return
        }
        guard tail.firstKey > .min else { return }
        var next: Int64?
        guard let before = try leaf(for: tail.firstKey - 1, next: &next), before.lastKey < tail.firstKey,
            before.rowCount + tail.rowCount <= rowLimit,
            before.heapByteCount + tail.heapByteCount <= Self.heapByteLimit
        else { return }
        guard let previous = try open(for: tail.firstKey - 1) else { return }
        try previous.appendRows(of: tail)
        var path: [(node: OverlayNode, index: Int)] = []
        var child = root
        let rows = tail.rowCount
        while case .node(let node) = child {
            let index = node.children.count - 1
            node.counts[index] -= rows
            path.append((node, index))
            child = node.children[index]
        }
        close(tail)
        release(pagesOf: tail)
        remove(path)
        count(rows, at: previous.firstKey)
    }

    /// Adds rows to the counts of the nodes above a key.
    private func count(_ rows: Int, at key: Int64) {
        var child = root
        while case .node(let node) = child {
            let index = node.child(for: key)
            node.counts[index] += rows
            child = node.children[index]
        }
    }

    /// Joins open clusters that have become small with a neighbour below the same node, and small inner nodes likewise.
    func mergeSmall(_ child: OverlayChild) throws(StorageError) {
        guard case .node(let node) = child else { return }
        if node.level > 1 {
            for child in node.children { try mergeSmall(child) }
            mergeSmallNodes(below: node)
            return
        }
        let small = rowLimit / 4
        var index = 0
        while index < node.children.count {
            guard case .cluster(let cluster) = node.children[index], cluster !== tail, node.counts[index] < small else {
                index += 1
                continue
            }
            if index + 1 < node.children.count, canMerge(node, index) {
                try merge(node, index)
            } else if index > 0, canMerge(node, index - 1) {
                try merge(node, index - 1)
            } else {
                index += 1
            }
        }
    }

    private func canMerge(_ node: OverlayNode, _ index: Int) -> Bool {
        if case .cluster(let next) = node.children[index + 1], next === tail { return false }
        return node.counts[index] + node.counts[index + 1] <= rowLimit * 3 / 4
    }

    /// Appends the rows of a child to the one before it.
    private func merge(_ node: OverlayNode, _ index: Int) throws(StorageError) {
        guard let left = try open(for: node.keys[index]), let right = try open(for: node.keys[index + 1]),
            left !== right
        else { return }
        try left.appendRows(of: right)
        node.counts[index] += node.counts[index + 1]
        close(right)
        release(pagesOf: right)
        node.remove(at: index + 1)
    }

    private func mergeSmallNodes(below node: OverlayNode) {
        var index = 0
        while index + 1 < node.children.count {
            guard case .node(let left) = node.children[index], case .node(let right) = node.children[index + 1],
                left.children.count + right.children.count <= ClusterFormat.innerCapacity * 3 / 4
            else {
                index += 1
                continue
            }
            left.keys += right.keys
            left.counts += right.counts
            left.children += right.children
            node.counts[index] += node.counts[index + 1]
            transaction.free(right.origin)
            node.remove(at: index + 1)
        }
    }

    // MARK: Encoding

    /// Encodes the whole tree and makes its root the tree's.
    ///
    /// - Returns: The tail, if it stays open: then the path to it stays loaded.
    func encodeRoot() throws(StorageError) -> OpenCluster? {
        // An inner node with one child is no use at the top.
        while case .node(let node)? = root, node.children.count == 1 {
            transaction.free(node.origin)
            root = node.children[0]
        }
        guard let top = root else {
            tree.root = .none
            return nil
        }
        var level = 0
        var nodes: [Sealed]
        var isKept = false
        switch top {
        case .sealed(let reference):
            tree.root = reference
            return nil
        case .cluster(let cluster):
            let reference = try encode(cluster)
            nodes = [Sealed(key: cluster.firstKey, count: cluster.rowCount, reference: reference)]
            isKept = cluster.isSealed
        case .node(let node):
            level = node.level
            (nodes, isKept) = try encode(node)
        }
        if nodes.count > 1 { isKept = false }
        while nodes.count > 1 {
            level += 1
            guard level <= ClusterFormat.levelLimit else {
                throw StorageError(.limit, "A table has outgrown \(ClusterFormat.levelLimit) levels.")
            }
            nodes = try writeInner(nodes, level: level)
        }
        tree.root = nodes[0].reference
        if isKept { return tail }
        root = .sealed(tree.root)
        return nil
    }

    /// Encodes a loaded node: one page, or several when it has grown.
    ///
    /// - Returns: The pages, and whether the node stays loaded as the path to a tail that stays open.
    private func encode(_ node: OverlayNode) throws(StorageError) -> (pages: [Sealed], isKept: Bool) {
        var entries: [Sealed] = []
        entries.reserveCapacity(node.children.count)
        var isKept = false
        var isPath = true
        for index in node.children.indices {
            let isLast = index == node.children.count - 1
            switch node.children[index] {
            case .sealed(let reference):
                entries.append(Sealed(key: node.keys[index], count: node.counts[index], reference: reference))
            case .cluster(let cluster):
                let reference = try encode(cluster)
                entries.append(Sealed(key: cluster.firstKey, count: cluster.rowCount, reference: reference))
                if cluster.isSealed, isLast {
                    node.keys[index] = cluster.firstKey
                    isKept = true
                    continue
                }
                // The memory goes back as soon as possible.
                cluster.releaseMemory()
                node.keys[index] = cluster.firstKey
                node.children[index] = .sealed(reference)
            case .node(let below):
                let (pages, isBelowKept) = try encode(below)
                entries += pages
                if isLast, isBelowKept, pages.count == 1 {
                    node.keys[index] = pages[0].key
                    isKept = true
                } else if pages.count == 1 {
                    node.keys[index] = pages[0].key
                    node.children[index] = .sealed(pages[0].reference)
                } else {
                    isPath = false
                }
            }
        }
        let pages = try writeInner(entries, level: node.level)
        transaction.free(node.origin)
        guard isKept, isPath, pages.count == 1 else { return (pages, false) }
        node.origin = pages[0].reference
        return (pages, true)
    }

    /// Fills the places behind a number of entries.
    private func clearBehind(_ count: Int, of page: MutablePage) {
        page.clear(ClusterFormat.innerKeysOffset + count * 8..<ClusterFormat.innerEndsOffset)
        page.clear(ClusterFormat.innerEndsOffset + count * 8..<ClusterFormat.innerReferencesOffset)
        page.clear(ClusterFormat.innerReferencesOffset + count * PageReference.byteCount..<page.byteCount)
    }

    private func writeInner(_ entries: [Sealed], level: Int) throws(StorageError) -> [Sealed] {
        var pages: [Sealed] = []
        var start = 0
        while start < entries.count {
            let end = min(start + ClusterFormat.innerCapacity, entries.count)
            let page = try transaction.allocateUnfilled(pageCount: 1, kind: .clusterInner, level: level)
            page.entryCount = end - start
            clearBehind(end - start, of: page)
            var rows = 0
            for (slot, entry) in entries[start..<end].enumerated() {
                rows += entry.count
                page.bytes.storeBytes(
                    of: entry.key,
                    toByteOffset: ClusterFormat.innerKeysOffset + slot * 8,
                    as: Int64.self
                )
                page.bytes.storeBytes(
                    of: rows,
                    toByteOffset: ClusterFormat.innerEndsOffset + slot * 8,
                    as: Int.self
                )
                entry.reference.store(
                    to: page.bytes + ClusterFormat.innerReferencesOffset + slot * PageReference.byteCount
                )
            }
            pages.append(Sealed(key: entries[start].key, count: rows, reference: transaction.seal(page.reference)))
            start = end
        }
        return pages
    }
}
