import Foundation
import RealmTestSupport

@testable import RealmStorage

/// Changes fields of a closed file, known by their places in pages of each kind, and makes every checksum right again.
struct FileMutator {
    let file: HostileFile
    private let runsByKind: [PageKind: [HostileFile.Run]]

    init(_ file: HostileFile) {
        self.file = file
        runsByKind = Dictionary(grouping: file.runs) {
            PageKind(rawValue: file.original[$0.page * pageByteCount + PageHeader.kindOffset]) ?? .fileHeader
        }
    }

    /// Bounds a child process that is to try changed files.
    ///
    /// - Returns: What changes a file that has all kinds of pages, and where to write what is tried, for whoever finds that the child has
    ///   ended; its errors stand beside.
    static func beginInChild(with base: String) throws -> (mutator: FileMutator, log: FileHandle) {
        Limits.sendErrors(to: base + ".stderr")
        let mutator = FileMutator(try HostileFile(path: base))
        guard mutator.kinds.isSuperset(of: PageKind.allCases.filter { $0 != .fileHeader }) else {
            fatalError("The file lacks kinds of pages: it has \(mutator.kinds)")
        }
        Limits.bound()
        let log = URL(fileURLWithPath: base + ".log")
        try Data().write(to: log)
        return (mutator, try FileHandle(forWritingTo: log))
    }

    /// The kinds of pages that the file has, its header apart.
    var kinds: Set<PageKind> { Set(runsByKind.keys) }

    /// A field of a page.
    private struct Field {
        var name: String
        var offset: Int
        var width: Int
    }

    /// The file's bytes with one to three fields changed, and what was changed.
    func mutated(seed: UInt64) -> (bytes: [UInt8], changes: [String]) {
        var random = SplitMix64(seed: seed)
        var forgery = Forgery(file)
        var changes: [String] = []
        for _ in 0..<[1, 1, 2, 3][Int.random(in: 0..<4, using: &random)] {
            let kind = (kinds.sorted { $0.rawValue < $1.rawValue } + [.fileHeader, .fileHeader])
                .randomElement(using: &random)!
            if kind == .fileHeader {
                changes.append(changeHeader(&forgery, &random))
            } else if let run = runsByKind[kind]?.randomElement(using: &random) {
                let field = self.field(of: kind, run, in: forgery.bytes, &random)
                changes.append("\(kind) \(run.page) \(field.name) " + change(field, of: run, &forgery, &random))
            }
        }
        return (forgery.sealed(), changes)
    }

    // MARK: Values

    private func value(_ width: Int, _ old: UInt64, _ random: inout SplitMix64) -> UInt64 {
        let all = width == 8 ? UInt64.max : (1 << UInt64(8 * width)) - 1
        let pages = UInt64(file.original.count / pageByteCount)
        let value: UInt64 =
            switch Int.random(in: 0..<16, using: &random) {
            case 0: 0
            case 1: 1
            case 2: all
            case 3: all - 1
            case 4: all >> 1
            case 5: (all >> 1) + 1
            case 6: old &+ 1
            case 7: old &- 1
            case 8: old &* 2
            case 9: pages
            case 10: pages - 1
            case 11: UInt64.random(in: 0..<16, using: &random)
            case 12: UInt64.random(in: 0..<5_000, using: &random)
            case 13: 1 << UInt64.random(in: 0..<UInt64(8 * width), using: &random)
            case 14: old ^ (1 << UInt64.random(in: 0..<UInt64(8 * width), using: &random))
            default: random.next()
            }
        return value & all
    }

