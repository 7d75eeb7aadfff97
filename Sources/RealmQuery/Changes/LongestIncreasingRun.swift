/// The longest strictly increasing subsequence, by patience sorting.
enum LongestIncreasingRun {
    /// The positions of one longest strictly increasing subsequence of `values`, ascending.
    /// - Complexity: O(*n* log *n*); O(*n*) when `values` ascends already.
    static func positions(in values: [Int]) -> [Int] {
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: values.count)
        for index in values.indices {
            let value = values[index]
            if let last = tails.last, values[last] < value {
                previous[index] = last
                tails.append(index)
                continue
            }
            var low = 0
            var high = tails.count
            while low < high {
                let middle = (low + high) / 2
                if values[tails[middle]] < value { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = tails[low - 1] }
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var result = tails
        var position = tails.last ?? -1
        for slot in tails.indices.reversed() {
            result[slot] = position
            position = previous[position]
        }
        return result
    }
}
