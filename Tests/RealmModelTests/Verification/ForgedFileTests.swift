import Foundation
import RealmModel
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Files from a stranger, each made for one lie, with every checksum right: whatever is done with them is an error or harmless,
/// and costs what the file's size costs.
@Suite struct ForgedFileTests {
    /// One lie.
    enum Lie: String, CaseIterable, Codable, Sendable {
        case sharedRows, sharedIndex, sharedCatalog, sharedList
        case noPages, manyPages, allPages, dirtyReference
        case manyRows, rowsWithoutPages, manyRowsBelow
        case lastVersion, laterPages
        case overlappingSpace, spaceTwice, longFile, shortFile, freeCatalog
        case missingRow
        case halfChecksum
    }

    /// Makes a file with a lie in it.
    private static func forge(_ lie: Lie, in directory: TemporaryDirectory) throws -> String {
        let file = try HostileRealm.make(at: directory.path("base.realm"))
        var forgery = Forgery(file)
        try tell(lie, &forgery)
        let path = directory.path("forged.realm")
        var bytes = forgery.sealed()
        if lie == .halfChecksum {
            // The part that is remembered of verified pages is that of one which was not.
            forgery.bytes = bytes
            forgery.editHeader { $0.catalog.checksum = 1 << 32 }
            bytes = forgery.bytes
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    private static func tell(_ lie: Lie, _ forgery: inout Forgery) throws {
        func reference(_ run: HostileFile.Run) -> PageReference {
            PageReference(page: PageNumber(run.page), pageCount: UInt32(run.pageCount), checksum: run.checksum)
        }
        switch lie {
        case .sharedRows:
            let leaf = try #require(forgery.run(.clusterNode))
            forgery.replace(leaf, by: forgery.tower(of: .clusterInner, on: reference(leaf), level: 0))
        case .sharedIndex:
            let leaf = try #require(forgery.indexLeaf())
            forgery.replace(leaf, by: forgery.tower(of: .byteTreeInner, on: reference(leaf), level: 0))
        case .sharedCatalog:
            let header = try #require(forgery.catalog())
            let top = forgery.tower(of: .byteTreeInner, on: header, level: 0)
            forgery.editHeader { $0.catalog = top }
        case .sharedList:
            let leaf = try #require(forgery.run(.sequenceLeaf))
            var count = 0
            forgery.edit(leaf) { count = SequenceLeaf(UnsafeRawPointer($0)).count }
            forgery.replace(
                leaf,
                by: forgery.tower(of: .sequenceInner, on: reference(leaf), level: 0, count: count)
            )
            forgery.setListCounts(to: UInt64(count) << 45)
        case .noPages: try forgery.lieAboutLength(0)
        case .manyPages: try forgery.lieAboutLength(1 << 20)
        case .allPages: try forgery.lieAboutLength(.max)
        case .dirtyReference:
            let leaf = try #require(forgery.run(.clusterNode))
            var child = reference(leaf)
            child.checksum = 0
            forgery.replace(leaf, by: forgery.tower(of: .clusterInner, on: child, level: 0))
        case .manyRows: forgery.setRowCount(.max - 1, nextKey: .max - 1)
        case .rowsWithoutPages:
            forgery.setRowCount(1 << 40, nextKey: 1 << 40, root: PageReference.none)
        case .manyRowsBelow:
            let leaf = try #require(forgery.run(.clusterNode))
            let child = reference(leaf)
            let top = forgery.add(.clusterInner, level: 1) { page in
                page.storeLittle(UInt16(2), at: PageHeader.entryCountOffset)
                for index in 0..<2 {
                    page.storeLittle(Int64(index) << 40, at: ClusterFormat.innerKeysOffset + 8 * index)
                    page.storeLittle(Int64(index + 1) << 46, at: ClusterFormat.innerEndsOffset + 8 * index)
                    child.store(to: page + ClusterFormat.innerReferencesOffset + PageReference.byteCount * index)
                }
            }
            forgery.replace(leaf, by: top)
            forgery.setRowCount(2 << 46, nextKey: 2 << 46)
        case .lastVersion:
            forgery.editHeader {
                $0.version = .max
                $0.confirmedVersion = .max
            }
        case .laterPages:
            for run in forgery.file.runs {
                forgery.edit(run) { $0.storeLittle(UInt64.max, at: PageHeader.versionOffset) }
            }
        case .overlappingSpace: forgery.editSpace { $0.retired += $0.retired }
        case .spaceTwice:
            forgery.editSpace { record in
                let free = Extent(page: 5, pageCount: record.pageCount - 6)
                record.retired = [RetiredExtent(extent: free, birth: 0, death: 1)]
            }
        case .longFile: forgery.editSpace { $0.pageCount = 20_000 }
        case .shortFile:
            forgery.editSpace {
                $0.pageCount = 4
                $0.retired = []
                $0.allocated = []
            }
        case .freeCatalog:
            forgery.callFree(try #require(forgery.catalog()).page)
        case .halfChecksum:
            let page = forgery.add(.byteTreeLeaf, level: 0) {
                $0.storeLittle(UInt16.max, at: PageHeader.entryCountOffset)
            }
            forgery.editHeader { $0.catalog = page }
        case .missingRow:
            let leaf = try #require(forgery.indexLeaf())
            forgery.edit(leaf) { page in
                // The row key is the end of an entry's key.
                let entry = KeyedPage(UnsafeRawPointer(page)).suffix(at: 0)
                let last = UnsafeMutableRawPointer(mutating: entry.start + entry.count - 1)
                last.storeBytes(of: last.load(as: UInt8.self) ^ 0x80, as: UInt8.self)
            }
        }
    }

    @Test(arguments: Lie.allCases)
    func `a forged file is an error and costs no more than its size`(_ lie: Lie) async throws {
        let directory = TemporaryDirectory()
        let path = try Self.forge(lie, in: directory)
        let result = await #expect(processExitsWith: .success, "\(lie)") {
            [path = path as String, name = lie.rawValue as String] in
            Limits.sendErrors(to: path + ".stderr")
            Limits.bound()
            Limits.allow(processorSeconds: 300)
            var errors: [String] = []
            let before = try Data(contentsOf: URL(fileURLWithPath: path)).count
            let outcome = HostileUse.everything(path, salvagingTo: path + ".salvaged") {
                errors.append("\($0.rawValue): \($1)")
            }
            let after = try Data(contentsOf: URL(fileURLWithPath: path)).count
            guard outcome.isConsistent, !errors.isEmpty, after < 2 * before + 1 << 20 else {
                FileHandle.standardError.write(Data("\(name): \(outcome) \(after) of \(before) \(errors)\n".utf8))
                exit(1)
            }
        }
        if result == nil, let text = try? String(contentsOfFile: path + ".stderr", encoding: .utf8) { print(text) }
    }

    /// A forged realm, opened.
    private static func open(
        rowCount: Int64,
        in directory: TemporaryDirectory,
        _ change: (inout Forgery) throws -> Void
    ) throws -> Snapshot {
        var forgery = Forgery(try HostileRealm.make(at: directory.path("base.realm"), rowCount: rowCount))
        try change(&forgery)
        let path = directory.path("forged.realm")
        try Data(forgery.sealed()).write(to: URL(fileURLWithPath: path))
        return try StorageFile.open(path: path).beginRead()
    }

    /// The root of a table says so of its first child, or of its last one, and then the catalog as well.
    @Test(arguments: [0, 1, -1] as [Int64], [true, false])
    func `nodes that count other rows than there are are damage for whoever needs all of them`(
        _ lie: Int64,
        _ isFirst: Bool
    ) throws {
        let directory = TemporaryDirectory()
        let snapshot = try Self.open(rowCount: 4_000, in: directory) { forgery in
            forgery.edit(try #require(forgery.run(.clusterInner))) { page in
                let children = page.loadUnaligned(fromByteOffset: PageHeader.entryCountOffset, as: UInt16.self)
                let offset = ClusterFormat.innerEndsOffset + (isFirst ? 0 : 8 * (Int(children) - 1))
                page.storeLittle(page.loadUnaligned(fromByteOffset: offset, as: Int64.self) + lie, at: offset)
            }
            if !isFirst { forgery.setRowCount(4_000 + lie, nextKey: 4_001) }
        }
        let items = try #require(try ModelView(snapshot: snapshot).table(named: "Item"))
        #expect(items.count == (isFirst ? 4_000 : 4_000 + Int(lie)))
        if lie == 0 { return try items.requireCounts() }
        let error = #expect(throws: StorageError.self) { try items.requireCounts() }
        #expect(error?.code == .corrupt)
    }

    @Test(arguments: [PageKind.clusterNode, .byteTreeLeaf, .overflow])
    func `a page in use that is called free is damage for an opening that may write`(_ kind: PageKind) throws {
        let directory = TemporaryDirectory()
        var page: PageNumber?
        let snapshot = try Self.open(rowCount: 40, in: directory) { forgery in
            let run = try #require(forgery.run(kind))
            page = PageNumber(run.page)
            forgery.callFree(PageNumber(run.page))
        }
        let error = #expect(throws: StorageError.self) { try FileVerifier.examine(snapshot, isThorough: false) }
        #expect(error?.code == .corrupt)
        #expect(error?.page == page)
        // Who reads only is disturbed by nobody.
        var options = StorageOptions()
        options.isReadOnly = true
        let data = try DataFile.open(path: snapshot.file.path, isReadOnly: true)
        let reader = try StorageFile.openUnshared(data: data, path: snapshot.file.path, options: options)
        try FileVerifier.examine(try reader.beginRead(), isThorough: true)
    }

    @Test(arguments: [0, 1] as [UInt64])
    func `a page of a version that is not there yet is named by whoever verifies`(_ later: UInt64) throws {
        let directory = TemporaryDirectory()
        var page: PageNumber?
        let snapshot = try Self.open(rowCount: 40, in: directory) { forgery in
            var version: UInt64 = 0
            forgery.editHeader { version = max(version, $0.version) }
            let leaf = try #require(forgery.run(.clusterNode))
            page = PageNumber(leaf.page)
            forgery.edit(leaf) { $0.storeLittle(version + later, at: PageHeader.versionOffset) }
        }
        if later == 0 { return try FileVerifier.verify(snapshot) }
        let error = #expect(throws: StorageError.self) { try FileVerifier.verify(snapshot) }
        #expect(error?.code == .corrupt)
        #expect(error?.page == page)
    }
}

extension Forgery {
    /// The root of the catalog.
    func catalog() -> PageReference? {
        bytes.withUnsafeBytes { bytes in
            for page in 0..<FileHeader.slotPageCount {
                let start = bytes.baseAddress! + page * pageByteCount
                if case .valid(let header) = FileHeader.read(start, page: PageNumber(page)), !header.catalog.isNone {
                    return header.catalog
                }
            }
            return nil
        }
    }

    /// A leaf of an index: of strings.
    func indexLeaf() -> HostileFile.Run? {
        file.runs.first { run in
            let start = run.page * pageByteCount
            guard bytes[start + PageHeader.kindOffset] == PageKind.byteTreeLeaf.rawValue else { return false }
            return bytes[start..<start + pageByteCount].firstRange(of: Array("item ".utf8)) != nil
        }
    }

    /// Has two values be in one run, the second with a length that it does not have.
    mutating func lieAboutLength(_ pageCount: UInt32) throws {
        let overflows = file.runs.filter {
            bytes[$0.page * pageByteCount + PageHeader.kindOffset] == PageKind.overflow.rawValue
        }
        guard overflows.count > 1, let place = overflows[1].places.last else { throw CocoaError(.coderInvalidValue) }
        let first = overflows[0]
        let reference = PageReference(page: PageNumber(first.page), pageCount: pageCount, checksum: first.checksum)
        bytes.withUnsafeMutableBytes { reference.store(to: $0.baseAddress! + place - 8) }
    }

    /// Has the table's entry in the catalog say another number of rows.
    mutating func setRowCount(_ count: Int64, nextKey: Int64, root: PageReference? = nil) {
        guard let catalog = catalog() else { return }
        bytes.withUnsafeMutableBytes { bytes in
            let page = bytes.baseAddress! + Int(catalog.page) * pageByteCount
            let leaf = KeyedPage(UnsafeRawPointer(page))
            for index in 0..<leaf.count where leaf.base.distance(to: leaf.payload(at: index)) > 0 {
                let key = leaf.suffix(at: index)
                let isTable = leaf.prefixLength == 0 && key.count == 5 && key.start.load(as: UInt8.self) == 3
                guard isTable else { continue }
                let entry = UnsafeMutableRawPointer(mutating: leaf.payload(at: index)) + 2
                if let root { root.store(to: entry) }
                entry.storeLittle(count, at: 16)
                entry.storeLittle(nextKey, at: 24)
            }
        }
    }

    /// Has every large list say another number of elements.
    mutating func setListCounts(to count: UInt64) {
        for run in file.runs {
            let start = run.page * pageByteCount
            // Not the catalog, nor an index.
            if bytes[start + PageHeader.kindOffset] == PageKind.byteTreeLeaf.rawValue { continue }
            let end = start + run.pageCount * pageByteCount
            for place in start..<end - 40 where bytes[place..<place + 8].elementsEqual([2, 0, 0, 0, 0, 0, 0, 0]) {
                bytes.withUnsafeMutableBytes { $0.baseAddress!.storeLittle(count, at: place + 8) }
            }
        }
    }
}
