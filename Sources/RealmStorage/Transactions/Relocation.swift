/// One bounded step of moving pages off the end of the file: how far, and how much of it is left to do.
package struct Relocation: RunMapper {
    /// Pages at and above this one are moved below it.
    package let limit: PageNumber
    private let transaction: WriteTransaction
    private let pageBudget: Int
    private var pagesLeft: Int
    private var visitsLeft: Int
    private var visited = VisitedPages()
    /// Pages moved so far.
    package private(set) var movedPageCount = 0
    package var isCutShort = false

    package init(below limit: PageNumber, in transaction: WriteTransaction, pageBudget: Int, visitBudget: Int = 2048) {
        self.limit = limit
        self.transaction = transaction
        self.pageBudget = pageBudget
        pagesLeft = pageBudget
        visitsLeft = visitBudget
    }

    package var view: PageView { transaction.view }

    /// Whether the step has done enough.
    package var isExhausted: Bool { pagesLeft <= 0 || visitsLeft <= 0 }

    /// What was moved stands elsewhere, and a step may go down the same way again: the number of runs that it looks at bounds it.
    package mutating func beginWalk() { visited = VisitedPages() }

    package mutating func enter(_ reference: PageReference) throws(StorageError) {
        try visited.enter(reference, in: view)
    }

    package mutating func mapped(
        _ reference: PageReference,
        _ changes: [(offset: Int, reference: PageReference)]
    ) throws(StorageError) -> PageReference {
        visitsLeft -= 1
        guard moves(reference) || !changes.isEmpty else { return reference }
        let copy = try transaction.writable(reference)
        for change in changes { change.reference.store(to: copy.bytes + change.offset) }
        return transaction.seal(copy.reference)
    }

    /// Whether a run should be moved now; counts it as moved then.
    private mutating func moves(_ reference: PageReference) -> Bool {
        guard reference.page >= limit || reference.pageCount > limit - reference.page,
            transaction.state.space.hasRoom(reference.pageCount, below: limit)
        else { return false }
        let count = Int(reference.pageCount)
        // Nodes of one page always, since the walk stops behind the next leaf; a run longer than the whole budget is a
        // step of its own.
        guard count == 1 || count <= pagesLeft || pagesLeft == pageBudget else {
            isCutShort = true
            return false
        }
        pagesLeft -= count
        movedPageCount += count
        return true
    }
}

extension WriteTransaction {
    /// The end of the file, in pages, as this transaction leaves it.
    package var pageCount: Int { Int(state.space.pageCount) }

    /// The pages that may be used now.
    package var freePageCount: Int { state.space.freePageCount }

    /// Where the file should end after its pages have been moved: room for everything in use and a little more; nil while
    /// too little is free.
    package var relocationLimit: PageNumber? {
        guard StorageFile.isMostlyFree(freePageCount, of: pageCount) else { return nil }
        let used = pageCount - freePageCount
        return PageNumber(used + used / 8 + 64)
    }

    /// Makes allocations take the lowest room from here on, in later transactions of this process as well; nil ends it.
    package func setPlacementLimit(_ limit: PageNumber?) {
        state.space.placementLimit = limit
    }

    /// Moves the end of the file back over free pages, when there are enough of them; returns how many.
    ///
    /// The file itself becomes shorter by `StorageFile.returnTrailingSpace()`, once this is durable.
    package func trimEnd() -> Int {
        state.space.endChunk()
        let trailing = state.space.trailingPageCount
        let needed = (pageCount - trailing) * pageByteCount
        guard trailing > 0, StorageFile.isWorthCutting(file.byteCount - needed, behind: needed) else { return 0 }
        return state.space.trimEnd() ? trailing : 0
    }

    /// Whether the commit writes a picture for the sake of the place of those before it.
    package var writesPicture: Bool { state.writesPicture }

    /// Moves the log's segments off the end: this commit writes a picture, and older pictures are copied.
    package func relocateLog(below limit: PageNumber) throws(StorageError) {
        let isAbove = { (segment: WriterState.Segment) in segment.reference.page >= limit }
        if let first = state.pictures.firstIndex(where: isAbove) {
            // Each one is named by the one after it, so all from the first on are written again.
            var previous = first > 0 ? state.pictures[first - 1] : nil
            for index in first..<state.pictures.count {
                let reference = try rewrite(state.pictures[index], behind: previous)
                state.pictures[index].reference = reference
                previous = state.pictures[index]
            }
            // So is the newest one, which may stay beside the one that the commit writes; what follows it does not.
            if let newest = state.segments.first {
                let reference = try rewrite(newest, behind: previous)
                state.segments[0].reference = reference
            }
            state.writesPicture = true
        }
        if state.segments.contains(where: isAbove) { state.writesPicture = true }
    }

    /// Writes a picture of the log to another place, gives up the old one, and returns where it is.
    private func rewrite(
        _ picture: WriterState.Segment,
        behind previous: WriterState.Segment?
    ) throws(StorageError) -> PageReference {
        var segment = try SpaceSegment.read(picture.reference, in: view)
        segment.previous = previous?.reference ?? .none
        segment.previousVersion = previous?.version ?? 0
        let reference = try store(segment)
        free(picture.reference)
        return reference
    }

    private func store(_ segment: SpaceSegment) throws(StorageError) -> PageReference {
        let bytes = segment.encoded()
        let pageCount = (bytes.count + PageHeader.byteCount + pageByteCount - 1) / pageByteCount
        let page = try allocate(pageCount: pageCount, kind: .spaceSegment)
        bytes.withUnsafeBytes {
            (page.bytes + PageHeader.byteCount).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
        }
        page.bytes.storeLittle(UInt32(bytes.count), at: PageHeader.payloadByteCountOffset)
        return seal(page.reference)
    }
}

extension PreparedCommit {
    /// The number of pages that the commit writes, its header not counted.
    package var writtenPageCount: Int { runs.reduce(0) { $0 + Int($1.pageCount) } }
}
