import RealmModel
import RealmStorage

/// Finds the rows of one table where others were found before.
///
/// It remembers nothing inside a transaction, in which rows move. A frozen realm, which several threads may read, has nothing to
/// do with what changes it.
struct RowLocator: ~Copyable {
    private let table: TableView
    /// Changes whenever a leaf that was read before may be stale.
    private let generation: UnsafeMutablePointer<UInt64>
    private let transactionFlag: UnsafeMutablePointer<UInt64>
    /// Where pages are read, as of a generation.
    private var pages: PageView
    private var pagesGeneration: UInt64 = 0
    /// Where rows were found last, by a part of their keys; none for frozen realms.
    private var leaves: UnsafeMutablePointer<KnownLeaf>?
    /// By the same part: the checksum of the node below which the leaf was found, 0 for none.
    private var parents: UnsafeMutablePointer<UInt64>?
    private var leafMask: Int

    /// A leaf in which a row was found.
    private struct KnownLeaf {
        /// Rows whose keys differ in lower bits only share a place.
        static let shift = 9
        static let leastCount = 16
        static let greatestCount = 2_048
        var generation: UInt64 = 0
        var base: UnsafeRawPointer?
    }

    init(_ table: TableView, isFrozen: Bool) {
        self.table = table
        generation = table.model.generation
        transactionFlag = table.model.transactionFlag
        pages = table.model.view
        leafMask = 0
        // One object is found with little; what finds more has room made.
        if !isFrozen { makeRoom(KnownLeaf.leastCount) }
    }

    /// Makes room for as many leaves as the table may have.
    private mutating func makeRoomForAll() {
        var leafCount = capacity
        while leafCount < KnownLeaf.greatestCount, leafCount &<< KnownLeaf.shift < table.nextKey { leafCount *= 2 }
        if leafCount > capacity { makeRoom(leafCount) }
    }

    private mutating func makeRoom(_ leafCount: Int) {
        leaves?.deallocate()
        parents?.deallocate()
        leafMask = leafCount - 1
        leaves = .allocate(capacity: leafCount)
        leaves?.initialize(repeating: KnownLeaf(), count: leafCount)
        parents = .allocate(capacity: leafCount)
        parents?.initialize(repeating: 0, count: leafCount)
    }

    deinit {
        leaves?.deallocate()
        parents?.deallocate()
    }

    /// The number of leaves that it has room for; for tests.
    var capacity: Int { leafMask + 1 }

    /// Whether what was looked up outside a transaction may be used, and kept.
    @inline(__always)
    var remembers: Bool { leaves != nil && transactionFlag.pointee == 0 }

    /// The leaf at an address.
    @inline(__always)
    mutating func leaf(at base: UnsafeRawPointer) -> LeafView {
        if pagesGeneration != generation.pointee {
            pages = table.model.view
            pagesGeneration = generation.pointee
        }
        return LeafView(base: base, view: pages)
    }

    /// The leaf at an address of a frozen realm's version: nothing is kept, since several threads may ask.
    @inline(__always)
    func frozenLeaf(at base: UnsafeRawPointer) -> LeafView { LeafView(base: base, view: pages) }

    /// A leaf that was found before, and where the row of a key would be; nil where that has to be looked for.
    ///
    /// What can be read without an error is apart from what can throw, since iterations do little else.
    @inline(__always)
    mutating func knownLeaf(of key: Int64) -> LeafView? {
        guard remembers, let leaves else { return nil }
        let index = Int(truncatingIfNeeded: key) &>> KnownLeaf.shift & leafMask
        guard leaves[index].generation == generation.pointee, let base = leaves[index].base else { return nil }
        return leaf(at: base)
    }

    /// The row of a key; nil when there is no such row.
    @inline(__always)
    mutating func locate(_ key: Int64) throws(StorageError) -> RowLocation? {
        if let leaf = knownLeaf(of: key), let row = leaf.row(of: key) { return RowLocation(leaf: leaf, row: row) }
        return remembers ? try locateAgain(key) : try table.locate(key)
    }

    /// The row of a key, whose leaf may be the one that was found in an earlier version.
    @inline(never)
    private mutating func locateAgain(_ key: Int64) throws(StorageError) -> RowLocation? {
        var index = Int(truncatingIfNeeded: key) &>> KnownLeaf.shift & leafMask
        guard let leaves, let parents else { return try table.locate(key) }
        let generation = generation.pointee
        var parent = parents[index]
        if let found = try table.leaf(for: key, unlessBelow: &parent) {
            if let other = leaves[index].base, other != found.base {
                // Leaves would take the place of others again and again.
                makeRoomForAll()
                index = Int(truncatingIfNeeded: key) &>> KnownLeaf.shift & leafMask
            }
            self.leaves?[index] = KnownLeaf(generation: generation, base: found.base)
            self.parents?[index] = found.isInFile ? parent : 0
            return found.row(of: key).map { RowLocation(leaf: found, row: $0) }
        }
        if parent != 0, let base = leaves[index].base {
            let leaf = leaf(at: base)
            if let row = leaf.row(of: key) {
                leaves[index].generation = generation
                return RowLocation(leaf: leaf, row: row)
            }
            // Another leaf below the same node.
            parents[index] = 0
            return try locateAgain(key)
        }
        return nil
    }
}

#if DEBUG
extension RowLocator {
    /// Leaves that were found in the present version are those in which the table has their rows.
    func checkInvariants() throws(BrokenInvariant) {
        guard let leaves, parents != nil else { return }
        let isPowerOfTwo = capacity & leafMask == 0
        let isInBounds = (KnownLeaf.leastCount...KnownLeaf.greatestCount).contains(capacity)
        try Invariant.require(isPowerOfTwo && isInBounds, "There is room for \(capacity) leaves")
        if pagesGeneration == generation.pointee {
            try Invariant.require(pages.mapping == table.model.view.mapping, "Rows are looked for in another file")
        }
        guard remembers else { return }
        for index in 0..<capacity {
            let known = leaves[index]
            guard known.generation == generation.pointee, let base = known.base else { continue }
            let leaf = LeafView(base: base, view: table.model.view)
            var parent: UInt64 = 0
            // What cannot be read says nothing of what is remembered.
            guard leaf.rowCount > 0, let found = try? table.leaf(for: leaf.firstKey, unlessBelow: &parent) else {
                continue
            }
            try Invariant.require(found.base == base, "Row \(leaf.firstKey) is remembered in another leaf")
        }
    }
}
#endif
