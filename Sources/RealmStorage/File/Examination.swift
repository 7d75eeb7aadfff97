/// An opening's look at all pages of a version.
///
/// Leaves of indexes lie together, and are let go of behind the look: who looks for a value touches a few of them, and then has
/// these in memory. A column is read whole.
package struct Examination: ~Copyable {
    private let snapshot: Snapshot
    /// Whether pages are looked at that this process has verified before.
    private let isThorough: Bool
    /// Leaves that lie beside each other, and were looked at last.
    private var leaves = 0..<0

    package init(of snapshot: Snapshot, isThorough: Bool) {
        self.snapshot = snapshot
        self.isThorough = isThorough
    }

    /// Looks at a run of pages.
    ///
    /// - Throws: `StorageError` where the run cannot be read, or is damaged.
    package mutating func look(at run: PageReference) throws(StorageError) {
        let view = snapshot.view
        let bytes = isThorough ? try view.verifiedPointer(to: run) : try view.pointer(to: run)
        guard bytes.load(fromByteOffset: PageHeader.kindOffset, as: UInt8.self) == PageKind.byteTreeLeaf.rawValue else {
            return
        }
        let page = Int(run.page)
        if page != leaves.upperBound {
            letGo()
            leaves = page..<page
        }
        leaves = leaves.lowerBound..<page + 1
    }

    /// Lets go of the leaves that were looked at last; called behind the last run.
    package func letGo() {
        if leaves.count >= Examination.leastStretch {
            snapshot.file.reservation.releaseMapping(from: leaves.lowerBound, to: leaves.upperBound)
        }
    }

    /// The system maps about so many pages around one that is touched.
    private static let leastStretch = 16
}
