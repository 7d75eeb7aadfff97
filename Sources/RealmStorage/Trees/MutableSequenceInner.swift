import Glibc

/// An inner page of a `SequenceTree` that the open write transaction owns.
struct MutableSequenceInner {
    let base: UnsafeMutableRawPointer

    init(_ base: UnsafeMutableRawPointer) {
        self.base = base
    }

    var page: SequenceInner { SequenceInner(base) }

    func setReference(_ reference: PageReference, at child: Int) {
        reference.store(to: base + SequenceInner.offset(child))
    }

    private func setEnd(_ end: Int, of child: Int) {
        PageBytes.store64(
            UInt64(truncatingIfNeeded: end),
            base,
            SequenceInner.offset(child) &+ PageReference.byteCount
        )
    }

    /// Adds to the ends of the children from one on.
    func shiftEnds(from child: Int, by difference: Int) {
        var child = child
        while child < page.count {
            setEnd(page.end(of: child) &+ difference, of: child)
            child &+= 1
        }
    }

    /// Lets a child keep its first elements and gives the others to a new child behind it.
    func divide(_ child: Int, leftCount: Int, right: PageReference) {
        let end = page.end(of: child)
        insert(right, end: end, at: child &+ 1)
        setEnd(page.start(of: child) &+ leftCount, of: child)
    }

    /// Takes the last elements away from a child, for another page.
    func truncate(_ child: Int, to elementCount: Int) {
        setEnd(page.start(of: child) &+ elementCount, of: child)
    }

    /// Gives the elements of the child behind one to it, and removes that child.
    func join(_ child: Int) {
        let end = page.end(of: child &+ 1)
        remove(at: child &+ 1)
        setEnd(end, of: child)
    }

    /// Adds a child behind all others.
    func append(_ reference: PageReference, elementCount: Int) {
        let count = page.count
        insert(reference, end: page.start(of: count) &+ elementCount, at: count)
    }

    private func insert(_ reference: PageReference, end: Int, at child: Int) {
        let count = page.count
        let slot = base + SequenceInner.offset(child)
        memmove(slot + SequenceInner.childByteCount, slot, (count &- child) &* SequenceInner.childByteCount)
        PageBytes.store16(count &+ 1, base, PageHeader.entryCountOffset)
        setReference(reference, at: child)
        setEnd(end, of: child)
    }

    /// Removes a child; the ends of the others stay as they are.
    func remove(at child: Int) {
        let count = page.count
        let slot = base + SequenceInner.offset(child)
        memmove(slot, slot + SequenceInner.childByteCount, (count &- child &- 1) &* SequenceInner.childByteCount)
        PageBytes.store16(count &- 1, base, PageHeader.entryCountOffset)
    }

    /// Copies children of another page behind the ones here.
    func append(from child: Int, of other: SequenceInner) {
        let count = page.count
        let added = other.count &- child
        let difference = page.start(of: count) &- other.start(of: child)
        memcpy(
            base + SequenceInner.offset(count),
            other.base + SequenceInner.offset(child),
            added &* SequenceInner.childByteCount
        )
        PageBytes.store16(count &+ added, base, PageHeader.entryCountOffset)
        shiftEnds(from: count, by: difference)
    }

    /// Moves the children from one on to an empty page.
    func move(from child: Int, to target: MutableSequenceInner) {
        target.append(from: child, of: page)
        PageBytes.store16(child, base, PageHeader.entryCountOffset)
    }
}
