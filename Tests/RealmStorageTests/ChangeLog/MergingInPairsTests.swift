import RealmStorage
import Testing

@Suite("Merging in pairs")
struct MergingInPairsTests {
    /// The numbers of elements that were merged, in order, and how many merges each of them took part in.
    private typealias Merged = [(number: Int, merges: Int)]

    @Test("keeps the order, and has no element take part in more merges than the number of elements has binary digits")
    func merges() {
        let none = [Merged]().mergedInPairs { $0 += $1 }
        #expect(none == nil)
        for count in [1, 2, 3, 4, 5, 7, 8, 9, 100, 1_000] {
            let elements: [Merged] = (0..<count).map { [(number: $0, merges: 0)] }
            let merged = elements.mergedInPairs { first, second in
                first = (first + second).map { (number: $0.number, merges: $0.merges + 1) }
            }
            #expect(merged?.map { $0.number } == Array(0..<count))
            let digits = Int.bitWidth - (count - 1).leadingZeroBitCount
            #expect(merged?.allSatisfy { $0.merges <= digits } == true, "\(count)")
        }
    }
}
