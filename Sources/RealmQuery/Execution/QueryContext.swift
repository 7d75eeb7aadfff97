import RealmModel
import RealmStorage

/// What one run of a query needs besides the query: bitmaps, buffers and the leaves visited last.
///
/// Compiled queries are immutable, so that a frozen one may run on several threads; each run has its own context. It is
/// forgotten when the run ends, before anything can be written.
final class QueryContext {
    private var freeSets: [UnsafeMutablePointer<UInt64>] = []
    private var leaves: [LeafView?]
    /// What is already known of the rows a subquery tested, per subquery.
    private var verdicts: [[Int64: Bool]]
    /// A buffer for folded text of any length.
    var folded: [UInt8] = []
    /// A buffer for folded ASCII text, with room for whole words behind it.
    let foldBuffer = UnsafeMutableRawPointer.allocate(byteCount: foldCapacity + 8, alignment: 8)
    /// The longest text that `foldBuffer` takes, in bytes.
    static let foldCapacity = 1024

    /// The number of rows of a reused bitmap; larger leaves get one of their own.
    private static let reusableRowCount = 1024

    init(linkSlotCount: Int, subqueryCount: Int) {
        leaves = Array(repeating: nil, count: linkSlotCount)
        verdicts = Array(repeating: [:], count: subqueryCount)
    }

    deinit {
        for words in freeSets { words.deallocate() }
        foldBuffer.deallocate()
    }

    /// A set for a leaf, its bits undefined.
    ///
    /// Give it back with `release`.
    func makeSet(rowCount: Int) -> RowSet {
        if rowCount <= Self.reusableRowCount {
            let words = freeSets.popLast() ?? .allocate(capacity: Self.reusableRowCount / 64)
            return RowSet(words: words, rowCount: rowCount)
        }
        return RowSet(words: .allocate(capacity: (rowCount + 63) / 64), rowCount: rowCount)
    }

    func release(_ set: RowSet) {
        if set.rowCount <= Self.reusableRowCount {
            freeSets.append(set.words)
        } else {
            set.words.deallocate()
        }
    }

    /// The row of a key of another table.
    ///
    /// The leaf found last under the slot is tried first.
    func locate(_ key: Int64, in table: TableView, slot: Int) throws(StorageError) -> RowLocation? {
        if let leaf = leaves[slot], let row = leaf.row(of: key) { return RowLocation(leaf: leaf, row: row) }
        guard let location = try table.locate(key) else { return nil }
        leaves[slot] = location.leaf
        return location
    }

    func verdict(of subquery: Int, key: Int64) -> Bool? { verdicts[subquery][key] }

    func setVerdict(_ verdict: Bool, of subquery: Int, key: Int64) { verdicts[subquery][key] = verdict }
}
