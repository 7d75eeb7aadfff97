import DequeModule
import Synchronization

/// Checks of what the locks of a file guard, each under its own lock; in files that were opened for that.
extension StorageFile {
    /// Checks what the holder of the write lock finds.
    @inline(__always)
    func checkWriterBoxIfAsked() {
        #if DEBUG
        assertInvariants { () throws(BrokenInvariant) in
            let isWhole = checksWholeStructures
            try writer.withLock { (box) throws(BrokenInvariant) in
                try box.checkInvariants(lastLostGroup: lastLostGroup.load(ordering: .acquiring))
                if isWhole { try box.checkRuns(in: reservation) }
            }
        }
        #endif
    }

    /// Checks the pin of a version, and all others where they are few or whole structures are checked.
    @inline(__always)
    func checkPinsIfAsked(at version: UInt64) {
        #if DEBUG
        assertInvariants { () throws(BrokenInvariant) in
            let isWhole = checksWholeStructures
            try state.withLock { (state) throws(BrokenInvariant) in
                if isWhole || state.pins.count <= 64 {
                    try state.checkPins(lock)
                } else if let pin = state.pins[version] {
                    try pin.checkInvariants(at: version, newest: state.published.version, lock)
                }
            }
        }
        #endif
    }

    /// Checks the open log, and where the published version ends in it; for whoever publishes, behind that.
    @inline(__always)
    func checkLogIfAsked() {
        #if DEBUG
        assertInvariants { () throws(BrokenInvariant) in try checkLog() }
        #endif
    }

    /// Checks the records of commits without pages, of which so many came last; for whoever has the log's turn.
    @inline(__always)
    func checkOwedRecordsIfAsked(newest count: Int = 0) {
        #if DEBUG
        assertInvariants { () throws(BrokenInvariant) in
            try owed.checkInvariants(
                isOwing: owesPages.load(ordering: .sequentiallyConsistent),
                behind: state.withLock { $0.published.version },
                upTo: acknowledgedVersion.load(ordering: .relaxed),
                newest: checksWholeStructures ? nil : count
            )
        }
        #endif
    }

    /// Checks the space that waits for a log; for whoever publishes.
    @inline(__always)
    func checkLogSpaceIfAsked(_ log: LogOptions) {
        #if DEBUG
        assertInvariants { () throws(BrokenInvariant) in
            try logSpace.checkInvariants(ringByteCount: log.ringByteCount)
        }
        #endif
    }

    /// Checks the checkpoint whose next step is about to be taken; for whoever takes it.
    @inline(__always)
    func checkCandidateIfAsked(_ candidate: CheckpointCourse.Candidate) {
        #if DEBUG
        assertInvariants { () throws(BrokenInvariant) in try check(candidate) }
        #endif
    }

    /// Checks what this process keeps in the lock file.
    @inline(__always)
    func checkLockFileIfAsked() {
        #if DEBUG
        assertInvariants { () throws(BrokenInvariant) in try lock?.checkInvariants() }
        #endif
    }
}

#if DEBUG
extension StorageFile {
    /// The log keeps its order, and the newest version ends where the log does.
    func checkLog() throws(BrokenInvariant) {
        guard let openLog else { return }
        try openLog.checkInvariants()
        let (version, mark) = state.withLock { ($0.published.version, $0.published.mark) }
        try Invariant.require(
            mark == LogMark(log: openLog.header.log, point: openLog.end, isOpen: true),
            "Version \(version) does not end where the log ends"
        )
        let base = checkpointVersion.load(ordering: .sequentiallyConsistent)
        try Invariant.require(
            base > 0 && base <= version,
            "A recovery begins at version \(base), and the newest one is \(version)"
        )
    }

    /// The pages of the candidate stay, and its header goes to the slot of the checkpoint before the last one.
    func check(_ candidate: CheckpointCourse.Candidate) throws(BrokenInvariant) {
        try checkpoint.withLock { (course) throws(BrokenInvariant) in try course.checkInvariants() }
        let kept = candidateVersion.load(ordering: .sequentiallyConsistent)
        try Invariant.require(
            kept == candidate.header.version,
            "A checkpoint is made of version \(candidate.header.version), and pages of version \(kept) stay"
        )
        let slot = state.withLock { $0.slot }
        try Invariant.require(slot == 1 - candidate.slot, "A checkpoint takes the place of the one before")
    }
}

