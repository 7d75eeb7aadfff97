/// Writing to the file before the commit, so that a transaction of any size needs bounded memory.
///
/// The runs go to the places where the commit wants them: pages that no durable version uses, or beyond the end. Nothing
/// refers to them before the header does, which such a commit writes only when everything else has been flushed.
extension WriteTransaction {
    /// Keeps little in memory: for a transaction that goes through whole tables, and does not come back to what it wrote.
    package func keepLittle() {
        openByteLimit = 16 << 20
        unspilledPageLimit = 1024
    }

    /// Writes what is sealed when much of it waits.
    ///
    /// Pointers into sealed pages of this transaction are stale afterwards. Within ``settle(_:)`` nothing is written: a device without space would
    /// take with it what earlier members left.
    @inline(__always)
    package func spillIfNeeded() throws(StorageError) {
        if _slowPath(group.unspilled.pageCount > unspilledPageLimit), !isSettling { try spill() }
    }

    /// Writes what is sealed.
    @inline(never)
    package func spill() throws(StorageError) {
        let runs = group.unspilled.takeAll()
        if runs.isEmpty { return }
        group.hasSpilled = true
        try file.spill(runs, of: group)
        changed.sealed.removeAll { !reservation.isBuffered(Int($0.page)) }
        releaseReadPages()
    }

    /// Lets go of pages that a transaction which spills has read back; whoever walks very many calls it now and then.
    package func releaseReadPages() {
        guard group.hasSpilled, let first = group.taken.first?.page else { return }
        reservation.releaseMapping(from: Int(first), to: max(Int(first), pageCount))
    }

    /// Notes that a run is pointed into: it stays in memory until the commit.
    @inline(__always)
    func forgetSeal(of reference: PageReference) { group.forgetSeal(of: reference) }
}
