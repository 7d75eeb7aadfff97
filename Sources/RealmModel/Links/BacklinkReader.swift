package import RealmStorage

/// Reads the links to one row after another, of one version.
///
/// Who goes over rows in their order asks for what stands next: that is looked at before the tree is searched.
package final class BacklinkReader {
    private let origin: TableView
    private let property: Int
    private let target: TableView
    private let slot: PropertySlot
    /// The cursor between two questions.
    private let kept: UnsafeMutablePointer<ByteTreeCursor>
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
        kept = .allocate(capacity: 1)
        kept.initialize(to: tree.cursor(in: origin.view))
    }

    deinit {
        kept.deinitialize(count: 1)
        kept.deallocate()
    }

    /// Whether these are the links that are read.
    @inline(__always)
    package func reads(_ table: TableView, _ property: Int) -> Bool { table === origin && property == self.property }

    /// Calls a function with the rows that link to a row, ascending; with one that does so twice, twice.
    package func forEachKey(of key: Int64, _ body: (Int64) -> Void) throws(StorageError) {
        var number = UInt64(bitPattern: target.linkNumber(of: key, in: slot)).bigEndian
        // Used as a local value, which is not copied for every question.
        var cursor = kept.move()
        defer { kept.initialize(to: cursor) }
        try withUnsafeBytes(of: &number) { (prefix) throws(StorageError) in
            // The cursor stands on the first entry behind those that were asked for last.
            var isNext = isOnEntry && cursor.hasPrefix(prefix)
            isOnEntry = false
            if !isNext { isNext = try cursor.seek(prefix) && cursor.hasPrefix(prefix) }
            while isNext {
                let originKey = Int64(bitPattern: cursor.lastEightBytes)
                let count = slot.isDeferrable ? 1 : try origin.multiplicity(cursor.value)
                for _ in 0..<count { body(originKey) }
                guard try cursor.next() else { return }
                isNext = cursor.hasPrefix(prefix)
            }
            isOnEntry = cursor.isValid
        }
    }
}
