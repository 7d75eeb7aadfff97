import RealmTestSupport
import Testing

@testable import RealmStorage

extension WriteTransaction {
    /// A cluster of rows with keys that ascend.
    fileprivate func forgeCluster(_ keys: some Sequence<Int64>) throws -> PageReference {
        let writer = ClusterWriter(
            tree: ClusterTree(),
            columns: HostileClusterTests.columns,
            transaction: self
        )
        for key in keys { try writer.append(key: key) }
        return try writer.seal().root
    }

    /// An inner node that says of its children what it likes.
    fileprivate func forgeNode(
        level: Int,
        _ children: [(key: Int64, end: Int, child: PageReference)]
    ) throws -> PageReference {
        let page = try allocate(pageCount: 1, kind: .clusterInner, level: level)
        page.entryCount = children.count
        for (index, entry) in children.enumerated() {
            page.bytes.storeLittle(entry.key, at: ClusterFormat.innerKeysOffset + 8 * index)
            page.bytes.storeLittle(Int64(entry.end), at: ClusterFormat.innerEndsOffset + 8 * index)
            entry.child.store(to: page.bytes + ClusterFormat.innerReferencesOffset + PageReference.byteCount * index)
        }
        return seal(page.reference)
    }
}

/// Tables whose pages are right one by one and do not fit each other: whoever writes gets an error.
@Suite struct HostileClusterTests {
    fileprivate static let columns = [ColumnLayout(kind: .int), ColumnLayout(kind: .bytes, isNullable: true)]

    /// Whether a change of a table that a stranger made is refused as damage.
    private func refuses(
        rowCount: Int,
        nextKey: Int64,
        _ root: (WriteTransaction) throws -> PageReference,
        _ change: (ClusterWriter) throws -> Void
    ) throws -> Bool {
        let fixture = try TableFixture(columns: Self.columns)
        let forging = try fixture.file.beginWrite()
        let tree = ClusterTree(root: try root(forging), rowCount: rowCount, nextKey: nextKey)
        try fixture.file.publish([try forging.prepareCommit()])
        let transaction = try fixture.file.beginWrite()
        defer { transaction.rollback() }
        let writer = ClusterWriter(tree: tree, columns: Self.columns, transaction: transaction)
        do {
            try change(writer)
            _ = try writer.seal()
            return false
        } catch let error as StorageError {
            return error.code == .corrupt
        }
    }

    // MARK: Row counts

    @Test func `clusters that have more rows than their parent counts are not joined`() throws {
        let isRefused = try refuses(rowCount: 2, nextKey: 2_000) { transaction in
            let (first, second) = try (
                transaction.forgeCluster(0..<1_000), transaction.forgeCluster(1_000..<2_000)
            )
            return try transaction.forgeNode(level: 1, [(0, 1, first), (1_000, 2, second)])
        } _: { writer in
            try writer.setInt(1, key: 0, column: 0)
            try writer.setInt(1, key: 1_000, column: 0)
        }
        #expect(isRefused)
    }

    @Test func `a table of one cluster that counts other rows is not written to`() throws {
        let isRefused = try refuses(rowCount: 5, nextKey: 10) {
            try $0.forgeCluster(0..<10)
        } _: {
            _ = try $0.delete(key: 3)
        }
        #expect(isRefused)
    }

    @Test func `an inner node that counts other rows than its parent is not written to`() throws {
        let isRefused = try refuses(rowCount: 7, nextKey: 20) { transaction in
            let leaves = try (transaction.forgeCluster(0..<10), transaction.forgeCluster(10..<20))
            let node = try transaction.forgeNode(level: 1, [(0, 10, leaves.0), (10, 20, leaves.1)])
            return try transaction.forgeNode(level: 2, [(0, 7, node)])
        } _: {
            try $0.setInt(1, key: 15, column: 0)
        }
        #expect(isRefused)
    }

    @Test func `no cluster takes more rows than its bitmaps have bits`() throws {
        let fixture = try TableFixture(columns: Self.columns)
        let transaction = try fixture.file.beginWrite()
        defer { transaction.rollback() }
        let memory = OpenMemory()
        let clusters = try [0, 600]
            .map { (first: Int64) in
                let cluster = OpenCluster(
                    layouts: Self.columns,
                    firstKey: first,
                    rowCapacity: 64,
                    memory: memory,
                    view: transaction.view
                )
                for key in first..<first + 600 { try cluster.append(key: key) }
                return cluster
            }
        let failure = #expect(throws: StorageError.self) { try clusters[0].appendRows(of: clusters[1]) }
        #expect(failure?.code == .corrupt)
    }

