import Glibc

/// A value as it goes into a leaf.
struct LeafPayload {
    let value: KeyBytes
    let overflow: PageReference

    init(_ value: UnsafeRawBufferPointer, in transaction: WriteTransaction) throws(StorageError) {
        self.value = KeyBytes(value)
        overflow =
            value.count > ByteTree.maximumInlineValueByteCount
            ? try Overflow.write(value, in: transaction) : .none
    }

    @inline(__always) var byteCount: Int {
        2 &+ (overflow.isNone ? value.count : PageReference.byteCount)
    }

    @inline(__always)
    func store(to target: UnsafeMutableRawPointer) {
        if overflow.isNone {
            PageBytes.store16(value.count, target, 0)
            memcpy(target + 2, value.start, value.count)
        } else {
            PageBytes.store16(KeyedPage.overflowTag, target, 0)
            overflow.store(to: target + 2)
        }
    }
}
