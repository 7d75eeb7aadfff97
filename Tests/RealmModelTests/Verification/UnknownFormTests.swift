import Foundation
import RealmTestSupport
import Testing

@testable import RealmModel
@testable import RealmStorage

/// Whole files of a release to come, and files that pretend to be such.
///
/// Every checksum is right, and one thing has a form that this release does not know. `Docs/FileFormat.md` says of each whether the file
/// is refused, or read without it.
@Suite struct UnknownFormTests {
    let directory = TemporaryDirectory()

    private static let index = CompoundIndexSchema(["name", "id"])

    /// Makes a file, changes it, and makes every checksum right again.
    private func makeFile(
        rowCount: Int64 = 40,
        compoundIndexes: [CompoundIndexSchema] = [],
        _ change: (inout Forgery) throws -> Void
    ) throws -> String {
        let base = try HostileRealm.make(
            at: directory.path("base.realm"),
            rowCount: rowCount,
            compoundIndexes: compoundIndexes
        )
        var forgery = Forgery(base)
        try change(&forgery)
        let path = directory.path("forged.realm")
        try Data(forgery.sealed()).write(to: URL(fileURLWithPath: path))
        return path
    }

    private static func open(_ path: String, isReadOnly: Bool = false) throws -> StorageFile {
        var options = StorageOptions()
        options.isReadOnly = isReadOnly
        return try StorageFile.open(path: path, options: options)
    }

    /// Reads each value of each row.
    private static func readAll(_ snapshot: Snapshot) throws {
        let model = try ModelView(snapshot: snapshot)
        defer { withExtendedLifetime(model) {} }
        let items = try #require(try model.table(named: "Item"))
        for key in try items.allKeys() {
            for (ordinal, property) in items.schema.properties.enumerated() {
                if property.collection == .none {
                    _ = try items.value(ordinal, key: key)
                } else {
                    _ = try items.list(ordinal, key: key).values()
                }
            }
        }
    }

    private static func change(_ file: StorageFile) throws {
        try HostileUse.write(file) { model in
            let items = try #require(try model.table(named: "Item"))
            try items.set("name", 7, .string("another name"))
        }
    }

