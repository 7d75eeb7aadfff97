import Glibc

extension KeyedPage {
    /// The first entry whose key is not below a key, and whether it is that key.
    @inline(__always)
    func lowerBound(_ key: KeyBytes) -> (index: Int, isEqual: Bool) {
        search(key, from: 0)
    }

    /// The child of an inner page that a key belongs to.
    @inline(__always)
    func childIndex(for key: KeyBytes) -> Int {
        let (index, isEqual) = search(key, from: 1)
        return isEqual ? index : index &- 1
    }

    /// Whether a separator belongs at a place of an inner page: above the one before, below the one that is there.
    func takes(_ separator: KeyBytes, at index: Int) -> Bool {
        let (place, isEqual) = search(separator, from: 1)
        return place == index && !isEqual
    }

    /// Whether the key of an entry starts with some bytes.
    @inline(__always)
    func key(at index: Int, startsWith wanted: KeyBytes) -> Bool {
        let shared = prefix
        if wanted.count <= shared.count { return shared.starts(with: wanted) }
        return wanted.starts(with: shared) && suffix(at: index).starts(with: wanted.dropFirst(shared.count))
    }

    /// The order of an entry to one of another page.
    func order(of index: Int, to other: KeyedPage, _ otherIndex: Int) -> Int {
        if prefixLength > other.prefixLength { return -other.order(of: otherIndex, to: self, index) }
        let shared = memcmp(prefix.start, other.prefix.start, prefixLength)
        if shared != 0 { return Int(shared) }
        // The rest of the longer prefix stands against the beginning of the other key's own part.
        let rest = other.prefix.dropFirst(prefixLength)
        let own = suffix(at: index)
        let order = memcmp(own.start, rest.start, min(own.count, rest.count))
        if order != 0 { return Int(order) }
        if own.count < rest.count { return -1 }
        return own.dropFirst(rest.count).compare(to: other.suffix(at: otherIndex))
    }

    @inline(__always)
    private func search(_ key: KeyBytes, from start: Int) -> (index: Int, isEqual: Bool) {
        let prefix = prefix
        if prefix.count != 0 {
            let order = prefix.orderOfStart(of: key)
            if order != 0 { return (order < 0 ? start : count, false) }
        }
        return searchSuffix(key.dropFirst(prefix.count), from: start)
    }

    /// Searches by the heads in the slots first, without branches that depend on them; only entries whose head equals
    /// the key's need their bytes looked at.
    @inline(__always)
    private func searchSuffix(_ suffix: KeyBytes, from start: Int) -> (index: Int, isEqual: Bool) {
        let count = count
        let slots = base + slotsOffset
        let head = UInt64(suffix.head)
        let first = KeyedPage.firstSlot(notBelow: head &<< 32, of: slots, from: start, to: count)
        guard first < count, KeyedPage.slot(first, of: slots) &>> 32 == head else { return (first, false) }
        var low = first
        var high = first &+ 1
        if high < count, KeyedPage.slot(high, of: slots) &>> 32 == head {
            high =
                head == 0xFFFF_FFFF
                ? count : KeyedPage.firstSlot(notBelow: (head &+ 1) &<< 32, of: slots, from: high, to: count)
        }
        while low < high {
            let middle = (low &+ high) &>> 1
            let order = orderAfterHead(of: KeyedPage.slot(middle, of: slots), to: suffix)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle &+ 1 } else { high = middle }
        }
        return (low, false)
    }

    @inline(__always)
    private static func slot(_ index: Int, of slots: UnsafeRawPointer) -> UInt64 {
        PageBytes.load64(slots, index &* slotByteCount)
    }

    /// The first slot in a range that is not below a bound.
    ///
    /// Three probes at a time, none of which waits for another: a page that is not in the processor's cache costs two
    /// or three memory latencies instead of six or seven.
    @inline(__always)
    private static func firstSlot(
        notBelow bound: UInt64,
        of slots: UnsafeRawPointer,
        from start: Int,
        to end: Int
    ) -> Int {
        var low = start
        var length = end &- start
        while length > 8 {
            let quarter = length &>> 2
            let first = slot(low &+ quarter, of: slots) < bound ? 1 : 0
            let second = slot(low &+ quarter &* 2, of: slots) < bound ? 1 : 0
            let third = slot(low &+ quarter &* 3, of: slots) < bound ? 1 : 0
            low &+= (first &+ second &+ third) &* quarter &+ first
            length = third == 0 ? quarter : length &- 3 &* quarter &- 1
        }
        var below = 0
        var index = 0
        while index < length {
            below &+= slot(low &+ index, of: slots) < bound ? 1 : 0
            index &+= 1
        }
        return low &+ below
    }

    /// The order of an entry to a key with the same head.
    @inline(__always)
    private func orderAfterHead(of slot: UInt64, to key: KeyBytes) -> Int {
        let suffix = KeyBytes(start: base + KeyedPage.offset(slot), count: KeyedPage.suffixLength(slot))
        let common = min(suffix.count, key.count)
        if common > 4 {
            let order = KeyBytes.order(suffix.start + 4, key.start + 4, common &- 4)
            if order != 0 { return order }
        }
        return suffix.count &- key.count
    }
}

extension KeyBytes {
    /// Where a key lies relative to the keys that start with this prefix: negative before, zero among, positive behind
    /// them.
    ///
    /// This string must stand in a page with eight bytes behind its start.
    @inline(__always)
    fileprivate func orderOfStart(of key: KeyBytes) -> Int {
        if count <= 8, key.count >= 8 {
            let shift = UInt64(64 &- 8 &* count)
            let own = UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)) &>> shift
            let other = UInt64(bigEndian: key.start.loadUnaligned(as: UInt64.self)) &>> shift
            return own == other ? 0 : other < own ? -1 : 1
        }
        let order = memcmp(key.start, start, min(key.count, count))
        return order != 0 ? Int(order) : key.count < count ? -1 : 0
    }
}
