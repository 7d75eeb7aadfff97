import RealmStorage

/// Decides who writes next on one file: a state machine without locks, threads or tasks.
///
/// Writers of every kind stand in one ``WriterLine``: first come, first served within a priority. The one whose turn it is holds the process's part of the
/// inter-process lock; the lock is kept while writers wait or commits are on their way to the disk, but no longer than
/// ``holdLimit`` when other processes wait for it. Handing it over costs as much as many commits, so while others wait it
/// lingers for a moment where a program that writes in a loop is between two writes, but for no more than ``holdLimit`` in
/// all. A process that has the file alone keeps the lock between such writes, so that they ask the kernel for nothing. The owner performs the returned ``Actions`` and reports back.
///
/// A synchronous writer blocks its thread, and with it its isolation: an asynchronous writer of that isolation cannot run
/// before the synchronous one is done. Therefore those of its isolation let all others pass until then, also one that has
/// been chosen and has not started yet. While blocked threads are all the threads there are (``isPoolExhausted``), one that
/// blocks is chosen before those that would need one to start; and after a while (``TurnPressure``) it passes any writer that has
/// been chosen and does not start.
struct WriteQueue<Isolation: Hashable> {
    /// The longest stretch in nanoseconds for which the inter-process lock is kept while more writers come, counted from the end
    /// of the first write: that one pays for what other processes wrote meanwhile.
    let holdLimit: UInt64
    /// The longest pause between two writers, in nanoseconds, that it is kept for.
    let lingerStep: UInt64
    /// The time in nanoseconds after which a lock that is kept is given back, unless somebody has written within it: so it is held by a
    /// process that does not write for twice as long at most.
    let keepStep: UInt64

    private var nextNumber: UInt64 = 1
    var line = WriterLine<Isolation>()
    var lock = LockState.free
    var turn = Turn.none
    private var turnBegan: UInt64 = 0
    /// Who has made the last commit, and when its turn began: while nobody has the turn, none that is on its way to the disk is newer.
    private var lastCommit: (origin: ReaderOrigin?, began: UInt64) = (nil, 0)
    /// Commits that are prepared and have not been taken for a flush.
    var preparedCount = 0
    /// Commits that are not sealed yet.
    var joinedCount = 0
    private(set) var isFlushing = false
    /// Whether there are some that joined which owe nothing but their pages, once their records are durable; they count as one.
    var owesPages = false
    /// Those of them whose records have not been taken for a flush.
    var recordedCount = 0
    /// Whether the flush that is under way is one of records alone.
    private(set) var isFlushingRecords = false
    /// Whether somebody has asked for these.
    var isAskedForPages = false
    /// Whether another process waits for the lock, so that it has to be yielded now and then.
    var isContended = false
    /// Whether no other process has the file open: the lock may be kept for a while after writes that follow each other.
    var isAlone = false
    /// Whether every thread of Swift's pool blocks in a write, so that no task goes on.
    var isPoolExhausted = false
    /// Whether a ``lingerEnded(at:)`` will come.
    private var isTimed = false
    /// Whether the file is not about to be closed.
    private var mayKeep = true
    /// Whether a ``keepEnded(at:)`` will come.
    private var isKeepTimed = false
    /// When the last writer was done, and nobody waited.
    private var idleSince: UInt64?
    /// Whether the last writer came so soon after the one before that the lock might have lingered for it.
    var isBurst = false
    /// Whether no writer has been done since the lock was taken.
    private var isFirstOfHold = false

    init(holdLimit: UInt64 = 10_000_000, lingerStep: UInt64 = 200_000, keepStep: UInt64 = 5_000_000) {
        self.holdLimit = holdLimit
        self.lingerStep = lingerStep
        self.keepStep = keepStep
    }

    /// The number of writers that wait, chosen ones not counted.
    var waitingCount: Int { line.count }

    /// The writers that wait, chosen ones not counted, in any order.
    var waiting: [Waiter] { line.writers }

    /// Whether nobody writes, waits or flushes.
    var isIdle: Bool {
        guard case .none = turn else { return false }
        return line.isEmpty && preparedCount == 0 && joinedCount == 0 && !isFlushing
    }

    /// Whether the flusher has to seal before it takes the prepared commits.
    var isSealing: Bool {
        if case .sealing = turn { return true }
        return false
    }

