extension KeyOrder {
    /// The positions, ascending, of those of some keys that are there, by looking at all of them: for an order whose values
    /// are not at hand any more.
    ///
    /// - Complexity: O(*n* + *m* log *m*) for *m* sought keys, of which only some nanoseconds go to each of the *n*.
    func positions(of sought: [Int64]) -> [Int] {
        guard let root, !sought.isEmpty else { return [] }
        var search = KeySearch(sought)
        search.look(through: root)
        return search.found
    }
}

/// One pass over a tree of keys that looks for some of them.
private struct KeySearch {
    private let sought: [Int64]
    /// A bit for each of the sought keys, at a place that few others share; nothing for a single one.
    private var marks: [UInt64] = []
    private let shift: UInt64
    private var position = 0
    private(set) var found: [Int] = []

    init(_ sought: [Int64]) {
        self.sought = sought.sorted()
        // Sixteen bits for each key, in a power of two.
        let bits = max(6, Int.bitWidth - (sought.count * 16 - 1).leadingZeroBitCount)
        shift = UInt64(64 - bits)
        guard sought.count > 1 else { return }
        marks = [UInt64](repeating: 0, count: 1 << (bits - 6))
        for key in sought {
            let place = place(of: key)
            marks[place / 64] |= 1 << UInt64(place % 64)
        }
    }

    private func place(of key: Int64) -> Int {
        Int((UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> shift)
    }

    mutating func look(through node: KeyNode) {
        switch node.content {
        case .inner(let children, _, _): for child in children where found.count < sought.count { look(through: child) }
        case .leaf(let leaf):
            leaf.withKeys { look(through: $0) }
            position += leaf.count
        }
    }

    private mutating func look(through keys: Span<Int64>) {
        if marks.isEmpty {
            let key = sought[0]
            // A loop without a way out, which takes several keys at a time.
            var isThere = false
            for index in keys.indices { isThere = (keys[index] == key) || isThere }
            guard isThere, let index = keys.indices.first(where: { keys[$0] == key }) else { return }
            found.append(position + index)
            return
        }
        for index in keys.indices {
            let key = keys[index]
            let place = place(of: key)
            guard marks[place / 64] & (1 << UInt64(place % 64)) != 0, AscendingKeys.contains(key, in: sought) else {
                continue
            }
            found.append(position + index)
        }
    }
}
