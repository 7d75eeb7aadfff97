import RealmModel
import RealmStorage

/// When a scan is divided among threads, and into how many pieces.
///
/// It pays for conditions on text and other expensive ones, not for numbers, where memory sets the pace
/// (`Docs/Performance.md`).
package struct ScanDivision: Sendable {
    /// The least cost of a row's test, as conditions estimate it.
    var leastCost: Double
    /// The least cost of all rows together.
    var leastTotalCost: Double
    /// The other threads that are wanted.
    var helpers: Int
    /// The least number of rows in a piece.
    var leastRowCount: Int
    /// Whether other scans may have taken the helpers.
    var isLimited: Bool

    /// Where it was measured to pay.
    package static let whereItPays = ScanDivision(
        leastCost: 10,
        leastTotalCost: 2_000_000,
        helpers: SharedWork.processorCount - 1,
        leastRowCount: 4096,
        isLimited: true
    )

    /// Wherever it is possible, for tests.
    package static func always(helpers: Int) -> ScanDivision {
        ScanDivision(leastCost: 0, leastTotalCost: 0, helpers: helpers, leastRowCount: 1, isLimited: false)
    }

    /// The greatest number of pieces for each thread: the more, the shorter the wait for the last one.
    private static let piecesPerThread = 8

    /// The number of pieces into which a scan is divided; 1 when it is not.
    func pieceCount(cost: Double, rowCount: Int) -> Int {
        guard helpers > 0, cost >= leastCost, cost * Double(rowCount) >= leastTotalCost else { return 1 }
        return max(1, min(Self.piecesPerThread * (helpers + 1), rowCount / leastRowCount))
    }
}

/// The leaves of a table from one that begins with a key to the one before that which begins with another.
struct LeafRange {
    /// The first key of the first leaf; nil for the first leaf of the table.
    var first: Int64?
    /// The first key of the leaf behind the last one; nil for the end of the table.
    var end: Int64?

    static let whole = LeafRange()

    /// Divides a table into ranges of about as many rows each, ascending.
    static func divide(_ table: TableView, into count: Int) throws(StorageError) -> [LeafRange] {
        var ranges = [LeafRange.whole]
        for piece in 1..<count {
            guard let location = try table.location(at: table.count / count * piece) else { break }
            let key = location.leaf.key(at: 0)
            // Keys that do not ascend are damage, which the walk itself tells.
            guard key > ranges[ranges.count - 1].first ?? .min else { continue }
            ranges[ranges.count - 1].end = key
            ranges.append(LeafRange(first: key))
        }
        return ranges
    }
}

extension CompiledQuery {
    /// Calls a function with each leaf of a range that the condition does not reject.
    func scan(
        _ range: LeafRange,
        _ context: QueryContext,
        _ body: (LeafView, QueryContext) throws -> Void
    ) throws {
        var leaves = table.leaves(from: range.first ?? .min)
        while let leaf = try leaves.next() {
            if let end = range.end, leaf.rowCount > 0, leaf.key(at: 0) >= end { return }
            if !condition.rejects(leaf) { try body(leaf, context) }
        }
    }

    /// The number of pieces, at most, that threads share when the table is scanned; 1 where it is not divided.
    ///
    /// Only where nothing can be written meanwhile, and where one row is judged by itself.
    package var scanPieceCount: Int {
        if followsLinks || table.model.isInTransaction { return 1 }
        return division.pieceCount(cost: condition.cost, rowCount: table.count)
    }

    /// Calls a function for ranges that make up the table, on several threads at once where that pays; returns what it
    /// gives, ascending.
    func divided<Partial>(_ part: (LeafRange) throws -> Partial) throws -> [Partial] {
        let pieceCount = scanPieceCount
        if pieceCount == 1 { return [try part(.whole)] }
        let ranges = try LeafRange.divide(table, into: pieceCount)
        let results = UnsafeMutablePointer<Result<Partial, any Error>?>.allocate(capacity: ranges.count)
        results.initialize(repeating: nil, count: ranges.count)
        defer {
            results.deinitialize(count: ranges.count)
            results.deallocate()
        }
        // Each piece has a place of its own.
        SharedWork.run(pieceCount: ranges.count, helpers: division.helpers, isLimited: division.isLimited) { piece in
            results[piece] = Result { try part(ranges[piece]) }
        }
        return try (0..<ranges.count).compactMap { try results[$0]?.get() }
    }
}
