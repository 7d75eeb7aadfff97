import OrderedCollections
package import RealmStorage

/// The record of a transaction that changed the schema, told by result.
///
/// The tables that it changed are told as a whole.
///
/// | what | form |
/// |---|---|
/// | heading | as in every record |
/// | base | the stamp of the schema that it was made on top of |
/// | the database | layout, next table number, schema version, stamp, first row key of the next table |
/// | classes | their number; for each, ascending: the table's number, and 0 where it is as it was, or 1, the stored form of the class behind its length, the next row key, the number of rows, and their keys as runs |
/// | rows | of each table with a 1, as those that a record of kind `changes` adds |
package enum SchemaRecord {
    /// What a transaction that changed the schema did.
    ///
    /// - Parameters:
    ///   - transaction: The transaction, everything of it sealed into its catalog.
    ///   - base: The version that it was begun on.
    ///   - heading: What the record says of the commit.
    /// - Returns: The content of a record of kind `schema`.
    /// - Throws: `StorageError` when a row or a class cannot be read.
    /// - Complexity: O(*n*) in the rows of the tables that were changed.
    package static func content(
        of transaction: WriteTransaction,
        since base: Snapshot,
        _ heading: RecordHeading
    ) throws -> [UInt8] {
        let model = try ModelView(transaction: transaction)
        let before = try ModelView(snapshot: base)
        var writer = RecordWriter()
        heading.completed(for: transaction).write(to: &writer)
        writer.write(before.schema.stamp)
        let entry = try DatabaseEntry(in: transaction.catalog, view: transaction.view) ?? DatabaseEntry()
        writer.write(UInt64(DatabaseEntry.layout))
        writer.write(UInt64(entry.nextTableID))
        writer.write(entry.schemaVersion)
        writer.write(entry.stamp)
        writer.write(UInt64(bitPattern: entry.firstRowKey))
        let classes = model.schema.classes.values.sorted { $0.tableID < $1.tableID }
        writer.write(classes.count)
        var changed: [(table: TableView, keys: RowKeys)] = []
        for schema in classes {
            guard let table = try model.table(id: schema.tableID) else { throw TableEntry.damaged(schema) }
            writer.write(UInt64(schema.tableID))
            let storedBytes = model.schema.storedBytes(of: schema)
            if before.schema.schema(of: schema.tableID).map(before.schema.storedBytes(of:)) == storedBytes,
                let old = try before.table(id: schema.tableID), old.clusters.root == table.clusters.root,
                old.nextKey == table.nextKey
            {
                writer.write(byte: 0)
                continue
            }
            writer.write(byte: 1)
            storedBytes.withUnsafeBytes { writer.write(counted: $0) }
            writer.write(UInt64(bitPattern: table.nextKey))
            writer.write(table.count)
            let keys = RowKeys(try table.allKeys())
            writer.write(keys)
            changed.append((table, keys))
        }
        for item in changed { try item.table.recordRows(item.keys, to: &writer) }
        return writer.bytes
    }

    /// Applies what a record of kind `schema` says in a transaction of its own, begun to apply records
    /// (``WriteTransaction/recording``); the caller commits it, or rolls it back after an error.
    ///
    /// - Throws: `StorageError` with the code `corrupt` when the content is not that of a record that was made on top of what
    ///   the transaction builds on.
    package static func replay(
        _ content: UnsafeRawBufferPointer,
        in transaction: WriteTransaction
    ) throws -> RecordHeading {
        var reader = RecordReader(content)
        let heading = try RecordHeading(from: &reader)
        let base = try DatabaseEntry(in: transaction.catalog, view: transaction.view) ?? DatabaseEntry()
        guard try reader.number() == base.stamp else { throw RecordReader.damaged("it belongs to another schema.") }
        var entry = DatabaseEntry()
        // The key of the hashes is the file's own: its indexes are made here.
        entry.indexKey = base.indexKey
        if entry.indexKey == .none { entry.indexKey = .random() }
        guard try reader.number() == UInt64(DatabaseEntry.layout),
            let nextTableID = UInt32(exactly: try reader.number())
        else { throw RecordReader.damaged("the database's entry cannot be.") }
        entry.nextTableID = nextTableID
        entry.schemaVersion = try reader.number()
        entry.stamp = try reader.number()
        entry.noteRowKeys(before: try reader.key())
        let before = try ModelView(transaction: transaction)
        let classes = try classes(from: &reader, on: before.schema)
        let kept = Set(classes.lazy.filter { $0.schema == nil }.map(\.tableID))
        let isOther = try before.dropTables(keeping: kept, in: transaction) || kept.count < classes.count
        // Whoever knows a stamp does not read the schema again, so that none comes twice.
        guard isOther ? entry.stamp > base.stamp : entry.stamp >= base.stamp, entry.stamp <= transaction.version else {
            throw RecordReader.damaged("its schema has the stamp of another one.")
        }
        for item in classes {
            guard let schema = item.schema else { continue }
            try CatalogKey.store(schema.storedBytes, CatalogKey.classSchema, schema.tableID, in: transaction)
        }
        try entry.store(in: transaction)
        let database = try DatabaseSchema(in: transaction.catalog, view: transaction.view) ?? .empty
        for item in classes { if let schema = item.schema { try item.makeTable(schema, in: database, transaction) } }
        let model = try ModelView(transaction: transaction)
        var links = AwaitedLinks()
        for item in classes {
            guard item.schema != nil, let table = try model.table(id: item.tableID) else { continue }
            let properties = table.propertiesByColumn
            for run in item.inserted {
                for key in run { try table.replayInsertion(of: key, properties, from: &reader, &links) }
            }
            guard table.count == item.rowCount else {
                throw RecordReader.damaged("the number of rows is not what it was.")
            }
            try table.openWriter().rows.skipKeys(to: item.nextKey)
        }
        guard reader.isAtEnd else { throw RecordReader.damaged("something follows its end.") }
        try links.check()
        for id in kept { try model.table(id: id)?.requireTargets(outside: kept) }
        do {
            try model.checkUniqueness()
        } catch is ModelError {
            throw RecordReader.damaged("two rows have the same unique value.")
        }
        try model.sealTables()
        return heading
    }

    private static func classes(
        from reader: inout RecordReader,
        on base: DatabaseSchema
    ) throws(StorageError) -> [RecordedClass] {
        var classes: [RecordedClass] = []
        for _ in 0..<(try reader.count()) {
            let next = try RecordedClass(from: &reader)
            if let last = classes.last, last.tableID >= next.tableID {
                throw RecordReader.damaged("its classes do not ascend.")
            }
            guard next.schema != nil || base.schema(of: next.tableID) != nil else {
                throw RecordReader.damaged("a class that it leaves as it was is not there.")
            }
            classes.append(next)
        }
        return classes
    }
}

extension ModelView {
    /// Takes away the tables that are gone or come anew.
    ///
    /// - Returns: Whether there are any.
    fileprivate func dropTables(keeping kept: Set<UInt32>, in transaction: WriteTransaction) throws -> Bool {
        let dropped = schema.classes.values.map(\.tableID).filter { !kept.contains($0) }
        for id in dropped { try table(id: id)?.clear() }
        try sealTables()
        for id in dropped {
            try CatalogKey.remove(CatalogKey.classSchema, id, in: transaction)
            try CatalogKey.remove(CatalogKey.table, id, in: transaction)
        }
        return !dropped.isEmpty
    }
}
