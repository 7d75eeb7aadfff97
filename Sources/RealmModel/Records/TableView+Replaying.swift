import RealmStorage

/// Applying what a record says of rows: below the rules. Nothing is decided here, so no delete rule, default, or generator takes
/// part, and no value is refused but one that cannot be stored.
extension TableView {
    /// Puts values of a row that is there into its properties.
    func replayModification(of key: Int64, _ properties: [Int], from reader: inout RecordReader) throws {
        guard key >= 0, try locate(key) != nil, key < nextKey else {
            throw RecordReader.damaged("it changes a row that is not there.")
        }
        for _ in 0..<(try reader.count()) {
            let column = try reader.index()
            guard column < properties.count, properties[column] >= 0, !slots[properties[column]].isPrimaryKey else {
                throw RecordReader.damaged("it changes a property that is not there.")
            }
            let property = properties[column]
            try replay(try RecordedValue(of: slots[property], from: &reader), property, key: key)
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
    func replayInsertion(of key: Int64, _ properties: [Int], from reader: inout RecordReader) throws {
        let mask = try reader.raw(schema.recordedMaskByteCount)
        var values: [(property: Int, value: RecordedValue)] = []
        var primaryKey: StoredValue?
        if let ordinal = schema.primaryKeyOrdinal { primaryKey = initialValue(of: slots[ordinal]) }
        for (column, property) in properties.enumerated() where mask[column >> 3] >> UInt8(column & 7) & 1 != 0 {
            guard property >= 0 else {
                throw RecordReader.damaged("it has a value for a property that is not there.")
            }
            let value = try RecordedValue(of: slots[property], from: &reader)
            if slots[property].isPrimaryKey, case .single(let key) = value {
                try require(key, slots[property])
                primaryKey = StoredValue(key, kind: slots[property].kind)
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
        for item in values { try replay(item.value, item.property, key: key) }
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

    // MARK: Values

    private func replay(_ value: RecordedValue, _ property: Int, key: Int64) throws {
        let slot = slots[property]
        switch value {
        case .single(let value):
            try require(value, slot)
            if slot.kind == .any {
                try writeAny(property, key: key, value, requiringTargets: false)
            } else {
                try write(property, key: key, value, of: slot.kind)
            }
        case .splices(let count, var splices):
            for _ in 0..<count { try replay(try RecordedSplice(from: &splices), property, key: key) }
        case .smallList, .largeList:
            let old = slot.makesLinks ? try linkIDs(property, key: key) : []
            try replaceElements(property, key: key, by: value)
            guard slot.makesLinks else { return }
            for target in try linkIDs(property, key: key) {
                try adjustBacklink(property, target: target, origin: key, by: 1)
            }
            for target in old { try adjustBacklink(property, target: target, origin: key, by: -1) }
        }
    }

    /// Makes a collection hold other elements, without its backlinks.
    private func replaceElements(_ property: Int, key: Int64, by value: RecordedValue) throws {
        let count = try list(property, key: key).count
        if count > 0 { try rawSplice(property, key: key, 0..<count, with: nil) }
        let elements = slots[property].elements
        switch value {
        case .smallList(let bytes):
            guard bytes.first != ListFormat.largeForm, bytes.count <= ListFormat.inlineByteLimit else {
                throw RecordReader.damaged("a small list is not one.")
            }
            let list = try ListView(bytes, slot: elements, view: view)
            for index in 0..<list.count { try require(try list.borrowedValue(at: index), elementOf: slots[property]) }
            try settle(before: key)
            try setListBytes(list.isEmpty ? .empty : bytes, property, key: key)
            if key < firstNewKey {
                try openWriter().rows.transaction.changes.recordModify(table: id, key: key, column: property)
            }
        case .largeList(let count, var reader):
            guard count > 0 else { throw RecordReader.damaged("a large list is empty.") }
            try settle(before: key)
            // Large as it was, also where it had become so small that it might lie in its row: what is done to it later
            // is told of a large one.
            try makeLarge(property, key: key) { (open) throws(StorageError) in
                for _ in 0..<count {
                    let element = try element(try reader.counted(), of: slots[property])
                    try open.append(element, elements, in: openTransaction.storage)
                }
            }
            if key < firstNewKey {
                try openWriter().rows.transaction.changes.recordModify(table: id, key: key, column: property)
            }
        default: break
        }
    }

    private func replay(_ splice: RecordedSplice, _ property: Int, key: Int64) throws {
        let slot = slots[property]
        let list = try list(property, key: key)
        guard list.isLarge, splice.index <= list.count, splice.removed <= list.count - splice.index else {
            throw RecordReader.damaged("a splice lies outside of its list.")
        }
        let range = splice.index..<splice.index + splice.removed
        let element = try splice.element.map { try self.element($0, of: slot) }
        if slot.makesLinks {
            var old: [Int64] = []
            var new: [Int64] = []
            try list.forEach(in: range) { _, value in try appendLinkIDs(of: value, slot, to: &old) }
            if let element { try appendLinkIDs(of: element, slot, to: &new) }
            _ = try openWriter()
            for target in new { try adjustBacklink(property, target: target, origin: key, by: 1) }
            for target in old { try adjustBacklink(property, target: target, origin: key, by: -1) }
        }
        try rawSplice(property, key: key, range, with: element)
    }

    /// An element of a list that was recorded as its sequence holds it.
    private func element(
        _ bytes: UnsafeRawBufferPointer,
        of slot: PropertySlot
    ) throws(StorageError) -> BorrowedValue {
        let elements = slot.elements
        let value = ListFormat.value(
            bytes,
            kind: elements.kind,
            width: ListFormat.width(of: elements.kind),
            isOptional: elements.isOptional
        )
        guard let value else { throw RecordReader.damaged("an element has the wrong length.") }
        try require(value, elementOf: slot)
        return value
    }

    /// Throws where a collection cannot hold an element, which in a dictionary is a name and a value.
    private func require(_ value: BorrowedValue, elementOf slot: PropertySlot) throws(StorageError) {
        try require(value, slot.elements)
        guard slot.collection == .map, case .bytes(let bytes) = value else { return }
        let entry = try MapFormat.entry(bytes, slot)
        guard UTF8Validation.isValid(entry.key) else { throw RecordReader.damaged("a name is not UTF-8.") }
        try require(entry.value, slot)
    }

    /// Throws where a property or an element cannot hold a value.
    private func require(_ value: BorrowedValue, _ slot: PropertySlot) throws(StorageError) {
        guard fits(value, slot) || value.isNull && slot.isLink else {
            throw RecordReader.damaged("a value does not fit its property.")
        }
        switch (value, slot.kind) {
        case (.int(let target), .object):
            guard target >= 0 else { throw RecordReader.damaged("a link leads nowhere.") }
        case (.int(let value), .bool):
            guard value == 0 || value == 1 else { throw RecordReader.damaged("a bool is neither.") }
        case (.bytes(let bytes), .string):
            guard UTF8Validation.isValid(bytes) else { throw RecordReader.damaged("a text is not UTF-8.") }
        case (.bytes(let bytes), .any):
            guard MixedFormat.decode(bytes) != nil else { throw RecordReader.damaged("a value cannot be read.") }
        default: break
        }
    }
}
