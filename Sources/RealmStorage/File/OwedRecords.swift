import Synchronization

/// The records of commits that were acknowledged without pages, for whoever asks while an open transaction keeps their pages from being made:
/// of this process or of another one.
final class OwedRecords: Sendable {
    private struct State {
        /// Oldest first; the writer's group has the same bytes.
        var records: [CommitRecord] = []
        /// What they made last, as long as somebody reads it.
        var replayed: WeakReference<ReplayedVersion>?
    }

    private let state = Mutex(State())
    /// The last version that was made in memory; 0 before the first.
    ///
    /// From there back a version may be read that the log of changes does not tell from those around it.
    let lastReplayed = Atomic<UInt64>(0)

    /// Notes one that is durable.
    func append(_ entry: CommitLog.Entry) {
        let record = CommitRecord(
            kind: entry.kind,
            isLastOfVersion: true,
            position: entry.position,
            version: entry.version,
            content: entry.content
        )
        append([record])
    }

    /// Notes those that stand in a log, and are durable.
    func append(_ records: [CommitRecord]) { state.withLock { $0.records += records } }

    /// Their pages are made.
    func removeAll() {
        let before = state.withLock { state in
            defer { state = State() }
            return state.records
        }
        withExtendedLifetime(before) {}
    }

    /// The version that the records make on top of the published one.
    ///
    /// - Parameters:
    ///   - base: The published version.
    ///   - log: How they are applied.
    /// - Returns: The version; nil where the records are not those behind that version, because it was published meanwhile.
    /// - Throws: Why it cannot be made.
    func replayed(over base: Snapshot, _ log: LogOptions) throws(StorageError) -> ReplayedVersion? {
        let (records, known) = state.withLock { ($0.records, $0.replayed?.object) }
        guard let first = records.first, let last = records.last, first.version > base.version else { return nil }
        if let known, known.header.version == last.version { return known }
        lastReplayed.max(last.version, ordering: .sequentiallyConsistent)
        let made = try ReplayedVersion(records, over: base, log)
        state.withLock { $0.replayed = WeakReference(made) }
        return made
    }
}

#if DEBUG
extension OwedRecords {
    /// The records follow each other from the published version to the last one that was acknowledged, and no later version was made of them.
    ///
    /// - Parameters:
    ///   - isOwing: Whether commits are without pages, as the file says.
    ///   - published: The published version.
    ///   - acknowledged: The version of the last commit that was acknowledged by its record.
    ///   - count: So many of the last records are looked at; nil for all.
    /// - Throws: What does not fit.
    func checkInvariants(
        isOwing: Bool,
        behind published: UInt64,
        upTo acknowledged: UInt64,
        newest count: Int? = nil
    ) throws(BrokenInvariant) {
        let records = state.withLock { $0.records }
        try Invariant.require(!isOwing || !records.isEmpty, "Pages are owed, and nobody knows of what")
        try Invariant.require(isOwing || records.isEmpty, "Nothing is owed, and \(records.count) records are kept")
        guard let first = records.first, let last = records.last else { return }
        try Invariant.require(
            first.version == published + 1,
            "Version \(first.version) is owed behind version \(published), which is published"
        )
        try Invariant.require(
            last.version == acknowledged,
            "Version \(acknowledged) is acknowledged, and the last one with a record is \(last.version)"
        )
        let replayed = lastReplayed.load(ordering: .sequentiallyConsistent)
        try Invariant.require(
            replayed <= acknowledged,
            "Version \(replayed) was made in memory, and \(acknowledged) is the last that is acknowledged"
        )
        var before: CommitRecord?
        for record in count.map({ records.suffix($0 + 1) }) ?? records[...] {
            try Invariant.require(record.kind == .changes, "Version \(record.version) cannot be made in memory")
            if let before {
                try Invariant.require(
                    record.version == before.version + 1,
                    "Version \(record.version) is owed behind version \(before.version)"
                )
                try Invariant.require(
                    record.position == before.position || record.position == before.position + 1,
                    "The record at position \(record.position) is owed behind the one at \(before.position)"
                )
            }
            before = record
        }
    }
}
#endif
