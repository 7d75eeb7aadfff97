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

    @inline(__always)
    private func search(_ key: KeyBytes, from start: Int) -> (index: Int, isEqual: Bool) {
        let prefix = prefix
        if prefix.count != 0 {
            let order = memcmp(key.start, prefix.start, min(key.count, prefix.count))
            if order != 0 { return (order < 0 ? start : count, false) }
            if key.count < prefix.count { return (start, false) }
        }
        return searchSuffix(key.dropFirst(prefix.count), from: start)
    }

    /// Searches by the heads in the slots first, without branches that depend on them; only entries whose head equals
    /// the key's need their bytes looked at.
    @inline(__always)
    private func searchSuffix(_ suffix: KeyBytes, from start: Int) -> (index: Int, isEqual: Bool) {
        let count = count
        let head = UInt64(suffix.head)
        let first = firstSlot(notBelow: head &<< 32, from: start, to: count)
        guard first < count, slot(first) &>> 32 == head else { return (first, false) }
        var low = first
        var high = first &+ 1
        if high < count, slot(high) &>> 32 == head {
            high = head == 0xFFFF_FFFF ? count : firstSlot(notBelow: (head &+ 1) &<< 32, from: high, to: count)
        }
        while low < high {
            let middle = (low &+ high) &>> 1
            let order = orderAfterHead(of: middle, to: suffix)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle &+ 1 } else { high = middle }
        }
        return (low, false)
    }

    @inline(__always)
    private func firstSlot(notBelow bound: UInt64, from start: Int, to end: Int) -> Int {
        var low = start
        var length = end &- start
        while length > 1 {
            let half = length &>> 1
            low = slot(low &+ half &- 1) < bound ? low &+ half : low
            length &-= half
        }
        return length == 1 && slot(low) < bound ? low &+ 1 : low
    }

    /// The order of an entry to a key with the same head.
    @inline(__always)
    private func orderAfterHead(of index: Int, to key: KeyBytes) -> Int {
        let suffix = suffix(at: index)
        let common = min(suffix.count, key.count)
        if common > 4 {
            let order = memcmp(suffix.start + 4, key.start + 4, common &- 4)
            if order != 0 { return Int(order) }
        }
        return suffix.count &- key.count
    }
}
