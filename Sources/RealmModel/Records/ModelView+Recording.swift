package import RealmStorage

/// Making the record of a transaction: effects as values, never causes.
extension ModelView {
    /// What the open transaction did so far, as the kind and the content of its record; nil where it can only be kept as pages.
    ///
    /// To be called before the transaction is sealed or joined, by whoever set ``WriteTransaction/recording`` at its
    /// beginning. A transaction that changed the schema is sealed for it. What the record of a schema tells is what differs from the
    /// version before: it has none where that is not the one that is read outside, or is not sealed.
    ///
    /// - Throws: `StorageError` when a row that was changed cannot be read, or the transaction can only be rolled back.
    /// - Complexity: O(*n*) in what changed; after a change of the schema in the rows of the tables that differ.
    package func record(_ heading: RecordHeading) throws -> (kind: CommitRecord.Kind, content: [UInt8])? {
        guard let transaction else { preconditionFailure("There is no transaction to record.") }
        try transaction.storage.checkCommit()
        let heading = heading.completed(for: transaction.storage)
        guard transaction.storage.changesSchema else {
            return try changes(of: transaction, heading, upTo: .max).map { (.changes, $0) }
        }
        guard canSealEarly, let base = transaction.outside?.snapshot,
            base.version == transaction.storage.version - 1
        else { return nil }
        return (.schema, try SchemaRecord.content(of: sealEarly(), since: base, heading))
    }

    /// Leaves the record of the open transaction to the storage, where that is of use: what changes the schema, or very much, is kept
    /// as pages.
    ///
    /// To be called as ``record(_:)``; the transaction is then committed or joined, or rolled back.
    ///
    /// - Parameter heading: What the record says of the commit.
    /// - Throws: As ``record(_:)``.
    package func keepRecord(_ heading: @autoclosure () -> RecordHeading) throws {
        guard let transaction else { preconditionFailure("There is no transaction to record.") }
        let limit = LoggedCommit(of: transaction.storage).contentByteLimit
        guard limit > 0 else { return }
        try transaction.storage.checkCommit()
        let heading = heading().completed(for: transaction.storage)
        transaction.storage.record = try changes(of: transaction, heading, upTo: limit)
            .map { TransactionRecord(kind: .changes, time: heading.time, content: $0) }
    }

    /// What a transaction changed in rows, as the content of a record of kind `changes`; nil where that would be longer than a limit.
    private func changes(
        of transaction: ModelTransaction,
        _ heading: RecordHeading,
        upTo limit: Int
    ) throws -> [UInt8]? {
        // Rows that were written take four bytes and more, and each is looked up.
        if transaction.storage.changes.rowCount > limit / 4 { return nil }
        var writer = RecordWriter()
        writer.limit = limit
        heading.write(to: &writer)
        writer.write(schema.stamp)
        let changes = transaction.changes
        // One that is as it was may give out another key next: those of rows that were rolled back are not given out again.
        let tables = transaction.touched.sorted { $0.id < $1.id }
        writer.write(tables.count)
        for table in tables { try table.record(changes.tables[table.id] ?? TableChanges(), to: &writer) }
        for table in tables {
            try table.recordRows(changes.tables[table.id]?.inserted ?? RowKeys(), to: &writer)
        }
        return writer.isTooLong ? nil : writer.bytes
    }
}

extension TableView {
    /// Writes what changed in the table.
    ///
    /// | what | form |
    /// |---|---|
    /// | table | its number |
    /// | next key | what the next row gets |
    /// | row count | after the commit |
    /// | deleted | runs of keys |
    /// | inserted | runs of keys |
    /// | modified | their number; per row the difference of its key to the one before, the number of columns that were written, for each its number and its value |
    func record(_ changes: TableChanges, to writer: inout RecordWriter) throws {
        writer.write(UInt64(id))
        writer.write(UInt64(bitPattern: nextKey))
        writer.write(count)
        writer.write(changes.deleted)
        writer.write(changes.inserted)
        writer.write(changes.modified.count)
        var previous: Int64 = 0
        for change in changes.modified {
            if writer.isTooLong { return }
            writer.write(UInt64(bitPattern: change.key &- previous))
            previous = change.key
            let location = try row(of: change.key)
            let columns = change.columns.columns
            writer.write(columns.count)
            for property in columns {
                writer.write(Int(slots[property].column))
                try recordValue(property, at: location, key: change.key, to: &writer)
            }
        }
    }

    /// Writes rows that are new with all that they hold: for each a bit for each physical column, set where the column is not as
    /// in a new row, at least one byte of them, and the values of these columns in their order.
    func recordRows(_ keys: RowKeys, to writer: inout RecordWriter) throws {
        let stored = (0..<schema.properties.count).filter { slots[$0].column >= 0 }
            .sorted {
                slots[$0].column < slots[$1].column
            }
        var mask = [UInt8](repeating: 0, count: schema.recordedMaskByteCount)
        for key in keys {
            if writer.isTooLong { return }
            let location = try row(of: key)
            for index in mask.indices { mask[index] = 0 }
            for property in stored {
                let column = Int(slots[property].column)
                if try !isInitial(property, at: location) { mask[column >> 3] |= 1 << UInt8(column & 7) }
            }
            mask.withUnsafeBytes { writer.write(raw: $0) }
            for property in stored {
                let column = Int(slots[property].column)
                guard mask[column >> 3] >> UInt8(column & 7) & 1 != 0 else { continue }
                try recordValue(property, at: location, key: key, to: &writer)
            }
        }
    }

    private func isInitial(_ property: Int, at location: RowLocation) throws(StorageError) -> Bool {
        guard slots[property].collection == .none else {
            return try column(property, in: location.leaf).bytes(location.row).isEmpty
        }
        return RecordValue.isInitial(try borrowedValue(property, at: location), slots[property])
    }

    /// Writes what a row holds of a property.
    private func recordValue(
        _ property: Int,
        at location: RowLocation,
        key: Int64,
        to writer: inout RecordWriter
    ) throws {
        let slot = slots[property]
        guard slot.collection != .none else {
            return RecordValue.write(
                try borrowedValue(property, at: location),
                of: slot.columnKind,
                to: &writer
            )
        }
        let list = try list(property, at: location, key: key)
        guard list.isLarge else {
            writer.write(byte: RecordValue.bytes)
            writer.write(counted: list.isEmpty ? .empty : try column(property, in: location.leaf).bytes(location.row))
            return
        }
        if key < firstNewKey, let splices = model.transaction?.splices[place(property, key)], !splices.isWhole,
            splices.writer.bytes.count < list.byteCount
        {
            writer.write(byte: RecordValue.splices)
            writer.write(splices.count)
            splices.writer.bytes.withUnsafeBytes { writer.write(raw: $0) }
            return
        }
        // It is gone over to its end.
        guard writer.hasRoom(for: list.byteCount) else { return }
        writer.write(byte: RecordValue.largeList)
        writer.write(list.count)
        let elements = slot.elements
        try list.forEach(in: nil) { _, value in
            try ListFormat.withElement(
                value,
                width: ListFormat.width(of: elements.kind),
                isOptional: elements.isOptional
            ) { (bytes) throws(StorageError) in writer.write(counted: bytes) }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// No bytes.
    static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}
