/// A cluster that the write transaction changes, in memory.
///
/// Its descriptor block has the layout of a cluster node, with expanded columns at addresses in memory, so that readers see
/// it through the same `LeafView`. Columns are copied to memory when they are first written to; a cluster that gains or
/// loses rows has all of them there.
///
/// Slots of expanded columns at and beyond `rowCount` hold the default (zero, null where nullable), so that appending a row
/// touches no column.
final class OpenCluster {
    let memory: OpenMemory
    let view: PageView
    let columnCount: Int
    /// The descriptor block.
    let block: UnsafeMutableRawPointer
    let columns: UnsafeMutablePointer<OpenColumn>
    /// The keys, when they are not consecutive.
    @exclusivity(unchecked) var keys: UnsafeMutablePointer<Int64>?
    @exclusivity(unchecked) var rowCapacity: Int
    /// The node that the cluster was opened from, to be freed when it has been encoded.
    @exclusivity(unchecked) var origin = PageReference.none
    /// False once the cluster was encoded or merged into another; the writer has then forgotten it.
    @exclusivity(unchecked) var isOpen = true
    /// Whether `origin` holds everything that the cluster holds: nothing was written since it was encoded.
    @exclusivity(unchecked) var isSealed = false
    /// One bit per row that was deleted and still has its place; nil when there is none.
    @exclusivity(unchecked) var dead: UnsafeMutablePointer<UInt64>?
    @exclusivity(unchecked) var deadCount = 0
    /// Whether every column is ready to take appended rows.
    @exclusivity(unchecked) var isReadyToAppend = false
    /// The bytes that the rows' values have in the heaps, a measure to close clusters of long rows early.
    @exclusivity(unchecked) var heapByteCount = 0

    /// A new cluster without rows.
    init(layouts: [ColumnLayout], firstKey: Int64, rowCapacity: Int, memory: OpenMemory, view: PageView) {
        self.memory = memory
        self.view = view
        self.rowCapacity = rowCapacity
        columnCount = layouts.count
        block = memory.allocate(Self.blockByteCount(layouts.count))
        columns = UnsafeMutablePointer<OpenColumn>.allocate(capacity: max(layouts.count, 1))
        for (index, layout) in layouts.enumerated() {
            (columns + index).initialize(to: OpenColumn(layout: layout))
        }
        block.storeBytes(
            of: UInt32(layouts.count + 1),
            toByteOffset: ClusterFormat.columnCountOffset,
            as: UInt32.self
        )
        block.storeBytes(of: firstKey, toByteOffset: ClusterFormat.firstKeyOffset, as: Int64.self)
        block.storeBytes(of: firstKey &- 1, toByteOffset: ClusterFormat.lastKeyOffset, as: Int64.self)
        publishKeys()
        for index in 0..<columnCount { publishAbsent(index, isNull: layouts[index].isNullable) }
    }

    /// Opens a cluster of the base.
    convenience init(opening leaf: LeafView, at origin: PageReference, layouts: [ColumnLayout], memory: OpenMemory)
        throws(StorageError)
    {
        self.init(
            layouts: layouts,
            firstKey: leaf.firstKey,
            rowCapacity: leaf.rowCount,
            memory: memory,
            view: leaf.view
        )
        self.origin = origin
        rowCount = leaf.rowCount
        lastKey = leaf.lastKey
        if leaf.keyWidth != 0 {
            let keys = memory.allocate(rowCapacity * 8).bindMemory(to: Int64.self, capacity: rowCapacity)
            for row in 0..<rowCount { keys[row] = leaf.key(at: row) }
            self.keys = keys
            publishKeys()
        }
        for index in 0..<min(layouts.count, leaf.columnCount) {
            try adopt(index, from: leaf)
        }
    }

    deinit {
        releaseMemory()
        columns.deinitialize(count: columnCount)
        columns.deallocate()
        memory.free(block, Self.blockByteCount(columnCount))
    }

    /// Gives the rows' memory back, when the cluster has left the tree.
    func releaseMemory() {
        for index in 0..<columnCount { releaseMemory(of: index) }
        memory.free(keys, rowCapacity * 8)
        keys = nil
        releaseDead()
        isOpen = false
        // Whoever looks here after all finds nothing.
        rowCount = 0
        publishKeys()
    }

    /// Whether no column is read from the pages that the cluster was opened from.
    var isAllInMemory: Bool {
        for index in 0..<columnCount where columns[index].state == .stored { return false }
        return true
    }

    private static func blockByteCount(_ columnCount: Int) -> Int {
        ClusterFormat.descriptorsOffset + (columnCount + 1) * ClusterFormat.descriptorByteCount
    }

    /// What readers see.
    @inline(__always) var leaf: LeafView { LeafView(base: block, view: view) }

    var rowCount: Int {
        @inline(__always) get { leaf.rowCount }
        @inline(__always) set {
            block.storeBytes(
                of: UInt32(truncatingIfNeeded: newValue),
                toByteOffset: ClusterFormat.rowCountOffset,
                as: UInt32.self
            )
        }
    }

    var firstKey: Int64 {
        @inline(__always) get { leaf.firstKey }
        set { block.storeBytes(of: newValue, toByteOffset: ClusterFormat.firstKeyOffset, as: Int64.self) }
    }

    var lastKey: Int64 {
        @inline(__always) get { leaf.lastKey }
        @inline(__always) set {
            block.storeBytes(of: newValue, toByteOffset: ClusterFormat.lastKeyOffset, as: Int64.self)
        }
    }

    /// Adds a row of defaults.
    @inline(__always)
    func append(key: Int64) throws(StorageError) {
        let row = rowCount
        isSealed = false
        if row == rowCapacity { grow(to: row < 64 ? 64 : row < 256 ? 256 : ClusterFormat.rowLimit) }
        if !isReadyToAppend { try prepareToAppend() }
        if let keys {
            keys[row] = key
        } else if row == 0 {
            firstKey = key
        } else if key != firstKey &+ Int64(row) {
            expandKeys()
            keys.unsafelyUnwrapped[row] = key
        }
        rowCount = row &+ 1
        lastKey = key
    }

    /// Turns consecutive keys into an array.
    func expandKeys() {
        guard keys == nil else { return }
        let first = firstKey
        let keys = memory.allocate(rowCapacity * 8).bindMemory(to: Int64.self, capacity: rowCapacity)
        for row in 0..<rowCount { keys[row] = first &+ Int64(row) }
        self.keys = keys
        publishKeys()
    }

    /// Makes room for more rows.
    func grow(to capacity: Int) {
        guard capacity > rowCapacity else { return }
        if let old = keys {
            let new = memory.allocate(capacity * 8).bindMemory(to: Int64.self, capacity: capacity)
            new.update(from: old, count: rowCount)
            memory.free(old, rowCapacity * 8)
            keys = new
            publishKeys()
        }
        let oldCapacity = rowCapacity
        rowCapacity = capacity
        for index in 0..<columnCount where columns[index].state == .expanded {
            columns[index].grow(from: oldCapacity, to: capacity, memory: memory)
            publish(index)
        }
    }

    func publishKeys() {
        let descriptor = block + ClusterFormat.descriptorsOffset
        let width: UInt64 = keys == nil ? 0 : 8
        let location = keys == nil ? ClusterFormat.locationInline : ClusterFormat.locationMemory
        descriptor.storeBytes(of: location | width << 16, as: UInt64.self)
        descriptor.storeBytes(
            of: UInt64(UInt(bitPattern: keys)),
            toByteOffset: ClusterFormat.descriptorPlaceOffset,
            as: UInt64.self
        )
    }
}
