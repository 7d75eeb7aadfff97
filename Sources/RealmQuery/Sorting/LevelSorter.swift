/// Sorts row numbers by levels: the whole by the first level, then each run of equals by the next.
///
/// Words are sorted by radix, only by the bytes in which they differ; the order is stable.
struct LevelSorter {
    private struct Element {
        var word: UInt64
        var row: Int
    }

    private let levels: [SortLevel]
    private var elements: [Element]
    private var scratch: [Element] = []

    /// The rows `0..<count` in order.
    static func order(count: Int, by levels: [SortLevel]) -> [Int] {
        var sorter = LevelSorter(levels: levels, count: count)
        sorter.sort(0..<count, level: 0)
        return sorter.elements.map(\.row)
    }

    private init(levels: [SortLevel], count: Int) {
        self.levels = levels
        elements = (0..<count).map { Element(word: 0, row: $0) }
    }

    /// Sorts a run; recursion is as deep as there are levels.
    private mutating func sort(_ range: Range<Int>, level: Int) {
        guard range.count > 1, level < levels.count else { return }
        switch levels[level] {
        case .words(let words):
            elements.withUnsafeMutableBufferPointer { elements in
                words.withUnsafeBufferPointer { words in
                    for index in range { elements[index].word = words[elements[index].row] }
                }
            }
            if range.count <= 128 {
                elements[range].sort { ($0.word, $0.row) < ($1.word, $1.row) }
            } else {
                radixSort(range)
            }
            guard level + 1 < levels.count else { return }
            var start = range.lowerBound
            while start < range.upperBound {
                var end = start + 1
                while end < range.upperBound, elements[end].word == elements[start].word { end += 1 }
                // The next level takes the words of this run for itself, those of later runs are still this level's.
                sort(start..<end, level: level + 1)
                start = end
            }
        case .bytes(let bytes, let ascending):
            elements[range]
                .sort { first, second in
                    let order = BytesSetTest.order(bytes[first.row], bytes[second.row])
                    if order == 0 { return first.row < second.row }
                    return (order < 0) == ascending
                }
            guard level + 1 < levels.count else { return }
            var start = range.lowerBound
            while start < range.upperBound {
                let value = bytes[elements[start].row]
                var end = start + 1
                while end < range.upperBound, BytesSetTest.order(bytes[elements[end].row], value) == 0 { end += 1 }
                sort(start..<end, level: level + 1)
                start = end
            }
        }
    }

    /// A stable radix sort, from the lowest byte that differs to the highest.
    private mutating func radixSort(_ range: Range<Int>) {
        if scratch.count < range.count {
            scratch = Array(repeating: Element(word: 0, row: 0), count: range.count)
        }
        elements.withUnsafeMutableBufferPointer { elements in
            scratch.withUnsafeMutableBufferPointer { scratch in
                var source = UnsafeMutableBufferPointer(rebasing: elements[range])
                let home = source.baseAddress
                var target = UnsafeMutableBufferPointer(rebasing: scratch[0..<range.count])
                var difference: UInt64 = 0
                var isSorted = true
                for index in 1..<source.count {
                    difference |= source[index].word ^ source[0].word
                    if source[index].word < source[index - 1].word { isSorted = false }
                }
                if isSorted { return }
                // Wider digits need fewer passes, but only pay for themselves on many elements.
                let digitBits: UInt64 = range.count > 4_096 ? 11 : 8
                let digitCount = 1 << Int(digitBits)
                let mask = UInt64(digitCount - 1)
                withUnsafeTemporaryAllocation(of: Int.self, capacity: digitCount) { counts in
                    var shift: UInt64 = 0
                    while shift < 64 {
                        defer { shift += digitBits }
                        if difference &>> shift & mask == 0 { continue }
                        counts.initialize(repeating: 0)
                        for element in source { counts[Int(element.word &>> shift & mask)] &+= 1 }
                        var sum = 0
                        for digit in 0..<digitCount {
                            let count = counts[digit]
                            counts[digit] = sum
                            sum &+= count
                        }
                        for element in source {
                            let digit = Int(element.word &>> shift & mask)
                            target[counts[digit]] = element
                            counts[digit] &+= 1
                        }
                        swap(&source, &target)
                    }
                }
                if source.baseAddress != home { _ = target.update(fromContentsOf: source) }
            }
        }
    }
}
