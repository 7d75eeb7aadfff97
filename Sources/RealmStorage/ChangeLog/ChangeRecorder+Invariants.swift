#if DEBUG
extension ChangeRecorder {
    /// Each table is noted in one place, and its rows as ``Table`` promises.
    func checkInvariants() throws(BrokenInvariant) {
        if currentID == .max {
            try Invariant.require(current.rowCount == 0, "Rows of no table are noted")
        } else {
            try Invariant.require(tables[currentID] == nil, "Table \(currentID) is noted in two places")
            try current.checkInvariants(of: currentID)
        }
        for (id, table) in tables { try table.checkInvariants(of: id) }
    }
}

extension ChangeRecorder.Table {
    /// Runs of rows ascend and are counted, and a row that is new is not among those that were changed.
    func checkInvariants(of id: UInt32) throws(BrokenInvariant) {
        for run in inserted { try Invariant.require(run.count > 0, "A run of new rows of table \(id) is empty") }
        for (run, next) in zip(inserted, inserted.dropFirst()) {
            try Invariant.require(run.first + run.count < next.first, "The new rows of table \(id) do not ascend")
        }
        let firstNew = inserted.first?.first ?? .max
        try check(modified, of: id, before: firstNew)
        for runs in earlier { try check(runs, of: id, before: firstNew) }
        let count = modified.reduce(Int64(0)) { $0 + $1.count }
        try Invariant.require(
            count == modifiedCount,
            "\(count) changed rows of table \(id) are counted as \(modifiedCount)"
        )
        for (key, columns) in scattered {
            try Invariant.require(!columns.isEmpty, "Nothing was changed of row \(key) of table \(id)")
            try Invariant.require(key < firstNew, "Row \(key) of table \(id) is new, and counts as changed")
        }
        try Invariant.require(
            (lastKey == .min) == lastColumns.isEmpty,
            "The last changed row of table \(id) is not the one whose columns are noted"
        )
        try Invariant.require(
            lastColumns.isEmpty || lastKey < firstNew,
            "Row \(lastKey) of table \(id) is new, and counts as changed"
        )
        for key in deleted where key >= firstNew {
            let index = inserted.partitioningIndex { $0.first > key }
            let isNew = index > 0 && key < inserted[index - 1].first + inserted[index - 1].count
            try Invariant.require(isNew, "Row \(key) of table \(id) was deleted, and never was there")
        }
    }

    private func check(_ runs: [ChangeRecorder.Run], of id: UInt32, before firstNew: Int64) throws(BrokenInvariant) {
        for run in runs {
            try Invariant.require(
                run.count > 0 && !run.columns.isEmpty,
                "A run of changed rows of table \(id) is empty"
            )
        }
        for (run, next) in zip(runs, runs.dropFirst()) {
            try Invariant.require(run.first + run.count <= next.first, "Changed rows of table \(id) do not ascend")
        }
        guard let last = runs.last else { return }
        try Invariant.require(
            last.first + last.count <= firstNew,
            "Row \(last.first + last.count - 1) of table \(id) is new, and counts as changed"
        )
    }
}
#endif
