import Logging
import RealmModel
import RealmStorage

/// What a realm has acknowledged by records, and whose pages are made later.
extension RealmCore {
    /// A transaction that has joined its group, and is durable once its record is.
    struct RecordedCommit {
        let turn: WriteScheduler.Ticket
        let group: UInt64
        let record: OwingRecord
    }

    /// Whether nobody but this realm would ask for pages that its next commit leaves to be made, and nobody lacks the space that they are to have.
    private var mayBeOwing: Bool {
        // A forked child gets its error where the transaction is sealed.
        coordinator.file.isOfThisProcess && !signals.isFollowed && coordinator.isUsedByOneRealm
            && !coordinator.isShortOfSpace
    }

    /// Whether a transaction may build on what owes its pages: until it ends, another realm that has acknowledged that waits for them.
    var mayStandOnOwing: Bool {
        // A forked child gets its error where the transaction is sealed.
        !coordinator.leavesPages || !coordinator.file.isOfThisProcess || !coordinator.writes.owesPages || mayBeOwing
    }

    /// Ends the transaction as ``prepareCommit()`` does, or, where the realm is alone with its file, by its record: the commit is durable
    /// then, and its pages are made when somebody asks for them.
    ///
    /// - Returns: What is to be published, and the turn to be ended with it; nil where the commit is done.
    func prepareOrAcknowledge() throws -> (PreparedCommit, WriteScheduler.Ticket)? {
        guard coordinator.leavesPages, let turn = ticket, coordinator.writes.mayOwePages(turn), mayBeOwing else {
            return try prepareCommit()
        }
        owner.exclusiveTask = 0
        do {
            try model.resume()
            try throwWriteFailure()
            try model.keepRecord(coordinator.recordHeading)
            guard let commit = model.loggedCommit, commit.mayOwePages else { return (try sealCommit(), turn) }
            let (group, isDurable) = try model.acknowledge(commit)
            ticket = nil
            ahead.owedPages = coordinator.writes.acknowledge(group, ending: turn)
            hideIfBehind()
            if !isDurable {
                try catchUp(asWriter: true)
            } else if ahead.unseen != nil || !coordinator.isUsedByOneRealm {
                // Whoever has come meanwhile may have found the version before. What this has written is there whatever becomes of its pages.
                catchUpOrReport()
            }
            return nil
        } catch {
            cancelTransaction(because: error)
            throw Realm.Error.wrap(error, path: coordinator.path)
        }
    }

    /// Has the next access of the realm move behind what it has acknowledged without pages.
    func hideIfBehind() {
        if ahead.owedPages != nil { RealmPlace.nowhere.store(to: place) }
    }

    /// Has the pages made of what the realm has acknowledged without, and moves there; where they cannot be made, to the same version in memory.
    ///
    /// Another task's transaction in two steps is set aside for that. In one that the caller sees nothing is done.
    ///
    /// - Parameters:
    ///   - isWriter: Whether a commit waits for it that nothing but its pages makes durable.
    ///   - isWaiting: Whether it waits for flushes that others need, and for blocks. A reader does not: it stands on the version in memory
    ///     then, until it moves to a version of the file, by itself when there is one or behind what it acknowledges next.
    /// - Throws: Why they cannot be made, to a writer, and where the version cannot be made in memory either, each time: writing has stopped
    ///   then, or there is no space, and the log has what was acknowledged.
    func catchUp(asWriter isWriter: Bool = false, waiting isWaiting: Bool = true) throws(Realm.Error) {
        // In a forked child nobody makes them.
        guard let pages = ahead.owedPages, coordinator.file.isOfThisProcess else { return }
        // Before the first access of a job reads anything: it would move with the second one otherwise.
        do throws(StorageError) { try setForeignTransactionAside() } catch {
            throw Realm.Error(storage: error, path: coordinator.path)
        }
        if model.isInTransaction { return }
        ahead.owedPages = nil
        // Where they are made, nothing that is on its way to the disk is waited for.
        if pages.result == nil {
            var isInMemory = false
            coordinator.writes.makePages {
                isInMemory = !isWaiting && coordinator.writes.arePagesDelayed && standsInMemory()
                return isInMemory
            }
            // Later accesses stay there, too: the version of the file may be a newer one, and no code without a suspension sees two.
            if isInMemory { return }
        }
        let result = pages.waitOnPool()
        guard case .failure = result else { return try moved(behind: result, asWriter: true) }
        let reason = coordinator.file.reasonOfMissingPages
        if let reason, !isWriter, standsInMemory() { return reportMissing(reason) }
        guard let missing = coordinator.file.reasonOfMissingPages else {
            // What was acknowledged is durable, and somebody has made its pages since, of the records.
            return try moved(behind: isWriter ? result : .success(nil), asWriter: true)
        }
        // Whoever asks next is not to take the version before for the newest.
        defer { if lifecycle == .open, ahead.owedPages == nil { ahead.owedPages = pages } }
        try moved(behind: .failure(missing), asWriter: true)
    }

