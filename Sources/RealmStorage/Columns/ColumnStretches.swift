/// Room for long runs of the same column, so that those of clusters which are written one after the other lie together.
///
/// A cluster's node and its short columns lie side by side: who looks an object up has all of them with one read. A long column takes most
/// of what the system reads ahead and maps around a touch. Beside others of its kind it is not in memory for those who read the
/// rest of the rows.
package struct ColumnStretches {
    /// A column of one table.
    package struct Column: Hashable {
        /// What writes the table.
        let owner: ObjectIdentifier
        let index: Int
    }

    private struct Stretch {
        /// What is left of the newest one.
        var room = Extent(page: 0, pageCount: 0)
        /// The pages that runs of the column have been given so far.
        var pageCount: UInt32 = 0
        /// The pages that earlier stretches have left over.
        var restPageCount: UInt32 = 0
        /// The runs that it has been given since the last clusters of its table were counted.
        var lastRunCount = 0
    }

    /// A run is long from so many pages on: a quarter of the 16 pages that the system maps around a touch.
    static let leastRunPageCount: UInt32 = 4
    /// The longest stretch: eight times as much as the system maps.
    private static let greatestPageCount: UInt32 = 128

    private var columns: [Column: Stretch] = [:]
    /// The table that is being sealed, and the new clusters of it that were still to be written then.
    private var ending: (owner: ObjectIdentifier, clusterCount: Int)?
    /// What stretches have left over, for runs of any kind.
    private var rests: [Extent] = []

    /// Takes a run from the stretch of its column; nil where that has no room.
    mutating func take(_ count: UInt32, of column: Column) -> PageNumber? {
        guard var own = columns[column], own.room.pageCount >= count else { return nil }
        let page = own.room.page
        own.room.page += count
        own.room.pageCount -= count
        own.pageCount &+= count
        own.lastRunCount += 1
        columns[column] = own
        return page
    }

    /// How long a new stretch of a column is to be, for a run that has no room in the one before.
    ///
    /// It is an eighth of what the column has already, so that few runs of a small table have pages taken ahead. What is left of the one
    /// before is given up for it, of which there may be a thirty-second of the column in all: runs differ in length.
    ///
    /// At the end of its table it is no longer than the last clusters need, and what is left over goes first.
    ///
    /// - Returns: The number of pages, or nil where the run is to lie alone.
    func pageCount(for count: UInt32, of column: Column) -> UInt32? {
        let own = columns[column] ?? Stretch()
        guard own.restPageCount + own.room.pageCount <= own.pageCount / 32 else { return nil }
        var runCount = min(own.pageCount / 8, Self.greatestPageCount) / count
        if let ending, ending.owner == column.owner {
            if rest(for: count) != nil { return nil }
            runCount = min(runCount, UInt32(clamping: ending.clusterCount - own.lastRunCount))
        }
        return runCount >= 2 ? runCount * count : nil
    }

    /// Notes a run that lies alone.
    mutating func note(_ count: UInt32, of column: Column) {
        columns[column, default: Stretch()].pageCount &+= count
        columns[column]?.lastRunCount += 1
    }

    /// Notes that only so many new clusters of a table are still to be written, each with one run of a column at most.
    mutating func noteLast(_ clusterCount: Int, of owner: ObjectIdentifier) {
        ending = (owner, clusterCount)
        if columns.isEmpty { return }
        for column in columns.keys where column.owner == owner { columns[column]?.lastRunCount = 0 }
    }

    /// Whether no column has a run so far.
    var isEmpty: Bool { columns.isEmpty }

    /// Keeps a new stretch of a column; what was left of the one before is a rest.
    mutating func keep(_ stretch: Extent, for column: Column) {
        var own = columns[column] ?? Stretch()
        own.restPageCount += own.room.pageCount
        leave(own.room)
        own.room = stretch
        columns[column] = own
    }

    private mutating func leave(_ rest: Extent) {
        if rest.pageCount > 0 { rests.append(rest) }
    }

    /// Takes a run from what stretches have left over; nil where none of the last few rests has room for it.
    mutating func takeRest(_ count: UInt32) -> PageNumber? {
        guard let index = rest(for: count) else { return nil }
        let page = rests[index].page
        rests[index].page += count
        rests[index].pageCount -= count
        if rests[index].pageCount == 0 { rests.remove(at: index) }
        return page
    }

    private func rest(for count: UInt32) -> Int? {
        rests.indices.suffix(8).last { rests[$0].pageCount >= count }
    }

    /// Gives up what is left of the stretches of a table, for runs of any kind that come before the next ones of its columns.
    mutating func leaveRooms(of owner: ObjectIdentifier) {
        if columns.isEmpty { return }
        for column in columns.keys.filter({ $0.owner == owner }) {
            guard let room = columns[column]?.room else { continue }
            leave(room)
            columns[column]?.room = Extent(page: 0, pageCount: 0)
        }
    }

    /// Forgets the columns of a table; what is left of their stretches is rests.
    mutating func end(of owner: ObjectIdentifier) {
        if ending?.owner == owner { ending = nil }
        if columns.isEmpty { return }
        for column in columns.keys.filter({ $0.owner == owner }) {
            if let own = columns.removeValue(forKey: column) { leave(own.room) }
        }
    }

    /// Forgets all columns.
    ///
    /// - Returns: What is left of their stretches.
    mutating func end() -> [Extent] {
        if columns.isEmpty, rests.isEmpty { return [] }
        defer { self = ColumnStretches() }
        return unused
    }

    /// What is left of all stretches.
    var unused: [Extent] { rests + columns.values.map(\.room).filter { $0.pageCount > 0 } }
}
