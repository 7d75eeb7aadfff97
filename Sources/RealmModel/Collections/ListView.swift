package import RealmStorage

/// The elements of one list, read in place.
///
/// A list view is a handful of pointers: valid as long as the version, and in a transaction until its next write.
package struct ListView {
    /// The number of elements.
    package let count: Int
    /// What the elements are.
    package let elementKind: PropertyKind
    /// Whether elements may be null.
    package let isElementOptional: Bool
    private let width: Int
    /// A small list: the null bits (if any), the fixed-width part, and the strings.
    private let nulls: UnsafeRawPointer?
    private let fixed: UnsafeRawPointer?
    private let heap: UnsafeRawBufferPointer
    /// A large list.
    private let sequence: SequenceTree
    private let view: PageView

    /// The elements' lengths, for a small list of strings, or as the sequence counts them.
    let byteCount: Int

    /// Whether the elements lie in a sequence tree.
    package var isLarge: Bool { fixed == nil && count > 0 }

    package var isEmpty: Bool { count == 0 }

    /// A large list.
    init(sequence: SequenceTree, count: Int, byteCount: Int, slot: PropertySlot, view: PageView) {
        self.count = count
        self.byteCount = byteCount
        elementKind = slot.kind
        isElementOptional = slot.isOptional
        width = ListFormat.width(of: slot.kind)
        nulls = nil
        fixed = nil
        heap = UnsafeRawBufferPointer(start: nil, count: 0)
        self.sequence = sequence
        self.view = view
    }

    /// A list as its row holds it.
    init(_ bytes: UnsafeRawBufferPointer, slot: PropertySlot, view: PageView) throws(StorageError) {
        guard let base = bytes.baseAddress, bytes.count > 0 else {
            self.init(sequence: SequenceTree(), count: 0, byteCount: 0, slot: slot, view: view)
            return
        }
        guard bytes.count >= ListFormat.headerByteCount, bytes[1] == ListFormat.kindByte(slot) else {
            throw ListFormat.damaged("its elements are of another type.")
        }
        if bytes[0] == ListFormat.largeForm {
            guard bytes.count == ListFormat.largeByteCount else { throw ListFormat.damaged("its length is wrong.") }
            let tree = SequenceTree(root: try ListFormat.root(at: base))
            let count = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            let byteCount = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
            guard count <= Int.max, try tree.count(in: view) == Int(count), count > 0 else {
                throw ListFormat.damaged("its element count is wrong.")
            }
            guard byteCount <= ListFormat.greatestByteCount else {
                throw ListFormat.damaged("its elements are too long together.")
            }
            self.init(sequence: tree, count: Int(count), byteCount: Int(byteCount), slot: slot, view: view)
            return
        }
        guard bytes[0] == ListFormat.smallForm else { throw ListFormat.damaged("its form is unknown.") }
        let count = Int(UInt16(littleEndian: base.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        let width = ListFormat.width(of: slot.kind)
        let fixedOffset = ListFormat.headerByteCount + (slot.isOptional ? (count + 7) / 8 : 0)
        let heapOffset = fixedOffset + count * (width == 0 ? 2 : width)
        guard width == 0 ? bytes.count >= heapOffset : bytes.count == heapOffset else {
            throw ListFormat.damaged("its length is wrong.")
        }
        self.init(
            count: count,
            slot: slot,
            nulls: slot.isOptional ? base + ListFormat.headerByteCount : nil,
            fixed: base + fixedOffset,
            heap: UnsafeRawBufferPointer(rebasing: bytes[heapOffset...]),
            view: view
        )
    }

    /// A small list.
    private init(
        count: Int,
        slot: PropertySlot,
        nulls: UnsafeRawPointer?,
        fixed: UnsafeRawPointer,
        heap: UnsafeRawBufferPointer,
        view: PageView
    ) {
        self.count = count
        elementKind = slot.kind
        isElementOptional = slot.isOptional
        width = ListFormat.width(of: slot.kind)
        self.nulls = nulls
        self.fixed = fixed
        self.heap = heap
        byteCount = heap.count
        sequence = SequenceTree()
        self.view = view
    }

    /// An element of any kind, borrowed.
    package func borrowedValue(at index: Int) throws(StorageError) -> BorrowedValue {
        precondition(index >= 0 && index < count, "Index \(index) is out of bounds (must be less than \(count)).")
        if fixed != nil { return try smallValue(at: index) }
        return try value(of: try sequence.element(at: index, in: view))
    }

    private func value(of element: UnsafeRawBufferPointer) throws(StorageError) -> BorrowedValue {
        guard
            let value = ListFormat.value(element, kind: elementKind, width: width, isOptional: isElementOptional)
        else { throw ListFormat.damaged("an element has the wrong length.") }
        return value
    }

    private func smallValue(at index: Int) throws(StorageError) -> BorrowedValue {
        guard let fixed else { return .null }
        if let nulls, nulls.load(fromByteOffset: index >> 3, as: UInt8.self) >> UInt8(index & 7) & 1 != 0 {
            return .null
        }
        if width > 0 { return ListFormat.load(elementKind, width: width, from: fixed + index * width) }
        let start = index == 0 ? 0 : end(of: index - 1, fixed)
        let end = end(of: index, fixed)
        guard start <= end, end <= heap.count else { throw ListFormat.damaged("a string lies outside of it.") }
        return .bytes(UnsafeRawBufferPointer(rebasing: heap[start..<end]))
    }

    private func end(of index: Int, _ fixed: UnsafeRawPointer) -> Int {
        Int(UInt16(littleEndian: fixed.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)))
    }

    /// Calls a function with each position of a range (all of them by default) and its element.
    package func forEach(in range: Range<Int>? = nil, _ body: (Int, BorrowedValue) throws -> Void) throws {
        let range = range ?? 0..<count
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "The range is out of bounds.")
        if range.isEmpty { return }
        if fixed != nil {
            for index in range { try body(index, try smallValue(at: index)) }
            return
        }
        var cursor = sequence.cursor(from: range.lowerBound, in: view)
        for index in range {
            guard let element = try cursor.next() else { throw ListFormat.damaged("elements are missing.") }
            try body(index, try value(of: element))
        }
    }
}
