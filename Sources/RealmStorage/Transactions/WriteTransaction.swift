/// The one open write transaction of a file.
package final class WriteTransaction {
    /// The version being written.
    package let version: UInt64
    /// Reads see the base version and this transaction's own pages.
    package let view: PageView
    /// The root of everything in the file.
    package var catalog: ByteTree
    /// What this transaction touched, for the change log.
    package let changes = ChangeRecorder()

    init(version: UInt64, view: PageView, catalog: ByteTree) {
        self.version = version
        self.view = view
        self.catalog = catalog
    }

    /// Allocates a run of pages with its header written and the rest zeroed.
    package func allocate(pageCount: Int, kind: PageKind, level: Int = 0) throws(StorageError) -> MutablePage {
        preconditionFailure("stub")
    }

    /// The run as this transaction's own: itself when it is already, else a copy, the old run being freed.
    package func writable(_ reference: PageReference) throws(StorageError) -> MutablePage {
        preconditionFailure("stub")
    }

    /// Gives a run back.
    package func free(_ reference: PageReference) {
        preconditionFailure("stub")
    }

    /// Computes a dirty run's checksum and returns the sealed reference; a sealed reference is returned as it is.
    package func seal(_ reference: PageReference) -> PageReference {
        preconditionFailure("stub")
    }

    /// Seals everything and builds the commit record: pure memory, no I/O.
    package func prepareCommit() throws(StorageError) -> PreparedCommit {
        preconditionFailure("stub")
    }

    /// Forgets everything this transaction did.
    package func rollback() {
        preconditionFailure("stub")
    }
}
