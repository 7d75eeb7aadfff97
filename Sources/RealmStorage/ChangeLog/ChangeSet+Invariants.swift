#if DEBUG
extension RowKeys {
    /// The runs are counted, ascend, and neither overlap nor touch.
    package func checkInvariants() throws(BrokenInvariant) {
        try Invariant.require(runs.isEmpty == (count == 0), "\(runs.count) runs hold \(count) keys")
        try Invariant.require((runs.first?.start ?? 0) == 0, "Keys are counted before the first run")
        for index in runs.indices {
            let isLast = index == runs.count - 1
            let end = isLast ? count : runs[index + 1].start
            try Invariant.require(end > runs[index].start, "A run of keys is empty")
            if isLast { return }
            let next = runs[index].first + Int64(end - runs[index].start)
            try Invariant.require(next < runs[index + 1].first, "Runs of keys touch or overlap")
        }
    }
}

extension ChangeSet {
    /// Of each table that is listed something changed, net.
    package func checkInvariants() throws(BrokenInvariant) {
        for (id, changes) in tables {
            try Invariant.require(!changes.isEmpty, "Table \(id) is listed, and nothing changed in it")
            try changes.checkInvariants(of: id)
        }
    }
}

extension TableChanges {
    /// The lists ascend and are disjoint.
    func checkInvariants(of id: UInt32) throws(BrokenInvariant) {
        try inserted.checkInvariants()
        try deleted.checkInvariants()
        try Invariant.require(
            inserted.subtracting(deleted).count == inserted.count,
            "A row of table \(id) came and went, and is listed"
        )
        var last: Int64?
        for modification in modified {
            let key = modification.key
            try Invariant.require(last.map { $0 < key } ?? true, "The changed rows of table \(id) do not ascend")
            try Invariant.require(!modification.columns.isEmpty, "Nothing was changed of row \(key) of table \(id)")
            try Invariant.require(!inserted.contains(key), "Row \(key) of table \(id) is new, and counts as changed")
            try Invariant.require(!deleted.contains(key), "Row \(key) of table \(id) is gone, and counts as changed")
            last = key
        }
    }
}
#endif
