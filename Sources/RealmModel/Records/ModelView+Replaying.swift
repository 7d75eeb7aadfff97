import RealmStorage

/// Applying records, through the ordinary write path.
extension ModelView {
    /// Applies what a record of kind `changes` says inside the open transaction, which must have been begun to apply
    /// records (``WriteTransaction/recording``).
    ///
    /// What links change first, then rows go, then rows come: values of unique properties and keys may have been exchanged. Roll
    /// back after an error: a part may have been done.
    ///
    /// Values are taken as they are, but what no transaction can have left is refused: a set or a dictionary out of its order, in which
    /// nothing would be found, and a link to a row that is not there.
    ///
    /// - Throws: `StorageError` with the code `corrupt` when the content is not that of a record that was made on top of what
    ///   the transaction builds on.
    package func replayChanges(_ content: UnsafeRawBufferPointer) throws -> RecordHeading {
        precondition(transaction != nil, "Records are applied inside a transaction.")
        var reader = RecordReader(content)
        let heading = try RecordHeading(from: &reader)
        guard try reader.number() == schema.stamp else {
            throw RecordReader.damaged("it belongs to another schema.")
        }
        var tables: [ReplayedTable] = []
        var links = AwaitedLinks()
        for _ in 0..<(try reader.count()) {
            let next = try ReplayedTable(in: self, from: &reader)
            if let last = tables.last, last.table.id >= next.table.id {
                throw RecordReader.damaged("its tables do not ascend.")
            }
            tables.append(next)
            let properties = next.table.propertiesByColumn
            var key: Int64 = 0
            for _ in 0..<(try reader.count()) {
                key = key &+ Int64(bitPattern: try reader.number())
                try next.table.replayModification(of: key, properties, from: &reader, &links)
            }
        }
        // All of them give up their links before the first one goes: no list is searched for a row that goes with it.
        for item in tables where item.table.makesLinks {
            for run in item.deleted { for key in run { try item.table.replayRelease(of: key) } }
        }
        for item in tables {
            for run in item.deleted { for key in run { try item.table.replayDeletion(of: key) } }
        }
        for item in tables { try item.insertRows(from: &reader, &links) }
        try links.check()
        guard reader.isAtEnd else { throw RecordReader.damaged("something follows its end.") }
        return heading
    }
}

/// What a record says of a table, but for the values.
struct ReplayedTable {
    let table: TableView
    let nextKey: Int64
    let rowCount: Int
    let deleted: [Range<Int64>]
    let inserted: [Range<Int64>]

    init(in model: ModelView, from reader: inout RecordReader) throws {
        guard let id = UInt32(exactly: try reader.number()), let table = try model.table(id: id) else {
            throw RecordReader.damaged("it changes a class that is not there.")
        }
        self.table = table
        nextKey = try reader.key()
        rowCount = try reader.index()
        deleted = try reader.runs()
        inserted = try reader.runs()
        guard inserted.last.map({ $0.upperBound <= nextKey }) ?? true else {
            throw RecordReader.damaged("a row's key is above the next one.")
        }
    }

    /// Adds the new rows, and leaves the table as the record says that it was left.
    func insertRows(from reader: inout RecordReader, _ links: inout AwaitedLinks) throws {
        let properties = table.propertiesByColumn
        for run in inserted { for key in run { try table.replayInsertion(of: key, properties, from: &reader, &links) } }
        let writer = try table.openWriter()
        guard writer.rows.tree.nextKey <= nextKey else { throw RecordReader.damaged("its next row key was given out.") }
        writer.rows.skipKeys(to: nextKey)
        guard table.count == rowCount else { throw RecordReader.damaged("the number of rows is not what it was.") }
    }
}
