/// The pages of the commits that will be sealed together.
///
/// Write transactions that will share a flush are its members: each builds on what those before it left, and leaves that as it is,
/// so that it can be rolled back. A group of one is an ordinary transaction.
///
/// Its state belongs to the holder of the write lock, and no function here calls out while it changes any of it: exclusive
/// access needs no checks at run time, which were an eighth of a small commit.
final class WriterGroup {
    /// The number of the group among those of this process on the file: a group that was built on a lost commit is lost with it.
    let number: UInt64
    /// Pages stamped with this version or a later one belong to the group.
    let firstVersion: UInt64
    /// The end of the file before the group.
    let firstPageCount: UInt32
    /// The root that the group builds on.
    let firstCatalog: PageReference
    /// The numbers that it goes on from.
    let firstNumbers: CommitNumbers
    /// The versions at which readers stood when the group began, ascending.
    let pinned: [UInt64]
    /// The pages taken from the free space.
    @exclusivity(unchecked) private(set) var taken: [Extent] = []
    /// The same, for whoever looks for pages in them: so many extents, and so many pages of the one behind them, are in it.
    @exclusivity(unchecked) private var sortedTaken = ExtentSet()
    @exclusivity(unchecked) private var sortedCount = 0
    @exclusivity(unchecked) private var sortedPageCount: UInt32 = 0
    /// Pages taken and given back, for the next allocation.
    @exclusivity(unchecked) var spare = SparePages()
    /// Room for the next long runs of columns, taken ahead while a table is written.
    @exclusivity(unchecked) var stretches = ColumnStretches()
    /// Pages of earlier members that are given up for good while a member is open, which may still look at them.
    @exclusivity(unchecked) var settled: [Extent] = []
    /// The runs of older versions that members gave up which committed.
    @exclusivity(unchecked) var retired: [RetiredExtent] = []
    /// The runs that they sealed; of several entries of a page the one with its seal counts.
    @exclusivity(unchecked) var sealed: [PreparedCommit.Run] = []
    /// The sealed runs that stand in memory only.
    @exclusivity(unchecked) var unspilled = UnspilledRuns()
    /// The number of runs that were put into holes of the free space.
    @exclusivity(unchecked) var lastingCount = 0
    /// Whether runs were written to the file before the commit.
    @exclusivity(unchecked) var hasSpilled = false
    /// The length of the file before that, in bytes.
    @exclusivity(unchecked) var byteCountBeforeSpill: Int?
    /// What the members that committed changed.
    let changes = ChangeRecorder()
    /// The number of members that committed.
    @exclusivity(unchecked) var memberCount = 0
    /// Whether the open member sealed pages of earlier ones in place: until it commits, only its own lists say so, and without them
    /// pages would be left out of the commit that others refer to.
    @exclusivity(unchecked) var isSealedInPart = false
    /// Why the group cannot be committed: what was found wrong where nothing can be thrown, or what left it half changed.
    @exclusivity(unchecked) private(set) var damage: StorageError?
    /// Whether a member is open; guarded by the writer's lock of the file.
    var isInMember = false
    /// Whether the group is being forgotten with members that had committed; guarded by the same lock.
    var isGivenUp = false
    /// Commits that were lost while a member is open that stands on them.
    ///
    /// It reads what they wrote until it ends. Guarded by the same lock.
    var lost: [PreparedCommit] = []

    /// The records of the members so far; nil when one has none.
    var entries: [CommitLog.Entry]? = []
    /// So many of the first members are made durable by their records, or have been, and so many bytes these have: the group has only to be
    /// sealed for them.
    @exclusivity(unchecked) var owedCount = 0
    @exclusivity(unchecked) var owedByteCount = 0
    /// So many pages were in use, or held by readers, when it began, where that is asked for.
    @exclusivity(unchecked) var usedPageCount = Int.max
    /// So many free pages were scattered when the space of what it owes was estimated first.
    @exclusivity(unchecked) var scatteredPageCount: Int?
    #if DEBUG
    /// For checks: so many of both were there when they were looked at last.
    @exclusivity(unchecked) private var checked = (retired: 0, sealed: 0)
    #endif

