/// Keys of rows, ascending and each once, kept as runs of consecutive ones.
///
/// The keys of rows that were added together follow each other: ten million of them are one run.
package struct RowKeys: Sendable, Equatable {
    struct Run: Sendable, Equatable {
        var first: Int64
        /// The number of keys in the runs before.
        var start: Int
    }

    /// Neither overlapping nor touching.
    var runs: [Run] = []
    package internal(set) var count = 0

    package init() {}

    /// Keys that ascend.
    package init(_ keys: some Sequence<Int64>) {
        for key in keys { append(key) }
    }

    package var first: Int64? { runs.first?.first }

    package var last: Int64? { runs.isEmpty ? nil : end(of: runs.count - 1) - 1 }

    /// The number of runs.
    package var runCount: Int { runs.count }

    /// The runs of consecutive keys, ascending, neither overlapping nor touching.
    package var ranges: [Range<Int64>] { runs.indices.map(run) }

    /// A run of consecutive keys.
    func run(_ index: Int) -> Range<Int64> { runs[index].first..<end(of: index) }

    private func end(of run: Int) -> Int64 {
        let next = run + 1 < runs.count ? runs[run + 1].start : count
        return runs[run].first + Int64(next - runs[run].start)
    }

    /// Adds a key behind all others; one that is there already stays.
    package mutating func append(_ key: Int64) {
        append(key..<key + 1)
    }

    /// Adds consecutive keys of which none lies before the last one that is there.
    mutating func append(_ keys: Range<Int64>) {
        var first = keys.lowerBound
        if let last {
            first = Swift.max(first, last + 1)
            if first >= keys.upperBound { return }
            if first > last + 1 { runs.append(Run(first: first, start: count)) }
        } else {
            if keys.isEmpty { return }
            runs.append(Run(first: first, start: 0))
        }
        count += Int(keys.upperBound - first)
    }

    /// Whether a key is among them.
    ///
    /// - Complexity: O(log *r*) for *r* runs.
    package func contains(_ key: Int64) -> Bool {
        let index = runs.partitioningIndex { $0.first > key }
        return index > 0 && key < end(of: index - 1)
    }

    /// These keys without others.
    func subtracting(_ others: RowKeys) -> RowKeys {
        guard let firstOther = others.first, let last, firstOther <= last else { return self }
        var result = RowKeys()
        var index = 0
        for run in runs.indices.map(self.run) {
            var start = run.lowerBound
            while index < others.runs.count, others.end(of: index) <= start { index += 1 }
            var other = index
            while other < others.runs.count, others.runs[other].first < run.upperBound {
                let hole = others.run(other)
                if hole.lowerBound > start { result.append(start..<hole.lowerBound) }
                start = Swift.max(start, hole.upperBound)
                other += 1
            }
            if start < run.upperBound { result.append(start..<run.upperBound) }
        }
        return result
    }

    /// These keys and others.
    func union(_ others: RowKeys) -> RowKeys {
        if runs.isEmpty { return others }
        if others.runs.isEmpty { return self }
        var result = RowKeys()
        var mine = 0
        var theirs = 0
        if let last, let first = others.first, last < first {
            result = self
            mine = runs.count
        }
        while mine < runs.count || theirs < others.runs.count {
            if theirs == others.runs.count || mine < runs.count && runs[mine].first <= others.runs[theirs].first {
                result.append(run(mine))
                mine += 1
            } else {
                result.append(others.run(theirs))
                theirs += 1
            }
        }
        return result
    }
}

extension RowKeys: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    /// The key at a position.
    ///
    /// - Complexity: O(log *r*) for *r* runs.
    package subscript(position: Int) -> Int64 {
        let run = runs[runs.partitioningIndex { $0.start > position } - 1]
        return run.first + Int64(position - run.start)
    }

    /// Goes through the keys.
    package struct Iterator: IteratorProtocol {
        fileprivate let keys: RowKeys
        fileprivate var run = 0
        fileprivate var range: Range<Int64> = 0..<0

        package mutating func next() -> Int64? {
            if range.isEmpty {
                guard run < keys.runs.count else { return nil }
                range = keys.run(run)
                run += 1
            }
            defer { range = range.lowerBound + 1..<range.upperBound }
            return range.lowerBound
        }
    }

    package func makeIterator() -> Iterator { Iterator(keys: self) }
}

extension RowKeys: ExpressibleByArrayLiteral {
    package init(arrayLiteral keys: Int64...) { self.init(keys) }
}