extension StorageFile.WriterBox {
    /// The commits that wait follow each other on a known state, groups are counted, and no memory is given back twice.
    ///
    /// Of the state this looks at nothing but its group: everything else is changed without the lock that guards the box.
    func checkInvariants(lastLostGroup: UInt64) throws(BrokenInvariant) {
        try Invariant.require(state != nil || prepared.isEmpty, "Commits wait, and what they stand on is forgotten")
        let isKept = state?.group?.lost.isEmpty == false
        try Invariant.require(!isKept, "Commits that were lost are kept for who does not stand on them")
        try Invariant.require(lastLostGroup <= groupCount, "Group \(lastLostGroup) was lost and never begun")
        var before: PreparedCommit?
        for commit in prepared {
            let (version, group) = (commit.version, commit.group)
            try Invariant.require(commit.firstVersion <= version, "Version \(version) ends before it begins")
            try Invariant.require(
                group > lastLostGroup && group <= groupCount,
                "Version \(version) waits, and its group \(group) is lost or was never begun"
            )
            if let before {
                try Invariant.require(
                    commit.firstVersion == before.version + 1,
                    "Version \(commit.firstVersion) waits behind version \(before.version)"
                )
                try Invariant.require(group > before.group, "Group \(group) waits behind group \(before.group)")
            }
            before = commit
        }
        if let group = state?.group {
            try Invariant.require(group.number == groupCount, "Group \(group.number) is not the last that was begun")
            if let before {
                try Invariant.require(
                    group.firstVersion == before.version + 1,
                    "The open group begins at version \(group.firstVersion), behind version \(before.version)"
                )
            }
        }
        for (group, _) in givenUp {
            try Invariant.require(group <= groupCount, "Group \(group) was given up and never begun")
        }
        try Invariant.require(
            Set(withdrawnBuffers).count == withdrawnBuffers.count,
            "Memory of a run waits twice to be used again"
        )
    }

    /// What waits to be written stands in memory, each page once.
    func checkRuns(in reservation: Reservation) throws(BrokenInvariant) {
        var runs: [PreparedCommit.Run] = []
        for commit in prepared { runs += commit.runs }
        runs.sort { $0.page < $1.page }
        for run in runs {
            try Invariant.require(
                reservation.isBuffered(Int(run.page)),
                "The run at page \(run.page) waits and is not in memory"
            )
        }
        for (run, next) in zip(runs, runs.dropFirst()) {
            try Invariant.require(run.page + run.pageCount <= next.page, "Page \(next.page) waits in two commits")
        }
    }
}

extension StorageFile.Pin {
    /// Somebody reads the version, and the table of readers says so.
    func checkInvariants(at version: UInt64, newest: UInt64, _ lock: LockFile?) throws(BrokenInvariant) {
        try Invariant.require(count > 0, "Version \(version) is pinned by nobody")
        try Invariant.require(origins.count <= count, "More places than readers pin version \(version)")
        try Invariant.require(header.version == version, "The pin of version \(version) leads to \(header.version)")
        try Invariant.require(version <= newest, "Version \(version) is pinned, and the newest one is \(newest)")
        try Invariant.require((entry != nil) == (lock != nil), "Other processes are not told of version \(version)")
        if let lock, let entry { try lock.check(entry, standsAt: version) }
    }
}

extension StorageFile.State {
    /// Every pin and every writer has an entry of its own in the table of readers, and nobody else has one.
    func checkPins(_ lock: LockFile?) throws(BrokenInvariant) {
        for (version, pin) in pins { try pin.checkInvariants(at: version, newest: published.version, lock) }
        try Invariant.require(
            spareEntries.count <= writerCount,
            "\(spareEntries.count) entries are kept for \(writerCount) writers"
        )
        guard let lock else { return }
        for entry in spareEntries { try lock.check(entry, standsAt: nil) }
        let used = pins.values.compactMap(\.entry) + spareEntries
        try Invariant.require(Set(used).count == used.count, "Two readers share an entry")
        try lock.checkEntries(used: used.count)
    }
}
#endif
