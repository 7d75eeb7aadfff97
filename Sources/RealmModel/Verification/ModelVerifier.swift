package import RealmStorage

/// Checks what the model layer promises about a version.
package enum ModelVerifier {
    /// Checks every table, and every index and backlink tree against the rows, both ways.
    ///
    /// - Throws: `StorageError` with code `corrupt` that names class and property.
    package static func verify(_ model: ModelView) throws(StorageError) { preconditionFailure("stub") }

    /// Visits every run of pages that a version's catalog reaches: the catalog itself, clusters, indexes, backlinks,
    /// large lists, overflow values. Each run exactly once.
    package static func forEachReachablePage(
        in snapshot: Snapshot, _ body: (PageReference) throws(StorageError) -> Void
    ) throws(StorageError) { preconditionFailure("stub") }
}
