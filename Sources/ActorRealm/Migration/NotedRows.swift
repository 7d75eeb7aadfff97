import RealmStorage

/// The rows of which a migration block has read or written one property.
///
/// A block that goes through the objects does so in the order of their keys, which takes a few bytes for all of them. For another
/// order, and behind thousands of gaps, each key takes a bit of a word that it shares with its neighbours.
struct NotedRows {
    /// Beyond so many runs, which take 64 KiB, keys behind a gap are kept as bits.
    private static let greatestRunCount = 4_096

    /// The keys that came in their order.
    private var runs = RowKeys()
    /// The others: a bit for each of 64 keys, by what these keys have in common.
    private var bits: [Int64: UInt64] = [:]

    var isEmpty: Bool { runs.isEmpty }

    mutating func insert(_ key: Int64) {
        guard let last = runs.last else {
            runs.append(key)
            return
        }
        if key > last, key &- last == 1 || runs.runCount < Self.greatestRunCount {
            runs.append(key)
        } else if !runs.contains(key) {
            bits[key >> 6, default: 0] |= Self.bit(key)
        }
    }

    func contains(_ key: Int64) -> Bool {
        if runs.contains(key) { return true }
        guard let word = bits[key >> 6] else { return false }
        return word & Self.bit(key) != 0
    }

    private static func bit(_ key: Int64) -> UInt64 { UInt64(1) << UInt64(key & 63) }
}
