/// Bringing columns to memory and keeping their descriptors up to date.
extension OpenCluster {
    func descriptor(_ index: Int) -> UnsafeMutableRawPointer {
        block + (ClusterFormat.descriptorsOffset + (index + 1) * ClusterFormat.descriptorByteCount)
    }

    func publishAbsent(_ index: Int, isNull: Bool) {
        let kind = UInt64(columns[index].layout.kind.rawValue)
        let descriptor = descriptor(index)
        descriptor.initializeMemory(as: UInt8.self, repeating: 0, count: ClusterFormat.descriptorByteCount)
        descriptor.storeBytes(
            of: ClusterFormat.locationAbsent | kind << 8 | (isNull ? ClusterFormat.nullsFlag : 0),
            as: UInt64.self
        )
    }

    /// Whether the values of an absent column are null.
    func isAbsentNull(_ index: Int) -> Bool {
        descriptor(index).loadUnaligned(as: UInt64.self) & ClusterFormat.nullsFlag != 0
    }

    /// Describes an expanded column.
    func publish(_ index: Int) {
        let descriptor = descriptor(index)
        let column = columns[index]
        let word = ClusterFormat.locationMemory | UInt64(column.layout.kind.rawValue) << 8 | UInt64(column.width) << 16
        descriptor.storeBytes(of: word, as: UInt64.self)
        store(UInt64(UInt(bitPattern: column.data)), ClusterFormat.descriptorPlaceOffset)
        store(UInt64(UInt(bitPattern: column.nulls)), ClusterFormat.descriptorNullsAddressOffset)
        switch column.layout.kind {
        case .bytes:
            store(UInt64(UInt(bitPattern: column.heap)), ClusterFormat.descriptorMinimumOffset)
            store(0, ClusterFormat.descriptorMaximumOffset)
        case .int:
            let low = column.width < 8 ? column.minimum : .min
            store(UInt64(bitPattern: low), ClusterFormat.descriptorMinimumOffset)
            store(UInt64(bitPattern: .max), ClusterFormat.descriptorMaximumOffset)
        case .double, .float:
            store((-Double.infinity).bitPattern, ClusterFormat.descriptorMinimumOffset)
            store(Double.infinity.bitPattern, ClusterFormat.descriptorMaximumOffset)
        case .fixed12, .fixed16:
            store(0, ClusterFormat.descriptorMinimumOffset)
            store(0, ClusterFormat.descriptorMaximumOffset)
        }
        func store(_ value: UInt64, _ offset: Int) {
            descriptor.storeBytes(of: value, toByteOffset: offset, as: UInt64.self)
        }
    }

    /// Takes a column over from the node that the cluster is opened from, without copying it.
    func adopt(_ index: Int, from leaf: LeafView) throws(StorageError) {
        let source =
            leaf.base + (ClusterFormat.descriptorsOffset + (index + 1) * ClusterFormat.descriptorByteCount)
        let word = source.loadUnaligned(as: UInt64.self)
        let kind = UInt8(truncatingIfNeeded: word >> 8)
        guard kind == columns[index].layout.kind.rawValue else {
            throw .corrupt("Column \(index) of a cluster has another kind than the schema says.", page: origin.page)
        }
        let target = descriptor(index)
        target.copyMemory(from: source, byteCount: ClusterFormat.descriptorByteCount)
        switch word & 0xFF {
        case ClusterFormat.locationExternal:
            columns[index].state = .stored
            columns[index].run = PageReference(load: source + ClusterFormat.descriptorPlaceOffset)
        case ClusterFormat.locationInline:
            columns[index].state = .stored
            let view = try leaf.column(index)
            target.storeBytes(of: word & ~0xFF | ClusterFormat.locationMemory, as: UInt64.self)
            target.storeBytes(
                of: UInt64(UInt(bitPattern: view.data)),
                toByteOffset: ClusterFormat.descriptorPlaceOffset,
                as: UInt64.self
            )
            target.storeBytes(
                of: UInt64(UInt(bitPattern: view.nulls)),
                toByteOffset: ClusterFormat.descriptorNullsAddressOffset,
                as: UInt64.self
            )
            if view.kind == .bytes {
                target.storeBytes(
                    of: UInt64(UInt(bitPattern: view.heap)),
                    toByteOffset: ClusterFormat.descriptorMinimumOffset,
                    as: UInt64.self
                )
            }
        default:
            columns[index].state = .absent
        }
    }

