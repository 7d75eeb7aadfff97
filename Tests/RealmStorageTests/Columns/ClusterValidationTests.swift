import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct ClusterValidationTests {
    private struct Runs {
        var node: [UInt8] = []
        var inner: [UInt8] = []
        var columns: [[UInt8]] = []
    }

    /// The runs of a table of two clusters: a node, an inner node, columns.
    private func makeRuns() throws -> (fixture: TableFixture, snapshot: Snapshot, runs: Runs) {
        let fixture = try TableFixture(columns: everyLayout)
        var random = SplitMix64(seed: 1)
        let snapshot = try fixture.write { writer in
            for _ in 0..<1300 {
                let key = try writer.append()
                for column in everyLayout.indices {
                    let cell = Cell.random(of: everyLayout[column], longest: 1100, using: &random)
                    try writer.set(cell, key: key, column: column)
                }
            }
        }
        var runs = Runs()
        try fixture.tree.forEachPage(in: snapshot.view) { (reference) throws(StorageError) in
            let page = try snapshot.view.pointer(to: reference)
            let bytes = Array(UnsafeRawBufferPointer(start: page, count: Int(reference.pageCount) * pageByteCount))
            switch PageKind(rawValue: bytes[PageHeader.kindOffset]) {
            case .clusterNode: runs.node = bytes
            case .clusterInner: runs.inner = bytes
            case .column: runs.columns.append(bytes)
            default: break
            }
        }
        return (fixture, snapshot, runs)
    }

    @Test func `what the encoder wrote is valid`() throws {
        let (_, _, runs) = try makeRuns()
        #expect(runs.node.withUnsafeBytes { ClusterValidation.validateNode($0) } == nil)
        #expect(runs.inner.withUnsafeBytes { InnerView.validate($0) } == nil)
        #expect(runs.columns.count > 4)
        for column in runs.columns { #expect(column.withUnsafeBytes { ClusterValidation.validateColumn($0) } == nil) }
    }

    @Test func `the column that is malformed is named, wherever it stands`() throws {
        let (_, _, runs) = try makeRuns()
        var locations: Set<UInt64> = []
        for column in everyLayout.indices {
            let place = ClusterFormat.descriptorsOffset + (column + 1) * ClusterFormat.descriptorByteCount
            var node = runs.node
            locations.insert(node.withUnsafeBytes { ColumnShape(descriptor: $0.baseAddress! + place).location })
            // Of no kind that there is, at the same place.
            node[place + 1] = 0xFF
            let problem = node.withUnsafeBytes { ClusterValidation.validateNode($0) }
            #expect(problem?.hasPrefix("column \(column) ") == true, "\(problem ?? "none")")
        }
        #expect(locations.isSuperset(of: [ClusterFormat.locationInline, ClusterFormat.locationExternal]))
    }

    /// Reads everything that a column offers: what the validator lets pass must not lead outside of the run.
    private func readAll(_ column: ColumnView, within run: UnsafeRawBufferPointer) {
        let start = run.baseAddress!
        func expectInside(_ pointer: UnsafeRawPointer?, _ count: Int) {
            guard let pointer, count > 0, !column.isAbsent else { return }
            if pointer < start || pointer + count > start + run.count { Issue.record("a read leaves the run") }
        }
        for row in 0..<column.count {
            _ = column.isNull(row)
            expectInside(column.data + row * column.width, column.width)
            if column.kind == .fixed12 || column.kind == .fixed16 { expectInside(column.fixed(row), 16) }
            if column.kind == .bytes {
                if column.isOverflow(row) {
                    expectInside(column.storedBytes(row).baseAddress, 16)
                } else if let value = try? column.bytes(row) {
                    expectInside(value.baseAddress, value.count)
                }
            }
        }
        if let nulls = column.nulls { expectInside(nulls, column.bitmapWordCount * 8) }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `no edit of a page that passes validation makes a read leave it`(seed: UInt64) throws {
        let (_, snapshot, runs) = try makeRuns()
        var random = SplitMix64(seed: seed)
        var rejected = 0
        for run in [runs.node] + runs.columns {
            let isNode = run == runs.node
            let headerEnd = isNode ? 64 + 40 * (everyLayout.count + 1) : 64
            for _ in 0..<40 {
                var bytes = run
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    // Mostly the headers and the start offsets after them.
                    let end = Bool.random(using: &random) ? headerEnd : min(run.count, headerEnd + 4200)
                    bytes[Int.random(in: 32..<end, using: &random)] = [0, 1, 2, 3, 0x7F, 0xFF]
                        .randomElement(using: &random)!
                }
                bytes.withUnsafeBytes { bytes in
                    let problem =
                        isNode ? ClusterValidation.validateNode(bytes) : ClusterValidation.validateColumn(bytes)
                    guard problem == nil else {
                        rejected += 1
                        return
                    }
                    let base = bytes.baseAddress!
                    if isNode {
                        let leaf = LeafView(base: base, view: snapshot.view)
                        for row in 0..<leaf.rowCount { _ = leaf.key(at: row) }
                        _ = leaf.row(of: 17)
                        for index in 0..<leaf.columnCount where leaf.externalReference(index) == nil {
                            if let column = try? leaf.column(index) { readAll(column, within: bytes) }
                        }
                    } else {
                        // As a leaf would see it: the descriptor is the run's own first word.
                        readAll(Self.column(of: base, view: snapshot.view), within: bytes)
                    }
                }
            }
        }
        #expect(rejected > 40)
    }

    /// What `LeafView.column` makes of a run.
    private static func column(of run: UnsafeRawPointer, view: PageView) -> ColumnView {
        let shape = ColumnShape(run: run)
        let rows = Int(run.loadUnaligned(fromByteOffset: ClusterFormat.runRowCountOffset, as: UInt32.self))
        var data = run + ClusterFormat.runDataOffset
        var nulls: UnsafePointer<UInt8>?
        if shape.hasNulls {
            nulls = data.assumingMemoryBound(to: UInt8.self)
            data += ClusterFormat.bitmapByteCount(rows: rows)
        }
        return ColumnView(
            kind: shape.kind!,
            width: shape.width,
            count: rows,
            isAbsent: false,
            nulls: nulls,
            data: data,
            minimum: 0,
            maximum: shape.maximum,
            heap: data + (shape.width == 0 ? 0 : (rows + 1) * shape.width),
            view: view
        )
    }

    @Test func `inner nodes with broken order, counts or children are refused`() throws {
        let (_, _, runs) = try makeRuns()
        func problem(_ edit: (inout [UInt8]) -> Void) -> String? {
            var bytes = runs.inner
            edit(&bytes)
            return bytes.withUnsafeBytes { InnerView.validate($0) }
        }
        #expect(problem { _ in } == nil)
        #expect(problem { $0[PageHeader.levelOffset] = 0 } != nil)
        #expect(problem { $0[PageHeader.levelOffset] = 16 } != nil)
        #expect(problem { $0[PageHeader.entryCountOffset] = 0 } != nil)
        #expect(problem { $0[PageHeader.entryCountOffset] = 128 } != nil)
        #expect(problem { $0[PageHeader.entryCountOffset] = 3 } != nil)
        #expect(problem { $0[32 + 15] = 0x80 } != nil)
        #expect(
            problem {
                $0[1048 + 8] = 0
                $0[1048 + 9] = 0
            } != nil
        )
        #expect(problem { bytes in for index in 0..<4 { bytes[2064 + index] = 0 } } != nil)
    }

    @Test func `a column run of another cluster is noticed`() throws {
        let (fixture, snapshot, _) = try makeRuns()
        let first = try #require(try fixture.tree.position(at: 0, in: snapshot.view)).leaf
        let column = try #require(everyLayout.indices.first { first.externalReference($0) != nil })
        let other = try #require(everyLayout.indices.last { first.externalReference($0) != nil })
        let size = 64 + 40 * (everyLayout.count + 1)
        let copy = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        defer { copy.deallocate() }
        copy.copyMemory(from: first.base, byteCount: size)
        first.externalReference(other)!.store(to: copy + 64 + 40 * (column + 1) + 8)
        let forged = LeafView(base: copy, view: snapshot.view)
        #expect(throws: StorageError.self) { try forged.column(column) }
        // Neither may a column run stand for a node.
        var tree = fixture.tree
        tree.root = first.externalReference(column)!
        #expect(throws: StorageError.self) { try tree.leaf(containing: 0, in: snapshot.view) }
    }

    @Test func `verification notices a wrong row count and a wrong schema`() throws {
        let (fixture, snapshot, _) = try makeRuns()
        var tree = fixture.tree
        try tree.verify(columns: everyLayout, in: snapshot.view)
        tree.rowCount += 1
        #expect(throws: StorageError.self) { try tree.verify(columns: everyLayout, in: snapshot.view) }
        #expect(throws: StorageError.self) {
            try fixture.tree.verify(columns: everyLayout.reversed(), in: snapshot.view)
        }
    }
}

