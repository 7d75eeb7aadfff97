/// The number of a 4 KiB page in a realm file.
///
/// Pages 0 to 3 hold the header slots, so 0 doubles as "none".
@usableFromInline package typealias PageNumber = UInt32

/// The size of a page, the unit of allocation in a realm file, in bytes.
@usableFromInline package let pageByteCount = 4096

/// A checksummed pointer to a run of pages, as it stands in the parent page.
///
/// The checksum lives here and not in the page itself, so that a page whose write was lost or landed elsewhere is
/// noticed as well as a flipped bit.
@frozen
@usableFromInline
package struct PageReference: Hashable, Sendable, BitwiseCopyable {
    /// The first page of the run; 0 means "none".
    @usableFromInline package var page: PageNumber
    /// The number of pages in the run.
    @usableFromInline package var pageCount: UInt32
    /// XXH64 of the run's bytes, never 0 once sealed.
    ///
    /// 0 marks a page that the open write transaction may still change.
    @usableFromInline package var checksum: UInt64

    @inlinable
    package init(page: PageNumber, pageCount: UInt32, checksum: UInt64) {
        self.page = page
        self.pageCount = pageCount
        self.checksum = checksum
    }

    /// The reference that points nowhere: an empty tree, an absent value.
    @inlinable package static var none: PageReference { PageReference(page: 0, pageCount: 0, checksum: 0) }

    /// Whether the reference points nowhere.
    @inlinable package var isNone: Bool { page == 0 }

    /// Whether the run belongs to the open write transaction and has not been sealed.
    @inlinable package var isDirty: Bool { checksum == 0 && page != 0 }

    /// The bytes that a reference takes in a page: page `u32`, pageCount `u32`, checksum `u64`, little-endian.
    @inlinable package static var byteCount: Int { 16 }

    /// Reads a reference from a page.
    @inlinable
    package init(load bytes: UnsafeRawPointer) {
        page = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
        pageCount = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        checksum = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// Writes the reference into a page.
    @inlinable
    package func store(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: page.littleEndian, toByteOffset: 0, as: UInt32.self)
        bytes.storeBytes(of: pageCount.littleEndian, toByteOffset: 4, as: UInt32.self)
        bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 8, as: UInt64.self)
    }
}
