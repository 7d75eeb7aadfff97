extension KeyedPage {
    /// What is wrong with the structure of a `byteTreeLeaf` or `byteTreeInner` page, nil when nothing is.
    ///
    /// Afterwards every offset and length in the page can be trusted: entries lie inside the heap, together with the
    /// garbage they fill it exactly (so that the page can be rewritten into a page), and keys ascend.
    static func validate(_ page: UnsafeRawBufferPointer) -> String? {
        validate(page, allowsDirtyReferences: false)
    }

    /// The same for a page of the open transaction, whose references to its dirty pages have no checksum yet.
    static func validate(_ buffer: UnsafeRawBufferPointer, allowsDirtyReferences: Bool) -> String? {
        guard buffer.count == pageByteCount, let base = buffer.baseAddress else { return "it is not one page long" }
        let page = KeyedPage(base)
        switch PageKind(rawValue: buffer[PageHeader.kindOffset]) {
        case .byteTreeLeaf: if page.level != 0 { return "a leaf has level \(page.level)" }
        case .byteTreeInner:
            if !(1...maximumLevel).contains(page.level) { return "an inner page has level \(page.level)" }
        default: return "it is not a page of a byte tree"
        }
        let prefixLength = page.prefixLength
        guard prefixLength <= ByteTree.maximumKeyByteCount else { return "its prefix is \(prefixLength) bytes long" }
        guard page.count >= 1 else { return "it is empty" }
        let slotsEnd = page.slotsOffset + page.count * slotByteCount
        guard page.heapStart >= slotsEnd, page.heapStart <= pageByteCount else { return "its heap overlaps its slots" }
        return page.validateEntries(allowsDirtyReferences: allowsDirtyReferences)
    }

    private func validateEntries(allowsDirtyReferences: Bool) -> String? {
        isLeaf
            ? validateLeafEntries(allowsDirtyReferences: allowsDirtyReferences)
            : validateChildren(allowsDirtyReferences: allowsDirtyReferences)
    }

    // Each entry of a small file passes here when the file is opened: one loop for leaves and one for inner pages, whose
    // numbers are 16 bits long and cannot overflow.

    private func validateLeafEntries(allowsDirtyReferences: Bool) -> String? {
        let (base, slots, heapStart) = (base, base + slotsOffset, heapStart)
        let maximumSuffix = ByteTree.maximumKeyByteCount &- prefixLength
        var heapByteCount = 0
        var taken = TakenBytes()
        var before: UInt64 = 0
        for index in 0..<count {
            let slot = PageBytes.load64(slots, index &* KeyedPage.slotByteCount)
            let (offset, length) = (KeyedPage.offset(slot), KeyedPage.suffixLength(slot))
            guard offset >= heapStart, length <= maximumSuffix, offset &+ length &+ 2 <= pageByteCount
            else { return "entry \(index) lies outside the heap" }
            let valueLength = PageBytes.load16(base, offset &+ length)
            let isOverflow = valueLength == KeyedPage.overflowTag
            guard valueLength <= ByteTree.maximumInlineValueByteCount || isOverflow
            else { return "the value of entry \(index) is \(valueLength) bytes long" }
            let byteCount = length &+ 2 &+ (isOverflow ? PageReference.byteCount : valueLength)
            guard offset &+ byteCount <= pageByteCount else { return "entry \(index) lies outside the heap" }
            heapByteCount &+= byteCount
            // The length of a value lies among the entry's bytes: who writes another entry must not change it.
            guard taken.take(offset..<offset &+ byteCount) else { return "entry \(index) overlaps another one" }
            if isOverflow {
                let reference = PageReference(load: base + (offset &+ length &+ 2))
                if let problem = PageBytes.problem(with: reference, allowsDirty: allowsDirtyReferences) {
                    return "entry \(index) \(problem)"
                }
            }
            if let problem = orderProblem(of: slot, after: before, at: index, isFirst: index == 0) { return problem }
            before = slot
        }
        guard heapByteCount &+ garbage == pageByteCount &- heapStart else { return "its entries do not fill its heap" }
        return nil
    }

    private func validateChildren(allowsDirtyReferences: Bool) -> String? {
        let heapStart = heapStart
        let maximumSuffix = ByteTree.maximumKeyByteCount &- prefixLength
        var heapByteCount = 0
        var taken = TakenBytes()
        var before: UInt64 = 0
        for index in 0..<count {
            let slot = slot(index)
            let (offset, length) = (KeyedPage.offset(slot), KeyedPage.suffixLength(slot))
            let byteCount = length &+ KeyedPage.childPayloadByteCount
            guard offset >= heapStart, length <= maximumSuffix, offset &+ byteCount <= pageByteCount
            else { return "entry \(index) lies outside the heap" }
            let payload = base + (offset &+ length)
            let child = PageReference(load: payload)
            guard child.pageCount == 1 else { return "child \(index) is not one page" }
            guard PageBytes.load64(payload, PageReference.byteCount) <= KeyedPage.maximumChildCount else {
                return "the count below child \(index) is implausible"
            }
            heapByteCount &+= byteCount
            guard taken.take(offset..<offset &+ byteCount) else { return "entry \(index) overlaps another one" }
            if let problem = PageBytes.problem(with: child, allowsDirty: allowsDirtyReferences) {
                return "entry \(index) \(problem)"
            }
            if let problem = orderProblem(of: slot, after: before, at: index, isFirst: index <= 1) { return problem }
            if index == 0 {
                guard length == 0 else { return "the first child has a separator" }
            }
            before = slot
        }
        guard heapByteCount &+ garbage == pageByteCount &- heapStart else { return "its entries do not fill its heap" }
        return nil
    }

    /// What is wrong with the head of an entry's slot, or with its key behind the one before, nil when nothing is.
    @inline(__always)
    private func orderProblem(of slot: UInt64, after before: UInt64, at index: Int, isFirst: Bool) -> String? {
        let suffix = KeyBytes(start: base + KeyedPage.offset(slot), count: KeyedPage.suffixLength(slot))
        guard suffix.head == UInt32(truncatingIfNeeded: slot &>> 32) else { return "entry \(index) has a wrong head" }
        // Keys whose heads differ are ordered as their heads are.
        if before &>> 32 < slot &>> 32 || isFirst { return nil }
        let keyBefore = KeyBytes(start: base + KeyedPage.offset(before), count: KeyedPage.suffixLength(before))
        guard keyBefore.compare(to: suffix) < 0 else { return "the keys do not ascend at entry \(index)" }
        return nil
    }
}

