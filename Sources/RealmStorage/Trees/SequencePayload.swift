import Glibc

/// An element as it goes into a leaf of a `SequenceTree`.
struct SequencePayload {
    private let element: KeyBytes
    private let overflow: PageReference

    init(_ element: UnsafeRawBufferPointer, in transaction: WriteTransaction) throws(StorageError) {
        self.element = KeyBytes(element)
        overflow =
            element.count > SequenceTree.maximumInlineElementByteCount
            ? try Overflow.write(element, in: transaction) : .none
    }

    /// The length field of the element's slot.
    var tag: Int { overflow.isNone ? element.count : SequenceLeaf.overflowTag }

    /// The bytes that it takes in the heap.
    var byteCount: Int { overflow.isNone ? element.count : PageReference.byteCount }

    func store(to target: UnsafeMutableRawPointer) {
        if overflow.isNone {
            memcpy(target, element.start, element.count)
        } else {
            overflow.store(to: target)
        }
    }
}