    /// Whether a writer may leave its commit to be sealed together with later ones: while a flush keeps the device busy,
    /// sealing each on its own would bring none of them there earlier.
    func mayJoin(_ ticket: Ticket) -> Bool {
        guard isFlushing, case .running(let waiter) = turn else { return false }
        return waiter.ticket == ticket && waiter.kind == .asynchronous
    }

    /// Whether the lock may be kept while nobody wants it.
    var keepsLock: Bool { isAlone && mayKeep && !isContended }

    /// Whether this process holds the inter-process lock.
    var holdsLock: Bool {
        switch lock {
        case .held, .lingering, .kept: true
        case .free, .acquiring: false
        }
    }

    /// Whether it is this writer's turn, started or not.
    func hasTurn(_ ticket: Ticket) -> Bool {
        switch turn {
        case .none, .sealing: false
        case .granted(let waiter), .running(let waiter): waiter.ticket == ticket
        }
    }

    /// The writer whose turn it is, once it has begun.
    var runningTicket: Ticket? {
        if case .running(let waiter) = turn { return waiter.ticket }
        return nil
    }

    /// Whether a writer that blocks its isolation would wait for itself: the turn belongs to the same isolation, and has
    /// begun.
    func isWriting(_ isolation: Isolation) -> Bool {
        if case .running(let waiter) = turn { return waiter.isolation == isolation }
        return false
    }

    /// Who has what the waiting writers wait for.
    var holder: Holder {
        let flush = Holder.flush(origin: lastCommit.origin, since: lastCommit.began)
        return switch turn {
        case .granted(let waiter), .running(let waiter): .writer(origin: waiter.origin, since: turnBegan)
        case .sealing: flush
        case .none:
            if lock == .acquiring { .otherProcess } else if isFlushing || preparedCount > 0 { flush } else { .nobody }
        }
    }

    /// A writer comes.
    ///
    /// When the actions grant its own ticket, it does not have to wait.
    mutating func enqueue(
        _ kind: Kind,
        isolation: Isolation,
        isOnPool: Bool = false,
        priority: UInt8 = 0,
        origin: ReaderOrigin? = nil,
        at now: UInt64
    ) -> (ticket: Ticket, actions: Actions) {
        let ticket = Ticket(number: nextNumber)
        nextNumber += 1
        if kind == .synchronous, case .granted(let chosen) = turn, chosen.isolation == isolation {
            // It cannot start before the synchronous one is done, for which the others shall not wait longer.
            line.insert(chosen)
            turn = .none
        }
        if let idleSince { isBurst = now >= idleSince && now - idleSince < lingerStep }
        idleSince = nil
        line.insert(
            Waiter(
                ticket: ticket,
                kind: kind,
                isolation: isolation,
                isOnPool: isOnPool,
                origin: origin,
                since: now,
                priority: priority
            )
        )
        return (ticket, advance(at: now))
    }

    /// A chosen asynchronous writer begins; false when it was passed meanwhile and has to wait again.
    mutating func start(_ ticket: Ticket) -> Bool {
        guard case .granted(let waiter) = turn, waiter.ticket == ticket else { return false }
        turn = .running(waiter)
        return true
    }

    /// A waiting writer goes away.
    ///
    /// False when it does not wait any more: then it has to start or to ``finish(_:committed:at:)``.
    mutating func cancel(_ ticket: Ticket) -> Bool { line.cancel(ticket) }

    /// The task of a waiting writer has a higher priority now.
    mutating func raise(_ ticket: Ticket, to priority: UInt8) { line.raise(ticket, to: priority) }

    /// The writer whose turn it is is done.
    mutating func finish(_ ticket: Ticket, _ ending: Ending, at now: UInt64) -> Actions {
        let kind: Kind
        let origin: ReaderOrigin?
        switch turn {
        case .granted(let waiter) where waiter.ticket == ticket: (kind, origin) = (waiter.kind, waiter.origin)
        case .running(let waiter) where waiter.ticket == ticket: (kind, origin) = (waiter.kind, waiter.origin)
        default: misuse("Only the writer whose turn it is can finish it.")
        }
        if ending != .nothing { lastCommit = (origin, turnBegan) }
        turn = .none
        if isFirstOfHold, case .held = lock {
            isFirstOfHold = false
            lock = .held(since: now)
        }
        switch ending {
        case .nothing: break
        case .prepared, .preparedBlocking, .preparedBrief: prepareJoined(and: 1)
        case .joined: joinedCount += 1
        case .acknowledged, .recorded:
            if !owesPages { joinedCount += 1 }
            owesPages = true
            if ending == .recorded { recordedCount += 1 }
        }
        let isOwn = ending == .preparedBrief || kind == .synchronous && ending == .preparedBlocking
        let place = startFlushing(isOwn ? .caller : .ioThread)
        var actions = advance(at: now)
        actions.flush = place ?? actions.flush
        return actions
    }

