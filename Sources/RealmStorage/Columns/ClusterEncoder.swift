/// Writes an open cluster to pages.
struct ClusterEncoder {
    let cluster: OpenCluster
    let plan: ClusterPlan
    let transaction: WriteTransaction

    /// Whether its rows have no pages yet.
    private var isNew: Bool { cluster.origin.isNone }

    /// Writes and seals the cluster's runs, frees those of the base that they replace, and returns the node's reference.
    func write() throws(StorageError) -> PageReference {
        let rows = cluster.rowCount
        let node = try transaction.allocateUnfilled(pageCount: plan.nodePageCount, kind: .clusterNode)
        let headerOffset = ClusterFormat.rowCountOffset
        (node.bytes + headerOffset)
            .copyMemory(
                from: cluster.block + headerOffset,
                byteCount: ClusterFormat.descriptorsOffset - headerOffset
            )
        var offset = ClusterPlan.dataOffset(columnCount: cluster.columnCount)
        node.clear(ClusterFormat.descriptorsOffset..<offset)
        writeKeys(to: node, rows: rows, offset: &offset)
        var retired: [PageReference] = []
        for index in 0..<cluster.columnCount {
            let descriptor = node.bytes + (cluster.descriptor(index) - cluster.block)
            switch plan.columns[index] {
            case .kept:
                descriptor.copyMemory(
                    from: cluster.descriptor(index),
                    byteCount: ClusterFormat.descriptorByteCount
                )
                continue
            case .absent(let word):
                descriptor.storeBytes(of: word, as: UInt64.self)
            case .copied(let byteLength):
                try writeColumn(index, byteLength: byteLength, plan: nil, descriptor: descriptor, node: node, &offset) {
                    [cluster] (output) throws(StorageError) in
                    let column = try cluster.leaf.column(index)
                    guard byteLength > 0 else { return }
                    output.copyMemory(
                        from: column.nulls.map { UnsafeRawPointer($0) } ?? column.data,
                        byteCount: byteLength
                    )
                }
            case .encoded(let columnPlan):
                try writeColumn(
                    index,
                    byteLength: columnPlan.byteLength,
                    plan: columnPlan,
                    descriptor: descriptor,
                    node: node,
                    &offset
                ) { [cluster] (output) throws(StorageError) in
                    ColumnEncoder.write(try cluster.leaf.column(index), as: columnPlan, to: output)
                }
            case .filtered(let column):
                try writeColumn(
                    index,
                    byteLength: column.plan.byteLength,
                    plan: column.plan,
                    descriptor: descriptor,
                    node: node,
                    &offset
                ) { (output) throws(StorageError) in
                    column.write(to: output)
                }
            }
            if !cluster.columns[index].run.isNone { retired.append(cluster.columns[index].run) }
        }
        node.clear(offset..<node.byteCount)
        let reference = transaction.seal(node.reference)
        for run in retired { transaction.free(run) }
        transaction.free(cluster.origin)
        return reference
    }

    private func writeKeys(to node: MutablePage, rows: Int, offset: inout Int) {
        let descriptor = node.bytes + ClusterFormat.descriptorsOffset
        let width = plan.keyWidth
        let word = ClusterFormat.locationInline | UInt64(width) << 16 | UInt64(width * rows) << 32
        descriptor.storeBytes(of: word, as: UInt64.self)
        descriptor.storeBytes(of: UInt32(offset), toByteOffset: ClusterFormat.descriptorPlaceOffset, as: UInt32.self)
        guard width > 0, let keys = cluster.keys else { return }
        let first = keys[0]
        let output = node.bytes + offset
        Self.clearGaps(of: output, byteLength: width * rows)
        for row in 0..<rows {
            let difference = UInt64(bitPattern: keys[row] &- first)
            switch width {
            case 1: output.storeBytes(of: UInt8(truncatingIfNeeded: difference), toByteOffset: row, as: UInt8.self)
            case 2:
                output.storeBytes(of: UInt16(truncatingIfNeeded: difference), toByteOffset: row * 2, as: UInt16.self)
            case 4:
                output.storeBytes(of: UInt32(truncatingIfNeeded: difference), toByteOffset: row * 4, as: UInt32.self)
            default: output.storeBytes(of: keys[row], toByteOffset: row * 8, as: Int64.self)
            }
        }
        offset += ClusterPlan.aligned(width * rows)
    }