extension PageBytes {
    /// The first page that a reference can point to; the pages before it hold the header slots.
    static let firstReferablePage: PageNumber = 4

    /// What is wrong with a reference that stands in a page, nil when nothing is.
    static func problem(with reference: PageReference, allowsDirty: Bool) -> String? {
        if reference.page < firstReferablePage { return "refers to page \(reference.page)" }
        if reference.pageCount == 0 { return "refers to a run of no pages" }
        if reference.page.addingReportingOverflow(reference.pageCount).overflow { return "refers beyond the last page" }
        if reference.checksum == 0 && !allowsDirty { return "refers to a page without a checksum" }
        return nil
    }
}

/// Which bytes of a page its entries take.
///
/// Entries that were added in order, as in a page that was made anew or filled from one end, lie beside each other:
/// two bounds tell that without a look at each byte. From the first entry on that lies apart from those before, the
/// bytes have one bit each.
struct TakenBytes {
    private var bounds = 0..<0
    private var words = InlineArray<64, UInt64>(repeating: 0)
    private var hasWords = false

    /// Takes bytes; false when one of them was taken already.
    @inline(__always)
    mutating func take(_ range: Range<Int>) -> Bool {
        if !hasWords {
            if range.upperBound == bounds.lowerBound {
                bounds = range.lowerBound..<bounds.upperBound
                return true
            }
            if range.lowerBound == bounds.upperBound {
                bounds = bounds.lowerBound..<range.upperBound
                return true
            }
            if bounds.isEmpty {
                bounds = range
                return true
            }
            hasWords = true
            _ = takeBits(bounds)
        }
        return takeBits(range)
    }

    private mutating func takeBits(_ range: Range<Int>) -> Bool {
        var start = range.lowerBound
        while start < range.upperBound {
            let bit = start & 63
            let count = min(64 - bit, range.upperBound - start)
            let mask = (count == 64 ? UInt64.max : (1 << UInt64(count)) - 1) << UInt64(bit)
            if words[start >> 6] & mask != 0 { return false }
            words[start >> 6] |= mask
            start += count
        }
        return true
    }
}
