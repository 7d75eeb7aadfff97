package import RealmStorage

extension TableView {
    /// The row of a key; nil when there is no such row. Valid until `model.generation` changes.
    package func locate(_ key: Int64) throws(StorageError) -> RowLocation? { preconditionFailure("stub") }

    /// Whether a row exists.
    package func contains(key: Int64) throws(StorageError) -> Bool { preconditionFailure("stub") }

    /// The row at a position in key order.
    package func location(at index: Int) throws(StorageError) -> RowLocation? { preconditionFailure("stub") }

    /// The key at a position in key order.
    package func key(at index: Int) throws(StorageError) -> Int64? { preconditionFailure("stub") }

    /// The position of a key in key order.
    package func index(of key: Int64) throws(StorageError) -> Int? { preconditionFailure("stub") }

    /// The leaves in key order. The first may begin with rows before `key`.
    package func leaves(from key: Int64 = .min) -> LeafCursor { preconditionFailure("stub") }

    /// The column of a property in a leaf.
    @inlinable
    @inline(__always)
    package func column(_ property: Int, in leaf: LeafView) throws(StorageError) -> ColumnView {
        let slot = slots[property]
        return try leaf.column(Int(slot.column), isNullable: slot.isNullable)
    }

    /// A single value, owned. Not for collections or computed properties.
    ///
    /// - Throws: `ModelError.noSuchRow`, or the storage's error.
    package func value(_ property: Int, key: Int64) throws -> StoredValue { preconditionFailure("stub") }

    /// A single value, owned, of a row already located.
    package func value(_ property: Int, at location: RowLocation) throws(StorageError) -> StoredValue {
        preconditionFailure("stub")
    }

    /// The target of a to-one link.
    package func link(_ property: Int, key: Int64) throws -> Int64? { preconditionFailure("stub") }
}
