/// A set of property ordinals; the first 64 cost no allocation.
package struct ColumnSet: Hashable, Sendable {
    var low: UInt64 = 0
    var high: [UInt64] = []

    package init() {}

    package init(_ column: Int) {
        insert(column)
    }

    package var isEmpty: Bool { low == 0 && high.allSatisfy { $0 == 0 } }

    package mutating func insert(_ column: Int) {
        if column < 64 {
            low |= 1 << UInt64(column)
        } else {
            let word = column / 64 - 1
            while high.count <= word { high.append(0) }
            high[word] |= 1 << UInt64(column % 64)
        }
    }

    package func contains(_ column: Int) -> Bool {
        if column < 64 { return low & (1 << UInt64(column)) != 0 }
        let word = column / 64 - 1
        return word < high.count && high[word] & (1 << UInt64(column % 64)) != 0
    }

    package mutating func formUnion(_ other: ColumnSet) {
        low |= other.low
        while high.count < other.high.count { high.append(0) }
        for (index, word) in other.high.enumerated() { high[index] |= word }
    }

    package func isDisjoint(with other: ColumnSet) -> Bool {
        low & other.low == 0 && zip(high, other.high).allSatisfy { $0 & $1 == 0 }
    }

    /// The ordinals, ascending.
    package var columns: [Int] {
        var result: [Int] = []
        for (index, var word) in ([low] + high).enumerated() {
            while word != 0 {
                result.append(index * 64 + word.trailingZeroBitCount)
                word &= word &- 1
            }
        }
        return result
    }
}
