/// A page of a `ByteTree`: a slotted page of entries that ascend by key.
///
/// All numbers are little-endian.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 32 | `PageHeader`: kind `byteTreeLeaf` (level 0) or `byteTreeInner` (level 1 to 15), entry count `n` ≥ 1 |
/// | 24 | 2 | prefix length `P`: what every key of the page begins with stands in the page once |
/// | 26 | 2 | heap start `H`: the lowest offset that the heap uses |
/// | 28 | 2 | garbage: bytes of the heap that no entry uses any more |
/// | 30 | 2 | insertion hint: low 12 bits the place of the last insertion, high 4 bits how many in a row ascended |
/// | 32 | `P` | the prefix |
/// | 32 + `P` | 8 `n` | slots, ascending by key |
/// | 32 + `P` + 8 `n` | | free |
/// | `H` | 4096 - `H` | heap of entries, in no particular order |
///
/// | slot bits | field |
/// |---|---|
/// | 0...15 | offset of the entry |
/// | 16...31 | length `k` of the entry's key without the prefix |
/// | 32...63 | head: the first four bytes of that, big-endian, filled up with zeros |
///
/// | offset in a leaf's entry | size | field |
/// |---|---|---|
/// | 0 | `k` | key without the prefix |
/// | `k` | 2 | length `v` of the value, at most 512, or 0xFFFF for a value in an overflow run |
/// | `k` + 2 | `v` or 16 | the value, or the `PageReference` of its overflow run |
///
/// | offset in an inner page's entry | size | field |
/// |---|---|---|
/// | 0 | `k` | separator without the prefix: not above any key of the child, above every key of the child before |
/// | `k` | 16 | `PageReference` of the child |
/// | `k` + 16 | 8 | number of entries in the leaves below the child |
///
/// The first entry of an inner page has no separator (`k` = 0): it stands for everything below the second one.
struct KeyedPage {
    static let prefixLengthOffset = 24
    static let heapStartOffset = 26
    static let garbageOffset = 28
    static let hintOffset = 30
    static let prefixOffset = 32
    static let slotByteCount = 8
    static let overflowTag = 0xFFFF
    static let childPayloadByteCount = PageReference.byteCount + 8
    /// The most entries that a page may say are below one of its children.
    static let maximumChildCount: UInt64 = 0xFFFF_FFFF_FFFF
    static let maximumLevel = 15

    let base: UnsafeRawPointer

    @inline(__always)
    init(_ base: UnsafeRawPointer) {
        self.base = base
    }

    @inline(__always) var level: Int { Int(base.load(fromByteOffset: PageHeader.levelOffset, as: UInt8.self)) }
    @inline(__always) var isLeaf: Bool { level == 0 }
    @inline(__always) var count: Int { PageBytes.load16(base, PageHeader.entryCountOffset) }
    @inline(__always) var prefixLength: Int { PageBytes.load16(base, KeyedPage.prefixLengthOffset) }
    @inline(__always) var heapStart: Int { PageBytes.load16(base, KeyedPage.heapStartOffset) }
    @inline(__always) var garbage: Int { PageBytes.load16(base, KeyedPage.garbageOffset) }

    /// The number under which the page's errors name it.
    var number: PageNumber {
        UInt32(littleEndian: base.load(fromByteOffset: PageHeader.pageOffset, as: UInt32.self))
    }

    @inline(__always) var prefix: KeyBytes {
        KeyBytes(start: base + KeyedPage.prefixOffset, count: prefixLength)
    }

    /// Where the slots begin.
    @inline(__always) var slotsOffset: Int { KeyedPage.prefixOffset &+ prefixLength }

    @inline(__always) func slot(_ index: Int) -> UInt64 {
        PageBytes.load64(base, slotsOffset &+ index &* KeyedPage.slotByteCount)
    }