    private func change(
        _ field: Field,
        of run: HostileFile.Run,
        _ forgery: inout Forgery,
        _ random: inout SplitMix64
    ) -> String {
        let limit = run.pageCount * pageByteCount
        let offset = min(max(field.offset, 0), limit - field.width)
        if field.width == 16 { return changeReference(at: run.page * pageByteCount + offset, &forgery, &random) }
        var result = ""
        forgery.edit(run) { page in
            var old: UInt64 = 0
            for index in 0..<field.width {
                old |= UInt64(page.load(fromByteOffset: offset + index, as: UInt8.self)) << UInt64(8 * index)
            }
            let new = value(field.width, old, &random)
            for index in 0..<field.width {
                page.storeBytes(
                    of: UInt8(truncatingIfNeeded: new >> UInt64(8 * index)),
                    toByteOffset: offset + index,
                    as: UInt8.self
                )
            }
            result = "at \(offset): \(old) -> \(new)"
        }
        return result
    }

    /// Has a reference lead to another run, or lie about the length, the place or the checksum.
    private func changeReference(at place: Int, _ forgery: inout Forgery, _ random: inout SplitMix64) -> String {
        var reference = forgery.bytes.withUnsafeBytes { PageReference(load: $0.baseAddress! + place) }
        let old = reference
        switch Int.random(in: 0..<6, using: &random) {
        case 0: reference.pageCount = UInt32(truncatingIfNeeded: value(4, UInt64(old.pageCount), &random))
        case 1: reference.page = UInt32(truncatingIfNeeded: value(4, UInt64(old.page), &random))
        case 2: reference.checksum = value(8, old.checksum, &random)
        default:
            if let other = file.runs.randomElement(using: &random) {
                reference = PageReference(
                    page: PageNumber(other.page),
                    pageCount: UInt32(other.pageCount),
                    checksum: other.checksum
                )
            }
        }
        forgery.bytes.withUnsafeMutableBytes { reference.store(to: $0.baseAddress! + place) }
        return "\(old.page)+\(old.pageCount) -> \(reference.page)+\(reference.pageCount)"
    }

    // MARK: The header

    private func changeHeader(_ forgery: inout Forgery, _ random: inout SplitMix64) -> String {
        if Bool.random(using: &random) { return changeRecord(&forgery, &random) }
        let extent = FileHeader.extentsOffset + 8 * Int.random(in: 0..<4, using: &random)
        let fields: [Field] = [
            Field(name: "kind", offset: PageHeader.kindOffset, width: 1),
            Field(name: "format", offset: FileHeader.formatVersionOffset, width: 4),
            Field(name: "page size", offset: FileHeader.pageSizeOffset, width: 4),
            Field(name: "identifier", offset: FileHeader.identifierOffset, width: 8),
            Field(name: "version", offset: FileHeader.versionOffset, width: 8),
            Field(name: "durable", offset: FileHeader.confirmedVersionOffset, width: 8),
            Field(name: "sequence", offset: FileHeader.sequenceOffset, width: 8),
            Field(name: "position", offset: FileHeader.positionOffset, width: 8),
            Field(name: "schema generation", offset: FileHeader.schemaGenerationOffset, width: 8),
            Field(name: "incompatible", offset: FileHeader.incompatibleOffset, width: 8),
            Field(name: "read-only compatible", offset: FileHeader.readOnlyCompatibleOffset, width: 8),
            Field(name: "compatible", offset: FileHeader.compatibleOffset, width: 8),
            Field(name: "flags", offset: FileHeader.flagsOffset, width: 4),
            Field(name: "seal bytes", offset: FileHeader.sealByteCountOffset, width: 4),
            Field(name: "extent count", offset: FileHeader.extentCountOffset, width: 4),
            Field(name: "record bytes", offset: FileHeader.recordByteCountOffset, width: 4),
            Field(name: "page count", offset: FileHeader.pageCountOffset, width: 8),
            Field(name: "oldest log version", offset: FileHeader.oldestLogVersionOffset, width: 8),
            Field(name: "content", offset: FileHeader.contentChecksumOffset, width: 8),
            Field(name: "catalog", offset: FileHeader.catalogOffset, width: 16),
            Field(name: "space segment", offset: FileHeader.spaceSegmentOffset, width: 16),
            Field(name: "log identifier", offset: FileHeader.logIdentifierOffset, width: 8),
            Field(name: "log offset", offset: FileHeader.logPlaceOffset, width: 8),
            Field(name: "record checksum", offset: FileHeader.recordChecksumOffset, width: 8),
            Field(name: "extent", offset: extent, width: 4), Field(name: "extent length", offset: extent + 4, width: 4),
            Field(
                name: "record",
                offset: FileHeader.extentsOffset + Int.random(in: 0..<300, using: &random),
                width: 1
            ),
        ]
        let field = fields.randomElement(using: &random)!
        // The same in all copies, or in one.
        let pages = Bool.random(using: &random) ? Array(0..<4) : [Int.random(in: 0..<4, using: &random)]
        let seed = random.next()
        var result = ""
        for page in pages {
            var random = SplitMix64(seed: seed)
            let run = HostileFile.Run(page: page, pageCount: 1, checksum: 0, places: [])
            result = change(field, of: run, &forgery, &random)
        }
        return "header \(pages) \(field.name) \(result)"
    }

