package import RealmStorage

extension TableView {
    /// The properties, in whatever class, that link to this class.
    package var linkOrigins: [DatabaseSchema.LinkOrigin] { preconditionFailure("stub") }

    /// The rows of an origin class that link to a row of this one, ascending; one that holds it twice comes twice.
    ///
    /// - Parameters:
    ///   - key: The row that is linked to.
    ///   - origin: The table of the origin class.
    ///   - property: The ordinal of the linking property in the origin class.
    package func backlinkKeys(of key: Int64, from origin: UInt32, property: Int) throws(StorageError) -> [Int64] {
        preconditionFailure("stub")
    }

    /// The number of links from one property to a row, multiplicities included.
    package func backlinkCount(of key: Int64, from origin: UInt32, property: Int) throws(StorageError) -> Int {
        preconditionFailure("stub")
    }

    /// Whether any property of any class links to the row.
    package func hasBacklinks(to key: Int64) throws(StorageError) -> Bool { preconditionFailure("stub") }

    /// The row that owns an embedded row, and the table and property through which it does.
    package func owner(of key: Int64) throws(StorageError) -> (table: UInt32, property: Int, key: Int64)? {
        preconditionFailure("stub")
    }
}
