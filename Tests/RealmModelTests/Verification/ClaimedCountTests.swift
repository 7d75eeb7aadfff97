import Foundation
import RealmTestSupport
import Testing

@testable import RealmModel
@testable import RealmStorage

/// A file with a hole behind its pages, which costs nothing, has room for as many rows and elements as a stranger claims.
@Suite struct ClaimedCountTests {
    private static let pageCount: UInt32 = 1 << 28
    private static let claim = 1 << 37

    private let directory = TemporaryDirectory()

    /// A file whose table claims so many rows, or a large list so many elements.
    private func forge(_ name: String, _ tell: (inout Forgery) throws -> Void) throws -> String {
        var forgery = Forgery(try HostileRealm.make(at: directory.path("base-" + name)))
        try tell(&forgery)
        forgery.editSpace { $0.pageCount = Self.pageCount }
        forgery.editHeader { $0.pageCount = UInt64(Self.pageCount) }
        let path = directory.path(name)
        try Data(forgery.sealed()).write(to: URL(fileURLWithPath: path))
        try #require(truncate(path, Int(Self.pageCount) * pageByteCount) == 0)
        return path
    }

    private func reference(_ run: HostileFile.Run) -> PageReference {
        PageReference(page: PageNumber(run.page), pageCount: UInt32(run.pageCount), checksum: run.checksum)
    }

    private func model(_ path: String) throws -> ModelView {
        try ModelView(snapshot: StorageFile.open(path: path).beginRead())
    }

    @Test func `rows that are claimed and not there take no memory`() throws {
        let path = try forge("rows.realm") { forgery in
            let leaf = try #require(forgery.run(.clusterNode))
            let child = reference(leaf)
            let top = forgery.add(.clusterInner, level: 1) { page in
                page.storeLittle(UInt16(1), at: PageHeader.entryCountOffset)
                page.storeLittle(Int64(0), at: ClusterFormat.innerKeysOffset)
                page.storeLittle(Int64(Self.claim), at: ClusterFormat.innerEndsOffset)
                child.store(to: page + ClusterFormat.innerReferencesOffset)
            }
            forgery.replace(leaf, by: top)
            forgery.setRowCount(Int64(Self.claim), nextKey: Int64(Self.claim))
        }
        let model = try model(path)
        let items = try #require(try model.table(named: "Item"))
        try #require(items.count == Self.claim)
        #expect(try items.allKeys().count == 40)
        #expect(throws: StorageError.self) { try items.requireCounts() }
        withExtendedLifetime(model) {}
    }

    @Test func `elements that are claimed and not there take no memory`() throws {
        let path = try forge("elements.realm") { forgery in
            let leaf = try #require(forgery.run(.sequenceLeaf))
            let child = reference(leaf)
            let top = forgery.add(.sequenceInner, level: 1) { page in
                page.storeLittle(UInt16(1), at: PageHeader.entryCountOffset)
                child.store(to: page + SequenceInner.offset(0))
                page.storeLittle(UInt64(Self.claim), at: SequenceInner.offset(0) + PageReference.byteCount)
            }
            forgery.replace(leaf, by: top)
            forgery.setListCounts(to: UInt64(Self.claim))
        }
        let model = try model(path)
        let items = try #require(try model.table(named: "Item"))
        let numbers = items.ordinal("numbers")
        var claims = 0
        for key in try items.allKeys() {
            guard let list = try? items.list(numbers, key: key), list.count == Self.claim else { continue }
            claims += 1
            let error = #expect(throws: StorageError.self) { try list.values() }
            #expect(error?.code == .corrupt)
        }
        #expect(claims > 0)
        withExtendedLifetime(model) {}
    }
}
