#if DEBUG
extension ChangeRecorder {
    /// Each table is noted in one place, and its rows as ``Table`` promises.
    func checkInvariants() throws(BrokenInvariant) {
        try checkPlaces()
        if currentID != .max { try current.checkInvariants(of: currentID) }
        for (id, table) in tables { try table.checkInvariants(of: id) }
    }

    /// The same of what a later transaction did, behind ``absorb(_:)``: takes a time that goes by that.
    func checkInvariants(takenOverFrom later: ChangeRecorder) throws(BrokenInvariant) {
        try checkPlaces()
        if later.currentID != .max { try checkEnd(of: later.currentID, after: later.current) }
        for (id, table) in later.tables { try checkEnd(of: id, after: table) }
    }

    private func checkPlaces() throws(BrokenInvariant) {
        if currentID == .max {
            try Invariant.require(current.rowCount == 0, "Rows of no table are noted")
        } else {
            try Invariant.require(tables[currentID] == nil, "Table \(currentID) is noted in two places")
        }
    }

    private func checkEnd(of id: UInt32, after later: Table) throws(BrokenInvariant) {
        // It is not there where the transaction is rolled back.
        guard let table = id == currentID ? current : tables[id] else { return }
        try table.checkEnd(of: id, rowCount: later.rowCount)
    }
}

extension ChangeRecorder.Table {
    /// Runs of rows ascend and are counted, and a row that is new is not among those that were changed.
    func checkInvariants(of id: UInt32) throws(BrokenInvariant) {
        try checkInserted(inserted[...], of: id)
        let firstNew = inserted.first?.first ?? .max
        try check(modified[...], of: id, before: firstNew)
        for runs in earlier { try check(runs[...], of: id, before: firstNew) }
        let count = modified.reduce(Int64(0)) { $0 + $1.count }
        try Invariant.require(
            count == modifiedCount,
            "\(count) changed rows of table \(id) are counted as \(modifiedCount)"
        )
        for (key, columns) in scattered {
            try Invariant.require(!columns.isEmpty, "Nothing was changed of row \(key) of table \(id)")
            try Invariant.require(key < firstNew, "Row \(key) of table \(id) is new, and counts as changed")
        }
        try checkLast(of: id, before: firstNew)
        for key in deleted where key >= firstNew {
            let index = inserted.partitioningIndex { $0.first > key }
            let isNew = index > 0 && key < inserted[index - 1].first + inserted[index - 1].count
            try Invariant.require(isNew, "Row \(key) of table \(id) was deleted, and never was there")
        }
    }

    /// The same of the ends of the lists, to which so many rows came at most.
    func checkEnd(of id: UInt32, rowCount: Int) throws(BrokenInvariant) {
        let firstNew = inserted.first?.first ?? .max
        // With the run that was the last one before.
        try checkInserted(inserted.suffix(rowCount + 1), of: id)
        try check(modified.suffix(rowCount + 1), of: id, before: firstNew)
        try checkLast(of: id, before: firstNew)
    }

    private func checkInserted(
        _ runs: ArraySlice<(first: Int64, count: Int64)>,
        of id: UInt32
    ) throws(BrokenInvariant) {
        for run in runs { try Invariant.require(run.count > 0, "A run of new rows of table \(id) is empty") }
        for (run, next) in zip(runs, runs.dropFirst()) {
            try Invariant.require(run.first + run.count < next.first, "The new rows of table \(id) do not ascend")
        }
    }

    private func checkLast(of id: UInt32, before firstNew: Int64) throws(BrokenInvariant) {
        try Invariant.require(
            (lastKey == .min) == lastColumns.isEmpty,
            "The last changed row of table \(id) is not the one whose columns are noted"
        )
        try Invariant.require(
            lastColumns.isEmpty || lastKey < firstNew,
            "Row \(lastKey) of table \(id) is new, and counts as changed"
        )
    }

    private func check(
        _ runs: ArraySlice<ChangeRecorder.Run>,
        of id: UInt32,
        before firstNew: Int64
    ) throws(BrokenInvariant) {
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
