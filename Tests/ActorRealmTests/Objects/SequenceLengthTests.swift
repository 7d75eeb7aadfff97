import Foundation
import Testing

@testable import ActorRealm

/// How many elements are taken of a sequence; what is refused for it is in `JoinedInputTests`.
@Suite("A limit holds for sequences that make their elements, and for no other", .timeLimit(.minutes(60)))
struct SequenceLengthTests {
    @Test("What holds its elements, or has them once only, is taken with as many as it has")
    func longArrays() {
        let count = ValueReader.elementLimit + 1
        let array = Array(repeating: 1, count: count)
        let pairs: Zip2Sequence<ClosedRange<Int>, [Int]> = zip(0...Int.max, array)
        var left = count
        let values: [any Sequence] = [
            ContiguousArray(array), array[...], array.lazy.map { $0 + 1 }, AnyCollection(array), [array].joined(),
            array.reversed(), pairs.lazy.map { $0.1 },
            AnyIterator { () -> Int? in
                left -= 1
                return left < 0 ? nil : left
            },
        ]
        for value in values {
            #expect(ValueReader.elements(of: value)?.count == count, "\(type(of: value))")
        }
    }
}
