import RealmStorage

extension TableView {
    /// Deletes a row: links to it become null, lists lose it, embedded children go with it.
    ///
    /// - Throws: `ModelError.noSuchRow`, or the storage's error.
    package func delete(key: Int64) throws { preconditionFailure("stub") }

    /// Deletes every row.
    package func deleteAll() throws { preconditionFailure("stub") }
}