    @inline(__always) static func offset(_ slot: UInt64) -> Int { Int(truncatingIfNeeded: slot & 0xFFFF) }
    @inline(__always) static func suffixLength(_ slot: UInt64) -> Int {
        Int(truncatingIfNeeded: (slot &>> 16) & 0xFFFF)
    }

    @inline(__always) static func slot(offset: Int, suffix: KeyBytes) -> UInt64 {
        UInt64(suffix.head) &<< 32 | UInt64(truncatingIfNeeded: suffix.count &<< 16 | offset)
    }

    /// The key of an entry without the page's prefix.
    @inline(__always) func suffix(at index: Int) -> KeyBytes {
        let slot = slot(index)
        return KeyBytes(start: base + KeyedPage.offset(slot), count: KeyedPage.suffixLength(slot))
    }

    /// Where the payload of an entry begins: the value's length in a leaf, the child's reference in an inner page.
    @inline(__always) func payload(at index: Int) -> UnsafeRawPointer {
        let slot = slot(index)
        return base + (KeyedPage.offset(slot) &+ KeyedPage.suffixLength(slot))
    }

    /// The length of the payload that begins at a pointer.
    @inline(__always) func payloadByteCount(_ payload: UnsafeRawPointer) -> Int {
        isLeaf ? KeyedPage.leafPayloadByteCount(payload) : KeyedPage.childPayloadByteCount
    }

    @inline(__always) static func leafPayloadByteCount(_ payload: UnsafeRawPointer) -> Int {
        let length = PageBytes.load16(payload, 0)
        return 2 &+ (length == overflowTag ? PageReference.byteCount : length)
    }

    /// The bytes of the heap that an entry takes.
    func entryByteCount(at index: Int) -> Int {
        KeyedPage.suffixLength(slot(index)) &+ payloadByteCount(payload(at: index))
    }

    /// The bytes between slots and heap.
    @inline(__always) var gap: Int { heapStart &- slotsOffset &- count &* KeyedPage.slotByteCount }

    /// The bytes in use, header and prefix included.
    var usedByteCount: Int { pageByteCount &- gap &- garbage }

    /// The reference of the overflow run that holds an entry's value, nil when the value stands in the leaf.
    @inline(__always) func overflowReference(at index: Int) -> PageReference? {
        let payload = payload(at: index)
        return PageBytes.load16(payload, 0) == KeyedPage.overflowTag ? PageReference(load: payload + 2) : nil
    }

    /// The value of a leaf's entry.
    @inline(__always) func value(at index: Int, in view: PageView) throws(StorageError) -> UnsafeRawBufferPointer {
        let payload = payload(at: index)
        let length = PageBytes.load16(payload, 0)
        if length != KeyedPage.overflowTag { return UnsafeRawBufferPointer(start: payload + 2, count: length) }
        return try Overflow.read(PageReference(load: payload + 2), in: view)
    }

    @inline(__always) func childReference(at index: Int) -> PageReference { PageReference(load: payload(at: index)) }

    /// The number of leaf entries below a child.
    @inline(__always) func childCount(at index: Int) -> Int {
        Int(truncatingIfNeeded: PageBytes.load64(payload(at: index), PageReference.byteCount) & 0xFFFF_FFFF_FFFF)
    }

    /// The number of leaf entries below the children before one.
    func countBelow(before index: Int) -> Int {
        var sum = 0
        var child = 0
        while child < index {
            sum &+= childCount(at: child)
            child &+= 1
        }
        return sum
    }

    /// The number of leaf entries in or below the page.
    var subtreeCount: Int { isLeaf ? count : countBelow(before: count) }

    /// Copies a whole key; the target has room for `ByteTree.maximumKeyByteCount` bytes.
    func copyKey(at index: Int, to target: UnsafeMutableRawPointer) -> Int {
        let prefix = prefix
        let suffix = suffix(at: index)
        target.copyMemory(from: prefix.start, byteCount: prefix.count)
        (target + prefix.count).copyMemory(from: suffix.start, byteCount: suffix.count)
        return prefix.count &+ suffix.count
    }
}
