package import RealmStorage

/// Reads the links to one row after another, of one version.
///
/// Who goes over rows in their order asks for what stands next: that is looked at before the tree is searched.
package final class BacklinkReader {
    private let origin: TableView
    private let property: Int
    private let target: TableView
    @exclusivity(unchecked) private var cursor: ByteTreeCursor
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
        cursor = try origin.linkTree(property).cursor(in: origin.view)
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
            var isNext = isOnEntry && cursor.hasPrefix(prefix)
            isOnEntry = false
            if !isNext { isNext = try cursor.seek(prefix) }
            while isNext, cursor.hasPrefix(prefix) {
                let originKey = Int64(bitPattern: cursor.lastEightBytes)
                let count = try origin.multiplicity(cursor.value)
                if keys.isEmpty { keys.reserveCapacity(4) }
                for _ in 0..<count { keys.append(originKey) }
                isNext = try cursor.next()
            }
            isOnEntry = isNext
        }
        return keys
    }
}
