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

    private let state: WriterState
    private let reservation: Reservation
    private let pinned: [UInt64]
    private let epoch: UInt64
    private let firstPageCount: UInt32
    private var taken: [Extent] = []
    private var spareSingles: [PageNumber] = []
    private var spareRuns: [Extent] = []
    private var retired: [RetiredExtent] = []
    private var sealed: [PreparedCommit.Run] = []
    private var isOpen = true

    init(
        file: StorageFile, state: WriterState, view: PageView, reservation: Reservation, pinned: [UInt64],
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
            reservation.clearBuffered(Int(reference.page), count: Int(reference.pageCount))
            if reference.pageCount == 1 {
                spareSingles.append(reference.page)
            } else {
                spareRuns.append(Extent(page: reference.page, pageCount: reference.pageCount))
            }
            return
        }
        // The birth only widens the stretch of versions that hold the page back, so a page that cannot be read counts
        // as born at the beginning.
        let birth = (try? view.pointer(to: reference)).map { $0.little(UInt64.self, at: PageHeader.versionOffset) } ?? 0
        retired.append(
            RetiredExtent(
                extent: Extent(page: reference.page, pageCount: reference.pageCount), birth: min(birth, version),
                death: version))
    }

    /// Computes a dirty run's checksum and returns the sealed reference; a sealed reference is returned as it is.
    package func seal(_ reference: PageReference) -> PageReference {
        guard reference.isDirty else { return reference }
        let bytes = view.buffers + Int(reference.page) * pageByteCount
        let checksum = PageChecksum.of(bytes, byteCount: Int(reference.pageCount) * pageByteCount)
        sealed.append(
            PreparedCommit.Run(page: reference.page, pageCount: reference.pageCount, checksum: checksum))
        return PageReference(page: reference.page, pageCount: reference.pageCount, checksum: checksum)
    }

    /// Seals everything and builds the commit record: pure memory, no I/O. Afterwards the transaction is over, and the
    /// next one may begin on top of it.
    package func prepareCommit() throws(StorageError) -> PreparedCommit {
        precondition(isOpen, "The write transaction is over: begin another one")
        try file.checkWriting(epoch: epoch)
        if catalog.root.isDirty { try catalog.seal(in: self) }
        let changeSet = changes.changeSet
        let record = try writeRecord(changeSet)
        let runs = liveRuns()
        isOpen = false
        giveSpareBack()
        state.space.endChunk()
        state.space.retire(retired)
        state.version = version
        state.catalog = catalog.root
        return PreparedCommit(
            version: version, catalog: catalog.root, record: record, pageCount: state.space.pageCount, runs: runs,
            changes: changeSet)
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
                "The realm file outgrew the address space reserved for it; close it and open it again", path: file.path)
        }
        reservation.setBuffered(Int(page), count: pageCount)
        return MutablePage(
            reference: PageReference(page: page, pageCount: count, checksum: 0),
            bytes: view.buffers + Int(page) * pageByteCount)
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

    private func writeRecord(_ changeSet: ChangeSet) throws(StorageError) -> PageReference {
        let own = CommitRecord.VersionChanges(version: version, changes: changeSet)
        let pictureCount = state.space.free.count + state.space.retired.count
        let isCheckpoint =
            state.records.isEmpty || state.records.count >= 64 && state.differenceCount >= pictureCount / 2
        if isCheckpoint { return try writeCheckpoint(own) }
        let previous = state.records[state.records.count - 1]
        var pageCount = 1
        while true {
            let page = try allocate(pageCount: pageCount, kind: .commitRecord)
            let allocated = keptExtents()
            let record = CommitRecord(
                version: version, previous: previous.reference, previousVersion: previous.version,
                oldestLogVersion: state.oldestLogVersion, pageCount: state.space.pageCount,
                space: .difference(allocated: allocated, retired: retired), changes: [own])
            if let reference = store(record, in: page) {
                state.records.append(WriterState.Record(version: version, reference: reference))
                state.recentChanges.append(own)
                state.differenceCount += allocated.count + retired.count
                return reference
            }
            pageCount = neededPageCount(record)
            free(page.reference)
        }
    }

    /// Replaces the plain records since the last checkpoint, and lets go of those that nobody can ask for.
    private func writeCheckpoint(_ own: CommitRecord.VersionChanges) throws(StorageError) -> PageReference {
        let needed = min(pinned.first ?? .max, version - 1 - min(version - 1, file.options.changeLogRetention))
        for (index, record) in state.records.enumerated() where index > 0 || record.version <= needed {
            free(record.reference)
        }
        var checkpoints = state.checkpoints
        if let first = state.records.first, first.version > needed { checkpoints.append(first) }
        while let first = checkpoints.first, first.version <= needed {
            free(first.reference)
            checkpoints.removeFirst()
        }
        let kept = state.recentChanges.filter { $0.version > needed }
        let oldestLogVersion = max(state.oldestLogVersion, needed)
        let previous = checkpoints.last
        var pageCount = 1
        while true {
            let page = try allocate(pageCount: pageCount, kind: .commitRecord)
            var space = state.space
            space.endChunk()
            space.release(spare)
            let record = CommitRecord(
                version: version, previous: previous?.reference ?? .none, previousVersion: previous?.version ?? 0,
                oldestLogVersion: oldestLogVersion, pageCount: space.pageCount,
                space: .picture(free: space.free, retired: space.retired + retired), changes: kept + [own])
            if let reference = store(record, in: page) {
                state.records = [WriterState.Record(version: version, reference: reference)]
                state.checkpoints = checkpoints
                state.oldestLogVersion = oldestLogVersion
                state.recentChanges = []
                state.differenceCount = 0
                return reference
            }
            pageCount = neededPageCount(record)
            free(page.reference)
        }
    }

    private func neededPageCount(_ record: CommitRecord) -> Int {
        // Room for the few entries that allocating the larger run itself may add.
        (record.encoded().count + 256 + PageHeader.byteCount + pageByteCount - 1) / pageByteCount
    }

    private func store(_ record: CommitRecord, in page: MutablePage) -> PageReference? {
        let bytes = record.encoded()
        guard bytes.count <= page.byteCount - PageHeader.byteCount else { return nil }
        bytes.withUnsafeBytes { (page.bytes + PageHeader.byteCount).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        page.bytes.storeLittle(UInt32(bytes.count), at: PageHeader.payloadByteCountOffset)
        return seal(page.reference)
    }
}
