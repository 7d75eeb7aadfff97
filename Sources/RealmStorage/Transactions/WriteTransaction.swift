/// The one open write transaction of a file: private page buffers on top of the newest prepared version.
package final class WriteTransaction {
    /// The file being written.
    package let file: StorageFile
    /// The version being written.
    package let version: UInt64
    /// Reads see the base version and this transaction's own pages.
    package let view: PageView
    /// The root of everything in the file.
    package var catalog: ByteTree
    /// What this transaction touched, for the change log.
    package let changes = ChangeRecorder()

    let state: WriterState
    let reservation: Reservation
    private let pinned: [UInt64]
    private let epoch: UInt64
    private let firstPageCount: UInt32
    private(set) var taken: [Extent] = []
    private var spareSingles: [PageNumber] = []
    private var spareRuns: [Extent] = []
    private var retired: [RetiredExtent] = []
    var sealed: [PreparedCommit.Run] = []
    /// The sealed runs that stand in memory only, by first page.
    var unspilled: [PageNumber: PreparedCommit.Run] = [:]
    /// The number of their pages.
    var unspilledPageCount = 0
    /// The number of sealed pages that may wait in memory for the commit.
    package var unspilledPageLimit = 4096
    /// Whether runs were written to the file before the commit.
    var hasSpilled = false
    private var isOpen = true

    init(
        file: StorageFile,
        state: WriterState,
        view: PageView,
        reservation: Reservation,
        pinned: [UInt64],
        epoch: UInt64
    ) {
        self.file = file
        self.state = state
        self.view = view
        self.reservation = reservation
        self.pinned = pinned
        self.epoch = epoch
        version = state.version + 1
        catalog = ByteTree(root: state.catalog)
        firstPageCount = state.space.pageCount
    }

    deinit {
        if isOpen { rollback() }
    }

    /// Allocates a run of pages with its header written and the rest zeroed.
    package func allocate(pageCount: Int, kind: PageKind, level: Int = 0) throws(StorageError) -> MutablePage {
        let page = try takeRun(pageCount)
        page.bytes.initializeMemory(as: UInt8.self, repeating: 0, count: page.byteCount)
        page.bytes.storeLittle(page.reference.page, at: PageHeader.pageOffset)
        page.bytes.storeLittle(page.reference.pageCount, at: PageHeader.pageCountOffset)
        page.bytes.storeLittle(version, at: PageHeader.versionOffset)
        page.bytes.storeLittle(kind.rawValue, at: PageHeader.kindOffset)
        page.bytes.storeLittle(UInt8(level), at: PageHeader.levelOffset)
        return page
    }

    /// The run as this transaction's own: itself when it is already, else a copy, the old run being freed.
    package func writable(_ reference: PageReference) throws(StorageError) -> MutablePage {
        if isOwn(reference) {
            forgetSeal(of: reference)
            let own = PageReference(page: reference.page, pageCount: reference.pageCount, checksum: 0)
            return MutablePage(reference: own, bytes: view.buffers + Int(reference.page) * pageByteCount)
        }
        let source = try view.pointer(to: reference)
        let copy = try takeRun(Int(reference.pageCount))
        copy.bytes.copyMemory(from: source, byteCount: copy.byteCount)
        copy.bytes.storeLittle(copy.reference.page, at: PageHeader.pageOffset)
        copy.bytes.storeLittle(version, at: PageHeader.versionOffset)
        free(reference)
        return copy
    }

    /// Gives a run back: this transaction's own for use at once, an older one for when no reader needs it any more.
    package func free(_ reference: PageReference) {
        if reference.isNone { return }
        if isOwn(reference) {
            forgetSeal(of: reference)
            reservation.clearBuffered(Int(reference.page), count: Int(reference.pageCount))
            makeSpare(reference)
            return
        }
        // The birth only widens the stretch of versions that hold the page back, so a page that cannot be read counts
        // as born at the beginning.
        let birth = (try? view.pointer(to: reference)).map { $0.little(UInt64.self, at: PageHeader.versionOffset) } ?? 0
        if birth == version {
            // The transaction's own, written to the file early.
            makeSpare(reference)
            return
        }
        retired.append(
            RetiredExtent(
                extent: Extent(page: reference.page, pageCount: reference.pageCount),
                birth: min(birth, version),
                death: version
            )
        )
    }

    private func makeSpare(_ reference: PageReference) {
        if reference.pageCount == 1 {
            spareSingles.append(reference.page)
        } else {
            spareRuns.append(Extent(page: reference.page, pageCount: reference.pageCount))
        }
    }

    /// Computes a dirty run's checksum and returns the sealed reference; a sealed reference is returned as it is.
    package func seal(_ reference: PageReference) -> PageReference {
        guard reference.isDirty else { return reference }
        let bytes = view.buffers + Int(reference.page) * pageByteCount
        let checksum = PageChecksum.of(bytes, byteCount: Int(reference.pageCount) * pageByteCount)
        let run = PreparedCommit.Run(page: reference.page, pageCount: reference.pageCount, checksum: checksum)
        sealed.append(run)
        if unspilled.updateValue(run, forKey: run.page) == nil { unspilledPageCount += Int(run.pageCount) }
        return PageReference(page: reference.page, pageCount: reference.pageCount, checksum: checksum)
    }

    /// Seals everything and builds the commit record: pure memory, no I/O.
    ///
    /// Afterwards the transaction is over, and the next one may begin on top of it.
    package func prepareCommit() throws(StorageError) -> PreparedCommit {
        precondition(isOpen, "The write transaction is over: begin another one")
        try file.checkWriting(epoch: epoch)
        if catalog.root.isDirty { try catalog.seal(in: self) }
        let changeSet = changes.changeSet
        try writeRecord(changeSet)
        let runs = liveRuns()
        isOpen = false
        giveSpareBack()
        state.space.endChunk()
        state.space.retire(retired)
        state.version = version
        state.catalog = catalog.root
        return PreparedCommit(
            version: version,
            catalog: catalog.root,
            log: state.segments.last?.reference ?? .none,
            records: state.recordBytes,
            oldestLogVersion: state.oldestLogVersion,
            pageCount: state.space.pageCount,
            runs: runs,
            retired: retired,
            hasSpilled: hasSpilled,
            changes: changeSet
        )
    }

    /// Forgets everything this transaction did.
    package func rollback() {
        guard isOpen else { return }
        isOpen = false
        for extent in taken {
            reservation.clearBuffered(Int(extent.page), count: Int(extent.pageCount))
        }
        state.space.endChunk()
        state.space.release(taken)
        state.space.resetEnd(to: firstPageCount)
    }

    // MARK: Pages

    private func isOwn(_ reference: PageReference) -> Bool {
        let page = Int(reference.page)
        return page < reservation.pageCapacity && reservation.isBuffered(page)
            && UnsafeRawPointer(view.buffers + page * pageByteCount).little(UInt64.self, at: PageHeader.versionOffset)
                == version
    }

    private func takeRun(_ pageCount: Int) throws(StorageError) -> MutablePage {
        let count = UInt32(pageCount)
        let page: PageNumber
        if pageCount == 1, let spare = spareSingles.popLast() {
            page = spare
        } else if pageCount > 1, let index = spareRuns.lastIndex(where: { $0.pageCount == count }) {
            page = spareRuns.remove(at: index).page
        } else {
            page = state.space.allocate(count)
            if let last = taken.last, last.end == page {
                taken[taken.count - 1].pageCount += count
            } else {
                taken.append(Extent(page: page, pageCount: count))
            }
        }
        guard Int(page) + pageCount <= reservation.pageCapacity else {
            throw StorageError(
                .addressSpaceExhausted,
                "The realm file outgrew the address space reserved for it; close it and open it again",
                path: file.path
            )
        }
        reservation.setBuffered(Int(page), count: pageCount)
        return MutablePage(
            reference: PageReference(page: page, pageCount: count, checksum: 0),
            bytes: view.buffers + Int(page) * pageByteCount
        )
    }

    /// The runs that stand at the end, each with its last checksum, ascending.
    private func liveRuns() -> [PreparedCommit.Run] {
        var last: [PageNumber: Int] = [:]
        last.reserveCapacity(sealed.count)
        for (index, run) in sealed.enumerated() { last[run.page] = index }
        var runs: [PreparedCommit.Run] = []
        runs.reserveCapacity(last.count)
        for index in last.values where reservation.isBuffered(Int(sealed[index].page)) { runs.append(sealed[index]) }
        runs.sort { $0.page < $1.page }
        return runs
    }

    private var spare: [Extent] {
        spareSingles.map { Extent(page: $0, pageCount: 1) } + spareRuns
    }

    private func giveSpareBack() {
        state.space.release(spare)
        spareSingles = []
        spareRuns = []
    }

    /// The pages taken and kept, joined.
    private func keptExtents() -> [Extent] {
        var space = SpaceMap(pageCount: .max)
        space.release(taken)
        var result: [Extent] = []
        let holes = spare.sorted { $0.page < $1.page }
        var index = 0
        for extent in space.free {
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

    // MARK: The commit record

    private func record(_ changeSet: ChangeSet) -> CommitRecord {
        CommitRecord(
            version: version,
            pageCount: state.space.pageCount,
            allocated: keptExtents(),
            retired: retired,
            changes: changeSet
        )
    }

    /// Puts this commit's record into the header, or, when the header is full, moves the records there to a segment.
    private func writeRecord(_ changeSet: ChangeSet) throws(StorageError) {
        let own = record(changeSet)
        var writer = ByteWriter()
        own.encode(into: &writer)
        if !state.writesCheckpoint,
            state.recordBytes.count + writer.bytes.count <= FileHeader.maximumRecordByteCount
        {
            state.recordBytes += writer.bytes
            note(own)
            state.records.append(own)
            return
        }
        let pictureCount = state.space.free.count + state.space.retired.count
        if state.writesCheckpoint || state.segments.count >= 8 && state.differenceCount >= pictureCount / 2 {
            try writeCheckpoint(changeSet)
        } else {
            try writeSegment(changeSet)
        }
        state.records = []
        state.recordBytes = []
    }

    private func note(_ record: CommitRecord) {
        state.recentChanges.append(LogSegment.VersionChanges(version: version, changes: record.changes))
        state.differenceCount += record.allocated.count + record.retired.count
    }

    private func writeSegment(_ changeSet: ChangeSet) throws(StorageError) {
        let previous = state.segments.last
        let (reference, own) = try store { () -> (LogSegment, CommitRecord) in
            let own = record(changeSet)
            let segment = LogSegment(
                version: version,
                previous: previous?.reference ?? .none,
                previousVersion: previous?.version ?? 0,
                content: .records(state.records + [own])
            )
            return (segment, own)
        }
        state.segments.append(WriterState.Segment(version: version, reference: reference))
        note(own)
    }

    /// Replaces the segments since the last checkpoint, and lets go of those that nobody can ask for.
    private func writeCheckpoint(_ changeSet: ChangeSet) throws(StorageError) {
        let needed = min(pinned.first ?? .max, version - 1 - min(version - 1, file.options.changeLogRetention))
        var checkpoints = state.checkpoints
        for (index, segment) in state.segments.enumerated() {
            if index == 0, segment.version > needed, try LogSegment.read(segment.reference, in: view).isCheckpoint {
                checkpoints.append(segment)
            } else {
                free(segment.reference)
            }
        }
        while let first = checkpoints.first, first.version <= needed {
            free(first.reference)
            checkpoints.removeFirst()
        }
        let changes =
            state.recentChanges.filter { $0.version > needed }
            + [LogSegment.VersionChanges(version: version, changes: changeSet)]
        let previous = checkpoints.last
        let (reference, _) = try store { () -> (LogSegment, Void) in
            var space = state.space
            space.endChunk()
            space.release(spare)
            let picture = LogSegment.Picture(
                pageCount: space.pageCount,
                free: space.free,
                retired: space.retired + retired,
                changes: changes
            )
            let segment = LogSegment(
                version: version,
                previous: previous?.reference ?? .none,
                previousVersion: previous?.version ?? 0,
                content: .checkpoint(picture)
            )
            return (segment, ())
        }
        state.segments = [WriterState.Segment(version: version, reference: reference)]
        state.checkpoints = checkpoints
        state.oldestLogVersion = max(state.oldestLogVersion, needed)
        state.recentChanges = []
        state.differenceCount = 0
        state.writesCheckpoint = false
    }

    /// Writes a segment whose content depends on the pages that it takes itself: makes it again until it fits.
    private func store<T>(_ make: () -> (LogSegment, T)) throws(StorageError) -> (PageReference, T) {
        var pageCount = 1
        while true {
            let page = try allocate(pageCount: pageCount, kind: .commitRecord)
            let (segment, value) = make()
            let bytes = segment.encoded()
            if bytes.count <= page.byteCount - PageHeader.byteCount {
                bytes.withUnsafeBytes {
                    (page.bytes + PageHeader.byteCount).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
                }
                page.bytes.storeLittle(UInt32(bytes.count), at: PageHeader.payloadByteCountOffset)
                return (seal(page.reference), value)
            }
            free(page.reference)
            // Room for the few entries that taking the larger run itself may add.
            pageCount = (bytes.count + 256 + PageHeader.byteCount + pageByteCount - 1) / pageByteCount
        }
    }
}
