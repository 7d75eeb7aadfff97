import DequeModule

/// What only the holder of the write lock uses: the newest prepared version, free space, and the records kept.
// Unchecked because the write lock goes from one holder to the next with everything that the one before did.
final class WriterState: @unchecked Sendable {
    // Guarded by the write lock: only the open write transaction and `StorageFile.beginWrite` touch it. Exclusive access is
    // not checked for the same reason.
    struct Segment {
        var version: UInt64
        var reference: PageReference
    }

    /// The root that the next transaction builds on.
    @exclusivity(unchecked) var version: UInt64
    @exclusivity(unchecked) var catalog: PageReference
    @exclusivity(unchecked) var space: SpaceMap
    /// The newest picture, when there is one, and the plain segments since, oldest first.
    @exclusivity(unchecked) var segments: [Segment] = []
    /// The pictures before that one which somebody may still ask for, oldest first.
    @exclusivity(unchecked) var pictures: [Segment] = []
    /// The records that stand in the header.
    @exclusivity(unchecked) var records: [SpaceRecord] = []
    @exclusivity(unchecked) var recordBytes: [UInt8] = []
    /// The changes since the newest picture, which the next picture takes over.
    @exclusivity(unchecked) var recentChanges: [SpaceSegment.VersionChanges] = []
    @exclusivity(unchecked) var oldestLogVersion: UInt64
    @exclusivity(unchecked) var numbers: CommitNumbers
    /// Entries in the differences since the newest picture.
    @exclusivity(unchecked) var differenceCount = 0
    /// The transactions that are not sealed yet, the open one included.
    @exclusivity(unchecked) var group: WriterGroup?
    /// What the layer above keeps from transaction to transaction.
    @exclusivity(unchecked) var session: (any WriterSession)?
    /// Whether the next commit writes a picture, whatever its size: the segments before stand where the file is to end.
    @exclusivity(unchecked) var writesPicture = false

    /// What was written by earlier versions has lasted for some commits already.
    @exclusivity(unchecked) private(set) var settledVersion: UInt64 = 0
    /// The first versions of the last commits, oldest first.
    @exclusivity(unchecked) private var recentCommits: Deque<UInt64> = []

    /// Notes that a commit was prepared.
    func noteCommit(from firstVersion: UInt64) {
        recentCommits.append(firstVersion)
        if recentCommits.count > 3 { settledVersion = recentCommits.removeFirst() }
    }

    init(header: FileHeader, space: SpaceMap) {
        version = header.version
        catalog = header.catalog
        oldestLogVersion = header.oldestLogVersion
        numbers = header.numbers
        recordBytes = header.records
        self.space = space
    }

    /// Reads the state of a durable version: the records in its header, and the chain of segments back to the newest
    /// picture.
    static func load(from header: FileHeader, in view: PageView, path: String) throws(StorageError) -> WriterState {
        var chain: [(SpaceSegment, PageReference)] = []
        var visited = VisitedPages()
        var next = header.spaceSegment
        while !next.isNone {
            try visited.enter(next, in: view)
            let segment = try SpaceSegment.read(next, in: view)
            guard segment.version <= chain.last.map({ $0.0.previousVersion }) ?? header.version else {
                throw .corrupt("The chain of space segments does not end", page: next.page, path: path)
            }
            chain.append((segment, next))
            if segment.isPicture { break }
            next = segment.previous
        }
        chain.reverse()
        var tags = TaggedSpace()
        var end = UInt32(FileHeader.slotPageCount)
        var replay: [SpaceRecord] = []
        func add(_ extents: [RetiredExtent]) throws(StorageError) {
            guard tags.add(extents) else {
                throw .corrupt(
                    "The records of free space name a page twice",
                    page: header.spaceSegment.page,
                    path: path
                )
            }
        }
        var version: UInt64 = 0
        func ascend(_ isInOrder: Bool, to next: UInt64) throws(StorageError) {
            guard isInOrder else {
                throw .corrupt(
                    "The versions of the space records do not ascend",
                    page: header.spaceSegment.page,
                    path: path
                )
            }
            version = next
        }
        func append(_ records: [SpaceRecord]) throws(StorageError) {
            for record in records { try ascend(record.version > version, to: record.version) }
            replay += records
        }
        for (segment, _) in chain {
            switch segment.content {
            case .picture(let picture):
                end = picture.pageCount
                try add(picture.free.map { RetiredExtent(extent: $0, birth: 0, death: 0) } + picture.retired)
            case .records(let records):
                try append(records)
            }
            // What follows begins behind the segment, also where that says nothing of its own version.
            try ascend(segment.version >= version, to: segment.version)
        }
        let headerRecords = try header.spaceRecords(path: path)
        try append(headerRecords)
        for record in replay {
            if record.pageCount > end {
                let growth = Extent(page: end, pageCount: record.pageCount - end)
                try add([RetiredExtent(extent: growth, birth: 0, death: 0)])
            }
            end = record.pageCount
            for extent in record.allocated { tags.remove(extent) }
            try add(record.retired)
            tags.cut(at: end)
        }
        // What is put behind another end would make the file as long as a stranger likes.
        guard UInt64(end) == header.pageCount, version <= header.version else {
            throw .corrupt(
                "The space records end at page \(end) and version \(version), the file at page \(header.pageCount) and "
                    + "version \(header.version)",
                page: header.spaceSegment.page,
                path: path
            )
        }
        let state = WriterState(
            header: header,
            space: SpaceMap(
                pageCount: end,
                free: tags.extents.filter { $0.death == 0 }.map(\.extent),
                waiting: tags.extents.filter { $0.death != 0 }
            )
        )
        state.records = headerRecords
        state.segments = chain.map { Segment(version: $0.0.version, reference: $0.1) }
        for record in replay {
            state.recentChanges.append(SpaceSegment.VersionChanges(version: record.version, changes: record.changes))
            state.differenceCount += record.allocated.count + record.retired.count
        }
        if var oldest = chain.first?.0, oldest.isPicture {
            while !oldest.previous.isNone, oldest.previousVersion > state.oldestLogVersion {
                let reference = oldest.previous
                try visited.enter(reference, in: view)
                let before = try SpaceSegment.read(reference, in: view)
                guard before.version < oldest.version, before.isPicture else {
                    throw .corrupt("The chain of space segments does not end", page: reference.page, path: path)
                }
                state.pictures.insert(Segment(version: before.version, reference: reference), at: 0)
                oldest = before
            }
        }
        return state
    }
}

