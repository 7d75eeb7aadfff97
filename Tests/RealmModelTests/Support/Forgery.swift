import RealmModel

@testable import RealmStorage

/// Pages that no writer makes, put into a file, and every checksum made right.
struct Forgery {
    let file: HostileFile
    var bytes: [UInt8]

    init(_ file: HostileFile) {
        self.file = file
        bytes = file.original
    }

    /// The file's bytes, sealed again.
    func sealed() -> [UInt8] {
        var bytes = bytes
        file.seal(&bytes)
        return bytes
    }

    // MARK: The header

    /// Changes every copy of the header.
    mutating func editHeader(_ body: (inout FileHeader) -> Void) {
        bytes.withUnsafeMutableBytes { bytes in
            for page in 0..<FileHeader.slotPageCount {
                let start = bytes.baseAddress! + page * pageByteCount
                guard case .valid(var header) = FileHeader.read(start, page: PageNumber(page)) else { continue }
                body(&header)
                header.store(to: start, page: PageNumber(page))
            }
        }
    }

    /// Changes the newest space record in the header.
    mutating func editSpace(_ body: (inout SpaceRecord) -> Void) {
        editHeader { header in
            guard var records = try? header.spaceRecords(path: ""), !records.isEmpty else { return }
            body(&records[records.count - 1])
            var writer = ByteWriter()
            for record in records { record.encode(into: &writer) }
            header.records = writer.bytes
        }
    }

    /// Has the file call a page free from the next commit on.
    mutating func callFree(_ page: PageNumber) {
        editSpace { record in
            let extent = Extent(page: page, pageCount: 1)
            record.retired.append(RetiredExtent(extent: extent, birth: 0, death: 1))
        }
    }

    // MARK: Pages

    /// The run of a kind that is at hand, the largest first.
    func run(_ kind: PageKind, level: Int? = nil) -> HostileFile.Run? {
        file.runs
            .filter { run in
                bytes[run.page * pageByteCount + PageHeader.kindOffset] == kind.rawValue
                    && (level == nil || bytes[run.page * pageByteCount + PageHeader.levelOffset] == UInt8(level!))
            }
            .max { $0.pageCount < $1.pageCount }
    }

    /// Changes a run in place.
    mutating func edit(_ run: HostileFile.Run, _ body: (UnsafeMutableRawPointer) -> Void) {
        bytes.withUnsafeMutableBytes { body($0.baseAddress! + run.page * pageByteCount) }
    }

    /// Has whoever refers to a run refer to another one.
    mutating func replace(_ run: HostileFile.Run, by reference: PageReference) {
        bytes.withUnsafeMutableBytes { bytes in
            for place in run.places where place >= 8 { reference.store(to: bytes.baseAddress! + place - 8) }
        }
        if run.places.contains(where: { $0 < FileHeader.slotPageCount * pageByteCount }) {
            editHeader { if $0.catalog.page == reference.page { $0.catalog = reference } }
        }
    }

    /// Adds a page behind the end of the file.
    mutating func add(_ kind: PageKind, level: Int, _ fill: (UnsafeMutableRawPointer) -> Void) -> PageReference {
        let page = PageNumber(bytes.count / pageByteCount)
        bytes += [UInt8](repeating: 0, count: pageByteCount)
        let checksum = bytes.withUnsafeMutableBytes { bytes -> UInt64 in
            let start = bytes.baseAddress! + Int(page) * pageByteCount
            start.storeLittle(page, at: PageHeader.pageOffset)
            start.storeLittle(UInt32(1), at: PageHeader.pageCountOffset)
            start.storeLittle(UInt64(1), at: PageHeader.versionOffset)
            start.storeLittle(kind.rawValue, at: PageHeader.kindOffset)
            start.storeLittle(UInt8(level), at: PageHeader.levelOffset)
            fill(start)
            return PageChecksum.of(start, byteCount: pageByteCount)
        }
        let end = UInt64(page) + 1
        editHeader { $0.pageCount = max($0.pageCount, end) }
        return PageReference(page: page, pageCount: 1, checksum: checksum)
    }

    // MARK: Towers

    /// Levels of pages each of which refers to the one below many times, as high as a tree may be.
    mutating func tower(of kind: PageKind, on base: PageReference, level: Int, count: Int = 1) -> PageReference {
        var top = base
        var below = count
        for level in (level + 1)...15 {
            let child = top
            switch kind {
            case .clusterInner: top = add(kind, level: level) { Self.fillClusterInner($0, child) }
            case .byteTreeInner: top = add(kind, level: level) { Self.fillByteTreeInner($0, child) }
            default:
                let count = below
                top = add(kind, level: level) { Self.fillSequenceInner($0, child, count) }
                below *= 8
            }
        }
        return top
    }

    private static func fillClusterInner(_ page: UnsafeMutableRawPointer, _ child: PageReference) {
        page.storeLittle(UInt16(100), at: PageHeader.entryCountOffset)
        for index in 0..<100 {
            page.storeLittle(Int64(index), at: ClusterFormat.innerKeysOffset + 8 * index)
            page.storeLittle(Int64(index + 1), at: ClusterFormat.innerEndsOffset + 8 * index)
            child.store(to: page + ClusterFormat.innerReferencesOffset + PageReference.byteCount * index)
        }
    }

    private static func fillByteTreeInner(_ page: UnsafeMutableRawPointer, _ child: PageReference) {
        let inner = MutableKeyedPage(page)
        let empty = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 8)
        defer { empty.deallocate() }
        inner.reset(prefix: KeyBytes(start: empty, count: 0))
        for index in 0..<80 {
            empty.storeBytes(of: UInt16(index).bigEndian, as: UInt16.self)
            let suffix = KeyBytes(start: empty, count: index == 0 ? 0 : 2)
            let payload = inner.reserve(at: index, suffix: suffix, payloadByteCount: KeyedPage.childPayloadByteCount)!
            child.store(to: payload)
            payload.storeLittle(UInt64(1), at: PageReference.byteCount)
        }
    }

    private static func fillSequenceInner(_ page: UnsafeMutableRawPointer, _ child: PageReference, _ count: Int) {
        page.storeLittle(UInt16(8), at: PageHeader.entryCountOffset)
        for index in 0..<8 {
            child.store(to: page + SequenceInner.offset(index))
            page.storeLittle(UInt64(count * (index + 1)), at: SequenceInner.offset(index) + PageReference.byteCount)
        }
    }
}
