import RealmStorage

/// Writes: only inside a transaction, everything else is a programmer's error and traps.
///
/// Each write maintains indexes and backlinks and records the change, that of an equal value too.
extension TableView {
    /// Creates a row, every other property at its default (null, zero, empty).
    ///
    /// - Throws: `ModelError.duplicatePrimaryKey`, or the storage's error.
    package func insert(primaryKey: StoredValue? = nil) throws -> Int64 { preconditionFailure("stub") }

    /// Creates a row of a class with an int primary key.
    package func insert(intPrimaryKey: Int64) throws -> Int64 { preconditionFailure("stub") }

    /// Creates a row of a class with a string, ObjectId or UUID primary key, given as UTF-8 or as its 12 or 16 bytes.
    package func insert(bytesPrimaryKey: UnsafeRawBufferPointer) throws -> Int64 { preconditionFailure("stub") }

    package func setInt(_ property: Int, key: Int64, to value: Int64) throws { preconditionFailure("stub") }
    package func setBool(_ property: Int, key: Int64, to value: Bool) throws { preconditionFailure("stub") }
    package func setFloat(_ property: Int, key: Int64, to value: Float) throws { preconditionFailure("stub") }
    package func setDouble(_ property: Int, key: Int64, to value: Double) throws { preconditionFailure("stub") }
    /// Sets a date, in seconds since the reference date.
    package func setDate(_ property: Int, key: Int64, to value: Double) throws { preconditionFailure("stub") }
    /// Sets a string, given in UTF-8.
    package func setString(_ property: Int, key: Int64, to utf8: UnsafeRawBufferPointer) throws {
        preconditionFailure("stub")
    }
    package func setData(_ property: Int, key: Int64, to bytes: UnsafeRawBufferPointer) throws {
        preconditionFailure("stub")
    }
    package func setObjectID(_ property: Int, key: Int64, to value: ObjectIDBytes) throws {
        preconditionFailure("stub")
    }
    package func setUUID(_ property: Int, key: Int64, to value: UUIDBytes) throws { preconditionFailure("stub") }

    /// Sets a to-one link. A row of an embedded class that was linked before is deleted with all that it owns.
    package func setLink(_ property: Int, key: Int64, to target: Int64?) throws { preconditionFailure("stub") }
    package func setNull(_ property: Int, key: Int64) throws { preconditionFailure("stub") }

    /// Sets a single value of any kind.
    ///
    /// - Throws: `ModelError.invalidValue` when the value does not fit the property.
    package func set(_ property: Int, key: Int64, to value: StoredValue) throws { preconditionFailure("stub") }

    /// Sets a single borrowed value; its form must be that of the property's kind.
    package func set(_ property: Int, key: Int64, to value: BorrowedValue) throws { preconditionFailure("stub") }
}
