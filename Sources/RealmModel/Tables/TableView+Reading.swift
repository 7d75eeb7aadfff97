package import RealmStorage

extension TableView {
    /// The row of a key; nil when there is no such row.
    ///
    /// Valid until `model.generation` changes.
    package func locate(_ key: Int64) throws(StorageError) -> RowLocation? {
        if let writer { return try writer.rows.leaf(containing: key) }
        return try roots.clusters.leaf(containing: key, in: view)
    }

    /// The leaf whose key range holds a key, as `ClusterTree.leaf(for:unlessBelow:in:)` finds it; only while nothing is written.
    package func leaf(for key: Int64, unlessBelow known: inout UInt64) throws(StorageError) -> LeafView? {
        try roots.clusters.leaf(for: key, unlessBelow: &known, in: view)
    }

    /// Whether a row exists.
    package func contains(key: Int64) throws(StorageError) -> Bool { try locate(key) != nil }

    /// The row at a position in key order.
    package func location(at index: Int) throws(StorageError) -> RowLocation? {
        if let writer { return try writer.rows.position(at: index) }
        return try roots.clusters.position(at: index, in: view)
    }

    /// The key at a position in key order.
    package func key(at index: Int) throws(StorageError) -> Int64? {
        guard let location = try location(at: index) else { return nil }
        return location.leaf.key(at: location.row)
    }

    /// The position of a key in key order.
    package func index(of key: Int64) throws(StorageError) -> Int? {
        if let writer { return try writer.rows.index(of: key) }
        return try roots.clusters.index(of: key, in: view)
    }

    /// The leaves in key order.
    ///
    /// The first may begin with rows before `key`.
    package func leaves(from key: Int64 = .min) -> LeafCursor {
        if let writer { return writer.rows.leaves(from: key) }
        return roots.clusters.leaves(in: view, from: key)
    }

    /// The column of a property in a leaf.
    @inlinable
    @inline(__always)
    package func column(_ property: Int, in leaf: LeafView) throws(StorageError) -> ColumnView {
        let slot = slots[property]
        let column = try leaf.column(Int(slot.column), isNullable: slot.isNullable)
        guard column.isAbsent || column.kind.rawValue == slot.columnKindValue else { throw damagedColumn(property) }
        return column
    }

    /// The column of a property where there is no row: every value is null or, where it cannot be that, zero or empty.
    package func emptyColumn(_ property: Int) -> ColumnView {
        let slot = slots[property]
        return LeafView.absent(rows: 0, kind: slot.columnKind, isNull: slot.isNullable, view: view)
    }

    /// An empty list.
    package func emptyList(_ property: Int) -> ListView {
        ListView(sequence: SequenceTree(), count: 0, byteCount: 0, slot: slots[property].elements, view: view)
    }

    /// The error for a column that is not of its property's type.
    @usableFromInline
    @inline(never)
    package func damagedColumn(_ property: Int) -> StorageError {
        corrupt("the column of property '\(schema.properties[property].name)' has the wrong type.")
    }

    /// A single value, owned.
    ///
    /// Not for collections or computed properties.
    ///
    /// - Throws: `ModelError.noSuchRow`, or the storage's error.
    package func value(_ property: Int, key: Int64) throws -> StoredValue {
        try value(property, at: try row(of: key))
    }

    /// A single value, owned, of a row already located.
    package func value(_ property: Int, at location: RowLocation) throws(StorageError) -> StoredValue {
        let kind = slots[property].kind
        return StoredValue(try borrowedValue(property, at: location), kind: kind)
    }

    /// A single value, in place, of a row already located.
    ///
    /// Valid as long as a column view.
    package func borrowedValue(_ property: Int, at location: RowLocation) throws(StorageError) -> BorrowedValue {
        let slot = slots[property]
        precondition(slot.collection == .none && slot.column >= 0, "Read a collection with `list(_:key:)`.")
        return try Self.value(slot, in: try column(property, in: location.leaf), row: location.row)
    }

    /// The target of a to-one link.
    package func link(_ property: Int, key: Int64) throws -> Int64? {
        let location = try row(of: key)
        precondition(slots[property].isLink, "The property is not a link.")
        let column = try column(property, in: location.leaf)
        return column.isNull(location.row) ? nil : column.int(location.row)
    }

    /// The row of a key that must exist.
    func row(of key: Int64) throws -> RowLocation {
        guard let location = try locate(key) else { throw ModelError.noSuchRow(className: schema.name, key: key) }
        return location
    }

    /// A value of a column.
    @inline(__always)
    static func value(_ slot: PropertySlot, in column: ColumnView, row: Int) throws(StorageError) -> BorrowedValue {
        if slot.isNullable && column.isNull(row) { return .null }
        switch slot.columnKind {
        case .int: return .int(column.int(row))
        case .double: return .double(column.double(row))
        case .float: return .float(column.float(row))
        case .bytes: return .bytes(try column.bytes(row))
        case .fixed12: return .bytes(UnsafeRawBufferPointer(start: column.fixed(row), count: 12))
        case .fixed16: return .bytes(UnsafeRawBufferPointer(start: column.fixed(row), count: 16))
        }
    }

    /// Throws where a position does not lead to the row that stands there: the nodes say how many rows are below them.
    package func requireCounts() throws(StorageError) {
        var position = 0
        var cursor = leaves()
        while let leaf = try cursor.next() {
            if leaf.rowCount == 0 { continue }
            guard try key(at: position) == leaf.key(at: 0) else { throw corrupt("its nodes miscount their rows.") }
            position += leaf.rowCount
        }
        if position != count { throw corrupt("it has \(position) rows, and the catalog says \(count).") }
    }
}
