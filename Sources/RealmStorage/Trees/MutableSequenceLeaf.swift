import Glibc

/// A leaf of a `SequenceTree` that the open write transaction owns.
struct MutableSequenceLeaf {
    let base: UnsafeMutableRawPointer

    init(_ base: UnsafeMutableRawPointer) {
        self.base = base
    }

    var page: SequenceLeaf { SequenceLeaf(base) }

    /// Makes the page an empty leaf.
    func reset() {
        PageBytes.store16(0, base, PageHeader.entryCountOffset)
        PageBytes.store16(pageByteCount, base, KeyedPage.heapStartOffset)
        PageBytes.store16(0, base, KeyedPage.garbageOffset)
    }

    /// Adds an element, compacting the page when that makes room; false when there is none.
    func insert(_ element: SequencePayload, at index: Int) -> Bool {
        let needed = element.byteCount &+ SequenceLeaf.slotByteCount
        if page.gap < needed {
            guard page.gap &+ page.garbage >= needed else { return false }
            compact()
        }
        let count = page.count
        let offset = page.heapStart &- element.byteCount
        let slot = base + SequenceLeaf.slotOffset(index)
        memmove(slot + SequenceLeaf.slotByteCount, slot, (count &- index) &* SequenceLeaf.slotByteCount)
        PageBytes.store16(Self.slotOffset(offset, byteCount: element.byteCount), slot, 0)
        PageBytes.store16(element.tag, slot, 2)
        element.store(to: base + offset)
        PageBytes.store16(offset, base, KeyedPage.heapStartOffset)
        PageBytes.store16(count &+ 1, base, PageHeader.entryCountOffset)
        return true
    }

    /// The offset for an element's slot.
    ///
    /// An empty element stands at the end of the page, where the heap can never be given back below it.
    private static func slotOffset(_ offset: Int, byteCount: Int) -> Int {
        byteCount == 0 ? pageByteCount : offset
    }

    /// Writes over an element of the same stored length; false when the lengths differ.
    func overwrite(_ element: SequencePayload, at index: Int) -> Bool {
        guard page.storedByteCount(at: index) == element.byteCount else { return false }
        PageBytes.store16(element.tag, base, SequenceLeaf.slotOffset(index) &+ 2)
        element.store(to: base + page.offset(at: index))
        return true
    }

    /// Removes an element; its bytes become garbage.
    func remove(at index: Int) {
        let count = page.count
        let offset = page.offset(at: index)
        let byteCount = page.storedByteCount(at: index)
        if offset == page.heapStart {
            PageBytes.store16(offset &+ byteCount, base, KeyedPage.heapStartOffset)
        } else {
            PageBytes.store16(page.garbage &+ byteCount, base, KeyedPage.garbageOffset)
        }
        let slot = base + SequenceLeaf.slotOffset(index)
        memmove(slot, slot + SequenceLeaf.slotByteCount, (count &- index &- 1) &* SequenceLeaf.slotByteCount)
        PageBytes.store16(count &- 1, base, PageHeader.entryCountOffset)
        if count == 1 { reset() }
    }

    /// Copies elements of another leaf behind the ones here, which must have room in one piece.
    private func append(_ range: Range<Int>, of other: SequenceLeaf) {
        var heapStart = page.heapStart
        var slot = base + SequenceLeaf.slotOffset(page.count)
        for index in range {
            let byteCount = other.storedByteCount(at: index)
            heapStart &-= byteCount
            memcpy(base + heapStart, other.base + other.offset(at: index), byteCount)
            PageBytes.store16(Self.slotOffset(heapStart, byteCount: byteCount), slot, 0)
            PageBytes.store16(other.tag(at: index), slot, 2)
            slot += SequenceLeaf.slotByteCount
        }
        PageBytes.store16(heapStart, base, KeyedPage.heapStartOffset)
        PageBytes.store16(page.count &+ range.count, base, PageHeader.entryCountOffset)
    }

    private func compact() {
        withCopy { copy in
            reset()
            append(0..<copy.count, of: copy)
        }
    }

    /// Moves the elements from one on to an empty leaf.
    func move(from index: Int, to target: MutableSequenceLeaf) {
        target.reset()
        target.append(index..<page.count, of: page)
        withCopy { copy in
            reset()
            append(0..<index, of: copy)
        }
    }

    /// Copies all elements of another leaf behind the ones here, compacting first.
    func appendAll(of other: SequenceLeaf) {
        compact()
        append(0..<other.count, of: other)
    }

    private func withCopy(_ body: (SequenceLeaf) -> Void) {
        let copy = UnsafeMutableRawPointer.allocate(byteCount: pageByteCount, alignment: 16)
        defer { copy.deallocate() }
        copy.copyMemory(from: base, byteCount: pageByteCount)
        body(SequenceLeaf(copy))
    }

    /// Where to divide the elements into two halves of about equal bytes, so that either has room for one more.
    var middle: Int {
        let half = (page.usedByteCount &- PageHeader.byteCount) / 2
        var sum = 0
        var index = 0
        while index < page.count &- 1 {
            let next = sum &+ SequenceLeaf.slotByteCount &+ page.storedByteCount(at: index)
            if next >= half {
                return index == 0 || next &- half < half &- sum ? index &+ 1 : index
            }
            sum = next
            index &+= 1
        }
        return max(1, index)
    }
}
