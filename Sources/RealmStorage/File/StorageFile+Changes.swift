import Synchronization

/// What changed between versions, and waiting for the next one.
extension StorageFile {
    /// Everything that changed after a version, up to the snapshot's, merged; nil when that stretch is no longer kept.
    ///
    /// The stretch is kept for as long as a reader stands at `first`, or as the retention of the options says.
    /// - Complexity: O(what changed) and O(the number of versions between).
    package func changes(after first: UInt64, through last: Snapshot) throws(StorageError) -> ChangeSet? {
        if first >= last.version { return ChangeSet() }
        if first < last.header.oldestLogVersion { return nil }
        var found: [LogSegment.VersionChanges] = []
        for record in try last.headerRecords where record.version > first {
            found.append(LogSegment.VersionChanges(version: record.version, changes: record.changes))
        }
        // Records in the header follow each other: what they reach back to need not be looked for in the log.
        let isComplete = found.contains { $0.version == first + 1 }
        var next = isComplete ? PageReference.none : last.header.log
        var bound = last.version
        while !next.isNone {
            let segment = try LogSegment.read(next, in: last.view)
            guard segment.version <= bound else {
                throw .corrupt("The chain of log segments does not end", page: next.page, path: path)
            }
            if segment.version <= first { break }
            found += segment.changes.filter { $0.version > first }
            bound = segment.previousVersion
            next = segment.previous
        }
        return ChangeSet.merged(found.sorted { $0.version < $1.version }.map(\.changes))
    }

    /// Counts the calling thread among those that `waitForVersion`, until it is counted out.
    package func beginWatching() { lock?.watch(true) }

    /// Counts the calling thread out.
    package func endWatching() { lock?.watch(false) }

    /// Blocks the calling (dedicated) thread until a version newer than `version` is published by another process, until
    /// `interruptWaiters()` is called, or the timeout passes; returns the newest version.
    ///
    /// - Parameters:
    ///   - version: The version that the caller has seen.
    ///   - timeoutNanoseconds: The longest wait; negative for none.
    ///   - isInterrupted: Whether not to wait at all. What is set before `interruptWaiters()` is seen here or ends the
    ///     wait, so that no interruption is lost.
    /// - Returns: The newest durable version.
    package func waitForVersion(
        after version: UInt64,
        timeoutNanoseconds: Int64 = -1,
        unless isInterrupted: () -> Bool = { false }
    ) -> UInt64 {
        guard let lock else { return newestVersion }
        let word = lock.wakeWord
        if lock.newestVersion <= version, !isInterrupted() {
            lock.waitForWake(from: word, timeoutNanoseconds: timeoutNanoseconds)
        }
        return lock.newestVersion
    }

    /// Lets every `waitForVersion` return, in this process and in others.
    package func interruptWaiters() {
        lock?.wake(includingOwn: true)
    }
}
