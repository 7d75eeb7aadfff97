/// A set of rows of one leaf, one bit per row.
///
/// The bits beyond the last row are always clear.
struct RowSet {
    let words: UnsafeMutablePointer<UInt64>
    /// The number of rows of the leaf.
    let rowCount: Int

    var wordCount: Int { (rowCount + 63) >> 6 }

    /// Makes the set hold every row.
    func fill() {
        guard rowCount > 0 else { return }
        for word in 0..<wordCount { words[word] = .max }
        trim()
    }

    func clear() {
        for word in 0..<wordCount { words[word] = 0 }
    }

    func insert(_ row: Int) {
        words[row >> 6] |= 1 << UInt64(row & 63)
    }

    func contains(_ row: Int) -> Bool {
        words[row >> 6] >> UInt64(row & 63) & 1 != 0
    }

    /// Clears the bits before a row.
    func removeRows(before row: Int) {
        for word in 0..<min(row >> 6, wordCount) { words[word] = 0 }
        if row >> 6 < wordCount { words[row >> 6] &= .max << UInt64(row & 63) }
    }

    func copy(_ other: RowSet) {
        for word in 0..<wordCount { words[word] = other.words[word] }
    }

    func intersect(_ other: RowSet) {
        for word in 0..<wordCount { words[word] &= other.words[word] }
    }

    func union(_ other: RowSet) {
        for word in 0..<wordCount { words[word] |= other.words[word] }
    }

    func subtract(_ other: RowSet) {
        for word in 0..<wordCount { words[word] &= ~other.words[word] }
    }

    func invert() {
        guard rowCount > 0 else { return }
        for word in 0..<wordCount { words[word] = ~words[word] }
        trim()
    }

    var count: Int {
        var total = 0
        for word in 0..<wordCount { total &+= words[word].nonzeroBitCount }
        return total
    }

    var isEmpty: Bool {
        for word in 0..<wordCount where words[word] != 0 { return false }
        return true
    }

    var first: Int? {
        for word in 0..<wordCount where words[word] != 0 { return word << 6 + words[word].trailingZeroBitCount }
        return nil
    }

    /// Keeps the rows that pass.
    @inline(__always)
    func keep(where passes: (Int) throws -> Bool) rethrows {
        for index in 0..<wordCount {
            var remaining = words[index]
            var kept = remaining
            if remaining == .max {
                // A full word: collect the verdicts without a branch.
                kept = 0
                for bit in 0..<64 {
                    kept |= (try passes(index &<< 6 &+ bit) ? 1 : 0) &<< UInt64(truncatingIfNeeded: bit)
                }
                words[index] = kept
                continue
            }
            while remaining != 0 {
                let bit = remaining.trailingZeroBitCount
                remaining &= remaining &- 1
                if !(try passes(index &<< 6 &+ bit)) { kept &= ~(1 &<< UInt64(truncatingIfNeeded: bit)) }
            }
            words[index] = kept
        }
    }

    /// Calls a function with every row, ascending.
    @inline(__always)
    func visit(_ body: (Int) throws -> Void) rethrows {
        for index in 0..<wordCount {
            var remaining = words[index]
            while remaining != 0 {
                let bit = remaining.trailingZeroBitCount
                remaining &= remaining &- 1
                try body(index &<< 6 &+ bit)
            }
        }
    }

    private func trim() {
        let used = rowCount & 63
        if used != 0 { words[wordCount - 1] &= (1 << UInt64(used)) - 1 }
    }
}
