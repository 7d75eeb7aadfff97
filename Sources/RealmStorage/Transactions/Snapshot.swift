/// One pinned, immutable version of a file.
///
/// Readable from any thread; its pages are not reused while it lives.
package final class Snapshot: Sendable {
    package let file: StorageFile
    package let version: UInt64
    package let view: PageView
    package let catalog: ByteTree
    let header: FileHeader
    /// Where pages of it stand that are not in the file; nil for a version that the file has.
    let replayed: ReplayedVersion?
    /// What it pins instead then: the version that it was made on top of.
    private let base: Snapshot?
    private let origin: ReaderOrigin?

    init(file: StorageFile, header: FileHeader, view: PageView, origin: ReaderOrigin? = nil) {
        self.origin = origin
        self.file = file
        self.header = header
        self.view = view
        replayed = nil
        base = nil
        version = header.version
        catalog = ByteTree(root: header.catalog)
    }

    /// A version that stands in memory.
    init(of replayed: ReplayedVersion, origin: ReaderOrigin?) {
        let base = replayed.base
        self.origin = origin
        self.replayed = replayed
        self.base = base.file.beginRead(at: base, from: origin)
        file = base.file
        header = replayed.header
        view = replayed.view
        version = header.version
        catalog = ByteTree(root: header.catalog)
    }

    /// How many commits have changed the schema up to this version.
    package var schemaGeneration: UInt64 { header.numbers.schemaGeneration }

    /// Whether its pages stand in memory, and the file has none of this version, or others.
    package var isInMemory: Bool { replayed != nil }

    /// Whether whoever stands here is to move to the file's newest version: it is a newer one, or this one with pages in the file.
    package func isBehind(_ newest: UInt64) -> Bool { newest > version || newest == version && isInMemory }

    /// Whether another one is the same version, read in the same place.
    package func isSame(as other: Snapshot) -> Bool {
        version == other.version && file === other.file && replayed === other.replayed
    }

    /// Whether the file says that it has indexes of kinds that not every release knows.
    package var declaresFurtherIndexes: Bool { header.features.readOnlyCompatible & FileFeatures.furtherIndexes != 0 }

    /// The records of the newest versions, which stand in the header.
    var headerRecords: [SpaceRecord] {
        get throws(StorageError) { try header.spaceRecords(path: file.path) }
    }

    deinit {
        if replayed == nil { file.unpin(version, from: origin) }
    }
}
