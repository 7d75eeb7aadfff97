import Synchronization

/// What changed between versions, and waiting for the next one.
extension StorageFile {
    /// Everything that changed after a version, up to the snapshot's, merged; nil when that stretch is no longer kept.
    ///
    /// The stretch is kept for as long as a reader stands at `first`, or as the retention of the options says.
    /// - Complexity: O(what changed) and O(the number of versions between).
    package func changes(after first: UInt64, through last: Snapshot) throws(StorageError) -> ChangeSet? {
        try entries(after: first, through: last).map { ChangeSet.merged($0.changes) }
    }

    /// The same after a version at which nobody may have stood for a while, so that the log may have joined what was
    /// before it with what came after it; nil when it has, or where the log would have to be read for long.
    ///
    /// - Parameters:
    ///   - first: The version.
    ///   - last: A later version, or the same.
    ///   - byteLimit: Space segments that are larger than this are not read.
    /// - Returns: What changed, merged; nil when that cannot be told.
    /// - Throws: `StorageError` when the log is damaged.
    package func changes(
        afterUnheld first: UInt64,
        through last: Snapshot,
        byteLimit: Int
    ) throws(StorageError) -> ChangeSet? {
        guard let found = try entries(after: first, through: last, byteLimit: byteLimit), found.isExact else {
            return nil
        }
        return ChangeSet.merged(found.changes)
    }

    /// What the log says of the versions after one, ascending, and whether it tells them apart from that one.
    ///
    /// Not where both were joined to one entry. Nil when that stretch is no longer kept, or a segment is too large, or the version was read
    /// in memory only, and is a part of the one whose pages were made next.
    private func entries(
        after first: UInt64,
        through last: Snapshot,
        byteLimit: Int = .max
    ) throws(StorageError) -> (changes: [ChangeSet], isExact: Bool)? {
        if first >= last.version { return ([], true) }
        if first < last.header.oldestLogVersion { return nil }
        var found: [SpaceSegment.VersionChanges] = []
        // Each commit has its own record, until a picture joins some of them.
        var isExact = false
        var isKnown = first > owed.lastReplayed.load(ordering: .sequentiallyConsistent)
        for record in try last.headerRecords where record.version >= first {
            isExact = isExact || record.version <= first + 1
            isKnown = isKnown || record.version == first
            if record.version == first { continue }
            found.append(SpaceSegment.VersionChanges(version: record.version, changes: record.changes))
        }
        // Records in the header follow each other: what they reach back to need not be looked for in the log.
        var next = isExact ? PageReference.none : last.header.spaceSegment
        var bound = last.version
        while !next.isNone {
            if Int(next.pageCount) * pageByteCount > byteLimit { return nil }
            let segment = try SpaceSegment.read(next, in: last.view)
            guard segment.version <= bound else {
                throw .corrupt("The chain of space segments does not end", page: next.page, path: path)
            }
            isExact = isExact || segment.version == first || segment.previousVersion == first
            isKnown = isKnown || segment.version == first || segment.previousVersion == first
            if segment.version <= first { break }
            for item in segment.changes {
                isKnown = isKnown || item.version == first
                if item.version == first || !segment.isPicture && item.version == first + 1 { isExact = true }
                if item.version > first { found.append(item) }
            }
            bound = segment.previousVersion
            // What is before that tells of nothing that is asked for. Nobody may be able to ask for it any more: then its pages are
            // given up, or another's.
            if bound <= first { break }
            next = segment.previous
        }
        return isKnown ? (found.sorted { $0.version < $1.version }.map(\.changes), isExact) : nil
    }

    /// What a thread waits by for the next version of another process; nil in a folder that cannot be written.
    package var versionSignal: VersionSignal? { lock?.signal }
}
