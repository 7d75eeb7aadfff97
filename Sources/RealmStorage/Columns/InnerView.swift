/// An inner node of a cluster tree, borrowed from a verified page.
struct InnerView {
    let base: UnsafeRawPointer

    var count: Int {
        Int(base.loadUnaligned(fromByteOffset: PageHeader.entryCountOffset, as: UInt16.self))
    }

    func key(_ index: Int) -> Int64 {
        base.loadUnaligned(fromByteOffset: ClusterFormat.innerKeysOffset &+ index &* 8, as: Int64.self)
    }

    /// The number of rows in the children up to and including one; 0 for -1.
    func end(_ index: Int) -> Int {
        guard index >= 0 else { return 0 }
        return base.loadUnaligned(fromByteOffset: ClusterFormat.innerEndsOffset &+ index &* 8, as: Int.self)
    }

    func reference(_ index: Int) -> PageReference {
        PageReference(
            load: base + (ClusterFormat.innerReferencesOffset &+ index &* PageReference.byteCount)
        )
    }

    /// The child whose key range holds a key; the first one for keys before all.
    func child(for key: Int64) -> Int {
        var low = 0
        var length = count
        while length > 1 {
            let half = length >> 1
            low = self.key(low &+ half) <= key ? low &+ half : low
            length &-= half
        }
        return low
    }

    /// The child that holds a position, `count` when it lies beyond the end.
    func child(at position: Int) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low &+ high) >> 1
            if end(middle) <= position {
                low = middle &+ 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// What is wrong with the structure of a `clusterInner` page, nil when nothing is.
    static func validate(_ page: UnsafeRawBufferPointer) -> String? {
        guard page.count == pageByteCount, let base = page.baseAddress else {
            return "an inner node of a table is not one page"
        }
        let level = Int(page[PageHeader.levelOffset])
        guard level >= 1, level <= ClusterFormat.levelLimit else {
            return "an inner node of a table has level \(level)"
        }
        let node = InnerView(base: base)
        guard node.count >= 1, node.count <= ClusterFormat.innerCapacity else {
            return "an inner node of a table has \(node.count) entries"
        }
        var end = 0
        for index in 0..<node.count {
            if index > 0, node.key(index) <= node.key(index - 1) { return "an inner node's keys do not ascend" }
            guard node.end(index) > end else { return "an inner node's row counts do not ascend" }
            end = node.end(index)
            if let problem = PageBytes.problem(with: node.reference(index), allowsDirty: false) {
                return "child \(index) of an inner node \(problem)"
            }
        }
        return end >> 48 == 0 ? nil : "an inner node counts too many rows"
    }
}
