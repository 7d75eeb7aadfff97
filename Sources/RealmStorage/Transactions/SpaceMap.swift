/// The writer's picture of the pages that no tree of the newest version uses.
///
/// A retired page may be reused as soon as no reader stands at a version in `birth..<death`: a snapshot held for a month
/// pins its own pages and nothing else. Each retired extent is looked at once, and again only when the version that
/// held it back is given up, so the work per commit follows what changed and not what is free.
struct SpaceMap: Equatable {
    /// Pages that may be used now.
    private var free = ExtentSet()
    /// Retired and not looked at yet, oldest death first.
    private(set) var waiting: [RetiredExtent] = []
    /// Held back, by the pinned version that needs them.
    private(set) var held: [UInt64: [RetiredExtent]] = [:]
    /// The end: pages at and above it have never been used.
    private(set) var pageCount: UInt32
    /// While the file is being made smaller: allocations take the lowest room, below this page where there is any.
    var placementLimit: PageNumber?
    private var chunk = Extent(page: 0, pageCount: 0)
    /// The pages from which extents are looked for.
    private var cursor: PageNumber = 0
    private var holeCursor: PageNumber = 0
    /// The number of neighbouring pages that an allocation tries to find, so that a commit's pages lie together: as many
    /// as the last ones needed beside holes.
    ///
    /// Looked for longer ones, and the file would grow while free extents of the right
    /// length stay unused.
    private var chunkPageCount = leastChunkPageCount
    /// The pages that the current commit has taken other than from holes.
    private var takenPageCount: UInt32 = 0

    private static let leastChunkPageCount: UInt32 = 4
    private static let greatestChunkPageCount: UInt32 = 1024
    /// Hardly any run is longer: a column of a thousand texts of 60 bytes.
    private static let usualRunPageCount: UInt32 = 16

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
    ///   - endLimit: Before the end would come behind this page, the lowest room is taken.
    /// - Returns: The first page.
    mutating func allocate(
        _ count: UInt32,
        isLasting: Bool = false,
        endLimit: PageNumber = .max
    ) -> PageNumber {
        if let placementLimit, let page = allocateLow(count, below: placementLimit) { return page }
        if isLasting, let page = allocateInHole(count) { return page }
        if chunk.pageCount >= count { return takeFromChunk(count) }
        endChunk()
        let wanted = max(count, chunkPageCount)
        if let index = free.index(ofExtentWith: wanted, from: cursor) ?? fragmentIndex(count) {
            chunk = free.remove(at: index)
            cursor = chunk.page
            return takeFromChunk(count)
        }
        // What lies behind the last page that there can be is the caller's to refuse.
        let (end, isBeyond) = pageCount.addingReportingOverflow(count)
        if end > endLimit, let page = allocateLow(count, below: pageCount) { return page }
        takenPageCount &+= count
        defer { pageCount = isBeyond ? .max : end }
        return pageCount
    }

    /// Takes pages for several runs that are to lie together.
    ///
    /// - Returns: The first page; nil where only the end of the file has so many while much is free in shorter extents, where
    ///   each run alone has room.
    mutating func allocateStretch(_ count: UInt32) -> PageNumber? {
        if chunk.pageCount < count, freePageCount > max(128, Int(pageCount) / 8),
            free.index(ofExtentWith: count, from: cursor) == nil
        {
            return nil
        }
        return allocate(count)
    }

    /// Puts the rest of the current chunk back, and learns from what the commit took.
    mutating func endCommit() {
        endChunk()
        // Follows growth at once and shrinks slowly.
        let wanted = max(takenPageCount, chunkPageCount - max(1, chunkPageCount / 8))
        chunkPageCount = min(max(wanted, Self.leastChunkPageCount), Self.greatestChunkPageCount)
        takenPageCount = 0
    }

    /// Puts the rest of the current chunk back, and learns nothing: what was taken is given back.
    mutating func abandonCommit() {
        endChunk()
        takenPageCount = 0
    }

    /// Puts the rest of the current chunk back.
    mutating func endChunk() {
        if chunk.pageCount > 0 { release([chunk]) }
        chunk = Extent(page: 0, pageCount: 0)
    }

    /// Makes pages available at once: never used, or given back by the transaction that took them.
    mutating func release(_ extents: [Extent]) {
        for extent in extents where extent.pageCount > 0 { free.insert(extent) }
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
        pageCount = free.removeLast().page
        return true
    }

    /// The pages that may be used now, ascending and joined; takes time proportional to their number.
    var freeExtents: [Extent] { free.extents }