    /// The writer whose turn it is sealed what joined before, to begin on its own.
    mutating func joinedSealed(at now: UInt64) -> Actions {
        prepareJoined(and: 0)
        return Actions(flush: startFlushing(.ioThread))
    }

    /// So many of the prepared commits, of those that joined and of those whose records wait are lost.
    mutating func drop(prepared: Int, joined: Int, recorded: Int = 0) {
        precondition(
            prepared <= preparedCount && joined <= joinedCount && recorded <= recordedCount,
            "The write queue lost count of its commits."
        )
        preparedCount -= prepared
        joinedCount -= joined
        recordedCount -= recorded
        if joinedCount == 0 { pagesAreMade() }
    }

    /// The flusher has sealed what joined.
    mutating func sealFinished(at now: UInt64) -> Actions {
        guard case .sealing = turn else { misuse("Nothing is being sealed.") }
        turn = .none
        prepareJoined(and: 0)
        return advance(at: now)
    }

    /// The flusher begins with the first so many of the prepared commits.
    mutating func takeForFlush(_ count: Int) {
        precondition(count <= preparedCount, "The write queue lost count of its prepared commits.")
        preparedCount -= count
    }

    /// A flush ended, well or not.
    mutating func flushFinished(at now: UInt64) -> Actions {
        isFlushing = false
        isFlushingRecords = false
        let place = startFlushing(.ioThread)
        var actions = advance(at: now)
        actions.flush = place ?? actions.flush
        return actions
    }

    private mutating func prepareJoined(and count: Int) {
        preparedCount += joinedCount + recordedCount + count
        joinedCount = 0
        recordedCount = 0
        pagesAreMade()
    }

    /// Starts a flush when there is something to flush and none is on the way.
    ///
    /// What joined is sealed first; a chosen writer that has not started waits for that. While a writer is at work nothing
    /// can be sealed: then the flush starts when it ends. Records need no sealing, unless something is flushed with which they may go.
    mutating func startFlushing(_ place: FlushPlace) -> FlushPlace? {
        guard !isFlushing else { return nil }
        if joinedCount > 0, !rests || recordedCount > 0 && preparedCount > 0 {
            switch turn {
            case .none:
                turn = .sealing
            case .granted(let waiter):
                line.insert(waiter)
                turn = .sealing
            case .running, .sealing:
                break
            }
        }
        isFlushingRecords = preparedCount == 0 && !isSealing && recordedCount > 0
        guard preparedCount > 0 || isSealing || isFlushingRecords else { return nil }
        isFlushing = true
        return isSealing || isFlushingRecords ? .ioThread : place
    }

    /// The inter-process lock was taken.
    mutating func lockAcquired(at now: UInt64) -> Actions {
        lock = .held(since: now)
        isFirstOfHold = true
        return advance(at: now)
    }

    /// Another process has the inter-process lock.
    mutating func lockBusy() -> Actions {
        Actions(lock: .wait)
    }

    /// The inter-process lock cannot be taken at all: the first writer gets the error, the next tries again.
    mutating func lockFailed(at now: UInt64) -> Actions {
        lock = .free
        let failed = line.popNext()
        var actions = advance(at: now)
        actions.fail = failed?.ticket
        return actions
    }

    /// The time to linger has passed.
    mutating func lingerEnded(at now: UInt64) -> Actions {
        isTimed = false
        switch lock {
        case .lingering(let since, let idle):
            if isContended, now - idle < lingerStep, now - since < holdLimit { return linger() }
            lock = .free
            return Actions(lock: .release)
        case .held(let since):
            // In the midst of a write: what follows it is seen at the next step.
            return isContended && now - since < holdLimit ? linger() : Actions()
        case .free, .acquiring, .kept:
            return Actions()
        }
    }

