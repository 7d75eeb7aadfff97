/// Finding a way from a sealed node of a cluster tree down to a leaf.
enum ClusterDescent {
    /// The verified bytes of a cluster node or inner node; `level` is what the node must have, nil for a root.
    @inline(__always)
    static func load(
        _ reference: PageReference,
        level: Int?,
        in view: PageView
    ) throws(StorageError) -> (base: UnsafeRawPointer, level: Int) {
        let base = try view.pointer(to: reference)
        let kind = base.load(fromByteOffset: PageHeader.kindOffset, as: UInt8.self)
        let found = Int(base.load(fromByteOffset: PageHeader.levelOffset, as: UInt8.self))
        let expected = found == 0 ? PageKind.clusterNode : PageKind.clusterInner
        guard kind == expected.rawValue, level == nil || level == found else {
            throw .corrupt("A table refers to a page that is not a node of it.", page: reference.page)
        }
        return (base, found)
    }

    /// The leaf whose key range holds a key; the first one for keys before all.
    ///
    /// `next` is set to the first key of the leaf after that, when this subtree has one.
    static func leaf(
        for key: Int64,
        from reference: PageReference,
        level: Int?,
        next: inout Int64?,
        in view: PageView
    ) throws(StorageError) -> LeafView {
        var (base, level) = try load(reference, level: level, in: view)
        while level > 0 {
            let node = InnerView(base: base)
            let index = node.child(for: key)
            if index + 1 < node.count { next = node.key(index + 1) }
            (base, level) = try load(node.reference(index), level: level - 1, in: view)
        }
        return LeafView(base: base, view: view)
    }

    /// The leaf whose key range holds a key, unless it lies below a node that is known; then nil.
    ///
    /// What identifies the node is its checksum, which covers its page number and the version that wrote it: a leaf that was
    /// found below a node is the same in every version that has the node. The node is the leaf's parent, or the leaf where
    /// the parent is the root, which every change replaces.
    static func leaf(
        for key: Int64,
        from reference: PageReference,
        unlessBelow known: inout UInt64,
        in view: PageView
    ) throws(StorageError) -> LeafView? {
        var (base, level) = try load(reference, level: nil, in: view)
        let knownLevel = level > 1 ? 1 : 0
        if level == 0 {
            if reference.checksum == known, known != 0 { return nil }
            known = reference.checksum
        }
        while level > 0 {
            let node = InnerView(base: base)
            let child = node.reference(node.child(for: key))
            if level - 1 == knownLevel {
                if child.checksum == known, known != 0 { return nil }
                known = child.checksum
            }
            (base, level) = try load(child, level: level - 1, in: view)
        }
        return LeafView(base: base, view: view)
    }

    /// The row at a position below a node.
    static func row(
        at position: Int,
        from reference: PageReference,
        level: Int?,
        in view: PageView
    ) throws(StorageError) -> RowLocation? {
        var position = position
        var (base, level) = try load(reference, level: level, in: view)
        while level > 0 {
            let node = InnerView(base: base)
            let index = node.child(at: position)
            guard index < node.count else { return nil }
            position -= node.end(index - 1)
            let reference = node.reference(index)
            let count = node.end(index) - node.end(index - 1)
            (base, level) = try load(reference, level: level - 1, in: view)
            guard rowCount(of: base, level: level, in: view) == count else {
                throw .corrupt("A node of a table does not have as many rows as its parent says.", page: reference.page)
            }
        }
        let leaf = LeafView(base: base, view: view)
        return position < leaf.rowCount ? RowLocation(leaf: leaf, row: position) : nil
    }

    /// The number of rows below a node whose keys are less than a key, and whether it has the key.
    static func rank(
        of key: Int64,
        from reference: PageReference,
        level: Int?,
        in view: PageView
    ) throws(StorageError) -> (rank: Int, isPresent: Bool) {
        var rank = 0
        var (base, level) = try load(reference, level: level, in: view)
        while level > 0 {
            let node = InnerView(base: base)
            let index = node.child(for: key)
            rank += node.end(index - 1)
            (base, level) = try load(node.reference(index), level: level - 1, in: view)
        }
        let leaf = LeafView(base: base, view: view)
        let row = leaf.lowerBound(of: key)
        return (rank + row, row < leaf.rowCount && leaf.key(at: row) == key)
    }

    /// The number of rows that a node says are below it.
    @inline(__always)
    static func rowCount(of base: UnsafeRawPointer, level: Int, in view: PageView) -> Int {
        if level == 0 { return LeafView(base: base, view: view).rowCount }
        let node = InnerView(base: base)
        return node.end(node.count - 1)
    }

    /// Visits every run below a node that the walk goes down into, the node last; each leaf goes to a function before that.
    static func forEachPage(
        from reference: PageReference,
        level: Int?,
        in view: PageView,
        _ visited: inout VisitedPages,
        _ body: (PageReference) throws(StorageError) -> Void,
        eachLeaf: (LeafView, inout VisitedPages) throws(StorageError) -> Void = { _, _ in }
    ) throws(StorageError) {
        guard try visited.enter(reference, in: view) else { return }
        let (base, level) = try load(reference, level: level, in: view)
        if level > 0 {
            let node = InnerView(base: base)
            for index in 0..<node.count {
                try forEachPage(
                    from: node.reference(index),
                    level: level - 1,
                    in: view,
                    &visited,
                    body,
                    eachLeaf: eachLeaf
                )
            }
        } else {
            let leaf = LeafView(base: base, view: view)
            try leaf.forEachPage(&visited, body)
            // Behind that, so that no run is read that was not entered.
            try eachLeaf(leaf, &visited)
        }
        try body(reference)
    }
}

extension LeafView {
    /// The reference of a column's own run, nil when it has none.
    package func externalReference(_ column: Int) -> PageReference? {
        guard column < columnCount else { return nil }
        let descriptor = base + (ClusterFormat.descriptorsOffset + (column + 1) * ClusterFormat.descriptorByteCount)
        guard UInt64(descriptor.load(as: UInt8.self)) == ClusterFormat.locationExternal else { return nil }
        return PageReference(load: descriptor + ClusterFormat.descriptorPlaceOffset)
    }

    /// Visits the runs that the leaf refers to: overflow values and columns.
    func forEachPage(
        _ visited: inout VisitedPages,
        _ body: (PageReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        for index in 0..<columnCount {
            let external = externalReference(index)
            if let external, try !visited.enter(external, in: view) { continue }
            let descriptor = base + (ClusterFormat.descriptorsOffset + (index + 1) * ClusterFormat.descriptorByteCount)
            if descriptor.load(fromByteOffset: 1, as: UInt8.self) == ColumnKind.bytes.rawValue {
                try column(index)
                    .forEachOverflow { (overflow) throws(StorageError) in
                        if try visited.enter(overflow, in: view) { try body(overflow) }
                    }
            }
            if let external { try body(external) }
        }
    }
}
