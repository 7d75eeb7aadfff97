/// What a run of pages holds; byte 16 of its header.
@frozen
@usableFromInline
package enum PageKind: UInt8, Sendable, CaseIterable {
    case fileHeader = 1
    case byteTreeLeaf = 2
    case byteTreeInner = 3
    case clusterNode = 4
    case clusterInner = 5
    case column = 6
    case overflow = 7
    case sequenceLeaf = 8
    case sequenceInner = 9
    case spaceSegment = 10

    /// Whether a new run of this kind will probably be in use for many commits; the last cluster of a table, and the nodes above
    /// it, are written anew by each commit that adds a row.
    var isLasting: Bool { self != .clusterNode && self != .clusterInner }
}

/// The 32 bytes at the start of every run of pages.
///
/// All numbers are little-endian.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 4 | page number |
/// | 4 | 4 | page count of the run |
/// | 8 | 8 | version that wrote the run |
/// | 16 | 1 | kind |
/// | 17 | 1 | level in its tree (0 for leaves) |
/// | 18 | 2 | entry count, where the kind has one |
/// | 20 | 4 | payload byte count, where the kind has one |
/// | 24 | 8 | kind-specific |
@usableFromInline
package enum PageHeader {
    @usableFromInline package static let pageOffset = 0
    @inlinable package static var pageCountOffset: Int { 4 }
    @usableFromInline package static let versionOffset = 8
    @usableFromInline package static let kindOffset = 16
    @usableFromInline package static let levelOffset = 17
    @usableFromInline package static let entryCountOffset = 18
    @usableFromInline package static let payloadByteCountOffset = 20
    @usableFromInline package static let auxiliaryOffset = 24
    /// The size of the header; a run's own content begins here.
    @usableFromInline package static let byteCount = 32
}
