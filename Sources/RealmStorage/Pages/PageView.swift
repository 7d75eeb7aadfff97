public import Synchronization

/// Where the pages of one version are read: the file's shared mapping and, for the writer, its private page buffers.
///
/// A view is a bundle of raw pointers into memory that stays mapped as long as the `StorageFile` lives; the snapshot or
/// transaction that hands it out keeps the file alive and the version pinned.
// Unchecked because committed pages never change, and a transaction's own are used by its one writer.
@frozen
@usableFromInline
package struct PageView: @unchecked Sendable {
    /// The read-only shared mapping of the file: page `p` is at `mapping + p * 4096`.
    @usableFromInline package let mapping: UnsafeRawPointer
    /// Per page the address of the run that begins there in private memory, while it belongs to the open transaction or to a
    /// commit that is not written yet; else 0.
    @usableFromInline let buffers: UnsafeMutablePointer<Atomic<UInt>>
    /// Per page the low half of the checksum under which this process last verified it.
    ///
    /// Entry 0 (a header page, which nothing refers to) holds the number of pages that may be referred to.
    @usableFromInline let verified: UnsafeMutablePointer<Atomic<UInt32>>
    /// Where a first touch goes to be verified.
    @usableFromInline let verifier: Unmanaged<PageVerifier>

    @inlinable
    package init(
        mapping: UnsafeRawPointer,
        buffers: UnsafeMutablePointer<Atomic<UInt>>,
        verified: UnsafeMutablePointer<Atomic<UInt32>>,
        verifier: Unmanaged<PageVerifier>
    ) {
        self.mapping = mapping
        self.buffers = buffers
        self.verified = verified
        self.verifier = verifier
    }

    /// The bytes of a run of the open transaction, which has not been sealed.
    @inlinable @inline(__always)
    package func buffer(of page: PageNumber) -> UnsafeMutableRawPointer {
        // Present: whoever gives a run up takes its reference out of the trees.
        UnsafeMutableRawPointer(bitPattern: buffers[Int(page)].load(ordering: .relaxed))!
    }

    /// The bytes of a run, verified on this process's first touch of it.
    ///
    /// - Throws: `StorageError` with code `corrupt` when the run's checksum or structure is wrong.
    @inlinable @inline(__always)
    package func pointer(to reference: PageReference) throws(StorageError) -> UnsafeRawPointer {
        let page = Int(reference.page)
        // No page was verified through a reference whose half is 0: that stands for none.
        let half = UInt32(truncatingIfNeeded: reference.checksum)
        if half != 0, reference.page < verified[0].load(ordering: .relaxed),
            verified[page].load(ordering: .relaxed) == half
        {
            let bytes = mapping + page &* pageByteCount
            // The run was verified through a reference that may have been another one. Its header, which is read next anyway,
            // says how long it is.
            if bytes.little(UInt32.self, at: PageHeader.pageCountOffset) == reference.pageCount { return bytes }
        }
        return try slowPointer(to: reference)
    }

    /// The number of pages that may be referred to.
    package var pageLimit: Int { Int(verified[0].load(ordering: .relaxed)) }

    /// Checks that a run lies in the file, or in private memory as its reference says, without reading it.
    func checkPlace(of reference: PageReference) throws(StorageError) {
        _ = try verifier.takeUnretainedValue().privateBytes(of: reference)
    }

    /// Whether an address lies in the mapping of the file, and not in private memory.
    func isInFile(_ address: UnsafeRawPointer) -> Bool {
        let distance = UInt(bitPattern: address) &- UInt(bitPattern: mapping)
        return distance < UInt(verified[0].load(ordering: .relaxed)) &* UInt(pageByteCount)
    }

    /// The bytes of a run, verified now, even if this process has done so before.
    package func verifiedPointer(to reference: PageReference) throws(StorageError) -> UnsafeRawPointer {
        try slowPointer(to: reference)
    }

    @usableFromInline
    @inline(never)
    func slowPointer(to reference: PageReference) throws(StorageError) -> UnsafeRawPointer {
        try verifier.takeUnretainedValue().pointer(to: reference, in: self)
    }
}
