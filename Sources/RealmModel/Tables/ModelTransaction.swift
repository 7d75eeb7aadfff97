package import RealmStorage

/// What a model view needs while it is in a write transaction.
package final class ModelTransaction {
    /// The storage's transaction: rows, indexes and the catalog are written through it.
    package let storage: WriteTransaction
    /// The tables that are kept open from transaction to transaction.
    let session: ModelSession
    /// What is read again when it ends; nil when there is nothing.
    @exclusivity(unchecked) var outside: Outside?
    /// The tables with an open writer, in the order in which they were first written.
    @exclusivity(unchecked) var touched: [TableView] = []
    /// Whether the session may hold roots that it sealed: a rollback leaves nothing of the session then.
    @exclusivity(unchecked) var isSealing = false
    /// The large lists that were read or changed, by place.
    @exclusivity(unchecked) var sequences: [SequencePlace: OpenSequence] = [:]
    /// What was done to large lists, by place, while the transaction is recorded.
    @exclusivity(unchecked) var splices: [SequencePlace: ListSplices] = [:]
    /// Whether `prepareCommit` was called.
    @exclusivity(unchecked) var isPrepared = false
    /// Room for two keys, for the operation that is running.
    var keyBuffer: UnsafeMutableRawPointer { session.keyBuffer }
    var otherKeyBuffer: UnsafeMutableRawPointer { session.otherKeyBuffer }
    /// Room for an encoded small list, for the operation that is running.
    var listBuffer: UnsafeMutableRawPointer { session.listBuffer }

    init(storage: WriteTransaction, session: ModelSession) {
        self.storage = storage
        self.session = session
    }

    /// What is read outside the transaction.
    struct Outside {
        let snapshot: Snapshot
        /// Its schema, when that is not the transaction's.
        var schema: DatabaseSchema?
    }

    /// What the transaction changed so far, by table and property ordinal.
    package var changes: ChangeSet { storage.changes.changeSet }

    /// Where a large list belongs.
    struct SequencePlace: Hashable {
        let table: UInt32
        let property: Int32
        let key: Int64
    }

    /// A large list that the transaction changed; its row holds the old root until the commit.
    final class OpenSequence {
        var tree: SequenceTree
        var count: Int
        /// The sum of the elements' encoded lengths.
        var byteCount: Int
        #if DEBUG
        /// For checks: whether `count` was what stands in the sequence when it was opened, and `byteCount` too.
        var isCounted: Bool
        var isMeasured: Bool
        #endif

        init(tree: SequenceTree = SequenceTree(), count: Int = 0, byteCount: Int = 0) {
            self.tree = tree
            self.count = count
            self.byteCount = byteCount
            #if DEBUG
            isCounted = tree.isEmpty && count == 0
            isMeasured = isCounted && byteCount == 0
            #endif
        }
    }
}