    /// A group of which nothing is there yet, on top of the newest version.
    init(
        number: UInt64,
        firstVersion: UInt64,
        firstPageCount: UInt32,
        firstCatalog: PageReference = .none,
        firstNumbers: CommitNumbers = CommitNumbers(),
        pinned: [UInt64]
    ) {
        self.number = number
        self.firstVersion = firstVersion
        self.firstPageCount = firstPageCount
        self.firstCatalog = firstCatalog
        self.firstNumbers = firstNumbers
        self.pinned = pinned
    }

    /// Begins one on what a writer has, with its first member.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - state: What the writer has, whose group it becomes.
    ///   - pinned: The versions from which somebody may ask for changes.
    convenience init(_ number: UInt64, begunOn state: WriterState, pinned: [UInt64]) {
        self.init(
            number: number,
            firstVersion: state.version + 1,
            firstPageCount: state.space.pageCount,
            firstCatalog: state.catalog,
            firstNumbers: state.numbers,
            pinned: pinned
        )
        isInMember = true
        state.group = self
    }

    // MARK: The end of a member

    /// Takes over what a member changed, which commits.
    func absorb(_ changes: inout TransactionChanges, in reservation: Reservation) {
        isSealedInPart = false
        endStretches()
        if memberCount == 0 {
            swap(&retired, &changes.retired)
            swap(&sealed, &changes.sealed)
            return
        }
        retired += changes.retired
        sealed += changes.sealed
        for extent in changes.givenUp { giveBack(extent, in: reservation) }
        endSettling(in: reservation)
    }

    /// Forgets what a member changed, which is rolled back, and has its pages to spare.
    func drop(_ changes: TransactionChanges, in reservation: Reservation) {
        spare = changes.spare
        for extent in changes.taken { spare.insert(extent) }
        endSettling(in: reservation)
        for extent in spare.extents {
            reservation.dropBuffers(page: Int(extent.page), pageCount: Int(extent.pageCount))
            for page in extent.page..<extent.end { unspilled.remove(page) }
        }
    }

    /// The end of the last run that was taken and is kept.
    var endOfKept: PageNumber { keptExtents().last?.end ?? 0 }

    /// Forgets pages from one on, none of which is kept: they are behind the end of the file again.
    func forget(behind end: PageNumber) {
        func head(_ extent: Extent) -> Extent? {
            if extent.end <= end { return extent }
            return extent.page < end ? Extent(page: extent.page, pageCount: end - extent.page) : nil
        }
        taken = taken.compactMap(head)
        // They are sorted in anew.
        (sortedTaken, sortedCount, sortedPageCount) = (ExtentSet(), 0, 0)
        let unused = spare.extents.compactMap(head)
        spare = SparePages()
        for extent in unused { spare.insert(extent) }
        // Of runs that were given up again.
        sealed.removeAll { $0.page >= end }
    }

    private func endSettling(in reservation: Reservation) {
        if settled.isEmpty { return }
        for extent in settled { giveBack(extent, in: reservation) }
        settled = []
    }

    /// Notes that the file is damaged, where nothing can be thrown.
    @inline(never)
    func noteDamage(_ message: String, page: PageNumber) {
        fail(with: .corrupt(message, page: page))
    }

    /// Notes why the group cannot be committed.
    func fail(with error: StorageError) {
        if damage == nil { damage = error }
    }

    /// Whether the group took all pages of a run from the free space.
    ///
    /// - Complexity: The logarithm of the number of extents that were taken, and once for each of them what it takes to sort it in.
    func hasTaken(_ extent: Extent) -> Bool {
        if let last = taken.last, last.contains(extent) { return true }
        sortTaken()
        return sortedTaken.contains(extent)
    }

