/// What the commits of a realm are counted by; goes on in copies and in compacted files.
package struct CommitNumbers: Sendable, Hashable {
    /// The number of the newest commit record: goes up by one with each committed block that changed something.
    package var position: UInt64
    /// Goes up by one with each commit that changed the schema.
    package var schemaGeneration: UInt64

    /// When the block of the newest commit record committed, in milliseconds since 1970; 0 before there was one.
    package var recordTime: Int64

    package init(position: UInt64 = 0, schemaGeneration: UInt64 = 0, recordTime: Int64 = 0) {
        self.position = position
        self.schemaGeneration = schemaGeneration
        self.recordTime = recordTime
    }
}