    /// Whether a page was given up more than once: two runs of a damaged file share it.
    var isDamaged: Bool { free.isDamaged }

    /// The number of pages that may be used now.
    var freePageCount: Int { free.pageCount }

    /// The same with those that are put aside for the next allocations.
    var availablePageCount: Int { free.pageCount + Int(chunk.pageCount) }

    /// The free pages that are too few together to be sure of: some runs of a commit have no room there.
    ///
    /// - Complexity: The number of free extents.
    var scatteredPageCount: Int {
        free.extents.reduce(0) { $1.pageCount < Self.usualRunPageCount ? $0 + Int($1.pageCount) : $0 }
    }

    /// The number of extents that are free or will be.
    var extentCount: Int { held.values.reduce(free.count + waiting.count) { $0 + $1.count } }

    /// The number of free pages at the end.
    var trailingPageCount: Int {
        guard let last = free.last, last.end == pageCount else { return 0 }
        return Int(last.pageCount)
    }

    /// Whether a run of pages has room below a page.
    mutating func hasRoom(_ count: UInt32, below limit: PageNumber) -> Bool {
        free.lowestIndex(ofExtentWith: count, below: limit) != nil
    }

    /// Undoes what a transaction that was rolled back did to the end: its growth, or its trimming.
    mutating func resetEnd(to pageCount: UInt32) {
        if self.pageCount < pageCount {
            release([Extent(page: self.pageCount, pageCount: pageCount - self.pageCount)])
        }
        while let last = free.last, last.end > pageCount {
            _ = free.removeLast()
            if last.page < pageCount {
                free.insert(Extent(page: last.page, pageCount: pageCount - last.page))
            }
        }
        self.pageCount = pageCount
    }

    /// Every retired extent that is not free yet.
    var retired: [RetiredExtent] {
        held.values.flatMap { $0 } + waiting
    }

    private mutating func allocateLow(_ count: UInt32, below limit: PageNumber) -> PageNumber? {
        guard let index = free.lowestIndex(ofExtentWith: count, below: limit) else { return nil }
        return free.takeFirst(count, ofExtentAt: index)
    }

    /// Takes the start of an extent that is too short for a commit's pages, the shortest among the next few.
    private mutating func allocateInHole(_ count: UInt32) -> PageNumber? {
        guard let best = free.index(ofShortestWith: count, below: chunkPageCount, from: holeCursor, among: 64) else {
            return nil
        }
        let page = free.takeFirst(count, ofExtentAt: best)
        holeCursor = page
        return page
    }

    private mutating func takeFromChunk(_ count: UInt32) -> PageNumber {
        takenPageCount &+= count
        defer {
            chunk.page += count
            chunk.pageCount -= count
        }
        return chunk.page
    }

    /// A smaller extent, once enough is free that growing the file instead would be waste.
    private mutating func fragmentIndex(_ count: UInt32) -> ExtentSet.Index? {
        guard freePageCount > max(128, 4 * Int(chunkPageCount), Int(pageCount) / 4) else { return nil }
        return free.index(ofExtentWith: max(count, Self.leastChunkPageCount), from: cursor)
            ?? free.index(ofExtentWith: count, from: cursor)
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

#if DEBUG
extension SpaceMap {
    /// No page is in two places, none lies behind the end, and what is waited for is in the order of its death.
    func checkInvariants() throws(BrokenInvariant) {
        // What a damaged file says may be anything; the next transaction refuses it.
        if isDamaged { return }
        try free.checkInvariants()
        var extents = free.extents + waiting.map(\.extent) + held.values.flatMap { $0.map(\.extent) }
        if chunk.pageCount > 0 { extents.append(chunk) }
        extents.sort { $0.page < $1.page }
        for (extent, next) in zip(extents, extents.dropFirst()) {
            try Invariant.require(extent.end <= next.page, "Page \(next.page) is free or retired twice")
        }
        let end = extents.last?.end ?? 0
        try Invariant.require(end <= pageCount, "Space up to page \(end) lies behind the end, which is \(pageCount)")
        for (retired, next) in zip(waiting, waiting.dropFirst()) {
            try Invariant.require(retired.death <= next.death, "What waits is not in the order of its death")
        }
        for (version, retired) in held {
            let isNeeded = retired.allSatisfy { $0.birth <= version && version < $0.death }
            try Invariant.require(isNeeded, "Version \(version) holds back what it does not need")
        }
    }
}
#endif
