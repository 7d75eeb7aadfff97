/// Byte strings too large for a leaf: a run of pages each, written once and never changed.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 32 | `PageHeader`: kind `overflow`, level 0 |
/// | 24 | 8 | number of bytes, `u64` |
/// | 32 | | the bytes; zeros up to the end of the last page |
package enum Overflow {
    /// The longest byte string, in bytes.
    package static var maximumByteCount: Int { Int(UInt32.max) }

    /// Writes bytes to a run of their own.
    ///
    /// - Returns: the sealed reference of the run; it may be stored in a parent page as it is.
    package static func write(
        _ bytes: UnsafeRawBufferPointer,
        in transaction: WriteTransaction
    ) throws(StorageError) -> PageReference {
        guard bytes.count <= maximumByteCount else {
            throw StorageError(
                .limit,
                "A value of \(bytes.count) bytes is longer than \(maximumByteCount) bytes"
            )
        }
        let run = try transaction.allocate(pageCount: pageCount(forByteCount: bytes.count), kind: .overflow)
        PageBytes.store64(UInt64(bytes.count), run.bytes, PageHeader.auxiliaryOffset)
        if let start = bytes.baseAddress {
            (run.bytes + PageHeader.byteCount).copyMemory(from: start, byteCount: bytes.count)
        }
        return transaction.seal(run.reference)
    }

    /// The bytes of a run, in place.
    package static func read(
        _ reference: PageReference,
        in view: PageView
    ) throws(StorageError) -> UnsafeRawBufferPointer {
        let run = try view.pointer(to: reference)
        let byteCount = PageBytes.load64(run, PageHeader.auxiliaryOffset)
        // The run was validated against the page count that its own reference had; this one may be another.
        guard run.load(fromByteOffset: PageHeader.kindOffset, as: UInt8.self) == PageKind.overflow.rawValue,
            byteCount <= UInt64(reference.pageCount) * UInt64(pageByteCount) - UInt64(PageHeader.byteCount)
        else { throw .corrupt("A reference to a long value leads to something else", page: reference.page) }
        return UnsafeRawBufferPointer(start: run + PageHeader.byteCount, count: Int(byteCount))
    }

    /// Gives a run back.
    package static func free(_ reference: PageReference, in transaction: WriteTransaction) {
        transaction.free(reference)
    }

    private static func pageCount(forByteCount byteCount: Int) -> Int {
        (PageHeader.byteCount + byteCount + pageByteCount - 1) / pageByteCount
    }

    /// What is wrong with the structure of an `overflow` run, nil when nothing is.
    static func validate(_ run: UnsafeRawBufferPointer) -> String? {
        guard run.count >= pageByteCount, let base = run.baseAddress else { return "it is shorter than a page" }
        let byteCount = PageBytes.load64(base, PageHeader.auxiliaryOffset)
        guard byteCount <= UInt64(maximumByteCount),
            pageCount(forByteCount: Int(byteCount)) * pageByteCount == run.count
        else { return "it holds \(byteCount) bytes in \(run.count / pageByteCount) pages" }
        return nil
    }
}
