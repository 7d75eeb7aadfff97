import RealmStorage

/// What a commit record says of the commit itself, before what it changed.
package struct RecordHeading: Sendable, Equatable {
    /// When the block committed, in milliseconds since 1970; never before the record before it.
    package var time: Int64
    /// Which commit it is.
    package var identity: CommitIdentity
    /// The number of commits that have changed the schema, this one included: the record fits on top of that schema only.
    package var schemaGeneration: UInt64
    /// What the writer gave with it.
    package var metadata: [UInt8]

    package init(
        time: Int64 = 0,
        identity: CommitIdentity = .none,
        schemaGeneration: UInt64 = 0,
        metadata: [UInt8] = []
    ) {
        self.time = time
        self.identity = identity
        self.schemaGeneration = schemaGeneration
        self.metadata = metadata
    }

    /// The heading of the record of a transaction, which knows the schema, and the time of the record before.
    func completed(for transaction: WriteTransaction) -> RecordHeading {
        var heading = self
        heading.time = max(time, LoggedCommit(of: transaction).newestRecordTime)
        heading.schemaGeneration = transaction.schemaGeneration
        return heading
    }

    func write(to writer: inout RecordWriter) {
        writer.write(signed: time)
        writer.write(fixed: identity.high)
        writer.write(fixed: identity.low)
        writer.write(schemaGeneration)
        metadata.withUnsafeBytes { writer.write(counted: $0) }
    }

    init(from reader: inout RecordReader) throws(StorageError) {
        time = try reader.signed()
        identity = CommitIdentity(high: try reader.fixed(UInt64.self), low: try reader.fixed(UInt64.self))
        schemaGeneration = try reader.number()
        metadata = Array(try reader.counted())
    }
}
