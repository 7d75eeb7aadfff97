/// A leaf of a `SequenceTree`.
///
/// All numbers are little-endian.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 32 | `PageHeader`: kind `sequenceLeaf`, level 0, element count `n` ≥ 1 |
/// | 24 | 2 | zero |
/// | 26 | 2 | heap start `H`: the lowest offset that the heap uses |
/// | 28 | 2 | garbage: bytes of the heap that no element uses any more |
/// | 30 | 2 | zero |
/// | 32 | 4 `n` | slots, first element to last |
/// | 32 + 4 `n` | | free |
/// | `H` | 4096 - `H` | heap of elements, in no particular order |
///
/// | offset in a slot | size | field |
/// |---|---|---|
/// | 0 | 2 | offset of the element; 4096 for an empty one |
/// | 2 | 2 | length of the element, at most 1,024, or 0xFFFF for the `PageReference` of an overflow run |
struct SequenceLeaf {
    static let slotByteCount = 4
    static let overflowTag = 0xFFFF
    /// No leaf has more elements.
    static let maximumElementCount = (pageByteCount - PageHeader.byteCount) / slotByteCount

    let base: UnsafeRawPointer

    @inline(__always)
    init(_ base: UnsafeRawPointer) {
        self.base = base
    }

    @inline(__always) var count: Int { PageBytes.load16(base, PageHeader.entryCountOffset) }
    @inline(__always) var heapStart: Int { PageBytes.load16(base, KeyedPage.heapStartOffset) }
    @inline(__always) var garbage: Int { PageBytes.load16(base, KeyedPage.garbageOffset) }
    @inline(__always) var gap: Int { heapStart &- PageHeader.byteCount &- count &* SequenceLeaf.slotByteCount }

    /// The bytes in use, header included.
    var usedByteCount: Int { pageByteCount &- gap &- garbage }

    @inline(__always) static func slotOffset(_ index: Int) -> Int { PageHeader.byteCount &+ index &* slotByteCount }
    @inline(__always) func offset(at index: Int) -> Int { PageBytes.load16(base, SequenceLeaf.slotOffset(index)) }
    @inline(__always) func tag(at index: Int) -> Int { PageBytes.load16(base, SequenceLeaf.slotOffset(index) &+ 2) }

    /// The bytes of the heap that belong to an element.
    @inline(__always) func storedByteCount(at index: Int) -> Int {
        let tag = tag(at: index)
        return tag == SequenceLeaf.overflowTag ? PageReference.byteCount : tag
    }

    @inline(__always) func overflowReference(at index: Int) -> PageReference? {
        tag(at: index) == SequenceLeaf.overflowTag ? PageReference(load: base + offset(at: index)) : nil
    }

    @inline(__always)
    func element(at index: Int, in view: PageView) throws(StorageError) -> UnsafeRawBufferPointer {
        let tag = tag(at: index)
        let start = base + offset(at: index)
        if tag != SequenceLeaf.overflowTag { return UnsafeRawBufferPointer(start: start, count: tag) }
        return try Overflow.read(PageReference(load: start), in: view)
    }

    func validate(allowsDirtyReferences: Bool) -> String? {
        guard count >= 1 else { return "it is empty" }
        guard heapStart <= pageByteCount, heapStart >= SequenceLeaf.slotOffset(count) else {
            return "its heap overlaps its slots"
        }
        var heapByteCount = 0
        var taken = TakenBytes()
        for index in 0..<count {
            let tag = tag(at: index)
            guard tag <= SequenceTree.maximumInlineElementByteCount || tag == SequenceLeaf.overflowTag else {
                return "element \(index) is \(tag) bytes long"
            }
            let byteCount = storedByteCount(at: index)
            guard offset(at: index) >= heapStart, offset(at: index) + byteCount <= pageByteCount else {
                return "element \(index) lies outside the heap"
            }
            heapByteCount += byteCount
            // Who writes over an element, or gives its bytes back, must not touch another one.
            guard byteCount > 0 || offset(at: index) == pageByteCount else {
                return "element \(index) is empty in the midst of the heap"
            }
            guard taken.take(offset(at: index)..<offset(at: index) + byteCount) else {
                return "element \(index) overlaps another one"
            }
            if let overflow = overflowReference(at: index),
                let problem = PageBytes.problem(with: overflow, allowsDirty: allowsDirtyReferences)
            {
                return "element \(index) \(problem)"
            }
        }
        guard heapByteCount + garbage == pageByteCount - heapStart else { return "its elements do not fill its heap" }
        return nil
    }
}