    /// Sorts in what was taken since it was done last.
    private func sortTaken() {
        while sortedCount < taken.count {
            var extent = taken[sortedCount]
            // The last one may have become longer.
            extent.page += sortedPageCount
            extent.pageCount -= sortedPageCount
            if extent.pageCount > 0 { sortedTaken.insert(extent) }
            if sortedCount == taken.count - 1 {
                sortedPageCount += extent.pageCount
                return
            }
            sortedCount += 1
            sortedPageCount = 0
        }
    }

    /// Fails when the group met damage, or gave a page up twice: two runs of a damaged file share it.
    func checkDamage() throws(StorageError) {
        if let damage { throw damage }
        if let page = retired.count <= TransactionChanges.usualRunCount ? firstPageOfFewTwice : firstPageTwice {
            throw .corrupt("A page is in use twice", page: page)
        }
    }

    /// The first page of a run that begins in another one which the group gave up; nil when there is none.
    private var firstPageTwice: PageNumber? {
        let extents = retired.map(\.extent).sorted { $0.page < $1.page }
        return zip(extents, extents.dropFirst()).first { $0.end > $1.page }?.1.page
    }

    /// The same for a handful of runs, each of which is compared with every other one: sorting them costs more.
    private var firstPageOfFewTwice: PageNumber? {
        for index in retired.indices.dropFirst() {
            let extent = retired[index].extent
            for other in 0..<index {
                let before = retired[other].extent
                if extent.page < before.end, before.page < extent.end { return max(extent.page, before.page) }
            }
        }
        return nil
    }

    /// Notes pages taken from the free space.
    func take(_ extent: Extent) {
        if let last = taken.last, last.end == extent.page {
            taken[taken.count - 1].pageCount += extent.pageCount
        } else {
            taken.append(extent)
        }
    }

    /// Has what is left of the stretches of columns to spare.
    private func endStretches() {
        for rest in stretches.end() { spare.insert(rest) }
    }

    /// Gives a run back for the next allocation, and its memory at once.
    func giveBack(_ extent: Extent, in reservation: Reservation) {
        forgetSeal(of: PageReference(page: extent.page, pageCount: extent.pageCount, checksum: 0))
        reservation.dropBuffers(page: Int(extent.page), pageCount: Int(extent.pageCount))
        spare.insert(extent)
    }

    /// Notes a run that has been sealed, and can be written to the file.
    @inline(__always)
    func noteSeal(of run: PreparedCommit.Run) {
        unspilled.insert(run)
    }

    /// Notes that a run is about to change, or goes, or is pointed into: it stays in memory until the commit.
    @inline(__always)
    func forgetSeal(of reference: PageReference) {
        unspilled.remove(reference.page)
    }

    /// The pages taken and kept, joined.
    func keptExtents() -> [Extent] {
        if spare.isEmpty { return Self.joined(taken) }
        var space = SpaceMap(pageCount: .max)
        space.release(taken)
        var result: [Extent] = []
        let holes = spare.extents.sorted { $0.page < $1.page }
        var index = 0
        for extent in space.freeExtents {
            var start = extent.page
            while index < holes.count, holes[index].page < extent.end {
                if holes[index].page > start {
                    result.append(Extent(page: start, pageCount: holes[index].page - start))
                }
                start = holes[index].end
                index += 1
            }
            if start < extent.end { result.append(Extent(page: start, pageCount: extent.end - start)) }
        }
        return result
    }

    /// Extents that do not overlap, ascending, neighbours joined.
    private static func joined(_ extents: [Extent]) -> [Extent] {
        if extents.count <= 1 { return extents }
        var result = extents
        result.sort { $0.page < $1.page }
        var last = 0
        for index in 1..<result.count {
            if result[index].page == result[last].end {
                result[last].pageCount += result[index].pageCount
            } else {
                last += 1
                result[last] = result[index]
            }
        }
        result.removeSubrange((last + 1)...)
        return result
    }

