import Atomics
import CRealmShims
import Synchronization

/// Letting other processes have the write lock in turn.
extension LockFile {
    /// What this process knows of turns.
    struct Turns: ~Copyable {
        /// The turn word when this process gave the write lock back while others waited, plus one bit that says so.
        let last = Atomic<UInt64>(0)
        /// The moment before which those that wait are not let go first: they did not come when they could.
        let givesWayAgain = Atomic<UInt64>(0)
        /// How long that will be put off when they do not come the next time.
        let nextPause = Atomic<UInt64>(LockFile.leastPauseNanoseconds)
    }

    /// The longest time for which a process that had the write lock lets those that wait go first.
    private static var turnNanoseconds: Int64 { 10_000_000 }
    /// For how long it goes on without them when none came.
    ///
    /// Twice as long each time until one comes: who had no processor for a moment has its next chance soon, and who was stopped
    /// costs the others a tenth of their time.
    private static var leastPauseNanoseconds: UInt64 { 5_000_000 }
    private static var greatestPauseNanoseconds: UInt64 { 100_000_000 }

    /// Notes that others wait while this process gives the lock back.
    func noteTurn() {
        guard hasWaitingProcesses else { return }
        let turn = memory.word32(LockFileLayout.Word.turn).load(ordering: .relaxed)
        turns.last.store(1 << 32 | UInt64(turn), ordering: .relaxed)
    }

    /// Whether others wait for the write lock, and none had it since this process gave it back.
    ///
    /// The kernel wakes them when the lock is free, and without this a process that writes in a loop would have taken it
    /// again before they run.
    var hasToGiveWay: Bool {
        let turn = turns.last.load(ordering: .relaxed)
        let word = memory.word32(LockFileLayout.Word.turn)
        return turn >> 32 != 0 && word.load(ordering: .sequentiallyConsistent) == UInt32(truncatingIfNeeded: turn)
            && hasWaitingProcesses
            && LockFile.nanosecond >= turns.givesWayAgain.load(ordering: .relaxed)
    }

    /// Lets those that wait go first, for a moment at most.
    func giveWay() {
        defer { turns.last.store(0, ordering: .relaxed) }
        guard hasToGiveWay else { return }
        let waiters = memory.word32(LockFileLayout.Word.turnWaiterCount)
        waiters.wrappingIncrement(ordering: .sequentiallyConsistent)
        let turn = UInt32(truncatingIfNeeded: turns.last.load(ordering: .relaxed))
        _ = crealm_futex_wait(memory.address(LockFileLayout.Word.turn), turn, LockFile.turnNanoseconds)
        waiters.wrappingDecrement(ordering: .sequentiallyConsistent)
        guard hasToGiveWay else {
            turns.nextPause.store(LockFile.leastPauseNanoseconds, ordering: .relaxed)
            return
        }
        // Nobody came: they have died, were stopped, or have no processor. Those that live stay counted, and get their
        // next chance in a while.
        let pause = turns.nextPause.load(ordering: .relaxed)
        turns.nextPause.store(min(2 * pause, LockFile.greatestPauseNanoseconds), ordering: .relaxed)
        turns.givesWayAgain.store(LockFile.nanosecond + pause, ordering: .relaxed)
        forgetDeadWaiters()
    }

    /// Has nobody count as waiting who has died; for who does not come again, and so does not give way in vain.
    ///
    /// A lock for each that waits.
    func forgetDeadWaiters() {
        guard isOwn else { return }
        for slot in usedSlots where isWaiting(slot) { forgetIfDead(slot: slot) }
    }

    /// Whether other processes wait for the write lock; one that died waiting is counted until the lock is given back to
    /// it in vain, its slot is taken, or ``forgetDeadWaiters()``.
    var hasWaitingProcesses: Bool { usedSlots.contains { isWaiting($0) } }

    /// How many other processes wait for the write lock, counted as ``hasWaitingProcesses`` does it.
    var waitingProcessCount: Int { usedSlots.count { isWaiting($0) } }

    /// Whether another process, that of a slot, waits for the write lock.
    private func isWaiting(_ slot: Int) -> Bool {
        slot != processSlot && waitingThreads(slot).load(ordering: .sequentiallyConsistent) != 0
    }
}
