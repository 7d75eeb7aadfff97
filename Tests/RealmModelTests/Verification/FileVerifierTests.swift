import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// Pages with wrong content and right checksums: `verify` finds them.
@Suite struct FileVerifierTests {
    private let sample: SampleDatabase

    init() throws {
        sample = try SampleDatabase()
    }

    /// Edits one run of a kind, seals everything again, and expects the verification to fail.
    private func expectDamage(
        _ kind: PageKind,
        _ name: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ edit: @escaping (UnsafeMutableRawPointer) -> Bool
    ) throws {
        let target = sample.directory.path("\(name).realm")
        var isDone = false
        let count = try PageEditor(path: sample.path)
            .reseal(to: target) { found, _, page in
                guard !isDone, found == kind, edit(page) else { return false }
                isDone = true
                return true
            }
        try #require(count == 1, "there is no such run", sourceLocation: sourceLocation)
        let error = #expect(throws: StorageError.self, sourceLocation: sourceLocation) {
            try FileVerifier.verify(StorageFile.open(path: target).beginRead())
        }
        #expect(error?.code == .corrupt, sourceLocation: sourceLocation)
    }

    private func word(_ page: UnsafeMutableRawPointer, _ offset: Int) -> UInt64 {
        page.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    private func store(_ value: UInt64, _ page: UnsafeMutableRawPointer, _ offset: Int) {
        page.storeBytes(of: value, toByteOffset: offset, as: UInt64.self)
    }

    @Test func `what is only sealed again is found in order`() throws {
        let target = sample.directory.path("same.realm")
        #expect(try PageEditor(path: sample.path).reseal(to: target) { _, _, _ in false } == 0)
        var calls = 0
        var last = (0, 0)
        try FileVerifier.verify(StorageFile.open(path: target).beginRead()) {
            calls += 1
            last = ($0, $1)
        }
        #expect(calls > 10 && last.0 <= last.1 && last.0 > last.1 / 2, "\(last)")
    }

    @Test func `a key in an index that no row has`() throws {
        try expectDamage(.byteTreeLeaf, "index-key") { page in
            // The last byte of the heap belongs to the first entry that was inserted: its row key, or a value.
            let count = Int(page.loadUnaligned(fromByteOffset: 18, as: UInt16.self))
            guard count > 20 else { return false }
            page.storeBytes(
                of: page.load(fromByteOffset: 4093, as: UInt8.self) ^ 0x5A,
                toByteOffset: 4093,
                as: UInt8.self
            )
            return true
        }
    }

    @Test func `an inner page that counts wrongly`() throws {
        try expectDamage(.byteTreeInner, "index-count") { page in
            let slot = word(page, 32 + Int(page.loadUnaligned(fromByteOffset: 24, as: UInt16.self)))
            let offset = Int(slot & 0xFFFF) + Int(slot >> 16 & 0xFFFF) + 16
            store(word(page, offset) + 1, page, offset)
            return true
        }
    }

    @Test func `a cluster with another first key`() throws {
        try expectDamage(.clusterNode, "first-key") { page in
            store(word(page, 40) + 1, page, 40)
            return true
        }
    }

    @Test func `a column whose bounds hide values from queries`() throws {
        try expectDamage(.clusterNode, "bounds") { page in
            let columns = Int(page.loadUnaligned(fromByteOffset: 36, as: UInt32.self))
            for column in 1..<columns {
                let descriptor = 64 + column * 40
                guard page.load(fromByteOffset: descriptor, as: UInt8.self) == 1,
                    page.load(fromByteOffset: descriptor + 1, as: UInt8.self) == 0,
                    page.load(fromByteOffset: descriptor + 2, as: UInt8.self) > 0
                else { continue }
                store(word(page, descriptor + 32) - 1, page, descriptor + 32)
                return true
            }
            return false
        }
    }

    @Test func `an inner node that counts rows wrongly, or names another first key`() throws {
        for (name, offset) in [("ends", 1048), ("keys", 40)] {
            try expectDamage(.clusterInner, "inner-\(name)") { page in
                store(word(page, offset) - 1, page, offset)
                return true
            }
        }
    }

    @Test func `a value that its index does not know`() throws {
        try expectDamage(.column, "value") { page in
            // A bytes column, and there the last character of the first names.
            guard page.load(fromByteOffset: 33, as: UInt8.self) == 5 else { return false }
            let rows = Int(page.loadUnaligned(fromByteOffset: 40, as: UInt32.self))
            let width = Int(page.load(fromByteOffset: 34, as: UInt8.self))
            guard width == 2 else { return false }
            let heap = 64 + (rows + 1) * width
            page.storeBytes(of: UInt8(ascii: "!"), toByteOffset: heap + 6, as: UInt8.self)
            return true
        }
    }

    @Test func `a run that contradicts the descriptor of its column`() throws {
        try expectDamage(.column, "run-bounds") { page in
            guard page.load(fromByteOffset: 33, as: UInt8.self) == 2 else { return false }
            store(Double(-5).bitPattern, page, 48)
            return true
        }
    }

    @Test func `a list whose pages count wrongly`() throws {
        try expectDamage(.sequenceInner, "sequence") { page in
            store(word(page, 48) - 1, page, 48)
            return true
        }
    }

    @Test(arguments: [PageKind.byteTreeLeaf, .clusterNode, .column, .overflow, .sequenceLeaf])
    func `a page from the future`(kind: PageKind) throws {
        try expectDamage(kind, "future-\(kind)") { page in
            store(1 << 40, page, 8)
            return true
        }
    }

    @Test(arguments: 0..<4)
    func `a damaged copy of the header`(page: Int) throws {
        let target = sample.directory.path("header-\(page).realm")
        try FileManager.default.copyItem(atPath: sample.path, toPath: target)
        // Opening would replace a copy of the mark.
        let file = try StorageFile.open(path: target)
        try PageEditor(path: target).damage(page: PageNumber(page))
        let error = #expect(throws: StorageError.self) { try FileVerifier.verify(file.beginRead()) }
        #expect(error?.page == PageNumber(page))
    }

    @Test func `a page that was right when it was first read and is damaged now`() throws {
        let target = sample.directory.path("later.realm")
        try FileManager.default.copyItem(atPath: sample.path, toPath: target)
        let file = try StorageFile.open(path: target)
        try FileVerifier.verify(file.beginRead())
        let run = try #require(try sample.runs()[.column]?.first)
        try PageEditor(path: target).damage(page: run.page, at: 3_000)
        let error = #expect(throws: StorageError.self) { try FileVerifier.verify(file.beginRead()) }
        #expect(error?.page == run.page)
    }

    /// Queries skip a cluster by its bounds.
    @Test func `a value below or above the bounds of its column is told`() throws {
        let database = try TestDatabase([
            ClassSchema(
                name: "Point",
                properties: [PropertySchema(name: "x", kind: .float), PropertySchema(name: "y", kind: .double)]
            )
        ])
        try database.write { _ in
            let points = try database.table("Point")
            for number in 1...3 {
                let key = try points.insert()
                try points.set("x", key, .float(Float(number) + 0.3))
                try points.set("y", key, .double(Double(number) + 0.3))
            }
        }
        let editor = PageEditor(path: database.directory.path("test.realm"))
        for column in [1, 2] {
            for (offset, bound) in [
                (ClusterFormat.descriptorMinimumOffset, 2.0), (ClusterFormat.descriptorMaximumOffset, 3.0),
            ] {
                let path = database.directory.path("bounds-\(column)-\(offset).realm")
                let place = ClusterFormat.descriptorsOffset + column * ClusterFormat.descriptorByteCount + offset
                let edits = try editor.reseal(to: path) { kind, _, page in
                    guard kind == .clusterNode else { return false }
                    page.storeBytes(of: bound, toByteOffset: place, as: Double.self)
                    return true
                }
                #expect(edits == 1)
                let error = #expect(throws: StorageError.self) {
                    try FileVerifier.verify(StorageFile.open(path: path).beginRead())
                }
                #expect(error?.message.contains("outside of its bounds") == true, "column \(column), \(offset)")
            }
        }
    }
}