#if DEBUG
extension WriterState {
    /// As ``checkInvariantsOfChange()``, with all of free space and of the group, and all that the newest picture is followed by.
    func checkInvariants() throws(BrokenInvariant) {
        try space.checkInvariants()
        try group?.checkInvariants()
        try checkInvariantsOfChange()
        for (changes, next) in zip(recentChanges, recentChanges.dropFirst()) {
            try Invariant.require(changes.version < next.version, "The versions of the changes do not ascend")
        }
        let stored = try? recordBytes.withUnsafeBytes { try SpaceRecord.list(in: $0) }
        try Invariant.require(
            stored?.map(\.version) == records.map(\.version),
            "The bytes of the records are not those of the records"
        )
    }

    /// What came to the group, and the records and segments in the order of their versions.
    func checkInvariantsOfChange() throws(BrokenInvariant) {
        try group?.checkInvariantsOfChange()
        try Invariant.require(group != nil || !catalog.isDirty, "The catalog is not sealed, and no transaction is open")
        if let group {
            try Invariant.require(!group.firstCatalog.isDirty, "The catalog that the group builds on is not sealed")
        }
        try Invariant.require(settledVersion <= version, "Version \(settledVersion) has lasted and is not there")
        var last: UInt64 = 0
        for segment in pictures + segments {
            try Invariant.require(segment.version > last, "The versions of the space segments do not ascend")
            last = segment.version
        }
        for record in records {
            try Invariant.require(record.version > last, "The record of version \(record.version) is out of order")
            last = record.version
        }
        try Invariant.require(last <= version, "A record is of version \(last), the newest one is \(version)")
        let changed = recentChanges.last?.version ?? 0
        try Invariant.require(changed <= version, "Changes are of version \(changed), the newest one is \(version)")
    }
}

extension WriteTransaction {
    /// The transaction's group and free space, and what it changes.
    func checkInvariants() throws(BrokenInvariant) {
        try state.checkInvariants()
        try checkOwnInvariants(wholly: true)
    }

    /// The same without all of free space, and without what earlier members of the group did.
    func checkInvariantsOfChange() throws(BrokenInvariant) {
        try state.checkInvariantsOfChange()
        try checkOwnInvariants(wholly: false)
    }

    /// What all members of the group did, where it ends: each step before has looked at what one of them did.
    func checkInvariantsOfGroup() throws(BrokenInvariant) {
        try group.checkInvariants()
        if recording != .replay { try group.changes.checkInvariants() }
    }

    private func checkOwnInvariants(wholly isWhole: Bool) throws(BrokenInvariant) {
        // Records may make a table anew, with the keys that its rows had.
        if recording != .replay {
            try changes.checkInvariants()
            if isWhole {
                try group.changes.checkInvariants()
            } else {
                try group.changes.checkInvariants(takenOverFrom: changes)
            }
        }
        if isOpen {
            try changed.checkInvariants(in: group, wholly: isWhole)
            try Invariant.require(state.group === group, "The open transaction's group is not the one that is open")
            let follows = version == state.version + 1 || version == state.version
            try Invariant.require(follows, "The transaction does not follow the newest version")
        }
    }
}
#endif
