/// What a transaction changed, as a commit record says it.
package struct TransactionRecord: Sendable {
    var kind: CommitRecord.Kind
    /// When it committed, in milliseconds since 1970.
    var time: Int64
    var content: [UInt8]

    package init(kind: CommitRecord.Kind, time: Int64 = 0, content: [UInt8]) {
        self.kind = kind
        self.time = time
        self.content = content
    }
}

/// What records have to do with a transaction.
package enum TransactionRecording: Sendable {
    /// Nothing: its commit is kept as pages.
    case pages
    /// Its changes become a commit record, for which what is done to large lists is noted.
    case record
    /// It applies commit records: row keys are those of the records then, whatever was given out since.
    case replay
}
