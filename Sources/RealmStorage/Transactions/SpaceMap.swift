/// The writer's picture of the pages that no tree of the newest version uses.
///
/// A retired page may be reused as soon as no reader stands at a version in `birth..<death`: a snapshot held for a month
/// pins its own pages and nothing else. Each retired extent is looked at once, and again only when the version that
/// held it back is given up, so the work per commit follows what changed and not what is free.
struct SpaceMap: Equatable {
    /// Pages that may be used now: ascending, neighbours merged.
    private(set) var free: [Extent] = []
    private(set) var freePageCount = 0
    /// Retired and not looked at yet, oldest death first.
    private(set) var waiting: [RetiredExtent] = []
    /// Held back, by the pinned version that needs them.
    private(set) var held: [UInt64: [RetiredExtent]] = [:]
    /// The end: pages at and above it have never been used.
    private(set) var pageCount: UInt32
    /// While the file is being made smaller: allocations take the lowest room, below this page where there is any.
    var placementLimit: PageNumber?
    private var chunk = Extent(page: 0, pageCount: 0)
    private var cursor = 0
    private var holeCursor = 0
    /// The number of neighbouring pages that an allocation tries to find, so that a commit's pages lie together: as many
    /// as the last ones needed.
    private var chunkPageCount = leastChunkPageCount

    private static let leastChunkPageCount: UInt32 = 8
    private static let greatestChunkPageCount: UInt32 = 1024

    init(pageCount: UInt32, free: [Extent] = [], waiting: [RetiredExtent] = []) {
        self.pageCount = pageCount
        self.waiting = waiting.sorted { $0.death < $1.death }
        release(free)
    }

    /// Takes a run of pages.
    ///
    /// - Parameters:
    ///   - count: The number of pages.
    ///   - isLasting: Whether the run will probably be in use for many commits. Such a run goes to a hole where there is
    ///     one: among runs that are given up together it would leave holes, and the next commits would have to be put
    ///     together from them.
    /// - Returns: The first page.
    mutating func allocate(_ count: UInt32, isLasting: Bool = false) -> PageNumber {
        if let placementLimit, let page = allocateLow(count, below: placementLimit) { return page }
        if isLasting, let page = allocateInHole(count) { return page }
        if chunk.pageCount >= count { return takeFromChunk(count) }
        endChunk()
        if let index = index(ofExtentWith: max(count, chunkPageCount)) ?? fragmentIndex(count) {
            chunk = free[index]
            freePageCount -= Int(chunk.pageCount)
            free.remove(at: index)
            cursor = index
            return takeFromChunk(count)
        }
        defer { pageCount += count }
        return pageCount
    }

    /// Notes how many pages a commit took.
    mutating func noteCommit(ofPages count: UInt32) {
        // Follows growth at once and shrinks slowly.
        let wanted = max(count + count / 4, chunkPageCount - chunkPageCount / 8)
        chunkPageCount = min(max(wanted, Self.leastChunkPageCount), Self.greatestChunkPageCount)
    }

    /// Puts the rest of the current chunk back, at the end of a transaction.
    mutating func endChunk() {
        if chunk.pageCount > 0 { release([chunk]) }
        chunk = Extent(page: 0, pageCount: 0)
    }

    /// Makes pages available at once: never used, or given back by the transaction that took them.
    mutating func release(_ extents: [Extent]) {
        for extent in extents where extent.pageCount > 0 {
            freePageCount += Int(extent.pageCount)
            var index = free.partitioningIndex { $0.page >= extent.page }
            var merged = extent
            if index > 0, free[index - 1].end == extent.page {
                index -= 1
                merged.page = free[index].page
                merged.pageCount += free[index].pageCount
                free.remove(at: index)
            }
            if index < free.count, merged.end == free[index].page {
                free[index].page = merged.page
                free[index].pageCount += merged.pageCount
            } else {
                free.insert(merged, at: index)
            }
        }
    }

    /// Notes what a commit gave up; deaths must not decrease from call to call.
    mutating func retire(_ extents: [RetiredExtent]) {
        waiting.append(contentsOf: extents)
    }

    /// Frees what nobody needs any more.
    ///
    /// - Parameters:
    ///   - pinned: the versions at which readers stand, ascending.
    ///   - durable: the newest durable version; pages retired by later, unflushed commits stay untouched.
    mutating func reclaim(pinned: [UInt64], durable: UInt64) {
        var candidates: [RetiredExtent] = []
        for version in held.keys where !pinned.containsSorted(version) {
            candidates += held.removeValue(forKey: version) ?? []
        }
        let ripe = waiting.partitioningIndex { $0.death > durable }
        if ripe == waiting.count, candidates.isEmpty {
            swap(&candidates, &waiting)
        } else if ripe > 0 {
            candidates += waiting[..<ripe]
            waiting.removeFirst(ripe)
        }
        if candidates.isEmpty { return }
        var released: [Extent] = []
        released.reserveCapacity(candidates.count)
        for retired in candidates {
            let index = pinned.partitioningIndex { $0 >= retired.birth }
            if index < pinned.count, pinned[index] < retired.death {
                held[pinned[index], default: []].append(retired)
            } else {
                released.append(retired.extent)
            }
        }
        released.sort { $0.page < $1.page }
        release(released)
    }

