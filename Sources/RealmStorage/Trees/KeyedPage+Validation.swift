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
        let isLeaf = isLeaf
        let (count, heapStart) = (count, heapStart)
        let maximumSuffix = ByteTree.maximumKeyByteCount - prefixLength
        let minimumPayload = isLeaf ? 2 : KeyedPage.childPayloadByteCount
        var heapByteCount = 0
        var taken = TakenBytes()
        var before: KeyBytes?
        for index in 0..<count {
            let slot = slot(index)
            let offset = KeyedPage.offset(slot)
            let length = KeyedPage.suffixLength(slot)
            guard offset >= heapStart, length <= maximumSuffix, offset + length + minimumPayload <= pageByteCount
            else { return "entry \(index) lies outside the heap" }
            let payload = base + offset + length
            var payloadByteCount = minimumPayload
            var reference: PageReference?
            if isLeaf {
                let valueLength = PageBytes.load16(payload, 0)
                guard valueLength <= ByteTree.maximumInlineValueByteCount || valueLength == KeyedPage.overflowTag
                else { return "the value of entry \(index) is \(valueLength) bytes long" }
                payloadByteCount = KeyedPage.leafPayloadByteCount(payload)
                guard offset + length + payloadByteCount <= pageByteCount else {
                    return "entry \(index) lies outside the heap"
                }
                if valueLength == KeyedPage.overflowTag { reference = PageReference(load: payload + 2) }
            } else {
                let child = PageReference(load: payload)
                guard child.pageCount == 1 else { return "child \(index) is not one page" }
                guard PageBytes.load64(payload, PageReference.byteCount) <= KeyedPage.maximumChildCount else {
                    return "the count below child \(index) is implausible"
                }
                reference = child
            }
            heapByteCount += length + payloadByteCount
            // The length of a value lies among the entry's bytes: who writes another entry must not change it.
            guard taken.take(offset..<offset + length + payloadByteCount) else {
                return "entry \(index) overlaps another one"
            }
            if let reference, let problem = PageBytes.problem(with: reference, allowsDirty: allowsDirtyReferences) {
                return "entry \(index) \(problem)"
            }
            let suffix = KeyBytes(start: base + offset, count: length)
            guard UInt64(suffix.head) == slot >> 32 else { return "entry \(index) has a wrong head" }
            if !isLeaf, index == 0 {
                guard length == 0 else { return "the first child has a separator" }
            } else {
                if let before, before.compare(to: suffix) >= 0 { return "the keys do not ascend at entry \(index)" }
                before = suffix
            }
        }
        guard heapByteCount + garbage == pageByteCount - heapStart else { return "its entries do not fill its heap" }
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