    /// The same before a transaction begins, which makes the pages of the records where there is space by then.
    ///
    /// - Returns: Whether the realm has moved; not where there was no space for the pages, and the version cannot be made in memory: then it
    ///   moves when the transaction has begun.
    /// - Throws: Why else the pages cannot be made.
    func catchUpUnlessFull() throws(Realm.Error) -> Bool {
        do throws(Realm.Error) {
            try catchUp(waiting: false)
            return true
        } catch {
            guard coordinator.file.reasonOfMissingPages?.code == .full else { throw error }
            return false
        }
    }

    /// The same where nothing can be thrown: the realm stays at the version before where there is no other.
    func catchUpOrReport(waiting isWaiting: Bool = true) {
        // Those who can be told try again.
        if ahead.isMissingReported { return }
        do {
            try catchUp(waiting: isWaiting)
        } catch {
            ahead.isMissingReported = ahead.owedPages != nil
            reportMissing(error)
        }
    }

    /// Moves to what was acknowledged, made in memory of its records.
    ///
    /// - Returns: Whether the realm stands there; not where there is no memory for it, or its records cannot be applied.
    private func standsInMemory() -> Bool {
        guard let snapshot = coordinator.file.acknowledgedInMemory(from: origin) else { return false }
        if snapshot.version > model.snapshot.version {
            do throws(StorageError) { try advance(to: snapshot) } catch { return false }
        }
        if let seen = ahead.unseen, seen.version <= snapshot.version { ahead.unseen = nil }
        ahead.isMissingReported = false
        return true
    }

    private func reportMissing(_ error: any Error) {
        report(error, "The pages of commits that were acknowledged cannot be made; the log of the realm has them.")
    }

    /// In a block that stands on what the realm has acknowledged without pages: that version, which is read outside the block; nil elsewhere.
    ///
    /// - Throws: `StorageError`, also where there is no memory for it.
    func acknowledgedSnapshot() throws(StorageError) -> Snapshot? {
        guard ahead.owedPages != nil, model.isInTransaction else { return nil }
        // A failure beside the block takes nothing of it away.
        if let snapshot = coordinator.file.acknowledgedInMemory(from: origin) { return snapshot }
        let snapshot = try coordinator.file.beginRead(from: origin)
        if snapshot.isInMemory || !coordinator.file.isOwingPages { return snapshot }
        throw StorageError(
            .limit,
            "What the block of this write stands on has no pages yet, and there is no memory for it: freeze before the write, or "
                + "behind it.",
            path: coordinator.path
        )
    }

    // MARK: Commits whose flush is awaited without blocking

    /// Ends the transaction as ``joinCommit()`` does, where the realm is alone with its file: the commit is durable once its record is, and
    /// its pages are made when somebody asks for them.
    ///
    /// - Returns: What is to be flushed; nil where the transaction is open still, and to be ended in another way.
    func joinOwing() throws -> RecordedCommit? {
        guard coordinator.leavesPages, let turn = ticket, coordinator.writes.mayLeaveRecord(turn), mayBeOwing else {
            return nil
        }
        do {
            try model.resume()
            try throwWriteFailure()
            try model.keepRecord(coordinator.recordHeading)
            guard let commit = model.loggedCommit, commit.mayJoinOwing else { return nil }
            owner.exclusiveTask = 0
            let (group, record) = try model.joinOwing(commit)
            ticket = nil
            hideIfBehind()
            return RecordedCommit(turn: turn, group: group, record: record)
        } catch {
            cancelTransaction(because: error)
            throw Realm.Error.wrap(error, path: coordinator.path)
        }
    }

    /// Has the next access of the realm move behind the making of pages; at once where they are made.
    ///
    /// - Returns: Whether they are to be made yet.
    @discardableResult
    func owe(_ pages: BaseFlush) -> Bool {
        let core = coreInUse
        let made = pages.result
        if case .success? = made {
            if core.lifecycle == .open { core.show(made) }
            return false
        }
        if core.lifecycle == .open {
            // An earlier commit may come back behind a later one.
            core.ahead.owedPages = core.ahead.owedPages?.followed(by: pages) ?? pages
            core.hideIfBehind()
        }
        return true
    }

    /// Takes a commit that was acknowledged without pages.
    ///
    /// - Returns: Whether these have to be made before its writer goes on: somebody has come meanwhile, who may have found the version
    ///   before; a transaction is open, in which the realm could not move; or it was invalidated, and has no next access.
    func acknowledged(owing pages: BaseFlush) -> Bool {
        coordinator.space.warnOfStalledReader(logger)
        guard owe(pages) else { return false }
        let core = coreInUse
        return core.lifecycle != .open || core.hasTransaction || core.ahead.unseen != nil || !core.mayBeOwing
    }

    /// Moves behind the making of pages, how ever it ended: what they are of is durable.
    func show(_ result: WriteScheduler.CommitResult?) {
        guard let result else { return }
        do {
            try moved(behind: result, asWriter: true)
        } catch {
            reportMissing(error)
        }
    }

    /// Takes the end of a commit that ``joinOwing()`` has left; suspends while pages have to be made.
    func complete(
        _ result: WriteScheduler.CommitResult,
        owing pages: BaseFlush,
        _ isolation: isolated (any Actor)?
    ) async throws {
        guard case .success(nil) = result else { return try complete(result) }
        guard acknowledged(owing: pages) else { return }
        coordinator.writes.requestPages()
        show(await pages.value(isolation: isolation))
    }
}