    /// Copies a column to memory; an int column keeps its narrow width if `keepsWidth`.
    func expand(_ index: Int, keepsWidth: Bool = false) throws(StorageError) {
        let source = try leaf.column(index)
        let wasStored = columns[index].state == .stored
        columns[index]
            .expand(
                from: source,
                capacity: rowCapacity,
                keepsWidth: keepsWidth && wasStored,
                memory: memory
            )
        heapByteCount += columns[index].liveByteCount
        publish(index)
    }

    /// Makes a narrow int column 8 bytes wide.
    func widen(_ index: Int) throws(StorageError) {
        let source = try leaf.column(index)
        let data = memory.allocate(rowCapacity * 8)
        source.expandInts(into: data.bindMemory(to: Int64.self, capacity: rowCapacity))
        columns[index].clearNullSlots(in: data, rows: rowCount)
        memory.free(columns[index].data, rowCapacity * columns[index].width)
        columns[index].data = data
        columns[index].width = 8
        columns[index].minimum = 0
        publish(index)
    }

    /// Brings every column into a form that takes appended rows without being touched.
    func prepareToAppend() throws(StorageError) {
        for index in 0..<columnCount {
            switch columns[index].state {
            case .stored: try expand(index)
            case .expanded: if columns[index].width < columns[index].fullWidth { try widen(index) }
            case .absent: if isAbsentNull(index) != columns[index].layout.isNullable { try expand(index) }
            }
        }
        isReadyToAppend = true
    }

    func releaseMemory(of index: Int) {
        let column = columns[index]
        memory.free(column.data, OpenColumn.dataByteCount(capacity: rowCapacity, width: column.width))
        memory.free(column.nulls, ClusterFormat.bitmapByteCount(rows: rowCapacity))
        memory.free(column.heap, column.heapCapacity)
        columns[index].data = nil
        columns[index].nulls = nil
        columns[index].heap = nil
    }

    /// Appends the rows of another cluster whose keys follow this one's.
    ///
    /// Overflow values change hands.
    func appendRows(of other: OpenCluster) throws(StorageError) {
        try compact()
        try other.compact()
        let rows = other.rowCount
        let start = rowCount
        guard start + rows <= ClusterFormat.rowLimit else {
            throw .corrupt("The rows of two clusters do not fit one", page: other.origin.page)
        }
        if start + rows > rowCapacity { grow(to: max(start + rows, min(2 * start, ClusterFormat.rowLimit))) }
        try prepareToAppend()
        // Before the first row: where one cannot be read, both clusters have the rows that they had.
        for index in 0..<columnCount { _ = try other.leaf.column(index) }
        for row in 0..<rows { try append(key: other.leaf.key(at: row)) }
        for index in 0..<columnCount {
            let source = try other.leaf.column(index)
            if source.isAbsent, (source.nulls != nil) == columns[index].layout.isNullable { continue }
            if columns[index].state == .absent { try expand(index) }
            let before = columns[index].liveByteCount
            columns[index].copyRows(of: source, to: start, memory: memory)
            heapByteCount += columns[index].liveByteCount - before
            publish(index)
        }
    }

    /// Calls `body` with the overflow runs of a row that is about to go.
    func forEachOverflow(
        row: Int,
        _ body: (PageReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        for index in 0..<columnCount where columns[index].layout.kind == .bytes {
            // Only wide offsets and pairs have room for the mark of an overflow value; the others' data stay untouched.
            let width = descriptor(index).loadUnaligned(as: UInt64.self) >> 16 & 0xFF
            if width < 4 { continue }
            let column = try leaf.column(index)
            if !column.isAbsent, column.isOverflow(row) { try body(column.overflowReference(row)) }
        }
    }
}
