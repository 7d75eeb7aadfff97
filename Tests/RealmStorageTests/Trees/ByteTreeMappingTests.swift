import RealmTestSupport
import Testing

@testable import RealmStorage

/// Walks that stop and go on, with writers in between.
@Suite("Mapping a byte tree in steps")
struct ByteTreeMappingTests {
    /// Takes so many pages of values at most, and leaves everything where it is.
    private struct BudgetMapper: RunMapper {
        let view: PageView
        var pagesLeft: Int
        var isCutShort = false
        var isExhausted: Bool { pagesLeft <= 0 }
        var taken: [PageNumber] = []

        mutating func beginWalk() {}
        mutating func enter(_ reference: PageReference) {}

        mutating func mapped(
            _ reference: PageReference,
            _ changes: [(offset: Int, reference: PageReference)]
        ) -> PageReference {
            let count = Int(reference.pageCount)
            if count == 1 { return reference }
            if count > pagesLeft {
                isCutShort = true
            } else {
                pagesLeft -= count
                taken.append(reference.page)
            }
            return reference
        }
    }

    private static let value = [UInt8](repeating: 7, count: 9_000)

    private func step(_ tree: inout ByteTree, from key: [UInt8]?, in transaction: WriteTransaction) throws -> [UInt8]? {
        try tree.seal(in: transaction)
        var mapper = BudgetMapper(view: transaction.view, pagesLeft: 8)
        return try tree.map(from: key, through: &mapper)
    }

    @Test("A walk that stopped in a leaf goes on at its key when that leaf has been joined with the one before")
    func joinedLeaves() throws {
        let store = try TreeFile()
        _ = try store.write { transaction in
            var tree = ByteTree()
            for index in 0..<400 as Range<UInt64> {
                try tree.set(index.key, Self.value, in: transaction)
            }
            var key = try step(&tree, from: UInt64(399).key, in: transaction)
            let stopped = try #require(key)
            // Nearly everything before and behind it goes, so that few leaves are left.
            for index in 0..<400 as Range<UInt64> where index % 40 != 0 && index.key != stopped {
                try tree.remove(index.key, in: transaction)
            }
            key = try step(&tree, from: stopped, in: transaction)
            if let key { #expect(!key.lexicographicallyPrecedes(stopped), "a walk that goes back is never done") }
            try tree.removeAll(in: transaction)
        }
    }

    @Test(
        "A walk never goes back, whatever is removed and inserted between its steps",
        arguments: [1, 2, 3, 4] as [UInt64]
    )
    func randomSteps(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let store = try TreeFile()
        _ = try store.write { transaction in
            var tree = ByteTree()
            var keys = Set<UInt64>()
            for _ in 0..<300 {
                let key = UInt64.random(in: 0..<10_000, using: &random)
                keys.insert(key)
                try tree.set(key.key, Self.value, in: transaction)
            }
            var position: [UInt8]?
            for _ in 0..<120 {
                for key in keys.sorted() where Int.random(in: 0..<12, using: &random) == 0 {
                    keys.remove(key)
                    try tree.remove(key.key, in: transaction)
                }
                for _ in 0..<10 {
                    let key = UInt64.random(in: 0..<10_000, using: &random)
                    keys.insert(key)
                    try tree.set(key.key, Self.value, in: transaction)
                }
                let next = try step(&tree, from: position, in: transaction)
                if let position, let next {
                    #expect(!next.lexicographicallyPrecedes(position), "seed \(seed)")
                }
                position = next
            }
            try tree.removeAll(in: transaction)
        }
    }
}
