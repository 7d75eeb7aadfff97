/// A sealed write transaction, ready to be written and flushed by the file's I/O thread.
package final class PreparedCommit: Sendable {
    /// One run that the commit writes.
    struct Run: Sendable {
        var page: PageNumber
        var pageCount: UInt32
        var checksum: UInt64
    }

    package let version: UInt64
    /// The number of the group that was sealed.
    package let group: UInt64
    /// The version of the first member of the group: pages stamped with it or a later one are the commit's.
    let firstVersion: UInt64
    let catalog: PageReference
    let spaceSegment: PageReference
    let records: [UInt8]
    let oldestLogVersion: UInt64
    let numbers: CommitNumbers
    let pageCount: UInt32
    /// The runs to write, ascending.
    let runs: [Run]
    /// The runs that the commit gave up.
    let retired: [RetiredExtent]
    /// Whether further runs have been written already, which must be flushed before the header.
    let hasSpilled: Bool
    /// What changed, for the observers of this process.
    package let changes: ChangeSet
    /// The records of its members; nil where one has none, and the commit can only be kept as pages.
    let entries: [CommitLog.Entry]?

    init(
        version: UInt64,
        group: UInt64,
        firstVersion: UInt64,
        catalog: PageReference,
        spaceSegment: PageReference,
        records: [UInt8],
        oldestLogVersion: UInt64,
        numbers: CommitNumbers,
        pageCount: UInt32,
        runs: [Run],
        retired: [RetiredExtent],
        hasSpilled: Bool,
        changes: ChangeSet,
        entries: [CommitLog.Entry]? = nil
    ) {
        self.version = version
        self.group = group
        self.firstVersion = firstVersion
        self.catalog = catalog
        self.spaceSegment = spaceSegment
        self.records = records
        self.oldestLogVersion = oldestLogVersion
        self.numbers = numbers
        self.pageCount = pageCount
        self.runs = runs
        self.retired = retired
        self.hasSpilled = hasSpilled
        self.changes = changes
        self.entries = entries
    }

    /// The runs that a group of commits must write, ascending: those that its last version uses.
    ///
    /// What one commit of the group wrote and a later one gave up is seen by nobody, and its pages may be overwritten
    /// as soon as the group is durable, so it must not be part of what proves the group whole.
    static func runs(of commits: [PreparedCommit]) -> [Run] {
        guard commits.count > 1 else { return commits.first?.runs ?? [] }
        let first = commits[0].firstVersion
        var givenUp: Set<PageNumber> = []
        for commit in commits {
            for retired in commit.retired where retired.birth >= first { givenUp.insert(retired.extent.page) }
        }
        var kept: [Run] = []
        for commit in commits {
            for run in commit.runs {
                if !givenUp.contains(run.page) { kept.append(run) }
            }
        }
        kept.sort { $0.page < $1.page }
        return kept
    }

    /// The runs of several commits joined to extents of neighbouring pages.
    static func extents(of runs: [Run]) -> [Extent] {
        var extents: [Extent] = []
        for run in runs {
            if let last = extents.last, last.end == run.page {
                extents[extents.count - 1].pageCount += run.pageCount
            } else {
                extents.append(Extent(page: run.page, pageCount: run.pageCount))
            }
        }
        return extents
    }

    /// The checksum over the checksums of the runs, in page order.
    static func contentChecksum(of runs: [Run]) -> UInt64 {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: max(runs.count, 1)) { checksums in
            for (index, run) in runs.enumerated() { checksums.initializeElement(at: index, to: run.checksum) }
            return XXH64.hash(UnsafeRawPointer(checksums.baseAddress!), count: runs.count * 8)
        }
    }
}
