package import RealmStorage

/// Reads the links to one row after another, of one version.
///
/// Who goes over rows in their order asks for what stands next: that is looked at before the tree is searched.
package final class BacklinkReader {
    private let origin: TableView
    private let property: Int
    private let target: TableView
    // In memory of its own, so that it is used where it lies.
    private let cursor: UnsafeMutablePointer<ByteTreeCursor>
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
        cursor = .allocate(capacity: 1)
        cursor.initialize(to: tree.cursor(in: origin.view))
    }

    deinit {
        cursor.deinitialize(count: 1)
        cursor.deallocate()
    }

    /// Whether these are the links that are read.
    @inline(__always)
    package func reads(_ table: TableView, _ property: Int) -> Bool { table === origin && property == self.property }

    /// The rows that link to a row, ascending; one that does so twice comes twice.
    package func keys(of key: Int64) throws(StorageError) -> [Int64] {
        var keys: [Int64] = []
        var number = UInt64(bitPattern: target.linkNumber(of: key, in: origin.slots[property])).bigEndian
        try withUnsafeBytes(of: &number) { (prefix) throws(StorageError) in
            // The cursor stands on the first entry behind those that were asked for last.
            var isNext = isOnEntry && cursor.pointee.hasPrefix(prefix)
            isOnEntry = false
            if !isNext { isNext = try cursor.pointee.seek(prefix) }
            while isNext, cursor.pointee.hasPrefix(prefix) {
                let originKey = Int64(bitPattern: cursor.pointee.lastEightBytes)
                let count = try origin.multiplicity(cursor.pointee.value)
                if keys.isEmpty { keys.reserveCapacity(4) }
                for _ in 0..<count { keys.append(originKey) }
                isNext = try cursor.pointee.next()
            }
            isOnEntry = isNext
        }
        return keys
    }
}