    /// Changes what a space record in the header says about space.
    private func changeRecord(_ forgery: inout Forgery, _ random: inout SplitMix64) -> String {
        var result = "record"
        let seed = random.next()
        forgery.editHeader { header in
            var random = SplitMix64(seed: seed)
            guard var records = try? header.spaceRecords(path: ""), !records.isEmpty else { return }
            let index = Int.random(in: 0..<records.count, using: &random)
            result = "record \(index): "
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                records[index].version = value(8, records[index].version, &random)
                result += "version \(records[index].version)"
            case 1:
                records[index].pageCount = UInt32(
                    truncatingIfNeeded: value(4, UInt64(records[index].pageCount), &random)
                )
                result += "page count \(records[index].pageCount)"
            case 2:
                records[index].allocated = change(records[index].allocated, &random)
                result += "taken \(records[index].allocated)"
            case 3:
                let extents = change(records[index].retired.map(\.extent), &random)
                records[index].retired = extents.map { RetiredExtent(extent: $0, birth: 0, death: 1) }
                result += "retired \(extents)"
            case 4: records.remove(at: index)
            default: records.insert(records[index], at: index)
            }
            var writer = ByteWriter()
            for record in records { record.encode(into: &writer) }
            if writer.bytes.count <= FileHeader.maximumRecordByteCount { header.records = writer.bytes }
        }
        return result
    }

    private func change(_ extents: [Extent], _ random: inout SplitMix64) -> [Extent] {
        var extents = extents
        let page = UInt32(truncatingIfNeeded: value(4, UInt64(extents.first?.page ?? 4), &random))
        let count = UInt32(truncatingIfNeeded: value(4, UInt64(extents.first?.pageCount ?? 1), &random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0 where !extents.isEmpty: extents[0].page = page
        case 1 where !extents.isEmpty: extents[0].pageCount = count
        case 2: extents += extents
        default:
            if let run = file.runs.randomElement(using: &random) {
                extents.append(Extent(page: PageNumber(run.page), pageCount: UInt32(run.pageCount)))
            }
        }
        return extents
    }

    // MARK: Pages

    private func field(
        of kind: PageKind,
        _ run: HostileFile.Run,
        in bytes: [UInt8],
        _ random: inout SplitMix64
    ) -> Field {
        let start = run.page * pageByteCount
        func number(_ offset: Int, _ width: Int) -> Int {
            (0..<width)
                .reduce(0) { $0 | Int(bytes[start + min(offset + $1, run.pageCount * pageByteCount - 1)]) << (8 * $1) }
        }
        let entries = max(1, number(PageHeader.entryCountOffset, 2))
        let entry = Int.random(in: 0..<entries, using: &random)
        var fields: [Field] = []
        func add(_ name: String, _ offset: Int, _ width: Int) {
            fields.append(Field(name: name, offset: offset, width: width))
        }
        if Int.random(in: 0..<5, using: &random) == 0 {
            add("page", 0, 4)
            add("page count", 4, 4)
            add("version", 8, 8)
            add("kind", 16, 1)
            add("level", 17, 1)
            add("entry count", 18, 2)
            add("payload", 20, 4)
            add("auxiliary", 24, 8)
            return fields.randomElement(using: &random)!
        }
        switch kind {
        case .byteTreeLeaf, .byteTreeInner:
            for offset in [24, 26, 28, 30] { add("shape", offset, 2) }
            let slot = 32 + number(24, 2) % 2_048 + 8 * entry
            add("slot offset", slot, 2)
            add("slot length", slot + 2, 2)
            add("slot head", slot + 4, 4)
            let place = number(slot, 2) % 4_000
            let payload = place + number(slot + 2, 2) % 1_024
            add("key", place + Int.random(in: 0..<max(1, payload - place), using: &random), 1)
            if kind == .byteTreeInner {
                for _ in 0..<3 { add("child", payload, 16) }
                add("child count", payload + 16, 8)
            } else if number(payload, 2) == 0xFFFF {
                for _ in 0..<3 { add("overflow", payload + 2, 16) }
            } else {
                add("value length", payload, 2)
                let length = max(1, number(payload, 2) % 512)
                for width in [1, 4, 8, 16] {
                    add("value", payload + 2 + Int.random(in: 0..<length, using: &random) / 4 * 4, width)
                }
                // The entry of a table: its roots and counts.
                for (offset, width) in [(0, 16), (16, 8), (24, 8), (32, 4), (40, 16)] {
                    add("roots", payload + 2 + offset, width)
                }
            }
        case .clusterNode:
            for (offset, width) in [(32, 4), (36, 4), (40, 8), (48, 8), (56, 8)] { add("shape", offset, width) }
            let descriptor = 64 + 40 * Int.random(in: 0..<max(1, number(36, 4) % 64), using: &random)
            for offset in 0..<4 { add("descriptor", descriptor + offset, 1) }
            for (offset, width) in [(4, 4), (8, 4), (8, 16), (8, 16), (24, 8), (32, 8)] {
                add("descriptor", descriptor + offset, width)
            }
            for width in [1, 2, 4, 8, 16] {
                add("data", Int.random(in: 64..<run.pageCount * pageByteCount - 16, using: &random) / 2 * 2, width)
            }
            let data = number(descriptor + 8, 4) % 4_000
            for width in [1, 2, 4] {
                add("column data", data + Int.random(in: 0..<64, using: &random) / width * width, width)
            }
        case .clusterInner:
            add("key", ClusterFormat.innerKeysOffset + 8 * entry, 8)
            add("end", ClusterFormat.innerEndsOffset + 8 * entry, 8)
            for _ in 0..<2 { add("child", ClusterFormat.innerReferencesOffset + 16 * entry, 16) }
        case .column:
            for (offset, width) in [(32, 1), (33, 1), (34, 1), (35, 1), (36, 4), (40, 4), (44, 4), (48, 8), (56, 8)] {
                add("shape", offset, width)
            }
            for width in [1, 2, 4, 8] {
                add(
                    "data",
                    Int.random(in: 64..<min(2_000, run.pageCount * pageByteCount - 16), using: &random) / width * width,
                    width
                )
            }
        case .overflow:
            add("byte count", 24, 8)
            add("data", 32 + Int.random(in: 0..<200, using: &random), 1)
        case .sequenceLeaf:
            for offset in [24, 26, 28, 30] { add("shape", offset, 2) }
            add("slot offset", 32 + 4 * entry, 2)
            add("slot length", 34 + 4 * entry, 2)
            add("element", number(32 + 4 * entry, 2) % 4_000, 1)
            add("element", number(32 + 4 * entry, 2) % 4_000, 16)
        case .sequenceInner:
            add("child", 32 + 24 * entry, 16)
            add("end", 48 + 24 * entry, 8)
        case .spaceSegment:
            add("payload", 20, 4)
            for _ in 0..<4 { add("content", 32 + Int.random(in: 0..<max(1, number(20, 4) % 4_000), using: &random), 1) }
        case .fileHeader: add("header", 40, 8)
        }
        return fields.randomElement(using: &random)!
    }
}
