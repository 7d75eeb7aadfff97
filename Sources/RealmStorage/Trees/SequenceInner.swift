/// An inner page of a `SequenceTree`.
///
/// All numbers are little-endian.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 32 | `PageHeader`: kind `sequenceInner`, level 1 to 15, child count `n`, 1 to 169 |
/// | 32 | 24 `n` | children, first to last |
///
/// | offset in a child | size | field |
/// |---|---|---|
/// | 0 | 16 | `PageReference` |
/// | 16 | 8 | end: the number of elements in this and the children before it; ascends strictly |
struct SequenceInner {
    static let childByteCount = PageReference.byteCount + 8
    static let capacity = (pageByteCount - PageHeader.byteCount) / childByteCount
    /// No sequence has as many elements: sums of ends never overflow.
    static let maximumEnd: UInt64 = 1 << 48

    let base: UnsafeRawPointer

    @inline(__always)
    init(_ base: UnsafeRawPointer) {
        self.base = base
    }

    @inline(__always) var count: Int { PageBytes.load16(base, PageHeader.entryCountOffset) }
    @inline(__always) var level: Int { Int(base.load(fromByteOffset: PageHeader.levelOffset, as: UInt8.self)) }

    @inline(__always) static func offset(_ child: Int) -> Int {
        PageHeader.byteCount &+ child &* childByteCount
    }

    @inline(__always) func reference(at child: Int) -> PageReference {
        PageReference(load: base + SequenceInner.offset(child))
    }

    /// The number of elements in the children up to and with one.
    @inline(__always) func end(of child: Int) -> Int {
        Int(truncatingIfNeeded: PageBytes.load64(base, SequenceInner.offset(child) &+ PageReference.byteCount))
    }

    /// The number of elements in the children before one.
    @inline(__always) func start(of child: Int) -> Int {
        child == 0 ? 0 : end(of: child &- 1)
    }

    var elementCount: Int { end(of: count &- 1) }

    /// The child that holds the element at a position: the first whose end is above it, else the last one.
    @inline(__always)
    func child(containing index: Int) -> Int {
        var low = 0
        var length = count &- 1
        while length > 0 {
            let half = length &>> 1
            if end(of: low &+ half) <= index {
                low &+= half &+ 1
                length &-= half &+ 1
            } else {
                length = half
            }
        }
        return low
    }

    /// A child, which must be one level lower and hold as many elements as its parent says.
    @inline(__always)
    func childPage(at child: Int, in view: PageView) throws(StorageError) -> UnsafeRawPointer {
        let reference = reference(at: child)
        let level = level &- 1
        let page =
            reference.checksum == 0
            // Only pages of the open transaction refer to dirty pages: validation refuses others.
            ? UnsafeRawPointer(view.buffer(of: reference.page))
            : try view.pointer(to: reference)
        guard
            page.load(fromByteOffset: PageHeader.kindOffset, as: UInt8.self)
                == SequencePage.kind(level: level).rawValue,
            Int(page.load(fromByteOffset: PageHeader.levelOffset, as: UInt8.self)) == level,
            SequencePage.elementCount(page, level: level) == end(of: child) &- start(of: child)
        else {
            throw .corrupt("A page of a sequence does not hold what its parent says", page: reference.page)
        }
        return page
    }

    func validate(allowsDirtyReferences: Bool) -> String? {
        guard (1...SequenceInner.capacity).contains(count) else { return "it has \(count) children" }
        var previous: UInt64 = 0
        for child in 0..<count {
            let end = PageBytes.load64(base, SequenceInner.offset(child) + PageReference.byteCount)
            guard end > previous, end <= SequenceInner.maximumEnd else { return "the end of child \(child) is wrong" }
            previous = end
            let reference = reference(at: child)
            guard reference.pageCount == 1 else { return "child \(child) is not one page" }
            if let problem = PageBytes.problem(with: reference, allowsDirty: allowsDirtyReferences) {
                return "child \(child) \(problem)"
            }
        }
        return nil
    }
}
