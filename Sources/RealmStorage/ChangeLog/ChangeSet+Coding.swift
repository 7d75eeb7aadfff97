extension ChangeSet {
    /// Appends the change set in the form of the space record; `Docs/FileFormat.md` draws it.
    func encode(into writer: inout ByteWriter) {
        writer.write(tables.count)
        if tables.count == 1, let (id, changes) = tables.first {
            ChangeSet.encode(changes, of: id, into: &writer)
        } else {
            for (id, changes) in tables.sorted(by: { $0.key < $1.key }) {
                ChangeSet.encode(changes, of: id, into: &writer)
            }
        }
    }

    private static func encode(_ changes: TableChanges, of id: UInt32, into writer: inout ByteWriter) {
        writer.write(id)
        encodeKeys(changes.inserted, into: &writer)
        encodeKeys(changes.deleted, into: &writer)
        writer.write(changes.modified.count)
        var previous: Int64 = 0
        for change in changes.modified {
            writer.write(UInt64(bitPattern: change.key &- previous))
            previous = change.key
            writer.write(1 + change.columns.high.count)
            writer.write(change.columns.low)
            for word in change.columns.high { writer.write(word) }
        }
    }

    /// Reads what `encode(into:)` wrote.
    init(from reader: inout ByteReader) throws(ByteReader.Truncated) {
        for _ in 0..<(try reader.count()) {
            let id = try reader.number32()
            var changes = TableChanges()
            changes.inserted = try ChangeSet.decodeKeys(&reader)
            changes.deleted = try ChangeSet.decodeKeys(&reader)
            var previous: Int64 = 0
            for _ in 0..<(try reader.count()) {
                previous = previous &+ Int64(bitPattern: try reader.number())
                var columns = ColumnSet()
                let words = try reader.count()
                for index in 0..<words {
                    let word = try reader.number()
                    if index == 0 { columns.low = word } else { columns.high.append(word) }
                }
                changes.modified.append(TableChanges.Modification(key: previous, columns: columns))
            }
            tables[id] = changes
        }
    }

    /// Ascending keys as runs: gap from the end of the run before, then length.
    private static func encodeKeys(_ keys: RowKeys, into writer: inout ByteWriter) {
        writer.write(keys.runCount)
        var previous: Int64 = 0
        for index in 0..<keys.runCount {
            let run = keys.run(index)
            writer.write(UInt64(bitPattern: run.lowerBound &- previous))
            writer.write(UInt64(run.count))
            previous = run.upperBound
        }
    }

    private static func decodeKeys(_ reader: inout ByteReader) throws(ByteReader.Truncated) -> RowKeys {
        var keys = RowKeys()
        var previous: Int64 = 0
        for _ in 0..<(try reader.count()) {
            let first = previous &+ Int64(bitPattern: try reader.number())
            let count = try reader.number()
            // A run is never longer than the rows of a table, and a table's rows never reach 2^40.
            guard count > 0, count < 1 << 40, keys.count < 1 << 40, keys.isEmpty || first > previous else {
                throw ByteReader.Truncated()
            }
            previous = first &+ Int64(count)
            guard previous > first else { throw ByteReader.Truncated() }
            keys.append(first..<previous)
        }
        return keys
    }
}
