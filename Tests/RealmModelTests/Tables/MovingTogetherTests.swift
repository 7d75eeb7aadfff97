import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmModel

@Suite("A view that goes where another one stands for good")
struct MovingTogetherTests {
    private let directory = TemporaryDirectory()
    private let file: StorageFile
    /// Versions with one row more each, of either class.
    private let versions: [Snapshot]

    init() throws {
        var options = StorageOptions()
        options.durability = .none
        file = try StorageFile.open(path: directory.path("test.realm"), options: options)
        let classes = ["Item", "Other"]
            .map { name in
                ClassSchema(name: name, properties: [PropertySchema(name: "id", kind: .int, isPrimaryKey: true)])
            }
        try TestDatabase.reconcile(DatabaseSchema(classes: classes, version: 1), in: file)
        versions = try Self.versions(of: file, classes.map(\.name))
    }

    private static func versions(of file: StorageFile, _ names: [String]) throws -> [Snapshot] {
        let model = try ModelView(snapshot: file.beginRead())
        var versions = [try file.beginRead()]
        for id in 0..<2 {
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            try model.begin(file.beginWrite())
            for name in names {
                _ = try #require(try model.table(named: name)).insert(intPrimaryKey: Int64(id))
            }
            try file.publish([try model.prepareCommit()])
            try model.endTransaction(advancingTo: file.beginRead())
            versions.append(try file.beginRead())
        }
        return versions
    }

    /// Where a table keeps its trees in memory.
    private func place(_ table: TableView) -> UnsafePointer<ByteTree>? {
        table.roots.trees.withUnsafeBufferPointer(\.baseAddress)
    }

    @Test("reads what that has read, and nothing anew")
    func together() throws {
        let there = try ModelView(snapshot: versions[2])
        let table = try #require(try there.table(named: "Item"))
        let moving = try ModelView(snapshot: versions[0])
        let item = try #require(try moving.table(named: "Item"))
        let before = moving.generation.pointee
        try moving.advance(to: versions[2], as: there)
        #expect(place(item) == place(table))
        #expect(item.count == 2)
        #expect(moving.generation.pointee != before)
        #expect(moving.version == versions[2].version)
        // A table that is asked for later is of that version, too.
        #expect(try moving.table(named: "Other")?.count == 2)
    }

    @Test("reads for itself what that has not open, or where it stands elsewhere")
    func alone() throws {
        let there = try ModelView(snapshot: versions[2])
        _ = try there.table(named: "Item")
        let moving = try ModelView(snapshot: versions[0])
        let tables = try ["Item", "Other"].map { try #require(try moving.table(named: $0)) }
        try moving.advance(to: versions[1], as: there)
        #expect(tables.map(\.count) == [1, 1])
        try moving.advance(to: versions[2], as: there)
        #expect(tables.map(\.count) == [2, 2])
    }
}
