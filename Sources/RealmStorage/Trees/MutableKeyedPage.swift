import Glibc

/// A page of a `ByteTree` that the open write transaction owns.
struct MutableKeyedPage {
    let base: UnsafeMutableRawPointer

    @inline(__always)
    init(_ base: UnsafeMutableRawPointer) {
        self.base = base
    }

    @inline(__always) var page: KeyedPage { KeyedPage(base) }

    /// Makes a page just allocated an empty one whose keys begin with a prefix.
    func reset(prefix: KeyBytes) {
        setCount(0)
        PageBytes.store16(prefix.count, base, KeyedPage.prefixLengthOffset)
        PageBytes.store16(pageByteCount, base, KeyedPage.heapStartOffset)
        PageBytes.store16(0, base, KeyedPage.garbageOffset)
        PageBytes.store16(0, base, KeyedPage.hintOffset)
        memmove(base + KeyedPage.prefixOffset, prefix.start, prefix.count)
    }

    @inline(__always) func setCount(_ count: Int) { PageBytes.store16(count, base, PageHeader.entryCountOffset) }

    @inline(__always) func setSlot(_ slot: UInt64, at index: Int) {
        PageBytes.store64(slot, base, page.slotsOffset &+ index &* KeyedPage.slotByteCount)
    }

    /// Where the payload of an entry begins.
    @inline(__always) func payload(at index: Int) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(mutating: page.payload(at: index))
    }

    /// Adds an entry whose payload the caller fills in.
    ///
    /// `suffix` is the key without the page's prefix.
    /// - Returns: where the payload goes; nil when the page has no room in one piece.
    @inline(__always)
    func reserve(at index: Int, suffix: KeyBytes, payloadByteCount: Int) -> UnsafeMutableRawPointer? {
        let page = page
        let byteCount = suffix.count &+ payloadByteCount
        guard page.gap >= byteCount &+ KeyedPage.slotByteCount else { return nil }
        let count = page.count
        let offset = page.heapStart &- byteCount
        let slots = base + page.slotsOffset
        memmove(
            slots + (index &+ 1) &* KeyedPage.slotByteCount,
            slots + index &* KeyedPage.slotByteCount,
            (count &- index) &* KeyedPage.slotByteCount
        )
        setSlot(KeyedPage.slot(offset: offset, suffix: suffix), at: index)
        memcpy(base + offset, suffix.start, suffix.count)
        PageBytes.store16(offset, base, KeyedPage.heapStartOffset)
        setCount(count &+ 1)
        noteInsertion(at: index)
        return base + (offset &+ suffix.count)
    }

    /// Removes an entry; its bytes become garbage.
    func remove(at index: Int) {
        let page = page
        let count = page.count
        discard(offset: KeyedPage.offset(page.slot(index)), byteCount: page.entryByteCount(at: index))
        let slots = base + page.slotsOffset
        memmove(
            slots + index &* KeyedPage.slotByteCount,
            slots + (index &+ 1) &* KeyedPage.slotByteCount,
            (count &- index &- 1) &* KeyedPage.slotByteCount
        )
        setCount(count &- 1)
        if count == 1 {
            PageBytes.store16(pageByteCount, base, KeyedPage.heapStartOffset)
            PageBytes.store16(0, base, KeyedPage.garbageOffset)
        } else if index == 0, !page.isLeaf {
            // The new first child stands for everything below the second one: its separator goes.
            let slot = page.slot(0)
            let length = KeyedPage.suffixLength(slot)
            discard(offset: KeyedPage.offset(slot), byteCount: length)
            setSlot(UInt64(KeyedPage.offset(slot) &+ length), at: 0)
        }
    }

    private func discard(offset: Int, byteCount: Int) {
        if offset == page.heapStart {
            PageBytes.store16(offset &+ byteCount, base, KeyedPage.heapStartOffset)
        } else {
            PageBytes.store16(page.garbage &+ byteCount, base, KeyedPage.garbageOffset)
        }
    }

    /// Stores the reference of a child.
    @inline(__always)
    func setChildReference(_ reference: PageReference, at index: Int) {
        reference.store(to: payload(at: index))
    }

    /// Stores how many leaf entries are below a child.
    ///
    /// - Throws: `StorageError` with code `corrupt` for a number that no page may hold: those that it was made of were wrong.
    @inline(__always)
    func setChildCount(_ count: Int, at index: Int) throws(StorageError) {
        try MutableKeyedPage.storeChildCount(count, to: payload(at: index), in: page)
    }

    /// The same where the payload of the child is at hand; `page` is what an error names.
    @inline(__always)
    static func storeChildCount(
        _ count: Int,
        to payload: UnsafeMutableRawPointer,
        in page: KeyedPage
    ) throws(StorageError) {
        let count = UInt64(truncatingIfNeeded: count)
        guard _fastPath(count <= KeyedPage.maximumChildCount) else {
            throw .corrupt("The pages of a byte tree count wrongly what is below them", page: page.number)
        }
        PageBytes.store64(count, payload, PageReference.byteCount)
    }

    // MARK: Insertion hint

    /// How many insertions in a row came right behind the one before, at most 15.
    var ascendingRun: Int { PageBytes.load16(base, KeyedPage.hintOffset) &>> 12 }

    /// Whether inserting at a place goes on with the ascending run.
    func continuesRun(at index: Int) -> Bool {
        PageBytes.load16(base, KeyedPage.hintOffset) & 0xFFF &+ 1 == index
    }

    @inline(__always)
    private func noteInsertion(at index: Int) {
        let run = continuesRun(at: index) ? min(ascendingRun &+ 1, 15) : 0
        PageBytes.store16(run &<< 12 | index, base, KeyedPage.hintOffset)
    }
}