    /// The time to keep the lock has passed.
    mutating func keepEnded(at now: UInt64) -> Actions {
        isKeepTimed = false
        guard case .kept(let idle) = lock else { return Actions() }
        return keepsLock && now >= idle && now - idle < keepStep ? keep() : endKept(at: now)
    }

    /// Nobody will say that the time to keep the lock has passed.
    mutating func keepRefused() -> Actions {
        isKeepTimed = false
        guard case .kept(let idle) = lock else { return Actions() }
        return endKept(at: idle)
    }

    /// Gives back the lock that is kept, behind the pages that are owed.
    private mutating func endKept(at now: UInt64) -> Actions {
        guard rests else { return letGoOfKept() }
        lock = .held(since: now)
        return makePages()
    }

    /// Gives the lock back if it is only kept, and keeps it no more.
    mutating func endKeeping() -> Actions {
        mayKeep = false
        return letGoOfKept()
    }

    /// Gives the lock back if it is only kept, and nothing needs it: no other process has it before pages are made that are owed.
    mutating func letGoOfKept() -> Actions {
        guard case .kept = lock, !isFlushing, preparedCount == 0, joinedCount == 0 else { return Actions() }
        lock = .free
        return Actions(lock: .release)
    }

    /// Sees to it that the time for which the lock is kept ends.
    private mutating func keep() -> Actions {
        if isKeepTimed { return Actions() }
        isKeepTimed = true
        return Actions(lock: .keep)
    }

    /// Sees to it that a pause will end.
    private mutating func linger() -> Actions {
        if isTimed { return Actions() }
        isTimed = true
        return Actions(lock: .linger)
    }

    /// A synchronous writer has waited for some time: it passes a chosen writer that still has not started.
    mutating func pressForTurn(_ ticket: Ticket, insteadOf chosen: Ticket) -> Actions {
        guard case .granted(let waiter) = turn, waiter.ticket == chosen, waiter.kind == .asynchronous,
            let presser = line.take(ticket)
        else { return Actions() }
        return pass(waiter, with: presser)
    }

    /// The chosen writer that has not started, if there is one, and whether it needs a thread of the pool to.
    var chosen: (ticket: Ticket, needsPool: Bool)? {
        if case .granted(let waiter) = turn { return (waiter.ticket, waiter.isOnPool) }
        return nil
    }

    private mutating func pass(_ chosen: Waiter, with waiter: Waiter) -> Actions {
        line.insert(chosen)
        turn = .running(waiter)
        return Actions(grant: waiter.ticket)
    }

    private mutating func advance(at now: UInt64) -> Actions {
        guard case .none = turn else { return Actions() }
        switch lock {
        case .acquiring:
            return Actions()
        case .free:
            if line.isEmpty { return Actions() }
            lock = .acquiring
            return Actions(lock: .acquire)
        case .lingering(let since, _):
            if line.isEmpty { return Actions() }
            lock = .held(since: since)
            return advance(at: now)
        case .kept:
            if line.isEmpty { return Actions() }
            lock = .held(since: now)
            return advance(at: now)
        case .held(let since):
            let hasToYield = isContended && !isFirstOfHold && now >= since && now - since >= holdLimit
            if !hasToYield, var next = line.popNext() {
                if isPoolExhausted, next.kind == .asynchronous, next.isOnPool, let blocking = line.takeBlockingPool() {
                    line.insert(next)
                    next = blocking
                }
                turnBegan = now
                turn = next.kind == .synchronous ? .running(next) : .granted(next)
                return Actions(grant: next.ticket)
            }
            if preparedCount > 0 || joinedCount > 0 && !rests || isFlushing { return Actions() }
            // No other process has the lock before these are made.
            if rests, !line.isEmpty || !isBurst || !keepsLock { return makePages() }
            if line.isEmpty {
                idleSince = now
                if isBurst, isContended, now >= since, now - since < holdLimit {
                    lock = .lingering(since: since, idle: now)
                    return linger()
                }
                if isBurst, keepsLock {
                    lock = .kept(idle: now)
                    return keep()
                }
                lock = .free
                return Actions(lock: .release)
            }
            lock = .acquiring
            return Actions(lock: .yield)
        }
    }
}
