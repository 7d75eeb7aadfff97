import RealmStorage
import RealmTestSupport
import Testing

/// A file with one table, which the tests keep outside of the catalog.
final class TableFixture {
    let directory = TemporaryDirectory()
    let file: StorageFile
    var tree = ClusterTree()
    var columns: [ColumnLayout]

    /// Opens a new file; `reservedByteCount` is the most that it may become, nil for what every file may.
    init(columns: [ColumnLayout], reservedByteCount: Int? = nil) throws {
        self.columns = columns
        var options = StorageOptions()
        options.durability = .none
        options.reservedByteCount = reservedByteCount
        options.invariantWasBroken = { Issue.record("A structure is broken: \($0)") }
        options.invariantScope = .whole
        file = try StorageFile.open(path: directory.path("table.realm"), options: options)
        _ = try file.tryLockForWriting()
    }

    deinit {
        file.unlockForWriting()
    }

    /// Writes in a transaction of its own and commits it.
    @discardableResult
    func write(
        openByteLimit: Int = 24 << 20,
        unspilledPageLimit: Int = 8192,
        _ body: (ClusterWriter) throws -> Void
    ) throws -> Snapshot {
        let transaction = try file.beginWrite()
        transaction.unspilledPageLimit = unspilledPageLimit
        let writer = ClusterWriter(
            tree: tree,
            columns: columns,
            transaction: transaction,
            openByteLimit: openByteLimit
        )
        try body(writer)
        #if DEBUG
        try writer.checkInvariants()
        #endif
        tree = try writer.seal()
        #if DEBUG
        try writer.checkInvariants()
        #endif
        try file.publish([try transaction.prepareCommit()])
        return try file.beginRead()
    }

    /// Every page of the file is the table's, the engine's or free.
    func audit(_ snapshot: Snapshot) throws {
        var audit = try SpaceAudit(snapshot)
        try tree.forEachPage(in: snapshot.view) { (reference) throws(StorageError) in try audit.enter(reference) }
        try audit.finish()
    }
}

let everyLayout: [ColumnLayout] = ColumnKind.allCases.flatMap {
    [ColumnLayout(kind: $0), ColumnLayout(kind: $0, isNullable: true)]
}
