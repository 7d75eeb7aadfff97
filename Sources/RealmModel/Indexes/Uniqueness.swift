/// What an open transaction has checked of the unique indexes of a table.
///
/// A row is checked when an operation has written all of it. What is assigned to rows later, one property at a time, is
/// checked at the commit, so that two objects may exchange their values.
final class Uniqueness {
    /// The values of checked rows that an index does not hold yet.
    final class Pending {
        @exclusivity(unchecked) var filter = ValueFilter()
        /// The rows from this key on are meant.
        @exclusivity(unchecked) var firstKey: Int64
        /// Whether one of them was changed, so that its value is not there.
        @exclusivity(unchecked) var isStale = false

        init(firstKey: Int64) { self.firstKey = firstKey }
    }

    /// One for each unique index.
    let pending: [Pending]
    /// Rows below this key are checked.
    private(set) var checkedBelow: Int64
    /// Checked rows above it.
    private var checkedAhead: Set<Int64> = []
    /// Rows that were changed since they were checked.
    private(set) var changed: Set<Int64> = []

    init(firstNewKey: Int64, sources: Int) {
        checkedBelow = firstNewKey
        pending = (0..<sources).map { _ in Pending(firstKey: firstNewKey) }
    }

    /// Whether a row counts: one that is not written to its end is still to be checked itself.
    func isChecked(_ key: Int64) -> Bool { key < checkedBelow || checkedAhead.contains(key) }

    func didCheck(_ key: Int64) {
        changed.remove(key)
        guard key >= checkedBelow else { return }
        if key > checkedBelow {
            checkedAhead.insert(key)
            return
        }
        checkedBelow += 1
        while !checkedAhead.isEmpty, checkedAhead.remove(checkedBelow) != nil { checkedBelow += 1 }
    }

    func didChange(_ key: Int64) {
        guard isChecked(key) else { return }
        changed.insert(key)
        for pending in pending where key >= pending.firstKey { pending.isStale = true }
    }

    /// Forgets everything: no row below a key is left.
    func removeAll(before end: Int64) {
        checkedBelow = end
        checkedAhead.removeAll()
        changed.removeAll()
        for pending in pending {
            pending.filter.removeAll()
            pending.firstKey = end
            pending.isStale = false
        }
    }
}
