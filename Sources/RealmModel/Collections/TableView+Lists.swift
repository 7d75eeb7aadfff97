package import RealmStorage

extension TableView {
    /// A list of a row.
    ///
    /// - Throws: `ModelError.noSuchRow`, or the storage's error.
    package func list(_ property: Int, key: Int64) throws -> ListView { preconditionFailure("stub") }

    /// A list of a row already located.
    package func list(_ property: Int, at location: RowLocation, key: Int64) throws(StorageError) -> ListView {
        preconditionFailure("stub")
    }

    // Writes: only inside a transaction. Positions out of bounds are a programmer's error and trap.

    package func listInsert(_ property: Int, key: Int64, at index: Int, _ element: BorrowedValue) throws {
        preconditionFailure("stub")
    }
    package func listInsert(_ property: Int, key: Int64, at index: Int, _ element: StoredValue) throws {
        preconditionFailure("stub")
    }
    package func listAppend(_ property: Int, key: Int64, _ element: BorrowedValue) throws {
        preconditionFailure("stub")
    }
    package func listAppend(_ property: Int, key: Int64, _ element: StoredValue) throws {
        preconditionFailure("stub")
    }
    package func listReplace(_ property: Int, key: Int64, at index: Int, with element: BorrowedValue) throws {
        preconditionFailure("stub")
    }
    package func listReplace(_ property: Int, key: Int64, at index: Int, with element: StoredValue) throws {
        preconditionFailure("stub")
    }
    /// Removes an element; a row of an embedded class goes with it.
    package func listRemove(_ property: Int, key: Int64, at index: Int) throws { preconditionFailure("stub") }
    package func listRemove(_ property: Int, key: Int64, in range: Range<Int>) throws { preconditionFailure("stub") }
    package func listRemoveAll(_ property: Int, key: Int64) throws { preconditionFailure("stub") }
    /// Moves the element at one position so that it ends at another.
    package func listMove(_ property: Int, key: Int64, from source: Int, to destination: Int) throws {
        preconditionFailure("stub")
    }
    package func listSwap(_ property: Int, key: Int64, _ first: Int, _ second: Int) throws {
        preconditionFailure("stub")
    }
    /// Makes the list hold exactly these elements.
    package func listAssign(_ property: Int, key: Int64, _ elements: [StoredValue]) throws {
        preconditionFailure("stub")
    }
}
