/// One pinned, immutable version of a file. Readable from any thread; its pages are not reused while it lives.
package final class Snapshot: Sendable {
    package let file: StorageFile
    package let version: UInt64
    package let view: PageView
    package let catalog: ByteTree
    let record: PageReference
    let pageCount: UInt32

    init(
        file: StorageFile, version: UInt64, view: PageView, catalog: ByteTree, record: PageReference, pageCount: UInt32
    ) {
        self.file = file
        self.version = version
        self.view = view
        self.catalog = catalog
        self.record = record
        self.pageCount = pageCount
    }

    deinit {
        file.unpin(version)
    }
}