@Suite struct ClusterFormatTests {
    @Test func `the documented offsets are those in the code`() {
        #expect(ClusterFormat.rowCountOffset == 32)
        #expect(ClusterFormat.columnCountOffset == 36)
        #expect(ClusterFormat.firstKeyOffset == 40)
        #expect(ClusterFormat.lastKeyOffset == 48)
        #expect(ClusterFormat.descriptorsOffset == 64)
        #expect(ClusterFormat.descriptorByteCount == 40)
        #expect(ClusterFormat.descriptorMinimumOffset == 24)
        #expect(ClusterFormat.descriptorMaximumOffset == 32)
        #expect(ClusterFormat.runWordOffset == 32)
        #expect(ClusterFormat.runRowCountOffset == 40)
        #expect(ClusterFormat.runMinimumOffset == 48)
        #expect(ClusterFormat.runMaximumOffset == 56)
        #expect(ClusterFormat.runDataOffset == 64)
        #expect(ClusterFormat.innerKeysOffset == 32)
        #expect(ClusterFormat.innerEndsOffset == 1048)
        #expect(ClusterFormat.innerReferencesOffset == 2064)
        #expect(ClusterFormat.innerReferencesOffset + ClusterFormat.innerCapacity * 16 == pageByteCount)
        #expect(ClusterFormat.runDataOffset + ClusterFormat.bitmapByteCount(rows: 1000) + 8000 == 2 * pageByteCount)
        #expect(ColumnKind.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
        #expect(
            [PageKind.clusterNode, .clusterInner, .column].map(\.rawValue) == [4, 5, 6]
        )
    }
}
