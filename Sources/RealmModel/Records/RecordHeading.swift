import RealmStorage

/// What a commit record says of the commit itself, before what it changed.
package struct RecordHeading: Sendable, Equatable {
    /// When the block committed, in milliseconds since 1970; never before the record before it.
    package var time: Int64
    /// What the writer gave with it.
    package var metadata: [UInt8]

    package init(time: Int64 = 0, metadata: [UInt8] = []) {
        self.time = time
        self.metadata = metadata
    }

    func write(to writer: inout RecordWriter) {
        writer.write(signed: time)
        metadata.withUnsafeBytes { writer.write(counted: $0) }
    }

    init(from reader: inout RecordReader) throws(StorageError) {
        time = try reader.signed()
        metadata = Array(try reader.counted())
    }
}
