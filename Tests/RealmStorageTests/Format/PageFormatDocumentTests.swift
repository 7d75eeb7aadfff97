import RealmTestSupport
import Testing

@testable import RealmStorage

/// `Docs/FileFormat.md` says what the code does: the tables of references, trees, clusters and columns.
@Suite struct PageFormatDocumentTests {
    private let document: FormatDocument

    init() throws { document = try FormatDocument() }

    /// Requires that a table has rows for these offsets, which begin so, and fields of these sizes.
    private func compare(_ fields: [Int: String], sizes: [Int: String] = [:], with marker: String) throws {
        let rows = try document.rows(behind: marker)
        #expect(rows.map(\.offset) == fields.keys.sorted(), "\(marker)")
        for row in rows {
            let text = fields[row.offset] ?? ""
            #expect(row.text.hasPrefix(text), "\(marker), offset \(row.offset)")
            if let size = sizes[row.offset] { #expect(row.size == size, "\(marker), offset \(row.offset)") }
        }
    }

    private let reference = PageReference(page: 0x0102_0304, pageCount: 0x0506_0708, checksum: 0x090A_0B0C_0D0E_0F10)

    private var storedReference: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: PageReference.byteCount)
        bytes.withUnsafeMutableBytes { reference.store(to: $0.baseAddress!) }
        return bytes
    }

    @Test func `a reference to a run`() throws {
        let differences = try document.differences(
            behind: "A run is pointed to by a *reference*",
            from: storedReference,
            holding: [
                ("first page of the run", FormatDocument.bytes(reference.page)),
                ("number of pages", FormatDocument.bytes(reference.pageCount)),
                ("the seal", FormatDocument.bytes(reference.checksum)),
            ]
        )
        #expect(differences == [])
    }

    // MARK: Trees

    @Test func `pages of byte trees`() throws {
        let (leaf, inner) = (PageKind.byteTreeLeaf.rawValue, PageKind.byteTreeInner.rawValue)
        let kinds =
            "page header: kind \(leaf) (`byteTreeLeaf`, level 0) or \(inner) "
            + "(`byteTreeInner`, level 1 to \(KeyedPage.maximumLevel))"
        try compare(
            [
                0: kinds, KeyedPage.prefixLengthOffset: "prefix length", KeyedPage.heapStartOffset: "heap start",
                KeyedPage.garbageOffset: "garbage", KeyedPage.hintOffset: "insertion hint",
                KeyedPage.prefixOffset: "the prefix",
            ],
            sizes: [0: "\(PageHeader.byteCount)"],
            with: "### Byte tree pages"
        )
        let slots = "| \(KeyedPage.prefixOffset) + `P` | \(KeyedPage.slotByteCount) `n` | slots"
        #expect(document.text.contains(slots))
        let overflow = String(KeyedPage.overflowTag, radix: 16, uppercase: true)
        let limit = ByteTree.maximumInlineValueByteCount
        #expect(document.text.contains("| `k` | 2 | length `v` of the value, at most \(limit), or 0x\(overflow) for"))
        let child = PageReference.byteCount
        #expect(document.text.contains("| `k` | \(child) | `PageReference` of the child |"))
        let rest = KeyedPage.childPayloadByteCount - child
        #expect(document.text.contains("| `k` + \(child) | \(rest) | number of entries in the leaves below the child"))
    }

    @Test func `slots of byte trees`() {
        let key = Array("abcde".utf8)
        let slot = key.withUnsafeBytes { KeyedPage.slot(offset: 0x234, suffix: KeyBytes($0)) }
        let fields: [(first: UInt64, last: UInt64, text: String, value: UInt64)] = [
            (0, 15, "offset of the entry", 0x234), (16, 31, "length `k`", 5), (32, 63, "head", 0x6162_6364),
        ]
        for field in fields {
            #expect(document.text.contains("| \(field.first)...\(field.last) | \(field.text)"))
            let value = (slot << (63 - field.last)) >> (63 - field.last + field.first)
            #expect(value == field.value, "\(field.text)")
        }
    }

    @Test func `overflow runs`() throws {
        try compare(
            [
                0: "page header: kind \(PageKind.overflow.rawValue) (`overflow`), level 0",
                PageHeader.auxiliaryOffset: "number of bytes", PageHeader.byteCount: "the bytes",
            ],
            with: "### Overflow runs (kind \(PageKind.overflow.rawValue))"
        )
    }

    @Test func `pages of sequences`() throws {
        let leaf = PageKind.sequenceLeaf.rawValue
        try compare(
            [
                0: "page header: kind \(leaf) (`sequenceLeaf`), level 0", KeyedPage.prefixLengthOffset: "zero",
                KeyedPage.heapStartOffset: "heap start", KeyedPage.garbageOffset: "garbage",
                KeyedPage.hintOffset: "zero", SequenceLeaf.slotOffset(0): "slots",
            ],
            sizes: [SequenceLeaf.slotOffset(0): "\(SequenceLeaf.slotByteCount) `n`"],
            with: "### Sequence leaves (kind \(leaf))"
        )
        let slot = [0: "offset of the element", 2: "length of the element"]
        try compare(slot, sizes: [0: "2", 2: "\(SequenceLeaf.slotByteCount - 2)"], with: "| offset in a slot |")

        let inner = PageKind.sequenceInner.rawValue
        let header =
            "page header: kind \(inner) (`sequenceInner`), level 1 to \(SequencePage.maximumLevel), child count `n`, "
            + "1 to \(SequenceInner.capacity)"
        try compare(
            [0: header, SequenceInner.offset(0): "children"],
            sizes: [SequenceInner.offset(0): "\(SequenceInner.childByteCount) `n`"],
            with: "### Inner pages of a sequence (kind \(inner))"
        )
        let end = PageReference.byteCount
        try compare(
            [0: "`PageReference`", end: "end"],
            sizes: [0: "\(end)", end: "\(SequenceInner.childByteCount - end)"],
            with: "| offset in a child |"
        )
    }

    // MARK: Clusters

    @Test func `the root of a table in the catalog`() throws {
        let tree = ClusterTree(root: reference, rowCount: 77, nextKey: 1 << 40 | 5)
        var stored = [UInt8](repeating: 0, count: ClusterTree.byteCount)
        stored.withUnsafeMutableBytes { tree.store(to: $0.baseAddress!) }
        let differences = try document.differences(
            behind: "The catalog holds \(ClusterTree.byteCount) bytes per table:",
            from: stored,
            holding: [
                ("page reference of the root", storedReference),
                ("row count", FormatDocument.bytes(UInt64(77))),
                ("key of the next row", FormatDocument.bytes(tree.nextKey)),
            ]
        )
        #expect(differences == [])
    }

    @Test func `inner nodes of clusters`() throws {
        let count = ClusterFormat.innerCapacity
        let kind = PageKind.clusterInner.rawValue
        try compare(
            [
                0: "page header", ClusterFormat.innerKeysOffset: "first row key of each child",
                ClusterFormat.innerEndsOffset: "number of rows in the children up to and including this one",
                ClusterFormat.innerReferencesOffset: "page reference of each child",
            ],
            sizes: [
                ClusterFormat.innerKeysOffset: "\(count) * 8", ClusterFormat.innerEndsOffset: "\(count) * 8",
                ClusterFormat.innerReferencesOffset: "\(count) * \(PageReference.byteCount)",
            ],
            with: "### Inner node (`clusterInner`, kind \(kind), one page, level 1...\(ClusterFormat.levelLimit))"
        )
        #expect(document.text.contains("The entry count, 1...\(count), stands in the page header."))
    }

    @Test func `nodes of clusters`() throws {
        try compare(
            [
                0: "page header", ClusterFormat.rowCountOffset: "row count, 1...\(ClusterFormat.rowLimit)",
                ClusterFormat.columnCountOffset: "column count", ClusterFormat.firstKeyOffset: "first row key",
                ClusterFormat.lastKeyOffset: "last row key",
                ClusterFormat.reservedDeletedRowsOffset: "reserved, 0",
                ClusterFormat.descriptorsOffset: "column descriptors",
            ],
            sizes: [ClusterFormat.descriptorsOffset: "\(ClusterFormat.descriptorByteCount) n"],
            with: "### Cluster node (`clusterNode`, kind \(PageKind.clusterNode.rawValue)"
        )
    }

    @Test func `descriptors of columns`() throws {
        typealias Format = ClusterFormat
        let locations =
            "location: \(Format.locationAbsent) absent, \(Format.locationInline) inline, "
            + "\(Format.locationExternal) external"
        let kinds = ColumnKind.allCases.map { "\($0.rawValue) \($0)" }.joined(separator: ", ")
        let maximum = Format.descriptorMaximumOffset
        try compare(
            [
                0: locations, 1: "kind: \(kinds)", 2: "width", 3: "flags: bit 0 a null bitmap",
                Format.descriptorByteLengthOffset: "byte length of the column's data",
                Format.descriptorPlaceOffset: "inline", Format.descriptorMinimumOffset: "minimum", maximum: "maximum",
            ],
            sizes: [maximum: "\(Format.descriptorByteCount - maximum)"],
            with: "#### Column descriptor"
        )
        // Bit 0 of the byte at 3.
        #expect(Format.nullsFlag == 1 << (3 * 8))
    }

    @Test func `runs of columns`() throws {
        typealias Format = ClusterFormat
        try compare(
            [
                0: "page header", Format.runWordOffset: "the first 8 bytes of the column's descriptor",
                Format.runRowCountOffset: "row count", Format.runRowCountOffset + 4: "0",
                Format.runMinimumOffset: "minimum", Format.runMaximumOffset: "maximum",
                Format.runDataOffset: "the column's data",
            ],
            with: "### Column run (`column`, kind \(PageKind.column.rawValue))"
        )
    }
}
