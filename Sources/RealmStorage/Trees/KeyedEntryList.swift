import Glibc

/// The entries of one or two pages, taken out of them to be written anew: to compact, split or merge pages.
///
/// The pages are copied first, so that the entries may be written back to where they came from.
struct KeyedEntryList: ~Copyable {
    private struct Entry {
        /// The key is `prefix` followed by `suffix`.
        var prefix: KeyBytes
        var suffix: KeyBytes
        /// Nil for the entry whose payload the caller fills in later.
        var payload: UnsafeRawPointer?
        var payloadByteCount: Int

        var keyByteCount: Int { prefix.count &+ suffix.count }
    }

    /// Two pages of the shortest entries and one more.
    private static let capacity = 2 * (pageByteCount / (KeyedPage.slotByteCount + 2)) + 1

    private let scratch: UnsafeMutableRawPointer
    private let entries: UnsafeMutablePointer<Entry>
    private let isLeaf: Bool
    private var pageCount = 0
    private(set) var count = 0

    init(isLeaf: Bool) {
        self.isLeaf = isLeaf
        scratch = .allocate(byteCount: 2 * pageByteCount, alignment: 16)
        entries = .allocate(capacity: Self.capacity)
    }

    deinit {
        scratch.deallocate()
        entries.deallocate()
    }

    /// Takes the entries of a page over.
    mutating func append(_ original: KeyedPage) {
        let copy = scratch + pageCount * pageByteCount
        copy.copyMemory(from: original.base, byteCount: pageByteCount)
        pageCount += 1
        let page = KeyedPage(copy)
        let prefix = page.prefix
        for index in 0..<page.count {
            let suffix = page.suffix(at: index)
            let payload = suffix.start + suffix.count
            let keeps = isLeaf || index > 0
            (entries + count)
                .initialize(
                    to: Entry(
                        prefix: keeps ? prefix : prefix.first(0),
                        suffix: suffix,
                        payload: payload,
                        payloadByteCount: page.payloadByteCount(payload)
                    )
                )
            count += 1
        }
    }

    /// Gives an entry another key: the first one of an inner page the separator that stands for it in its parent.
    mutating func setKey(_ key: KeyBytes, at index: Int) {
        entries[index].prefix = key
        entries[index].suffix = key.first(0)
    }

    /// Adds an entry whose payload the caller fills in after writing.
    mutating func insert(_ key: KeyBytes, payloadByteCount: Int, at index: Int) {
        memmove(entries + index + 1, entries + index, (count - index) * MemoryLayout<Entry>.stride)
        (entries + index)
            .initialize(
                to: Entry(prefix: key, suffix: key.first(0), payload: nil, payloadByteCount: payloadByteCount)
            )
        count += 1
    }

    // MARK: Sizes

    /// The first entry of a range that has a key in the page that the range becomes.
    private func firstKeyed(_ range: Range<Int>) -> Int { isLeaf ? range.lowerBound : range.lowerBound + 1 }

    /// The longest prefix that the keys of a range share; none for a single key, which would be all prefix.
    private func prefixLength(of range: Range<Int>) -> Int {
        let first = firstKeyed(range)
        guard range.upperBound - first >= 2 else { return 0 }
        return commonPrefixCount(first, range.upperBound - 1)
    }

    /// The bytes that a range takes in a page, header included.
    func byteCount(of range: Range<Int>) -> Int {
        let prefixLength = prefixLength(of: range)
        var sum = PageHeader.byteCount + prefixLength
        for index in range {
            sum += KeyedPage.slotByteCount + entries[index].payloadByteCount
            if isLeaf || index > range.lowerBound { sum += entries[index].keyByteCount - prefixLength }
        }
        return sum
    }

    /// Where to divide the entries into two pages: at the preferred place, else as evenly as possible.
    ///
    /// - Returns: nil when no place does, which cannot be with entries of permitted lengths.
    func division(preferring preferred: Int?) -> Int? {
        if let preferred, fits(0..<preferred), fits(preferred..<count) { return preferred }
        var total = 0
        for index in 0..<count { total += weight(index) }
        var sum = 0
        var middle = 1
        while middle < count - 1, sum + weight(middle - 1) < total / 2 {
            sum += weight(middle - 1)
            middle += 1
        }
        for distance in 0..<count {
            for candidate in [middle + distance, middle - distance] where candidate >= 1 && candidate < count {
                if fits(0..<candidate), fits(candidate..<count) { return candidate }
            }
        }
        return nil
    }

    private func weight(_ index: Int) -> Int {
        KeyedPage.slotByteCount + entries[index].suffix.count + entries[index].payloadByteCount
    }

    private func fits(_ range: Range<Int>) -> Bool {
        !range.isEmpty && byteCount(of: range) <= pageByteCount
    }

    // MARK: Keys

