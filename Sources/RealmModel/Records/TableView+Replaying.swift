import RealmStorage

/// Applying what a record says of rows: below the rules. Nothing is decided here, so no delete rule, default, or generator takes
/// part, and no value is refused but one that cannot be stored.
extension TableView {
    /// Puts values of a row that is there into its properties.
    func replayModification(
        of key: Int64,
        _ properties: [Int],
        from reader: inout RecordReader,
        _ links: inout AwaitedLinks
    ) throws {
        guard key >= 0, try locate(key) != nil, key < nextKey else {
            throw RecordReader.damaged("it changes a row that is not there.")
        }
        for _ in 0..<(try reader.count()) {
            let column = try reader.index()
            guard column < properties.count, properties[column] >= 0, !slots[properties[column]].isPrimaryKey else {
                throw RecordReader.damaged("it changes a property that is not there.")
            }
            let property = properties[column]
            try replay(try RecordedValue(of: slots[property], from: &reader), property, key: key, &links)
        }
    }

    /// Lets a row that is to be taken away give up its links.
    func replayRelease(of key: Int64) throws {
        guard try contains(key: key) else { throw RecordReader.damaged("it deletes a row that is not there.") }
        try releaseLinks(of: key)
    }

    /// Takes a row away: what linked to it has been told what it holds now.
    func replayDeletion(of key: Int64) throws {
        guard try contains(key: key) else { throw RecordReader.damaged("it deletes a row that is not there.") }
        guard try !hasBacklinks(to: key) else {
            throw RecordReader.damaged("it deletes a row that another one links to.")
        }
        try discard(key: key)
    }

    /// Adds a row with all that it holds; `properties` are the table's ``propertiesByColumn``.
    func replayInsertion(
        of key: Int64,
        _ properties: [Int],
        from reader: inout RecordReader,
        _ links: inout AwaitedLinks
    ) throws {
        let mask = try reader.raw(schema.recordedMaskByteCount)
        var values: [(property: Int, value: RecordedValue)] = []
        var primaryKey: StoredValue?
        if let ordinal = schema.primaryKeyOrdinal { primaryKey = initialValue(of: slots[ordinal]) }
        for (column, property) in properties.enumerated() where mask[column >> 3] >> UInt8(column & 7) & 1 != 0 {
            guard property >= 0 else {
                throw RecordReader.damaged("it has a value for a property that is not there.")
            }
            let value = try RecordedValue(of: slots[property], from: &reader)
            if slots[property].isPrimaryKey, case .single(let value) = value {
                try require(value, slots[property], property, of: key)
                primaryKey = StoredValue(value, kind: slots[property].kind)
            } else {
                values.append((property, value))
            }
        }
        let writer = try openWriter()
        guard key >= writer.rows.tree.nextKey else { throw RecordReader.damaged("it gives a row key out again.") }
        writer.rows.skipKeys(to: key)
        do {
            guard try insert(primaryKey: primaryKey) == key else {
                throw RecordReader.damaged("a row gets another key than it had.")
            }
        } catch is ModelError {
            throw RecordReader.damaged("two rows have the same primary key.")
        }
        for item in values { try replay(item.value, item.property, key: key, &links) }
    }

    /// What a primary key is in a new row.
    private func initialValue(of slot: PropertySlot) -> StoredValue {
        if slot.isNullable { return .null }
        switch slot.kind {
        case .int: return .int(0)
        case .objectId: return .objectId(ObjectIDBytes(high: 0, low: 0))
        case .uuid: return .uuid(UUIDBytes(high: 0, low: 0))
        default: return .string("")
        }
    }

    /// The property that each physical column belongs to; -1 where there is none.
    var propertiesByColumn: [Int] {
        var properties = [Int](repeating: -1, count: schema.columnLayouts.count)
        for property in schema.properties.indices where slots[property].column >= 0 {
            properties[Int(slots[property].column)] = property
        }
        return properties
    }
}
