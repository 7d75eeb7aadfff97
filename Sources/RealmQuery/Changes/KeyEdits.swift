/// Applies deletions and insertions to an array of keys by copying the stretches between them.
enum KeyEdits {
    /// The array without the elements at `deletions` and with the insertions that `insert` finds in what remains.
    static func result(
        of old: [Int64],
        deletions: [Int],
        insert: (_ remaining: [Int64]) -> (indices: [Int], keys: [Int64])
    ) -> [Int64] {
        let remaining = removing(deletions, from: old)
        let (indices, keys) = insert(remaining)
        return inserting(keys, at: indices, into: remaining)
    }

    /// The array without the elements at `indices` (ascending).
    static func removing(_ indices: [Int], from keys: [Int64]) -> [Int64] {
        guard !indices.isEmpty else { return keys }
        var result: [Int64] = []
        result.reserveCapacity(keys.count - indices.count)
        var start = 0
        for index in indices {
            result.append(contentsOf: keys[start..<index])
            start = index + 1
        }
        result.append(contentsOf: keys[start...])
        return result
    }

    /// The array with `added` at `indices` of the result (ascending).
    static func inserting(_ added: [Int64], at indices: [Int], into keys: [Int64]) -> [Int64] {
        guard !indices.isEmpty else { return keys }
        var result: [Int64] = []
        result.reserveCapacity(keys.count + added.count)
        var start = 0
        for (index, key) in zip(indices, added) {
            let end = start + index - result.count
            result.append(contentsOf: keys[start..<end])
            result.append(key)
            start = end
        }
        result.append(contentsOf: keys[start...])
        return result
    }
}
