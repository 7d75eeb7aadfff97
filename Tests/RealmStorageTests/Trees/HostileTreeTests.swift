import RealmTestSupport
import Testing

@testable import RealmStorage

/// Trees whose pages are right one by one and do not fit each other: whoever writes gets an error, and writes no page that the
/// next process would refuse.
@Suite struct HostileTreeTests {
    /// Commits a forged tree as the catalog, as a file that a stranger made.
    private func file(_ root: (WriteTransaction) throws -> PageReference) throws -> TreeFile {
        let store = try TreeFile()
        try store.write { $0.catalog = ByteTree(root: try root($0)) }
        _ = try store.reopen()
        return store
    }

    /// Whether a change of the catalog is refused as damage.
    private func refuses(_ store: TreeFile, _ change: (inout ByteTree, WriteTransaction) throws -> Void) throws -> Bool
    {
        let transaction = try store.file.beginWrite()
        defer { transaction.rollback() }
        do {
            try change(&transaction.catalog, transaction)
            return false
        } catch let error as StorageError {
            return error.code == .corrupt && error.page != nil
        }
    }

    private func word(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

    // MARK: Order

    @Test func `leaves whose keys cross are not merged`() throws {
        // Written together, "x" would lose the two bytes that the first and the last key share.
        let store = try file { transaction in
            try transaction.forgeInner(
                level: 1,
                [
                    ("", transaction.forgeLeaf("ab", "ac", "x"), 3),
                    ("m", transaction.forgeLeaf("ab1"), 1),
                ]
            )
        }
        #expect(try refuses(store) { try $0.remove(word("ac"), in: $1) })
    }

    @Test(arguments: [("x", "n"), ("c", "m"), ("m", "n"), ("c", "a")])
    func `inner pages whose separators cross are not merged`(last: String, first: String) throws {
        let store = try file { transaction in
            let left = try transaction.forgeInner(
                level: 1,
                [
                    ("", transaction.forgeLeaf("a"), 1), ("b", transaction.forgeLeaf("b"), 1),
                    (last, transaction.forgeLeaf("z"), 1),
                ]
            )
            let right = try transaction.forgeInner(
                level: 1,
                [("", transaction.forgeLeaf("m"), 1), (first, transaction.forgeLeaf("n"), 1)]
            )
            return try transaction.forgeInner(level: 2, [("", left, 3), ("m", right, 2)])
        }
        #expect(try refuses(store) { try $0.remove(word("b"), in: $1) })
    }

    @Test(arguments: ["b", "p0", "p1"])
    func `a separator that does not lie between its neighbours is refused`(next: String) throws {
        // The keys of the first child lie behind the separator of the second one.
        let store = try file { transaction in
            let keys = (0..<8).map { "p\($0)" }.map { [UInt8]($0.utf8) }
            return try transaction.forgeInner(
                level: 1,
                [
                    ("", transaction.forgeLeaf(keys, valueByteCount: 480), 8),
                    (next, transaction.forgeLeaf("z"), 1),
                ]
            )
        }
        #expect(try refuses(store) { try $0.set(word("a"), [UInt8](repeating: 1, count: 480), in: $1) })
    }

    // MARK: Counts

    @Test(arguments: [0, 0xFFFF_FFFF_FFFF] as [UInt64])
    func `a count that would leave its range is refused`(count: UInt64) throws {
        let store = try file { transaction in
            let keys = (0..<6).map { "a\($0)" }.map { [UInt8]($0.utf8) }
            return try transaction.forgeInner(
                level: 1,
                [
                    ("", transaction.forgeLeaf(keys, valueByteCount: 480), count),
                    ("b", transaction.forgeLeaf(["c", "d"].map(word), valueByteCount: 480), 2),
                ]
            )
        }
        #expect(
            try refuses(store) { tree, transaction in
                if count == 0 {
                    try tree.remove(word("a3"), in: transaction)
                } else {
                    try tree.set(word("a33"), [1], in: transaction)
                }
            }
        )
    }

