import Dispatch
import RealmModel
import RealmStorage
import Synchronization

/// The end of an in-memory realm, the last realm of which was closed.
///
/// Frozen copies and references that are left keep the pages of their versions and nothing else: what was written later, what was
/// freed before, and the memory of the writers is given back. Each version goes with the last that stands on it.
extension RealmCoordinator {
    /// A program closed a realm of this file.
    func realmWasClosed() {
        guard isTemporary else { return endLogUnlessNeeded() }
        lookWhenVersionIsFreed()
        // At once, so that the next opening begins the next life.
        _ = endUnlessUsed()
        lookWhetherUsed()
    }

    /// Ends the log where the last realm was closed, and no frozen copy or reference needs the file.
    ///
    /// The last of those that hold it would do so later: the thread that flushed a commit, one that reads for a verification. The process
    /// may have ended by then.
    private func endLogUnlessNeeded() {
        guard file.keepsLog, file.isOfThisProcess, isLeft, copyCount.load(ordering: .sequentiallyConsistent) == 0 else {
            return
        }
        writes.letGoOfKept()
        file.closeLogUnlessWritten()
    }

    /// Whoever lets go of a version may have been the last to use the file, or leave pages that only he read.
    private func lookWhenVersionIsFreed() {
        let coordinator = WeakReference(self)
        file.callWhenVersionIsFreed { coordinator.object?.lookWhetherUsed() }
    }

    private func lookWhetherUsed() {
        let coordinator = WeakReference(self)
        // Where there is no thread, the next one that lets go of a version has it done.
        space.perform { coordinator.object?.giveBackIfUnused() }
    }

    /// Ends the file's life unless it is used, and gives back what nobody reads.
    private func giveBackIfUnused() {
        // The lock that this copy of the queue may have is the parent's, as the pages are.
        guard file.isOfThisProcess else { return }
        if !isEnded {
            // While a realm is open nobody is asked to look: the next one that is closed is, also while this one looks.
            file.callWhenVersionIsFreed(nil)
            guard let hasEnded = endUnlessUsed() else { return }
            lookWhenVersionIsFreed()
            // The last may have let go of a version before that.
            if !hasEnded, endUnlessUsed() != true { return }
        }
        if !file.hasEnded {
            guard let turn = try? writes.acquireWaiting() else { return }
            writes.waitForFlushes()
            file.end(because: ended)
            writes.finish(turn)
            temporary?.remove()
        }
        var kept = PageMarks()
        do throws(StorageError) {
            for snapshot in file.pinnedSnapshots {
                try ModelVerifier.forEachReachablePage(in: snapshot) { kept.insert($0) }
            }
        } catch {
            // What cannot be read whole is kept whole.
            return
        }
        file.giveBackPages { kept.contains($0) }
    }

    /// Forgets the cores that are gone.
    ///
    /// Asking whether something lives holds it for a moment, and whoever lets go of it last ends it: an actor with the
    /// tokens of its observers, which unregister here. Therefore nothing is asked under the lock.
    func forgetDead() {
        let all = state.withLock { $0.registrations }
        let dead = all.filter { !$0.isAlive }
        if dead.isEmpty { return }
        let identifiers = Set(dead.map(ObjectIdentifier.init))
        state.withLock { state in
            state.cores = state.cores.filter { !identifiers.contains(ObjectIdentifier($0.value)) }
            state.passing = state.passing.filter { !identifiers.contains(ObjectIdentifier($0.value)) }
            state.replaced.removeAll { identifiers.contains(ObjectIdentifier($0)) }
        }
        // Nobody tells them of versions any more. They are there until here, so that no other registration has an identifier of theirs.
        for registration in dead { registration.endOrphan() }
    }
}

/// The end of a file that is to be deleted or replaced.
///
/// Frozen copies and references need the file: they can be thawed and resolved. Realms that were closed do not, whoever still holds them,
/// or something that was reached from them.
extension RealmCoordinator {
    /// Ends the life of the file unless somebody needs it: nothing is written through it any more, and whoever opens it begins anew.
    ///
    /// - Returns: false while a realm of it is open or being opened, a frozen copy or reference is left, or somebody iterates its changes.
    func endIfClosed() -> Bool {
        if isTemporary { return isEnded }
        guard isEnded || endUnlessUsed(countingCopies: true) == true else { return false }
        if file.hasEnded { return true }
        stopThreads()
        // A realm may be closed while its commits are on their way.
        writes.waitForFlushes()
        file.endUse(because: ended)
        return true
    }

    /// Whether nothing but openings that are under way can need the file.
    var isOnlyBeingOpened: Bool {
        !hasOpenRealms && observations.memberCount.load(ordering: .sequentiallyConsistent) == 0
            && copyCount.load(ordering: .sequentiallyConsistent) == 0
    }

    /// Closes the file, whose life is over, as soon as nobody reads a version any more; false when that does not come.
    ///
    /// What is computed or called for an observer reads one until it is done. The caller may be such a call itself.
    func closeWhenUnread(within patience: DispatchTimeInterval = .seconds(5)) -> Bool {
        if isTemporary || file.isClosed { return true }
        return file.waitForReaders(within: patience) { file.closeUnlessRead() }
    }
}

extension StorageFile {
    /// Asks again whenever the last reader of a version has let go of it; false when the answer is still no after a time.
    func waitForReaders(within patience: DispatchTimeInterval, until isDone: () -> Bool) -> Bool {
        let freed = DispatchSemaphore(value: 0)
        callWhenVersionIsFreed { freed.signal() }
        defer { callWhenVersionIsFreed(nil) }
        let end = DispatchTime.now() + patience
        while !isDone() {
            if freed.wait(timeout: end) == .timedOut { return isDone() }
        }
        return true
    }
}

/// Pages that something is true of.
private struct PageMarks {
    private var words: [UInt64] = []

    mutating func insert(_ run: PageReference) {
        for page in Int(run.page)..<(Int(run.page) + Int(run.pageCount)) {
            let (word, bit) = page.quotientAndRemainder(dividingBy: UInt64.bitWidth)
            if word >= words.count { words.append(contentsOf: repeatElement(0, count: word + 1 - words.count)) }
            words[word] |= 1 << UInt64(bit)
        }
    }

    func contains(_ page: PageNumber) -> Bool {
        let (word, bit) = Int(page).quotientAndRemainder(dividingBy: UInt64.bitWidth)
        return word < words.count && words[word] & (1 << UInt64(bit)) != 0
    }
}