    /// Moves the end back over free pages there; returns whether it moved.
    mutating func trimEnd() -> Bool {
        guard let last = free.last, last.end == pageCount else { return false }
        free.removeLast()
        freePageCount -= Int(last.pageCount)
        pageCount = last.page
        return true
    }

    /// The number of free pages at the end.
    var trailingPageCount: Int {
        guard let last = free.last, last.end == pageCount else { return 0 }
        return Int(last.pageCount)
    }

    /// Whether a run of pages has room below a page.
    func hasRoom(_ count: UInt32, below limit: PageNumber) -> Bool {
        lowIndex(count, below: limit) != nil
    }

    /// Undoes what a transaction that was rolled back did to the end: its growth, or its trimming.
    mutating func resetEnd(to pageCount: UInt32) {
        if self.pageCount < pageCount {
            release([Extent(page: self.pageCount, pageCount: pageCount - self.pageCount)])
        }
        while let last = free.last, last.end > pageCount {
            free.removeLast()
            freePageCount -= Int(last.pageCount)
            if last.page < pageCount {
                let kept = Extent(page: last.page, pageCount: pageCount - last.page)
                free.append(kept)
                freePageCount += Int(kept.pageCount)
            }
        }
        self.pageCount = pageCount
    }

    /// Every retired extent that is not free yet.
    var retired: [RetiredExtent] {
        held.values.flatMap { $0 } + waiting
    }

    private mutating func allocateLow(_ count: UInt32, below limit: PageNumber) -> PageNumber? {
        guard let index = lowIndex(count, below: limit) else { return nil }
        let page = free[index].page
        free[index].page += count
        free[index].pageCount -= count
        if free[index].pageCount == 0 { free.remove(at: index) }
        freePageCount -= Int(count)
        return page
    }

    /// Takes the start of a short extent, the shortest among the next few.
    private mutating func allocateInHole(_ count: UInt32) -> PageNumber? {
        var best: Int?
        var index = holeCursor
        for _ in 0..<min(free.count, 64) {
            if index >= free.count { index = 0 }
            let length = free[index].pageCount
            let isShorter = best.map { length < free[$0].pageCount } ?? true
            if isShorter, length >= count, length < Self.leastChunkPageCount / 2 {
                best = index
                if length == count { break }
            }
            index += 1
        }
        guard let best else { return nil }
        holeCursor = best
        let page = free[best].page
        free[best].page += count
        free[best].pageCount -= count
        if free[best].pageCount == 0 { free.remove(at: best) }
        freePageCount -= Int(count)
        return page
    }

    /// The lowest extent with room below a page, within a bounded number of steps.
    private func lowIndex(_ count: UInt32, below limit: PageNumber) -> Int? {
        for index in 0..<min(free.count, 4096) {
            if free[index].page >= limit || count > limit - free[index].page { return nil }
            if free[index].pageCount >= count { return index }
        }
        return nil
    }

    private mutating func takeFromChunk(_ count: UInt32) -> PageNumber {
        defer {
            chunk.page += count
            chunk.pageCount -= count
        }
        return chunk.page
    }

    /// A large enough extent, looked for near the last one, within a bounded number of steps.
    private func index(ofExtentWith count: UInt32) -> Int? {
        let steps = min(free.count, 256)
        var index = cursor
        for _ in 0..<steps {
            if index >= free.count { index = 0 }
            if free[index].pageCount >= count { return index }
            index += 1
        }
        return nil
    }

    /// A smaller extent, once enough is free that growing the file instead would be waste.
    private func fragmentIndex(_ count: UInt32) -> Int? {
        guard freePageCount > max(128, 4 * Int(chunkPageCount), Int(pageCount) / 4) else { return nil }
        return index(ofExtentWith: max(count, Self.leastChunkPageCount)) ?? index(ofExtentWith: count)
    }
}

extension Array {
    /// The first index at which a monotonic condition holds.
    func partitioningIndex(where belongsInSecondPartition: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if belongsInSecondPartition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension [UInt64] {
    fileprivate func containsSorted(_ value: UInt64) -> Bool {
        let index = partitioningIndex { $0 >= value }
        return index < count && self[index] == value
    }
}
