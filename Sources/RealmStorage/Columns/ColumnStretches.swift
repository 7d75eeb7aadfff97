/// Room for long runs of the same column, so that those of clusters which are written one after the other lie together.
///
/// A cluster's node and its short columns lie side by side: who looks an object up has all of them with one read. A long column takes most
/// of what the system reads ahead and maps around a touch. Beside others of its kind it is not in memory for those who read the
/// rest of the rows.
struct ColumnStretches {
    /// A run is long from so many pages on: a quarter of the 16 pages that the system maps around a touch.
    static let leastRunPageCount: UInt32 = 4
    /// The longest stretch: eight times as much.
    private static let greatestPageCount: UInt32 = 128

    private struct Column {
        /// The pages that its runs have been given so far.
        var pageCount: UInt32 = 0
        /// What is left of its stretch.
        var room = Extent(page: 0, pageCount: 0)
    }

    private var columns: [Int: Column] = [:]

    /// Takes a run from the stretch of its column; nil where that has no room.
    mutating func take(_ count: UInt32, of column: Int) -> PageNumber? {
        guard var own = columns[column], own.room.pageCount >= count else { return nil }
        let page = own.room.page
        own.room.page += count
        own.room.pageCount -= count
        own.pageCount &+= count
        columns[column] = own
        return page
    }

    /// How long the next stretch of a column is to be, for a run that it has no room for.
    ///
    /// It is a quarter of what the column has already: so much of the file may stay unused at most. Of a few runs each goes wherever
    /// there is room.
    ///
    /// - Returns: The number of pages, or nil where the run is to lie alone.
    mutating func pageCount(for count: UInt32, of column: Int) -> UInt32? {
        let runCount = min(columns[column, default: Column()].pageCount / 4, Self.greatestPageCount) / count
        if runCount >= 2 { return runCount * count }
        columns[column, default: Column()].pageCount &+= count
        return nil
    }

    /// Keeps a new stretch of a column.
    ///
    /// - Returns: What was left of the one before, which was too short.
    mutating func keep(_ stretch: Extent, for column: Int) -> Extent? {
        let rest = columns[column, default: Column()].room
        columns[column, default: Column()].room = stretch
        return rest.pageCount > 0 ? rest : nil
    }

    /// Forgets all columns.
    ///
    /// - Returns: What is left of their stretches.
    mutating func end() -> [Extent] {
        if columns.isEmpty { return [] }
        defer { columns = [:] }
        return rooms
    }

    /// What is left of the stretches.
    var rooms: [Extent] { columns.values.map(\.room).filter { $0.pageCount > 0 } }
}