    /// Takes out the runs that stand at the end, each with its last checksum, ascending.
    func takeLiveRuns(in reservation: Reservation) -> [PreparedCommit.Run] {
        var runs = sealed
        sealed = []
        runs.sort { $0.page < $1.page }
        var count = 0
        for index in runs.indices {
            let run = runs[index]
            if index + 1 < runs.count, runs[index + 1].page == run.page {
                // Which was sealed last its memory says: what settles is noted before what the member has sealed earlier.
                if reservation.seal(of: Int(run.page)) == run.checksum { runs[index + 1] = run }
                continue
            }
            guard reservation.isBuffered(Int(run.page)) else { continue }
            if count != index { runs[count] = run }
            count += 1
        }
        if count < runs.count { runs.removeSubrange(count...) }
        return runs
    }
}

#if DEBUG
extension WriterGroup {
    /// What was taken is disjoint, what was given back was taken, and what was given up is of earlier versions.
    func checkInvariants() throws(BrokenInvariant) {
        // A damaged file may make two runs of one.
        if damage != nil { return }
        try unspilled.checkInvariants()
        let own = taken.sorted { $0.page < $1.page }
        for (extent, next) in zip(own, own.dropFirst()) {
            try Invariant.require(extent.end <= next.page, "Page \(next.page) was taken twice")
        }
        try checkSpare(spare.extents + stretches.unused)
        try checkRetired(retired[...])
        try checkSealed(sealed[...])
        if !hasSpilled {
            let known = Dictionary(grouping: sealed, by: \.page)
            for run in unspilled.runs { try checkSeal(of: run, among: known[run.page] ?? []) }
        }
        for (version, next) in zip(pinned, pinned.dropFirst()) {
            try Invariant.require(version < next, "The pinned versions do not ascend")
        }
    }

    /// The same of what came since this was called last, as far as that can be told without a look at the rest.
    func checkInvariantsOfChange() throws(BrokenInvariant) {
        if damage != nil { return }
        let before = checked
        checked = (retired: retired.count, sealed: sealed.count)
        sortTaken()
        try Invariant.require(!sortedTaken.isDamaged, "A page was taken twice")
        // A bounded number: what was given back before may stand in front of it, or have been taken again.
        try checkSpare(spare.singles.suffix(64).map { Extent(page: $0, pageCount: 1) } + spare.runs.suffix(64))
        try checkRetired(retired.dropFirst(before.retired))
        let new = sealed.dropFirst(before.sealed)
        try checkSealed(new)
        if hasSpilled { return }
        for (page, runs) in Dictionary(grouping: new, by: \.page) {
            if let run = unspilled.run(at: page) { try checkSeal(of: run, among: runs) }
        }
    }

    /// A run that stands in memory only is among those that were sealed.
    private func checkSeal(of run: PreparedCommit.Run, among runs: [PreparedCommit.Run]) throws(BrokenInvariant) {
        let isKnown = runs.contains { $0.checksum == run.checksum }
        try Invariant.require(isKnown, "An unspilled run was not sealed so")
    }

    /// Pages that were given back were taken, and each was given back once.
    private func checkSpare(_ extents: [Extent]) throws(BrokenInvariant) {
        for extent in extents + settled {
            try Invariant.require(hasTaken(extent), "Page \(extent.page) is spare and was not taken")
        }
        let free = extents.sorted { $0.page < $1.page }
        for (extent, next) in zip(free, free.dropFirst()) {
            try Invariant.require(extent.end <= next.page, "Page \(next.page) is spare twice")
        }
    }

    /// Runs that were given up are of versions before the group.
    private func checkRetired(_ runs: ArraySlice<RetiredExtent>) throws(BrokenInvariant) {
        for old in runs {
            try Invariant.require(old.death == firstVersion, "A run is given up by version \(old.death)")
            try Invariant.require(old.birth < firstVersion, "A run of the group's own is given up as an older one")
        }
    }

    /// Runs that were sealed were taken.
    private func checkSealed(_ runs: ArraySlice<PreparedCommit.Run>) throws(BrokenInvariant) {
        for run in runs {
            let extent = Extent(page: run.page, pageCount: run.pageCount)
            try Invariant.require(hasTaken(extent), "The run at page \(run.page) is sealed and was not taken")
        }
    }
}
#endif
