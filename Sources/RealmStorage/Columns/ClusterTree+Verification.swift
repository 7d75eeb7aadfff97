extension ClusterTree {
    /// Checks every page and every row of the table: structure, key order, row counts, column kinds, overflow values.
    package func verify(columns: [ColumnLayout], in view: PageView) throws(StorageError) {
        guard !root.isNone else {
            if rowCount != 0 { throw StorageError(.corrupt, "A table without pages claims \(rowCount) rows.") }
            return
        }
        var check = ClusterCheck(columns: columns, view: view)
        let rows = try check.node(root, level: nil, firstKey: nil)
        guard rows == rowCount else {
            throw .corrupt("A table has \(rows) rows instead of \(rowCount).", page: root.page)
        }
        if let last = check.lastKey, last >= nextKey {
            throw .corrupt("A table's next key \(nextKey) is in use.", page: root.page)
        }
    }
}

/// One walk over a table, in key order.
private struct ClusterCheck {
    let columns: [ColumnLayout]
    let view: PageView
    var lastKey: Int64?

    /// Returns the number of rows below a node.
    mutating func node(_ reference: PageReference, level: Int?, firstKey: Int64?) throws(StorageError) -> Int {
        let (base, level) = try ClusterDescent.load(reference, level: level, in: view)
        guard level > 0 else {
            return try leaf(LeafView(base: base, view: view), page: reference.page, firstKey: firstKey)
        }
        let inner = InnerView(base: base)
        if let firstKey, inner.key(0) != firstKey {
            throw .corrupt("An inner node begins with another key than its parent says.", page: reference.page)
        }
        var rows = 0
        for index in 0..<inner.count {
            rows += try node(inner.reference(index), level: level - 1, firstKey: inner.key(index))
            guard rows == inner.end(index) else {
                throw .corrupt("An inner node counts rows wrongly.", page: reference.page)
            }
        }
        return rows
    }

    private mutating func leaf(
        _ leaf: LeafView,
        page: PageNumber,
        firstKey: Int64?
    ) throws(StorageError) -> Int {
        if let firstKey, leaf.firstKey != firstKey {
            throw .corrupt("A cluster begins with another key than its parent says.", page: page)
        }
        guard leaf.key(at: 0) == leaf.firstKey, leaf.key(at: leaf.rowCount - 1) == leaf.lastKey else {
            throw .corrupt("A cluster's first or last key is wrong.", page: page)
        }
        for row in 0..<leaf.rowCount {
            let key = leaf.key(at: row)
            if let lastKey, key <= lastKey { throw .corrupt("Row keys do not ascend.", page: page) }
            lastKey = key
        }
        guard leaf.columnCount <= columns.count else {
            throw .corrupt("A cluster has \(leaf.columnCount) columns, the table \(columns.count).", page: page)
        }
        for index in 0..<leaf.columnCount {
            let layout = columns[index]
            let column = try leaf.column(index)
            guard column.kind == layout.kind else {
                throw .corrupt("Column \(index) holds \(column.kind) instead of \(layout.kind).", page: page)
            }
            if !layout.isNullable, column.countNulls() > 0 {
                throw .corrupt("Column \(index) holds a null but is not nullable.", page: page)
            }
            if let problem = bounds(of: column, index, in: leaf) {
                throw .corrupt("Column \(index) of a cluster \(problem).", page: page)
            }
            guard layout.kind == .bytes else { continue }
            for row in 0..<column.count where column.isOverflow(row) {
                _ = try column.bytes(row)
            }
        }
        return leaf.rowCount
    }

    /// What is wrong with the bounds by which queries skip the cluster, nil when nothing is.
    private func bounds(of column: ColumnView, _ index: Int, in leaf: LeafView) -> String? {
        if let reference = leaf.externalReference(index), let run = try? view.pointer(to: reference) {
            let descriptor =
                leaf.base + ClusterFormat.descriptorsOffset + (index + 1) * ClusterFormat.descriptorByteCount
            for (mine, other) in [
                (ClusterFormat.descriptorMinimumOffset, ClusterFormat.runMinimumOffset),
                (ClusterFormat.descriptorMaximumOffset, ClusterFormat.runMaximumOffset),
            ]
            where descriptor.loadUnaligned(fromByteOffset: mine, as: UInt64.self)
                != run.loadUnaligned(fromByteOffset: other, as: UInt64.self)
            {
                return "has other bounds than its run says"
            }
        }
        switch column.kind {
        case .int:
            guard let bounds = leaf.intBounds(index) else { return nil }
            for row in 0..<column.count where !column.isNull(row) {
                let value = column.int(row)
                if value < bounds.minimum || value > bounds.maximum { return "holds a value outside of its bounds" }
            }
        case .double:
            guard let bounds = leaf.doubleBounds(index) else { return nil }
            for row in 0..<column.count where !column.isNull(row) {
                let value = column.double(row)
                if value < bounds.minimum || value > bounds.maximum || value.isNaN && bounds.minimum != -.infinity {
                    return "holds a value outside of its bounds"
                }
            }
        case .float:
            guard let descriptor = leaf.sealedDescriptor(index, kind: .float) else { return nil }
            let places = descriptor + ClusterFormat.descriptorMinimumOffset
            let minimum = places.loadUnaligned(as: Double.self)
            let maximum = places.loadUnaligned(fromByteOffset: 8, as: Double.self)
            for row in 0..<column.count where !column.isNull(row) {
                let value = Double(column.float(row))
                if value < minimum || value > maximum || value.isNaN && minimum != -.infinity {
                    return "holds a value outside of its bounds"
                }
            }
        default: break
        }
        return nil
    }
}
