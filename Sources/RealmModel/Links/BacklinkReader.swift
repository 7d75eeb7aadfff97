package import RealmStorage

/// Reads the links to one row after another, of one version.
///
/// Who goes over rows in their order asks for what stands next: that is looked at before the tree is searched.
package final class BacklinkReader {
    private let origin: TableView
    private let property: Int
    private let target: TableView
    private let slot: PropertySlot
    /// Behind what was read last; in memory of its own, so that it is not copied to be used.
    private let cursor: UnsafeMutablePointer<ByteTreeCursor>
    /// What the entries of the row begin with.
    private let prefix = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    @exclusivity(unchecked) private var isOnEntry = false

    /// - Parameters:
    ///   - target: The table of the rows that are linked to; outside a transaction.
    ///   - origin: The table of the class that links.
    ///   - property: The ordinal of the linking property in that class.
    /// - Throws: `StorageError` when a page is damaged.
    package init(of target: TableView, from origin: TableView, property: Int) throws(StorageError) {
        self.origin = origin
        self.property = property
        self.target = target
        let tree = try origin.linkTree(property)
        slot = origin.slots[property]
        prefix.initialize(to: 0)
        cursor = .allocate(capacity: 1)
        cursor.initialize(to: tree.cursor(in: origin.view))
    }

    deinit {
        cursor.deinitialize(count: 1)
        cursor.deallocate()
        prefix.deallocate()
    }

    /// Whether these are the links that are read.
    @inline(__always)
    package func reads(_ table: TableView, _ property: Int) -> Bool { table === origin && property == self.property }

    /// Calls a function with the rows that link to a row, ascending; with one that does so twice, twice.
    package func forEachKey(of key: Int64, _ body: (Int64) -> Void) throws(StorageError) {
        prefix.pointee = UInt64(bitPattern: target.linkNumber(of: key, in: slot)).bigEndian
        let wasOnEntry = isOnEntry
        isOnEntry = false
        isOnEntry = try read(&cursor.pointee, isOnEntry: wasOnEntry, body)
    }

    /// Reads the entries of the row; whether the cursor then stands on the first one behind them.
    @inline(__always)
    private func read(
        _ cursor: inout ByteTreeCursor,
        isOnEntry: Bool,
        _ body: (Int64) -> Void
    ) throws(StorageError) -> Bool {
        let prefix = UnsafeRawBufferPointer(start: prefix, count: 8)
        var found = isOnEntry ? cursor.lastEightBytes(behind: prefix) : nil
        if found == nil {
            guard try cursor.seek(prefix) else { return false }
            found = cursor.lastEightBytes(behind: prefix)
        }
        var left: Int?
        while let originKey = found {
            if let value = slot.isDeferrable ? nil : try cursor.value, !value.isEmpty {
                // Most rows link once; how often all of them may, is asked for behind the first one that links more often.
                var rest = left ?? origin.greatestLinkCount
                let count = try origin.multiplicity(value, among: &rest)
                for _ in 0..<count { body(Int64(bitPattern: originKey)) }
                left = rest
            } else {
                body(Int64(bitPattern: originKey))
            }
            guard try cursor.next() else { return false }
            found = cursor.lastEightBytes(behind: prefix)
        }
        return true
    }
}
