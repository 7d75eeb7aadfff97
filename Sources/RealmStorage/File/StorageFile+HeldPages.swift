import Glibc
import Synchronization

/// Pages that come to the file behind the acknowledgement of their commits, if they live as long.
///
/// While this process is alone, nobody else reads the file, and a recovery begins at the checkpoint and applies the log, whatever is in
/// the file of later versions. Openings by other processes wait, until what is held was brought to the file.
extension StorageFile {
    /// Whether the pages of commits that are about to be made durable stay in memory.
    func expectsToHold(_ plan: PublishingPlan, _ lock: LockFile) -> Bool {
        guard plan.entries != nil, options.log?.holdsPages == true, !plan.isBulk else { return false }
        let count = plan.runs.reduce(0) { $0 + Int($1.pageCount) }
        return held.withLock { $0.expect(pages: count, at: LockFile.nanosecond) { lock.holdOffOpenings() } }
    }

    /// Has somebody bring what is held to the file when commits rest, or go on for long.
    func waitForQuiet() {
        guard let log = options.log, held.withLock({ $0.beginsWaiting() }) else { return }
        log.runBeside(.pages) { [weak self] in
            // The file must be able to close meanwhile.
            StorageFile.settleWhenQuiet { [weak self] in self }
        }
    }

    private static func settleWhenQuiet(_ file: () -> StorageFile?) {
        var known: UInt64 = 0
        for round in 0... {
            usleep(2_000)
            guard let file = file() else { return }
            // It would wait for this.
            file.finishCheckpoint()
            let count = file.held.withLock { $0.commitCount }
            defer { known = count }
            if count != known, round < 25 { continue }
            if file.letOpeningsThrough() { return }
        }
    }

    /// Brings what is held to the file, and lets other processes open it; false when a commit is under way, or that failed.
    func letOpeningsThrough() -> Bool {
        guard ForkDetector.generation == forkGeneration, let lock else { return true }
        held.withLock { $0.end() }
        do throws(StorageError) {
            try settlePages()
        } catch {
            // Whoever would open it finds a version without pages.
            stopWriting(after: error)
            lock.stopWriting(isWithoutPages: true)
            held.withLock { held in held.giveUp { lock.letOpenAgain() } }
            return true
        }
        return held.withLock { held in
            let readers = state.withLock { Array($0.pins.keys) }
            let left = held.open(at: LockFile.nanosecond, readers: readers) { lock.letOpenAgain() }
            guard let left else { return false }
            if left.isEmpty { return true }
            writer.withLock { box in
                for run in left { box.withdrawBuffer(of: Int(run.page), in: reservation) }
            }
            return true
        }
    }

    /// Brings to the file what the published version uses of the pages that are held, and what readers of this process see.
    func settlePages() throws(StorageError) {
        if held.withLock({ $0.pageCount == 0 }) { return }
        let result = checkpointSteps.withLock { _ -> Result<Void, StorageError> in
            // What they see stays as long as these do.
            let snapshots = pinnedSnapshots
            let runs = held.withLock { held in
                settlingVersion.store(state.withLock { $0.published.version }, ordering: .sequentiallyConsistent)
                return held.needed(by: snapshots.map(\.version))
            }
            defer { settlingVersion.store(0, ordering: .sequentiallyConsistent) }
            return withExtendedLifetime(snapshots) { () -> Result<Void, StorageError> in
                do throws(StorageError) {
                    return .success(try bringToFile(runs))
                } catch {
                    return .failure(error)
                }
            }
        }
        try result.get()
    }

    /// The same for whoever publishes: behind a failure nobody knows what is in the file.
    func settlePagesOrStop() throws(StorageError) {
        do throws(StorageError) {
            try settlePages()
        } catch {
            stopWriting(after: error)
            loseCommits(error)
            throw error
        }
    }

    /// Writes runs that are held to their places, unless somebody has done so, and lets them be read there.
    ///
    /// The caller sees to it that nobody uses their pages again meanwhile, and does so alone.
    func bringToFile(_ runs: [PreparedCommit.Run]) throws(StorageError) {
        let runs = runs.filter { run in
            reservation.isBuffered(Int(run.page)) && reservation.seal(of: Int(run.page)) == run.checksum
        }
        if runs.isEmpty { return }
        try data.write(runs, of: reservation)
        var birth = UInt64.max
        for run in runs {
            if let bytes = reservation.buffer(of: Int(run.page)) {
                birth = min(birth, UnsafeRawPointer(bytes).little(UInt64.self, at: PageHeader.versionOffset))
            }
            reservation.verified[Int(run.page)].store(UInt32(truncatingIfNeeded: run.checksum), ordering: .releasing)
        }
        let buffers = held.withLock { held in
            held.remove(runs)
            return runs.compactMap { reservation.withdrawBuffer(of: Int($0.page)) }
        }
        // Whoever pins a version from now on finds them in the file.
        let version = state.withLock { $0.published.version }
        let past = PastBuffers(versions: min(birth, version)...version, buffers: buffers)
        writer.withLock { $0.pastBuffers.append(past) }
    }

    /// Has memory be used again that readers found pages in before these came to the file, when none is left that did.
    func releasePastBuffers() {
        let count = writer.withLock { $0.pastBuffers.count }
        if count == 0 { return }
        // Whoever found pages there had pinned its version before.
        let versions = state.withLock { Array($0.pins.keys) }
        writer.withLock { $0.releasePastBuffers(count, readers: versions) }
    }

    /// Finds out which pages may be used again, and forgets what was held of them.
    func reclaim(_ writerState: WriterState, pinned: [UInt64], durable: UInt64) {
        held.withLock { held in
            let released = writerState.space.reclaim(pinned: pinned, durable: durable)
            for run in held.reclaim(released) {
                reservation.dropBuffers(page: Int(run.page), pageCount: 1)
            }
        }
    }
}
