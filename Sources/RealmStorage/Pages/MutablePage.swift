/// A run of pages that the open write transaction owns and may change.
@frozen
@usableFromInline
package struct MutablePage {
    /// The run's reference; its checksum is 0 until the run is sealed.
    @usableFromInline package let reference: PageReference
    /// The run's bytes: the `PageHeader`, then the content.
    @usableFromInline package let bytes: UnsafeMutableRawPointer

    @inlinable
    package init(reference: PageReference, bytes: UnsafeMutableRawPointer) {
        self.reference = reference
        self.bytes = bytes
    }

    /// The size of the run in bytes, header included.
    @inlinable package var byteCount: Int { Int(reference.pageCount) * pageByteCount }

    /// Fills a stretch with zeros.
    @inline(__always)
    func clear(_ range: Range<Int>) {
        (bytes + range.lowerBound).initializeMemory(as: UInt8.self, repeating: 0, count: range.count)
    }

    /// The entry count of the page header.
    @inlinable package var entryCount: Int {
        get {
            Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: PageHeader.entryCountOffset, as: UInt16.self)))
        }
        nonmutating set {
            bytes.storeBytes(
                of: UInt16(newValue).littleEndian,
                toByteOffset: PageHeader.entryCountOffset,
                as: UInt16.self
            )
        }
    }
}
