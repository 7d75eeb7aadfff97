/// What one write transaction changes of the file.
///
/// Pages of earlier members of its group are never written to: a transaction that changes one copies it, as it copies pages of older
/// versions. So everything it does stands here. When it commits, its group takes the value over; when it is rolled back, the value
/// is dropped, and the pages it took are the group's spare ones.
struct TransactionChanges {
    /// The root of everything.
    var catalog: ByteTree
    /// The runs of older versions that it gives up.
    var retired: [RetiredExtent] = []
    /// The runs that it sealed, a page once for each time.
    var sealed: [PreparedCommit.Run] = []
    /// The runs of earlier members that it gives up.
    var givenUp: [Extent] = []
    /// What it took from the free space, where there are members before it: without any, the group took the same.
    var taken: [Extent] = []
    /// The pages that its group had to spare when it began, where there are members before it, without those that settling took.
    var spare: SparePages

    /// What it touched, for the change log; a reference, since each row that is written comes to it.
    let recorder = ChangeRecorder()
    /// What it changed as the content of a commit record; nil where it can only be kept as pages.
    var record: TransactionRecord?
    /// The numbers that a commit made of records leaves.
    var replayedNumbers: CommitNumbers?
    /// Whether the schema that it stores is another one than before.
    var changesSchema = false
    /// Why the transaction can only be rolled back.
    var refusal: StorageError?

    /// As many runs as a small commit writes and gives up, so that their lists do not grow step by step.
    static var usualRunCount: Int { 16 }

    /// Nothing, on top of what earlier members left, or of a commit.
    init(catalog: PageReference, in group: WriterGroup) {
        self.catalog = ByteTree(root: catalog)
        guard group.memberCount == 0 else {
            spare = group.spare
            return
        }
        spare = SparePages()
        retired.reserveCapacity(Self.usualRunCount)
        sealed.reserveCapacity(Self.usualRunCount)
    }
}

/// Pages that a group took from the free space, and that are not in use: the next ones it needs.
struct SparePages {
    var singles: [PageNumber] = []
    var runs: [Extent] = []

    var isEmpty: Bool { singles.isEmpty && runs.isEmpty }

    /// All of them, in any order.
    var extents: [Extent] {
        if singles.isEmpty { return runs }
        return singles.map { Extent(page: $0, pageCount: 1) } + runs
    }

    mutating func insert(_ extent: Extent) {
        if extent.pageCount == 1 {
            singles.append(extent.page)
        } else {
            runs.append(extent)
        }
    }

    /// Takes out a run of a length, if there is one.
    mutating func take(_ pageCount: UInt32) -> PageNumber? {
        if pageCount == 1 { return singles.popLast() }
        guard let index = runs.lastIndex(where: { $0.pageCount == pageCount }) else { return nil }
        return runs.remove(at: index).page
    }

    /// The run that ``take(_:)`` would take out.
    func next(_ pageCount: UInt32) -> PageNumber? {
        pageCount == 1 ? singles.last : runs.last { $0.pageCount == pageCount }?.page
    }
}

#if DEBUG
extension TransactionChanges {
    /// What it takes, gives up and seals is of its group, and what it retires of older versions.
    ///
    /// - Parameters:
    ///   - group: The group.
    ///   - isWhole: Whether the pages are looked at that earlier members had left to spare.
    /// - Throws: What is wrong.
    func checkInvariants(in group: WriterGroup, wholly isWhole: Bool = true) throws(BrokenInvariant) {
        if group.damage != nil { return }
        for extent in taken + givenUp + (isWhole ? spare.extents : []) {
            try Invariant.require(group.hasTaken(extent), "Page \(extent.page) is changed, and is not the group's")
        }
        for run in sealed {
            let extent = Extent(page: run.page, pageCount: run.pageCount)
            try Invariant.require(
                group.hasTaken(extent),
                "The run at page \(run.page) is sealed, and is not the group's"
            )
        }
        for old in retired {
            try Invariant.require(old.death == group.firstVersion, "A run is given up by version \(old.death)")
            try Invariant.require(
                old.birth < group.firstVersion,
                "A run of the group's own is given up as an older one"
            )
        }
    }
}
#endif