    // MARK: Keys

    @Test func `a cluster with keys of the one behind it is not written to`() throws {
        let isRefused = try refuses(rowCount: 4, nextKey: 20) { transaction in
            let leaves = try (transaction.forgeCluster([0, 10]), transaction.forgeCluster([5, 6]))
            return try transaction.forgeNode(level: 1, [(0, 2, leaves.0), (5, 4, leaves.1)])
        } _: {
            try $0.setInt(1, key: 0, column: 0)
        }
        #expect(isRefused)
    }

    @Test func `an inner node with keys of the one behind it is not written to`() throws {
        let isRefused = try refuses(rowCount: 3, nextKey: 20) { transaction in
            let leaves = try (
                transaction.forgeCluster([0]), transaction.forgeCluster([10]), transaction.forgeCluster([5])
            )
            let nodes = try (
                transaction.forgeNode(level: 1, [(0, 1, leaves.0), (10, 2, leaves.1)]),
                transaction.forgeNode(level: 1, [(5, 1, leaves.2)])
            )
            return try transaction.forgeNode(level: 2, [(0, 2, nodes.0), (5, 3, nodes.1)])
        } _: {
            try $0.setInt(1, key: 0, column: 0)
        }
        #expect(isRefused)
    }

    @Test(arguments: [0, 5, 9] as [Int64])
    func `a next key that is in use is not given out`(nextKey: Int64) throws {
        let isRefused = try refuses(rowCount: 10, nextKey: nextKey) {
            try $0.forgeCluster(0..<10)
        } _: {
            _ = try $0.append()
        }
        #expect(isRefused)
    }

    @Test func `a next key that is in use in a full cluster, or below nodes, is not given out`() throws {
        var isRefused = try refuses(rowCount: 1_000, nextKey: 999) {
            try $0.forgeCluster(0..<1_000)
        } _: {
            _ = try $0.append()
        }
        #expect(isRefused)
        isRefused = try refuses(rowCount: 4, nextKey: 11) { transaction in
            let leaves = try (transaction.forgeCluster([0, 1]), transaction.forgeCluster([10, 11]))
            return try transaction.forgeNode(level: 1, [(0, 2, leaves.0), (10, 4, leaves.1)])
        } _: {
            _ = try $0.append()
        }
        #expect(isRefused)
    }

    @Test func `a negative key is not given out`() throws {
        let isRefused = try refuses(rowCount: 0, nextKey: -3) { _ in
            .none
        } _: {
            _ = try $0.append()
        }
        #expect(isRefused)
    }

    @Test func `rows go behind a last cluster that begins where its parent says only`() throws {
        let isRefused = try refuses(rowCount: 4, nextKey: 20) { transaction in
            let leaves = try (transaction.forgeCluster([0, 1]), transaction.forgeCluster([5, 6]))
            return try transaction.forgeNode(level: 1, [(0, 2, leaves.0), (10, 4, leaves.1)])
        } _: {
            _ = try $0.append()
        }
        #expect(isRefused)
    }

    @Test func `a first row that was deleted is found under no key`() throws {
        let fixture = try TableFixture(columns: Self.columns)
        try fixture.write { writer in for _ in 0..<10 { _ = try writer.append() } }
        try fixture.write { writer in
            _ = try writer.delete(key: 0)
            let found = try (writer.leaf(containing: .min), writer.leaf(containing: 0))
            #expect(found.0 == nil && found.1 == nil)
            let isDeleted = try writer.delete(key: .min)
            #expect(!isDeleted)
        }
        #expect(fixture.tree.rowCount == 9)
    }

    // MARK: Nulls