    /// Opens a file in every way, and expects each to be refused with a name.
    private func expectRefusal(_ path: String, naming name: String) throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let ways: [() throws -> Void] = [
            { _ = try Self.open(path) }, { _ = try Self.open(path, isReadOnly: true) },
            { _ = try DamagedFile(path: path) },
        ]
        for (number, way) in ways.enumerated() {
            let error = #expect(throws: StorageError.self, "\(name), way \(number)") { try way() }
            #expect(error?.code == .unsupportedFormat)
            #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    // MARK: Features

    @Test(
        "A file with a feature without which it cannot be read is refused by name, also for reading only and for salvaging",
        arguments: [
            (1, "encrypted pages"), (2, "bitmaps of deleted rows"), (3, "columns in further encodings"),
            (4, "feature 4"), (63, "feature 63"),
        ]
    )
    func unreadable(bit: Int, name: String) throws {
        let path = try makeFile { forgery in
            forgery.editHeader { $0.features.incompatible = 1 << UInt64(bit) }
        }
        try expectRefusal(path, naming: name)
    }

    @Test(
        "A file with a feature without which it cannot be written is read whole, and neither written nor copied",
        arguments: [(1, "a history of its commits"), (2, "feature 2"), (63, "feature 63")]
    )
    func unwritable(bit: Int, name: String) throws {
        let path = try makeFile { forgery in
            forgery.editHeader { $0.features.readOnlyCompatible = 1 << UInt64(bit) }
        }
        try expectReadOnly(path, naming: name) { try Self.readAll($0) }
    }

    private func expectReadOnly(_ path: String, naming name: String, _ body: (Snapshot) throws -> Void) throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = #expect(throws: StorageError.self) { try Self.open(path) }
        #expect(error?.code == .unsupportedFormat)
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
        do {
            let file = try Self.open(path, isReadOnly: true)
            let snapshot = try file.beginRead()
            try FileVerifier.verify(snapshot)
            try body(snapshot)
            let copy = #expect(throws: StorageError.self) { try FileBeginning(copyOf: snapshot) }
            #expect(copy?.code == .unsupportedFormat)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test("A feature that need not be known stays through commits, and a copy does not have it", arguments: [0, 5, 63])
    func unneeded(bit: Int) throws {
        let path = try makeFile { forgery in
            forgery.editHeader { $0.features.compatible = 1 << UInt64(bit) }
        }
        let file = try Self.open(path)
        for _ in 0..<3 { try Self.change(file) }
        let snapshot = try file.beginRead()
        #expect(snapshot.header.features.compatible == 1 << UInt64(bit))
        try FileVerifier.verify(snapshot)
        let copy = try FileBeginning(copyOf: snapshot)
        #expect(FileHeader(newFile: copy).features == FileFeatures())
    }

    // MARK: Indexes

    /// A file whose class has an index of another kind, which a compound index was.
    private func makeFile(indexKind: UInt8, hasFeature: Bool) throws -> String {
        try makeFile(compoundIndexes: [Self.index]) { forgery in
            // Its entry stands at the end of the class's, which has no attributes: six bytes, and two columns.
            try forgery.editClass { $0[$0.count - 14 + 2] = indexKind }
            if hasFeature { forgery.editHeader { $0.features.readOnlyCompatible = 1 } }
        }
    }

    private func expectReadable(_ snapshot: Snapshot) throws {
        try Self.readAll(snapshot)
        let model = try ModelView(snapshot: snapshot)
        defer { withExtendedLifetime(model) {} }
        let items = try #require(try model.table(named: "Item"))
        #expect(items.schema.compoundIndexes.isEmpty && items.schema.furtherIndexCount == 1)
        #expect(try items.indexedKeys(property: 1, equalTo: .string("item 7")) == [7])
        #expect(try items.find(primaryKey: .int(7)) == 7)
    }

    @Test(
        "A file with an index of a kind that is not known is read without it, and not written",
        arguments: [0, 2, 3, 77] as [UInt8]
    )
    func furtherIndex(kind: UInt8) throws {
        let path = try makeFile(indexKind: kind, hasFeature: true)
        try expectReadOnly(path, naming: "indexes of further kinds") { try expectReadable($0) }
    }

    @Test(
        "An index of a kind that is not known in a file that does not say so is damage, and its class is not written",
        arguments: [0, 2, 77] as [UInt8]
    )
    func undeclaredIndex(kind: UInt8) throws {
        let path = try makeFile(indexKind: kind, hasFeature: false)
        let file = try Self.open(path)
        try expectReadable(file.beginRead())
        let damage = #expect(throws: StorageError.self) { try FileVerifier.verify(file.beginRead()) }
        #expect(damage?.code == .corrupt)
        #expect(damage?.message.contains("'Item'") == true, "\(damage?.message ?? "")")
        let version = file.newestVersion
        let more = PropertySchema(name: "more", kind: .int)
        let changed = ClassSchema(
            name: "Item",
            properties: HostileRealm.classes[0].properties + [more],
            compoundIndexes: [Self.index]
        )
        let ways: [() throws -> Void] = [
            { try Self.change(file) },
            { try HostileUse.write(file) { model in try #require(try model.table(named: "Item")).deleteAll() } },
            { try TestDatabase.reconcile(DatabaseSchema(classes: [changed], version: 2), in: file) },
        ]
        for (number, way) in ways.enumerated() {
            let error = #expect(throws: StorageError.self, "way \(number)") { try way() }
            #expect(error?.code == .unsupportedFormat)
            #expect(error?.message.contains("'Item'") == true, "\(error?.message ?? "")")
        }
        #expect(file.newestVersion == version)
        try expectReadable(file.beginRead())
    }

    // MARK: Encodings of a class

    @Test(
        "A class whose index keys or leaves are in an encoding that is not known is refused by name",
        arguments: [(12, "an encoding of index keys (2)"), (13, "an encoding of leaves (2)")]
    )
    func classEncoding(offset: Int, name: String) throws {
        let path = try makeFile { forgery in try forgery.editClass { $0[offset] = 2 } }
        try expectUnreadable(path, .unsupportedFormat, naming: name)
    }

    @Test("A compound index whose keys are in an encoding that is not known is refused by name")
    func indexEncoding() throws {
        let path = try makeFile(compoundIndexes: [Self.index]) { forgery in
            try forgery.editClass { $0[$0.count - 14 + 3] = 5 }
        }
        try expectUnreadable(path, .unsupportedFormat, naming: "an encoding of index keys (5)")
    }

    /// Expects a file that is opened to be refused by whoever reads or verifies it, and anything else to be errors.
    private func expectUnreadable(
        _ path: String,
        _ code: StorageError.Code,
        naming name: String,
        page: PageNumber? = nil
    ) throws {
        do {
            let file = try Self.open(path)
            let ways: [() throws -> Void] = [
                { try Self.readAll(file.beginRead()) }, { try FileVerifier.verify(file.beginRead()) },
            ]
            for (number, way) in ways.enumerated() {
                let error = #expect(throws: StorageError.self, "way \(number)") { try way() }
                #expect(error?.code == code)
                #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
                #expect(error?.page == page)
            }
        }
        let outcome = HostileUse.everything(path, salvagingTo: path + ".salvaged")
        #expect(outcome.contains(.opened) && outcome.isConsistent && !outcome.contains(.verified))
    }

    // MARK: Encodings of columns

    /// Where a column with another encoding is.
    enum Place: CaseIterable, Sendable { case inNode, inRun }

    @Test("A column in an encoding that is not known is damage that names its page", arguments: Place.allCases)
    func columnEncoding(place: Place) throws {
        var page: PageNumber?
        let path = try makeFile(rowCount: place == .inNode ? 40 : 4_000) { forgery in
            guard place == .inNode else {
                let run = try #require(forgery.run(.column))
                forgery.edit(run) { Self.setEncoding(of: $0 + ClusterFormat.runWordOffset) }
                // Descriptors have the same first eight bytes, and then the reference, whose seal stands at the run's places.
                try #require(!run.places.isEmpty)
                forgery.bytes.withUnsafeMutableBytes { bytes in
                    for place in run.places { Self.setEncoding(of: bytes.baseAddress! + place - 16) }
                }
                page = PageNumber(run.page)
                return
            }
            let leaf = try #require(forgery.run(.clusterNode))
            var isDone = false
            forgery.edit(leaf) { node in
                let count = Int(node.loadUnaligned(fromByteOffset: ClusterFormat.columnCountOffset, as: UInt32.self))
                for column in 1..<count where !isDone {
                    let descriptor =
                        node + ClusterFormat.descriptorsOffset + column * ClusterFormat.descriptorByteCount
                    guard UInt64(descriptor.load(as: UInt8.self)) == ClusterFormat.locationInline else { continue }
                    Self.setEncoding(of: descriptor)
                    isDone = true
                }
            }
            try #require(isDone)
            page = PageNumber(leaf.page)
        }
        try expectUnreadable(path, .corrupt, naming: "has the encoding 9", page: page)
    }

    /// The highest four bits of the flags, the fourth byte of a descriptor.
    private static func setEncoding(of descriptor: UnsafeMutableRawPointer) {
        let flags = descriptor.load(fromByteOffset: 3, as: UInt8.self)
        descriptor.storeBytes(of: flags | 0x90, toByteOffset: 3, as: UInt8.self)
    }

    // MARK: Deleted rows

    /// What a node says of its bitmap of deleted rows.
    enum Bitmap: String, CaseIterable, Sendable {
        /// As a release to come may write it.
        case right
        case outside, inDescriptors, unaligned, onRowKeys, withoutPlace
        case manyRows, otherCount, beyondRows

        /// The place and the number of rows, and the bits.
        func fields(rowCount: Int) -> (place: UInt32, count: UInt32, bits: UInt64) {
            switch self {
            case .right: (4_088, 1, 1 << 3)
            case .outside: (1 << 20, 1, 0)
            case .inDescriptors: (64, 1, 0)
            case .unaligned: (4_085, 1, 1 << 3)
            case .onRowKeys: (40, 1, 0)
            case .withoutPlace: (0, 3, 0)
            case .manyRows: (4_088, UInt32(rowCount), (1 << UInt64(rowCount)) - 1)
            case .otherCount: (4_088, 5, 1 << 3)
            case .beyondRows: (4_088, 1, 1 << 63)
            }
        }
    }

    private func makeFile(_ bitmap: Bitmap, hasFeature: Bool) throws -> (path: String, page: PageNumber, rowCount: Int)
    {
        var page: PageNumber = 0
        var rowCount = 0
        let path = try makeFile { forgery in
            let leaf = try #require(forgery.run(.clusterNode))
            page = PageNumber(leaf.page)
            var isFree = false
            forgery.edit(leaf) { node in
                let rows = Int(node.loadUnaligned(fromByteOffset: ClusterFormat.rowCountOffset, as: UInt32.self))
                let (place, count, bits) = bitmap.fields(rowCount: rows)
                rowCount = rows
                isFree = rows < 63 && node.loadUnaligned(fromByteOffset: 4_080, as: UInt64.self) == 0
                isFree = isFree && node.loadUnaligned(fromByteOffset: 4_088, as: UInt64.self) == 0
                node.storeLittle(place, at: ClusterFormat.reservedDeletedRowsOffset)
                node.storeLittle(count, at: ClusterFormat.reservedDeletedRowsOffset + 4)
                if bits != 0 { node.storeLittle(bits, at: min(Int(place), 4_088)) }
            }
            try #require(isFree, "the bits would stand in another column")
            if hasFeature { forgery.editHeader { $0.features.incompatible = 1 << 2 } }
        }
        return (path, page, rowCount)
    }

    @Test(
        "Bits of deleted rows in a file that does not say so are damage that names its page",
        arguments: Bitmap.allCases
    )
    func undeclaredBitmap(bitmap: Bitmap) throws {
        let (path, page, rowCount) = try makeFile(bitmap, hasFeature: false)
        // Nor does the salvager take the node's rows as if none were gone.
        let damaged = try DamagedFile(path: path)
        let beginning = FileBeginning(version: damaged.roots[0].version)
        let salvaged = directory.path("salvaged.realm")
        _ = try StorageFile.build(at: salvaged, replaces: false, beginning: beginning) {
            let report = try Salvager.salvage(damaged, to: $0)
            #expect(!report.isComplete && report.damagedPages.contains(page))
        }
        let model = try ModelView(snapshot: Self.open(salvaged).beginRead())
        #expect(try model.table(named: "Item")?.count == 40 - rowCount)
        try expectUnreadable(path, .corrupt, naming: "a bitmap of deleted rows", page: page)
    }

    @Test("A file with bitmaps of deleted rows is refused by name, whatever they say", arguments: Bitmap.allCases)
    func bitmap(bitmap: Bitmap) throws {
        try expectRefusal(makeFile(bitmap, hasFeature: true).path, naming: "bitmaps of deleted rows")
    }
}

extension Forgery {
    /// Changes the entry of the only class in the catalog.
    fileprivate mutating func editClass(_ body: (UnsafeMutableRawBufferPointer) -> Void) throws {
        guard let root = catalog() else { throw CocoaError(.coderInvalidValue) }
        let isFound = bytes.withUnsafeMutableBytes { bytes -> Bool in
            let leaf = KeyedPage(UnsafeRawPointer(bytes.baseAddress! + Int(root.page) * pageByteCount))
            for index in 0..<leaf.count where leaf.isLeaf && leaf.prefixLength == 0 {
                let key = leaf.suffix(at: index)
                guard key.count == 5, key.start.load(as: UInt8.self) == CatalogKey.classSchema else { continue }
                let payload = UnsafeMutableRawPointer(mutating: leaf.payload(at: index))
                let count = Int(UInt16(littleEndian: payload.loadUnaligned(as: UInt16.self)))
                guard count != KeyedPage.overflowTag else { continue }
                body(UnsafeMutableRawBufferPointer(start: payload + 2, count: count))
                return true
            }
            return false
        }
        guard isFound else { throw CocoaError(.coderInvalidValue) }
    }
}