    /// Whether the keys go on ascending where another page's begin: those before an entry and it, and it and the one behind.
    ///
    /// Everything that is written of the entries counts on it.
    func ascends(from index: Int) -> Bool {
        for place in [index, index + 1] where place > firstKeyed(0..<count) && place < count {
            guard isBelow(place - 1, place) else { return false }
        }
        return true
    }

    private func isBelow(_ first: Int, _ second: Int) -> Bool {
        let common = commonPrefixCount(first, second)
        let (first, second) = (entries[first], entries[second])
        guard common < second.keyByteCount else { return false }
        return common == first.keyByteCount || byte(common, of: first) < byte(common, of: second)
    }

    private func commonPrefixCount(_ first: Int, _ second: Int) -> Int {
        let first = entries[first]
        let second = entries[second]
        if first.prefix.start == second.prefix.start, first.prefix.count == second.prefix.count {
            return first.prefix.count + first.suffix.commonPrefixCount(with: second.suffix)
        }
        let limit = min(first.keyByteCount, second.keyByteCount)
        var index = 0
        while index < limit, byte(index, of: first) == byte(index, of: second) { index += 1 }
        return index
    }

    private func byte(_ index: Int, of entry: Entry) -> UInt8 {
        index < entry.prefix.count
            ? entry.prefix.start.load(fromByteOffset: index, as: UInt8.self)
            : entry.suffix.start.load(fromByteOffset: index - entry.prefix.count, as: UInt8.self)
    }

    /// Copies the first bytes of an entry's key, which may lie where they go.
    private func copyKey(_ index: Int, byteCount: Int, to target: UnsafeMutableRawPointer) {
        let entry = entries[index]
        let fromPrefix = min(byteCount, entry.prefix.count)
        memmove(target, entry.prefix.start, fromPrefix)
        memmove(target + fromPrefix, entry.suffix.start, byteCount - fromPrefix)
    }

    /// Writes the separator between the pages before and from a place; returns its length.
    ///
    /// Between leaves the shortest one does that is above everything before it; between inner pages it is the key that
    /// the first entry of the second page loses.
    func copySeparator(at division: Int, to target: UnsafeMutableRawPointer) -> Int {
        let length =
            isLeaf ? commonPrefixCount(division - 1, division) + 1 : entries[division].keyByteCount
        copyKey(division, byteCount: length, to: target)
        return length
    }

    // MARK: Writing

    /// Makes a page hold a range of the entries and nothing else.
    ///
    /// `prefixHint` is for a page with one key: the prefix that further keys will likely have.
    /// - Returns: where the payload of the entry without one goes, if the range contains it.
    @discardableResult
    func write(
        _ range: Range<Int>,
        to target: MutableKeyedPage,
        prefixHint: KeyBytes? = nil
    ) -> UnsafeMutableRawPointer? {
        let firstKeyed = firstKeyed(range)
        var prefixLength = prefixLength(of: range)
        if let prefixHint, range.upperBound - firstKeyed == 1,
            key(firstKeyed, startsWith: prefixHint)
        {
            prefixLength = prefixHint.count
        }
        var prefix = KeyBytes(UnsafeRawBufferPointer(start: nil, count: 0))
        if prefixLength > 0 {
            let start = target.base + KeyedPage.prefixOffset
            copyKey(firstKeyed, byteCount: prefixLength, to: start)
            prefix = KeyBytes(start: start, count: prefixLength)
        }
        target.reset(prefix: prefix)
        var hole: UnsafeMutableRawPointer?
        var offset = pageByteCount
        for index in range {
            let entry = entries[index]
            let hasKey = index >= firstKeyed
            let suffixCount = hasKey ? entry.keyByteCount - prefixLength : 0
            offset -= suffixCount + entry.payloadByteCount
            let start = target.base + offset
            if hasKey {
                let fromPrefix = max(0, entry.prefix.count - prefixLength)
                memcpy(start, entry.prefix.start + (entry.prefix.count - fromPrefix), fromPrefix)
                memcpy(
                    start + fromPrefix,
                    entry.suffix.start + (entry.suffix.count - (suffixCount - fromPrefix)),
                    suffixCount - fromPrefix
                )
            }
            if let payload = entry.payload {
                memcpy(start + suffixCount, payload, entry.payloadByteCount)
            } else {
                hole = start + suffixCount
            }
            target.setSlot(
                KeyedPage.slot(offset: offset, suffix: KeyBytes(start: start, count: suffixCount)),
                at: index - range.lowerBound
            )
        }
        PageBytes.store16(offset, target.base, KeyedPage.heapStartOffset)
        target.setCount(range.count)
        return hole
    }

    private func key(_ index: Int, startsWith prefix: KeyBytes) -> Bool {
        let entry = entries[index]
        guard entry.keyByteCount >= prefix.count else { return false }
        for position in 0..<prefix.count
        where byte(position, of: entry) != prefix.start.load(fromByteOffset: position, as: UInt8.self) {
            return false
        }
        return true
    }
}