    /// Writes a column to the node or to a run of its own, and describes it.
    ///
    /// Without a plan the description is that of the base.
    private func writeColumn(
        _ index: Int,
        byteLength: Int,
        plan columnPlan: ColumnPlan?,
        descriptor: UnsafeMutableRawPointer,
        node: MutablePage,
        _ offset: inout Int,
        writeData: (UnsafeMutableRawPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        let source = cluster.descriptor(index)
        let minimum = columnPlan?.minimum ?? storedMinimum(of: index)
        let maximum =
            columnPlan?.maximum
            ?? source.loadUnaligned(fromByteOffset: ClusterFormat.descriptorMaximumOffset, as: Int64.self)
        let location = plan.isExternal(index) ? ClusterFormat.locationExternal : ClusterFormat.locationInline
        let word =
            columnPlan?.word(location: location) ?? (source.loadUnaligned(as: UInt64.self) & ~0xFF | location)
        descriptor.storeBytes(of: word, as: UInt64.self)
        descriptor.storeBytes(of: minimum, toByteOffset: ClusterFormat.descriptorMinimumOffset, as: Int64.self)
        descriptor.storeBytes(of: maximum, toByteOffset: ClusterFormat.descriptorMaximumOffset, as: Int64.self)
        guard plan.isExternal(index) else {
            descriptor.storeBytes(
                of: UInt32(offset),
                toByteOffset: ClusterFormat.descriptorPlaceOffset,
                as: UInt32.self
            )
            let output = node.bytes + offset
            if let columnPlan, columnPlan.hasNulls {
                node.clear(offset..<offset + ClusterPlan.aligned(byteLength))
            } else {
                Self.clearGaps(of: output, byteLength: byteLength)
            }
            try writeData(output)
            offset += ClusterPlan.aligned(byteLength)
            return
        }
        let pageCount = (ClusterFormat.runDataOffset + byteLength + pageByteCount - 1) / pageByteCount
        let run = try transaction.allocate(
            pageCount: pageCount,
            kind: .column,
            beside: isNew ? ColumnStretches.Column(owner: ObjectIdentifier(cluster.memory), index: index) : nil
        )
        run.bytes.storeBytes(of: word, toByteOffset: ClusterFormat.runWordOffset, as: UInt64.self)
        run.bytes.storeBytes(
            of: UInt32(cluster.rowCount),
            toByteOffset: ClusterFormat.runRowCountOffset,
            as: UInt32.self
        )
        run.bytes.storeBytes(of: minimum, toByteOffset: ClusterFormat.runMinimumOffset, as: Int64.self)
        run.bytes.storeBytes(of: maximum, toByteOffset: ClusterFormat.runMaximumOffset, as: Int64.self)
        try writeData(run.bytes + ClusterFormat.runDataOffset)
        transaction.seal(run.reference).store(to: descriptor + ClusterFormat.descriptorPlaceOffset)
    }

    /// Fills what the encoder leaves free of data without nulls: up to the next eight bytes, and behind values of twelve.
    private static func clearGaps(of output: UnsafeMutableRawPointer, byteLength: Int) {
        let end = ClusterPlan.aligned(byteLength)
        if end > 0 { output.storeBytes(of: 0, toByteOffset: end - 8, as: UInt64.self) }
    }

    /// The stored minimum of a column of the base; the descriptor of a bytes column holds the heap's address there.
    private func storedMinimum(of index: Int) -> Int64 {
        guard cluster.columns[index].layout.kind != .bytes else { return 0 }
        return cluster.descriptor(index)
            .loadUnaligned(fromByteOffset: ClusterFormat.descriptorMinimumOffset, as: Int64.self)
    }
}