    /// A null with a run of its own would be written as the mark of such a run and no reference.
    ///
    /// What stands there instead would be taken for one.
    @Test func `a null that leads to a run is refused`() throws {
        let store = try TreeFile()
        let columns = [ColumnLayout(kind: .bytes, isNullable: true)]
        var trees: [ClusterTree] = []
        for isForged in [false, true] {
            try store.write { transaction in
                let writer = ClusterWriter(tree: ClusterTree(), columns: columns, transaction: transaction)
                for row in 0..<4 as Range<UInt8> {
                    let key = try writer.append()
                    if row == 3 { continue }
                    try [UInt8](repeating: row, count: 3_000)
                        .withUnsafeBytes { try writer.setBytes($0, key: key, column: 0) }
                }
                var tree = try writer.seal()
                let page = try transaction.writable(tree.root)
                let descriptor = page.bytes + ClusterFormat.descriptorsOffset + ClusterFormat.descriptorByteCount
                let place = UnsafeRawPointer(descriptor).little(UInt32.self, at: ClusterFormat.descriptorPlaceOffset)
                let nulls = page.bytes + Int(place)
                try #require(nulls.load(as: UInt8.self) == 0b1000)
                if isForged { nulls.storeBytes(of: 0b1010, as: UInt8.self) }
                tree.root = transaction.seal(page.reference)
                trees.append(tree)
            }
        }
        let view = try store.reopen().view
        #expect(try trees[0].leaf(containing: 1, in: view)?.row == 1)
        let error = #expect(throws: StorageError.self) { try trees[1].leaf(containing: 1, in: view) }
        #expect(error?.code == .corrupt)
    }

    // MARK: Pages

    /// The problem of a node of so many rows and columns that was edited.
    private func problem(_ edit: (UnsafeMutableRawPointer) -> Void) throws -> String? {
        let fixture = try TableFixture(columns: [ColumnLayout(kind: .int), ColumnLayout(kind: .int)])
        let snapshot = try fixture.write { writer in
            for number in 0..<100 as Range<Int64> {
                let key = try writer.append()
                for column in 0..<2 { try writer.setInt(number, key: key, column: column) }
            }
        }
        let byteCount = Int(fixture.tree.root.pageCount) * pageByteCount
        let page = try snapshot.view.pointer(to: fixture.tree.root)
        var bytes = [UInt8](UnsafeRawBufferPointer(start: page, count: byteCount))
        bytes.withUnsafeMutableBytes { edit($0.baseAddress!) }
        return bytes.withUnsafeBytes { ClusterValidation.validateNode($0) }
    }

    @Test func `columns that share bytes are refused`() throws {
        let place = { (column: Int) in
            ClusterFormat.descriptorsOffset + (column + 1) * ClusterFormat.descriptorByteCount
                + ClusterFormat.descriptorPlaceOffset
        }
        let none = try problem { _ in }
        #expect(none == nil)
        let first = try problem { $0.storeLittle(UnsafeRawPointer($0).little(UInt32.self, at: place(0)), at: place(1)) }
        #expect(first == "column 1 overlaps the one before")
        let half = try problem {
            $0.storeLittle(UnsafeRawPointer($0).little(UInt32.self, at: place(1)) - 8, at: place(1))
        }
        #expect(half == "column 1 overlaps the one before")
    }

    @Test func `row keys below zero are refused`() throws {
        let found = try problem {
            $0.storeLittle(Int64(-1), at: ClusterFormat.firstKeyOffset)
            $0.storeLittle(Int64(98), at: ClusterFormat.lastKeyOffset)
        }
        #expect(found == "a cluster's first or last key is wrong")
    }

    @Test(arguments: [2, 4])
    func `values too long to stand among the short ones are refused`(width: Int) {
        func found(_ byteCount: Int) -> String? {
            var run = [UInt8](repeating: 0, count: pageByteCount)
            run.withUnsafeMutableBytes { buffer in
                let base = buffer.baseAddress!
                let length = UInt64(3 * width + byteCount)
                let word = UInt64(ColumnKind.bytes.rawValue) << 8 | UInt64(width) << 16 | length << 32
                base.storeLittle(ClusterFormat.locationExternal | word, at: ClusterFormat.runWordOffset)
                base.storeLittle(UInt32(2), at: ClusterFormat.runRowCountOffset)
                for row in 1...2 {
                    let place = ClusterFormat.runDataOffset + row * width
                    if width == 2 {
                        base.storeLittle(UInt16(byteCount), at: place)
                    } else {
                        base.storeLittle(UInt32(byteCount), at: place)
                    }
                }
            }
            return run.withUnsafeBytes { ClusterValidation.validateColumn($0) }
        }
        #expect(found(1_024) == nil)
        #expect(found(1_025) == "a column run has a value of 1025 bytes among the short ones")
    }
}
