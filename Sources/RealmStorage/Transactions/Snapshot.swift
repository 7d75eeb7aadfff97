/// One pinned, immutable version of a file.
///
/// Readable from any thread; its pages are not reused while it lives.
package final class Snapshot: Sendable {
    package let file: StorageFile
    package let version: UInt64
    package let view: PageView
    package let catalog: ByteTree
    let header: FileHeader
    private let origin: ReaderOrigin?

    init(file: StorageFile, header: FileHeader, view: PageView, origin: ReaderOrigin? = nil) {
        self.origin = origin
        self.file = file
        self.header = header
        self.view = view
        version = header.version
        catalog = ByteTree(root: header.catalog)
    }

    /// Whether the file says that it has indexes of kinds that not every release knows.
    package var declaresFurtherIndexes: Bool { header.features.readOnlyCompatible & FileFeatures.furtherIndexes != 0 }

    /// The records of the newest versions, which stand in the header.
    var headerRecords: [SpaceRecord] {
        get throws(StorageError) { try header.spaceRecords(path: file.path) }
    }

    deinit {
        file.unpin(version, from: origin)
    }
}
