import RealmStorage

/// Writes: only inside a transaction, outside of which they throw.
///
/// Each write maintains indexes and backlinks and records the change, that of an equal value too.
extension TableView {
    package func setInt(_ property: Int, key: Int64, to value: Int64) throws {
        try write(property, key: key, .int(value), of: .int)
    }
    package func setBool(_ property: Int, key: Int64, to value: Bool) throws {
        try write(property, key: key, .int(value ? 1 : 0), of: .bool)
    }
    package func setFloat(_ property: Int, key: Int64, to value: Float) throws {
        try write(property, key: key, .float(value), of: .float)
    }
    package func setDouble(_ property: Int, key: Int64, to value: Double) throws {
        try write(property, key: key, .double(value), of: .double)
    }
    /// Sets a date, in seconds since the reference date.
    package func setDate(_ property: Int, key: Int64, to value: Double) throws {
        try write(property, key: key, .double(value), of: .date)
    }
    /// Sets a string, given in UTF-8.
    package func setString(_ property: Int, key: Int64, to utf8: UnsafeRawBufferPointer) throws {
        try write(property, key: key, .bytes(utf8), of: .string)
    }
    package func setData(_ property: Int, key: Int64, to bytes: UnsafeRawBufferPointer) throws {
        try write(property, key: key, .bytes(bytes), of: .data)
    }
    package func setObjectID(_ property: Int, key: Int64, to value: ObjectIDBytes) throws {
        try StoredValue.objectId(value).withBorrowed { try write(property, key: key, $0, of: .objectId) }
    }
    package func setUUID(_ property: Int, key: Int64, to value: UUIDBytes) throws {
        try StoredValue.uuid(value).withBorrowed { try write(property, key: key, $0, of: .uuid) }
    }
    package func setDecimal(_ property: Int, key: Int64, to value: DecimalBytes) throws {
        try StoredValue.decimal(value).withBorrowed { try write(property, key: key, $0, of: .decimal128) }
    }

    package func setNull(_ property: Int, key: Int64) throws {
        try set(property, key: key, to: BorrowedValue.null)
    }

    /// Sets a to-one link.
    ///
    /// A row of an embedded class that was linked before is deleted with all that it owns.
    ///
    /// - Throws: `ModelError.noSuchTarget` when the target does not exist.
    package func setLink(_ property: Int, key: Int64, to target: Int64?) throws {
        let slot = slots[property]
        precondition(slot.isLink && slot.collection == .none, "The property is not a link to one object.")
        if let target { try requireTarget(target, of: property) }
        let orphan = slot.ownsTarget ? try link(property, key: key) : nil
        try write(property, key: key, target.map { .int($0) } ?? .null, of: .object)
        if let orphan, orphan != target, let table = try model.table(id: slot.targetTable) {
            guard try table.deleteIfPresent(key: orphan) else { throw table.missing(orphan, namedBy: "a link") }
        }
    }

    /// Sets a single value of any kind.
    ///
    /// - Throws: `ModelError.invalidValue` when the value does not fit the property.
    package func set(_ property: Int, key: Int64, to value: StoredValue) throws {
        guard value.isOf(slots[property].kind) else { throw invalidValue(property, value) }
        try value.withBorrowed(for: slots[property].kind) { try set(property, key: key, to: $0) }
    }

    /// Sets a single borrowed value; its form must be that of the property's kind.
    ///
    /// - Throws: `ModelError.invalidValue` for null where the property is not optional, or for another form.
    @_disfavoredOverload
    package func set(_ property: Int, key: Int64, to value: BorrowedValue) throws {
        let slot = slots[property]
        guard slot.collection == .none, slot.column >= 0, fits(value, slot) else { throw invalidValue(property) }
        if slot.isLink {
            if case .int(let target) = value {
                try setLink(property, key: key, to: target)
            } else {
                try setLink(property, key: key, to: nil)
            }
        } else if slot.kind == .any {
            try writeAny(property, key: key, value)
        } else {
            try write(property, key: key, value, of: slot.kind)
        }
    }

    /// Whether a borrowed value has the form of a property or of its elements.
    func fits(_ value: BorrowedValue, _ slot: PropertySlot) -> Bool {
        switch (value, slot.kind) {
        case (.null, _): slot.isOptional
        case (.int, .int), (.int, .bool), (.int, .object), (.float, .float), (.double, .double), (.double, .date),
            (.bytes, .string), (.bytes, .data), (.bytes, .any):
            true
        case (.bytes(let bytes), .objectId): bytes.count == 12
        case (.bytes(let bytes), .uuid), (.bytes(let bytes), .decimal128): bytes.count == 16
        default: false
        }
    }

    /// The refusal of a value, which it names where it is known.
    func invalidValue(_ property: Int, _ value: StoredValue? = nil) -> ModelError {
        .invalidValue(
            className: schema.name,
            property: schema.properties[property].name,
            expected: schema.properties[property].typeDescription,
            value: value.map { Self.describe([$0]) }
        )
    }