    @Test func `counts that are too many together are refused`() throws {
        let most: UInt64 = 0xFFFF_FFFF_FFFF
        let store = try file { transaction in
            let left = try transaction.forgeInner(
                level: 1,
                [
                    ("", transaction.forgeLeaf("a"), most), ("b", transaction.forgeLeaf("b"), 1),
                    ("c", transaction.forgeLeaf("c"), most),
                ]
            )
            let right = try transaction.forgeInner(
                level: 1,
                [("", transaction.forgeLeaf("m"), 1), ("n", transaction.forgeLeaf("n"), 1)]
            )
            let last = try transaction.forgeInner(level: 1, [("", transaction.forgeLeaf("z"), 1)])
            return try transaction.forgeInner(level: 2, [("", left, 3), ("m", right, 2), ("y", last, 1)])
        }
        #expect(try refuses(store) { try $0.remove(word("b"), in: $1) })
    }

    // MARK: Roots

    @Test func `a sequence that leads to a page that is being written is not moved`() throws {
        let store = try TreeFile()
        let transaction = try store.file.beginWrite()
        defer { transaction.rollback() }
        var tree = SequenceTree()
        try tree.insert([1], 0, in: transaction)
        var relocation = Relocation(below: 4, in: transaction, pageBudget: 10)
        let failure = #expect(throws: StorageError.self) { try tree.map(through: &relocation) }
        #expect(failure?.code == .corrupt)
    }

    /// What refuses it may not be taken for a limit, behind which a commit goes on: the pages below are divided.
    @Test func `a tree that is as high as one can be does not grow, as damage`() throws {
        let store = try TreeFile()
        let transaction = try store.file.beginWrite()
        defer { transaction.rollback() }
        let separator = word("m")
        let left = try transaction.allocate(pageCount: 1, kind: .byteTreeInner, level: KeyedPage.maximumLevel)
        let right = try transaction.allocate(pageCount: 1, kind: .byteTreeInner, level: KeyedPage.maximumLevel)
        let byteTreeFailure = #expect(throws: StorageError.self) {
            try separator.withUnsafeBytes { separator in
                _ = try ByteTree.newRoot(left, separator: KeyBytes(separator), right: right, in: transaction)
            }
        }
        #expect(byteTreeFailure?.code == .corrupt && byteTreeFailure?.page == left.reference.page)

        let level = SequencePage.maximumLevel
        let top = try transaction.allocate(pageCount: 1, kind: .sequenceInner, level: level)
        let beside = try transaction.allocate(pageCount: 1, kind: .sequenceInner, level: level)
        var tree = SequenceTree(root: top.reference)
        let sequenceFailure = #expect(throws: StorageError.self) {
            try tree.grow(leftCount: 1, right: beside.reference, in: transaction)
        }
        #expect(sequenceFailure?.code == .corrupt && sequenceFailure?.page == beside.reference.page)
        #expect(tree.root == top.reference)
    }

    @Test func `trees whose pages fit each other are changed as ever`() throws {
        let store = try file { transaction in
            let left = try transaction.forgeInner(
                level: 1,
                [
                    ("", transaction.forgeLeaf("a"), 1), ("b", transaction.forgeLeaf("b"), 1),
                    ("c", transaction.forgeLeaf("c"), 1),
                ]
            )
            let right = try transaction.forgeInner(
                level: 1,
                [("", transaction.forgeLeaf("m"), 1), ("n", transaction.forgeLeaf("n"), 1)]
            )
            return try transaction.forgeInner(level: 2, [("", left, 3), ("m", right, 2)])
        }
        try store.write { try $0.catalog.remove(word("b"), in: $0) }
        let snapshot = try store.reopen()
        #expect(try snapshot.catalog.entries(in: snapshot.view).map(\.key) == ["a", "c", "m", "n"].map(word))
        try snapshot.catalog.verify(in: snapshot.view)
    }
}
