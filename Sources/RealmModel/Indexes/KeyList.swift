import Glibc
import RealmStorage

/// Keys of a tree in the order in which they came, each to be put in or taken out; `sort` puts them into theirs.
struct KeyList: ~Copyable {
    private struct Entry {
        /// The key's first eight bytes as a big-endian number, so that most comparisons touch nothing else.
        var order: UInt64
        var offset: UInt32
        /// The length, and `removalFlag`.
        var word: UInt32
    }

    private static let removalFlag: UInt32 = 0x8000_0000

    /// The keys one after the other.
    private var bytes: UnsafeMutableRawPointer
    private var capacity: Int
    private var used = 0
    private var entries: UnsafeMutablePointer<Entry>
    private var entryCapacity: Int
    /// The number of keys.
    private(set) var count = 0

    /// More bytes than this are not taken: `append` must not be called when `isFull`.
    static let byteLimit = 64 << 20

    init() {
        capacity = 4 * IndexKey.maximumByteCount
        entryCapacity = 64
        bytes = malloc(capacity)
        entries = malloc(entryCapacity * MemoryLayout<Entry>.stride).bindMemory(to: Entry.self, capacity: entryCapacity)
    }

    deinit {
        free(bytes)
        free(entries)
    }

    /// The memory that the keys take.
    var byteCount: Int { used &+ count &* MemoryLayout<Entry>.stride }

    /// Whether it is time to use the list up.
    var isFull: Bool { byteCount >= Self.byteLimit }

    mutating func removeAll() {
        used = 0
        count = 0
    }

    /// Adds a key that the caller writes; it returns its length.
    @inline(__always)
    mutating func append(removes: Bool, _ write: (UnsafeMutableRawPointer) -> Int) {
        if _slowPath(capacity &- used < IndexKey.maximumByteCount || count == entryCapacity) { grow() }
        let out = bytes + used
        let byteCount = write(out)
        var order = UInt64(bigEndian: out.loadUnaligned(as: UInt64.self))
        if byteCount < 8 { order &= ~(UInt64.max &>> UInt64(8 &* byteCount)) }
        (entries + count)
            .initialize(
                to: Entry(
                    order: order,
                    offset: UInt32(truncatingIfNeeded: used),
                    word: UInt32(truncatingIfNeeded: byteCount) | (removes ? Self.removalFlag : 0)
                )
            )
        used &+= byteCount
        count &+= 1
    }

    private mutating func grow() {
        if capacity - used < IndexKey.maximumByteCount {
            capacity *= 2
            // As the standard library's arrays do: there is nothing to go on with.
            guard let moved = realloc(bytes, capacity) else { fatalError("There is no memory for index entries.") }
            bytes = moved
        }
        if count == entryCapacity {
            entryCapacity *= 2
            // As above.
            guard let moved = realloc(entries, entryCapacity * MemoryLayout<Entry>.stride) else {
                fatalError("There is no memory for index entries.")
            }
            entries = moved.bindMemory(to: Entry.self, capacity: entryCapacity)
        }
    }

    /// The key at a place.
    @inline(__always)
    func key(at index: Int) -> UnsafeRawBufferPointer {
        let entry = entries[index]
        return UnsafeRawBufferPointer(
            start: bytes + Int(entry.offset),
            count: Int(entry.word & ~Self.removalFlag)
        )
    }

    /// Whether the key at a place is to be taken out.
    @inline(__always)
    func removes(at index: Int) -> Bool { entries[index].word & Self.removalFlag != 0 }

    /// Whether the key at a place, after sorting, comes again behind it: then the later one counts.
    @inline(__always)
    func isSuperseded(at index: Int) -> Bool {
        guard index + 1 < count, entries[index].order == entries[index + 1].order else { return false }
        return Self.order(entries[index], entries[index + 1], bytes) == 0
    }

    // MARK: - Sorting

    /// The order of two keys.
    private static func order(_ left: Entry, _ right: Entry, _ bytes: UnsafeMutableRawPointer) -> Int {
        if left.order != right.order { return left.order < right.order ? -1 : 1 }
        let leftCount = Int(left.word & ~removalFlag)
        let rightCount = Int(right.word & ~removalFlag)
        let common = min(leftCount, rightCount)
        if common > 8 {
            let order = memcmp(bytes + Int(left.offset) + 8, bytes + Int(right.offset) + 8, common - 8)
            if order != 0 { return Int(order) }
        }
        return leftCount - rightCount
    }

    /// Puts the keys into ascending order, equal ones in the order in which they came.
    mutating func sort() {
        var isSorted = true
        var index = 1
        while index < count {
            if Self.order(entries[index - 1], entries[index], bytes) > 0 {
                isSorted = false
                break
            }
            index += 1
        }
        if isSorted { return }
        if count > 128 { sortByOrder() } else { sortRange(0..<count) }
        guard count > 128 else { return }
        // What the first eight bytes leave undecided.
        var start = 0
        while start < count {
            var end = start + 1
            while end < count, entries[end].order == entries[start].order { end += 1 }
            if end - start > 1 { sortRange(start..<end) }
            start = end
        }
    }

    private func sortRange(_ range: Range<Int>) {
        let bytes = bytes
        var buffer = UnsafeMutableBufferPointer(start: entries + range.lowerBound, count: range.count)
        buffer.sort { left, right in
            let order = Self.order(left, right, bytes)
            return order != 0 ? order < 0 : left.offset < right.offset
        }
    }

    /// Sorts by the first eight bytes, a byte at a time from the last one, leaving out bytes that are always the same.
    private mutating func sortByOrder() {
        let other = malloc(entryCapacity * MemoryLayout<Entry>.stride)
        guard let other else { return sortRange(0..<count) }
        var source = entries
        var target = other.bindMemory(to: Entry.self, capacity: entryCapacity)
        let counts = UnsafeMutablePointer<Int>.allocate(capacity: 8 * 256)
        defer { counts.deallocate() }
        counts.initialize(repeating: 0, count: 8 * 256)
        for index in 0..<count {
            var order = source[index].order
            for byte in 0..<8 {
                counts[byte &* 256 &+ Int(truncatingIfNeeded: order & 0xFF)] &+= 1
                order &>>= 8
            }
        }
        for byte in 0..<8 {
            let places = counts + byte * 256
            let shift = UInt64(8 * byte)
            if places[Int(truncatingIfNeeded: source[0].order &>> shift & 0xFF)] == count { continue }
            var start = 0
            for value in 0..<256 {
                let length = places[value]
                places[value] = start
                start += length
            }
            for index in 0..<count {
                let entry = source[index]
                let value = Int(truncatingIfNeeded: entry.order &>> shift & 0xFF)
                target[places[value]] = entry
                places[value] &+= 1
            }
            swap(&source, &target)
        }
        entries = source
        free(target)
    }
}