    /// Checks that a link's target exists; one that the row linked to before can be missing in a damaged file only.
    func requireTarget(_ number: Int64, of property: Int, before old: [Int64] = []) throws {
        let target = LinkID(number, slots[property])
        guard let table = try model.table(id: target.table), try table.exists(target.key) else {
            if old.contains(number) {
                throw corrupt("'\(schema.properties[property].name)' links to row \(target.key), which does not exist.")
            }
            throw ModelError.noSuchTarget(
                className: schema.name,
                property: schema.properties[property].name,
                target: target.key
            )
        }
    }

    /// Whether a row exists; remembers the last one inside a transaction.
    func exists(_ key: Int64) throws(StorageError) -> Bool {
        guard let writer else { return try locate(key) != nil }
        return try exists(key, writer)
    }

    @inline(__always)
    private func exists(_ key: Int64, _ writer: TableWriter) throws(StorageError) -> Bool {
        if key == writer.liveKey && key >= 0 { return true }
        guard try writer.rows.leaf(containing: key) != nil else { return false }
        writer.liveKey = key
        return true
    }

    /// Writes a single value to a row.
    @inline(__always)
    func write(_ property: Int, key: Int64, _ value: BorrowedValue, of kind: PropertyKind) throws {
        let slot = slots[property]
        precondition(
            slot.kind == kind && slot.collection == .none,
            "The value is not of the property's type, or the property is a list."
        )
        precondition(slot.primaryKeyIsWritable, "A primary key cannot be changed after its object was created.")
        let writer = try openWriter()
        if key != writer.liveKey {
            guard try exists(key, writer) else { throw ModelError.noSuchRow(className: schema.name, key: key) }
        }
        if _slowPath(writer.mustSettle), key < writer.firstNewKey { try writer.settle() }
        if slot.tree >= 0, key < writer.trees[Int(slot.tree)].pendingFrom {
            try updateTree(slot, property, key: key, to: value)
        }
        if _slowPath(slot.isInCompoundIndex) { try updateCompoundIndexes(property, key: key, to: value) }
        if _slowPath(slot.isInUniqueIndex) { noteUniqueWrite(key) }
        try store(value, slot, key: key, writer)
        if slot.tree >= 0 { try writer.limitChanges(tree: Int(slot.tree)) }
        if key < writer.firstNewKey {
            writer.rows.transaction.changes.recordModify(table: id, key: key, column: property)
        }
    }

    /// Puts a value into its column.
    @inline(__always)
    func store(
        _ value: BorrowedValue,
        _ slot: PropertySlot,
        key: Int64,
        _ writer: TableWriter
    ) throws(StorageError) {
        let rows = writer.rows
        let column = Int(slot.column)
        switch value {
        case .null: try rows.setNull(key: key, column: column)
        case .int(let value): try rows.setInt(value, key: key, column: column)
        case .double(let value): try rows.setDouble(value, key: key, column: column)
        case .float(let value): try rows.setFloat(value, key: key, column: column)
        case .bytes(let bytes):
            if slot.columnKind == .bytes {
                try rows.setBytes(bytes, key: key, column: column)
            } else {
                try rows.setFixed(bytes.baseAddress!, key: key, column: column)
            }
        }
    }

    /// Replaces a row's entry in the tree of a property, before the column is written.
    private func updateTree(
        _ slot: PropertySlot,
        _ property: Int,
        key: Int64,
        to value: BorrowedValue
    ) throws(StorageError) {
        guard let transaction = model.transaction, let writer else { return }
        let tree = Int(slot.tree)
        // The backlink of a row that was put aside is not in the tree, where it is to be taken out.
        if slot.isLink, writer.trees[tree].lagsBehind { try writer.catchUp(tree: tree) }
        guard let location = try writer.rows.leaf(containing: key) else { return }
        let old = try Self.value(slot, in: try column(property, in: location.leaf), row: location.row)
        let oldKey = UnsafeRawBufferPointer(
            start: transaction.keyBuffer,
            count: PendingEntries.encode(old, slot: slot, rowKey: key, to: transaction.keyBuffer)
        )
        let newKey = UnsafeRawBufferPointer(
            start: transaction.otherKeyBuffer,
            count: PendingEntries.encode(value, slot: slot, rowKey: key, to: transaction.otherKeyBuffer)
        )
        let hadEntry = !(slot.isLink && old.isNull)
        let hasEntry = !(slot.isLink && value.isNull)
        if hadEntry && hasEntry && oldKey.elementsEqual(newKey) { return }
        if !slot.isLink {
            writer.noteChange(tree, removes: true) { Self.copy(oldKey, to: $0) }
            writer.noteChange(tree, removes: false) { Self.copy(newKey, to: $0) }
            return
        }
        if hadEntry { try writer.trees[tree].tree.remove(oldKey, in: transaction.storage) }
        if hasEntry { try writer.trees[tree].tree.insert(newKey, value: .none, in: transaction.storage) }
    }

    @inline(__always)
    static func copy(_ key: UnsafeRawBufferPointer, to out: UnsafeMutableRawPointer) -> Int {
        if let bytes = key.baseAddress { out.copyMemory(from: bytes, byteCount: key.count) }
        return key.count
    }
}

extension PropertySlot {
    /// Primary keys are written by `insert` only.
    @inline(__always) var primaryKeyIsWritable: Bool { !isPrimaryKey }
}
