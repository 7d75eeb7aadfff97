/// What only the holder of the write lock uses: the newest prepared version, free space, and the records kept.
final class WriterState: @unchecked Sendable {
    // Guarded by the write lock: only the open write transaction and `StorageFile.beginWrite` touch it.
    struct Record {
        var version: UInt64
        var reference: PageReference
    }

    /// The root that the next transaction builds on.
    var version: UInt64
    var catalog: PageReference
    var space: SpaceMap
    /// The newest checkpoint and the plain records since, oldest first.
    var records: [Record] = []
    /// The checkpoints before that one which somebody may still ask for, oldest first.
    var checkpoints: [Record] = []
    /// The changes since the newest checkpoint, which the next checkpoint takes over.
    var recentChanges: [CommitRecord.VersionChanges] = []
    var oldestLogVersion: UInt64
    /// Entries in the differences since the newest checkpoint.
    var differenceCount = 0

    init(version: UInt64, catalog: PageReference, space: SpaceMap, oldestLogVersion: UInt64) {
        self.version = version
        self.catalog = catalog
        self.space = space
        self.oldestLogVersion = oldestLogVersion
    }

    /// Reads the state of a durable version by following the chain of its records back to the newest checkpoint.
    static func load(from header: FileHeader, in view: PageView) throws(StorageError) -> WriterState {
        guard !header.record.isNone else {
            return WriterState(
                version: header.version, catalog: header.catalog, space: SpaceMap(pageCount: UInt32(header.pageCount)),
                oldestLogVersion: header.version)
        }
        var chain: [(CommitRecord, PageReference)] = []
        var next = header.record
        while true {
            let record = try CommitRecord.read(next, in: view)
            chain.append((record, next))
            if record.isCheckpoint || record.previous.isNone { break }
            guard chain.count < 1 << 20, record.previousVersion < record.version else {
                throw .corrupt("The chain of commit records does not end", page: next.page)
            }
            next = record.previous
        }
        chain.reverse()
        var tags = TaggedSpace()
        if case .picture(let free, let retired) = chain[0].0.space {
            tags.add(free.map { RetiredExtent(extent: $0, birth: 0, death: 0) } + retired)
        }
        var end = chain[0].0.pageCount
        for (record, _) in chain {
            guard case .difference(let allocated, let retired) = record.space else { continue }
            if record.pageCount > end {
                let growth = Extent(page: end, pageCount: record.pageCount - end)
                tags.add([RetiredExtent(extent: growth, birth: 0, death: 0)])
            }
            end = record.pageCount
            for extent in allocated { tags.remove(extent) }
            tags.add(retired)
        }
        let newest = chain[chain.count - 1].0
        let state = WriterState(
            version: header.version, catalog: header.catalog,
            space: SpaceMap(
                pageCount: newest.pageCount, free: tags.extents.filter { $0.death == 0 }.map(\.extent),
                waiting: tags.extents.filter { $0.death != 0 }),
            oldestLogVersion: newest.oldestLogVersion)
        state.records = chain.map { Record(version: $0.0.version, reference: $0.1) }
        for (record, _) in chain.dropFirst(chain[0].0.isCheckpoint ? 1 : 0) {
            state.recentChanges += record.changes
            if case .difference(let allocated, let retired) = record.space {
                state.differenceCount += allocated.count + retired.count
            }
        }
        var checkpoint = chain[0].0
        while checkpoint.isCheckpoint, !checkpoint.previous.isNone, checkpoint.previousVersion > state.oldestLogVersion {
            let reference = checkpoint.previous
            let before = try CommitRecord.read(reference, in: view)
            guard before.version < checkpoint.version else {
                throw .corrupt("The chain of commit records does not end", page: reference.page)
            }
            state.checkpoints.insert(Record(version: before.version, reference: reference), at: 0)
            checkpoint = before
        }
        return state
    }
}

/// Retired and free extents by page, for replaying differences.
private struct TaggedSpace {
    private(set) var extents: [RetiredExtent] = []

    mutating func add(_ items: [RetiredExtent]) {
        for item in items {
            let index = extents.partitioningIndex { $0.extent.page >= item.extent.page }
            extents.insert(item, at: index)
        }
    }

    /// Takes pages out, whatever extents they lie in.
    mutating func remove(_ taken: Extent) {
        var index = extents.partitioningIndex { $0.extent.end > taken.page }
        while index < extents.count, extents[index].extent.page < taken.end {
            let item = extents.remove(at: index)
            if item.extent.page < taken.page {
                var left = item
                left.extent.pageCount = taken.page - item.extent.page
                extents.insert(left, at: index)
                index += 1
            }
            if item.extent.end > taken.end {
                var right = item
                right.extent.page = taken.end
                right.extent.pageCount = item.extent.end - taken.end
                extents.insert(right, at: index)
                index += 1
            }
        }
    }
}
