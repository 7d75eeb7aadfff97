/// A stretch of the keys of a ``KeyOrder``: listed, or, where they ascend and lie close together, marked in a bitmap.
struct KeyLeaf: Sendable {
    private enum Form: Sendable {
        case listed([Int64])
        /// A bit for each key from `base` on that is there.
        case marked(base: Int64, words: [UInt64])
    }

    /// So many keys are listed at most.
    static let listedCapacity = 512
    /// So far do marked keys reach.
    static let markedSpan = 4096
    /// Fewer keys than this are not worth a bitmap.
    private static let markedMinimum = 96

    private let form: Form
    /// The number of keys, at least one.
    let count: Int
    let first: Int64

    private init(_ form: Form, count: Int, first: Int64) {
        self.form = form
        self.count = count
        self.first = first
    }

    /// Divides keys into leaves; ascending ones take a bit each where they lie close together.
    static func leaves(of keys: [Int64], isAscending: Bool) -> [KeyLeaf] {
        var leaves: [KeyLeaf] = []
        var start = 0
        while start < keys.count {
            if isAscending {
                let dense = denseEnd(from: start, in: keys)
                if dense - start >= markedMinimum {
                    leaves.append(marked(keys[start..<dense]))
                    start = dense
                    continue
                }
            }
            // Leaves that are not full take what comes without being divided at once.
            let rest = keys.count - start
            let end = start + (rest > listedCapacity ? listedCapacity * 3 / 4 : rest)
            leaves.append(KeyLeaf(.listed(Array(keys[start..<end])), count: end - start, first: keys[start]))
            start = end
        }
        return leaves
    }

    /// The end of the keys that fit into one bitmap with the one at `start`.
    private static func denseEnd(from start: Int, in keys: [Int64]) -> Int {
        // The difference may not be representable where keys are far apart.
        let (limit, overflows) = keys[start].addingReportingOverflow(Int64(markedSpan))
        if overflows { return start + 1 }
        var low = start
        var high = min(start + markedSpan, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < limit { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func marked(_ keys: ArraySlice<Int64>) -> KeyLeaf {
        let base = keys[keys.startIndex]
        var words = [UInt64](repeating: 0, count: Int(keys[keys.endIndex - 1] - base) / 64 + 1)
        for key in keys {
            let offset = Int(key - base)
            words[offset / 64] |= 1 << UInt64(offset % 64)
        }
        return KeyLeaf(.marked(base: base, words: words), count: keys.count, first: base)
    }

    /// The key at a position.
    subscript(position: Int) -> Int64 {
        switch form {
        case .listed(let keys): return keys[position]
        case .marked(let base, let words):
            var rest = position
            var index = 0
            while rest >= words[index].nonzeroBitCount {
                rest -= words[index].nonzeroBitCount
                index += 1
            }
            return base + Int64(index * 64 + words[index].position(ofBit: rest))
        }
    }

    /// The number of keys below one; the keys ascend.
    func rank(of key: Int64) -> Int {
        switch form {
        case .listed(let keys):
            return keys.partitioningIndex { $0 >= key }
        case .marked(let base, let words):
            guard key > first else { return 0 }
            let (offset, overflows) = key.subtractingReportingOverflow(base)
            if overflows || offset >= Int64(words.count * 64) { return count }
            let index = Int(offset) / 64
            var rank = (words[index] & ((1 << UInt64(offset % 64)) - 1)).nonzeroBitCount
            for word in words[..<index] { rank += word.nonzeroBitCount }
            return rank
        }
    }

    /// Whether a key is here; the keys ascend.
    func contains(_ key: Int64) -> Bool {
        switch form {
        case .listed:
            let rank = rank(of: key)
            return rank < count && self[rank] == key
        case .marked(let base, let words):
            let (offset, overflows) = key.subtractingReportingOverflow(base)
            guard !overflows, offset >= 0, offset < Int64(words.count * 64) else { return false }
            return words[Int(offset) / 64] & (1 << UInt64(offset % 64)) != 0
        }
    }

    /// Calls a function with the keys in order.
    func withKeys<Result>(_ body: (Span<Int64>) -> Result) -> Result {
        if case .listed(let keys) = form { return body(keys.span) }
        var keys: [Int64] = []
        keys.reserveCapacity(count)
        append(to: &keys)
        return body(keys.span)
    }

    /// Appends the keys.
    func append(to keys: inout [Int64]) {
        switch form {
        case .listed(let own): keys.append(contentsOf: own)
        case .marked(let base, let words):
            for (index, var word) in words.enumerated() {
                while word != 0 {
                    keys.append(base + Int64(index * 64 + word.trailingZeroBitCount))
                    word &= word &- 1
                }
            }
        }
    }

    /// The leaf without the keys at some positions and with others, where that is a matter of a few bits; nil otherwise.
    func marked(without positions: some Sequence<Int>, with added: some Sequence<Int64>) -> KeyLeaf? {
        guard case .marked(let base, var words) = form else { return nil }
        var count = count
        for position in positions {
            let offset = Int(self[position] - base)
            words[offset / 64] &= ~(1 << UInt64(offset % 64))
            count -= 1
        }
        for key in added {
            let (offset, overflows) = key.subtractingReportingOverflow(base)
            guard !overflows, offset >= 0, offset < Int64(words.count * 64) else { return nil }
            words[Int(offset) / 64] |= 1 << UInt64(offset % 64)
            count += 1
        }
        guard count >= KeyLeaf.markedMinimum / 2, let index = words.firstIndex(where: { $0 != 0 }) else { return nil }
        let first = base + Int64(index * 64 + words[index].trailingZeroBitCount)
        return KeyLeaf(.marked(base: base, words: words), count: count, first: first)
    }
}

extension UInt64 {
    /// The position of the set bit before which so many others are set.
    fileprivate func position(ofBit number: Int) -> Int {
        var word = self
        for _ in 0..<number { word &= word &- 1 }
        return word.trailingZeroBitCount
    }
}

extension RandomAccessCollection where Index == Int {
    /// The first index whose element fulfils a condition that all later ones fulfil too.
    func partitioningIndex(where isLater: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if isLater(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
