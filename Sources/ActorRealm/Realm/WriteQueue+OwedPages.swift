// Commits that are durable by their records, and left without pages until somebody asks for these.
extension WriteQueue {
    /// Whether a writer may leave its commit without pages once it is durable: this process is alone with the file, has written just before and
    /// keeps the lock behind this, and nobody waits for anything.
    func mayOwePages(_ ticket: Ticket) -> Bool {
        isBurst && !isFlushing && line.isEmpty && mayOwePages(ticket, .synchronous)
    }

    /// The same for a writer that leaves its record to a flush that it waits for without blocking a thread, also behind one that is under way.
    func mayLeaveRecord(_ ticket: Ticket) -> Bool { (isBurst || isFlushing) && mayOwePages(ticket, .asynchronous) }

    private func mayOwePages(_ ticket: Ticket, _ kind: Kind) -> Bool {
        guard keepsLock, !isAskedForPages, preparedCount == 0, joinedCount == (owesPages ? 1 : 0),
            case .running(let waiter) = turn
        else { return false }
        return waiter.ticket == ticket && waiter.kind == kind
    }

    /// Whether all that joined is durable by its records, and owes nothing but its pages.
    var areRecordsDurable: Bool { owesPages && joinedCount == 1 && recordedCount == 0 && !isFlushingRecords }

    /// Whether pages that are owed are made behind something else: a flush, a block that is open, or, where they are about to be sealed, what is
    /// sealed with them and not durable yet.
    var arePagesDelayed: Bool {
        guard owesPages else { return false }
        return isSealing ? joinedCount > 1 || recordedCount > 0 : isFlushing || runningTicket != nil
    }

    /// Whether nothing has to be done about those that joined.
    var rests: Bool { owesPages && joinedCount == 1 && !isAskedForPages }

    /// Somebody needs the pages of those that are acknowledged: they are made at that place, or by whoever ends the turn that somebody has.
    mutating func askForPages(_ place: FlushPlace = .caller, at now: UInt64) -> Actions {
        wishForPages()
        guard owesPages, startFlushing(place) != nil else { return Actions() }
        // It is needed until that is published.
        if case .kept = lock { lock = .held(since: now) }
        return Actions(flush: place)
    }

    /// The same where the next flush is soon enough.
    mutating func wishForPages() { if owesPages { isAskedForPages = true } }

    /// The same, where nobody waits for them.
    mutating func makePages() -> Actions {
        isAskedForPages = true
        return Actions(flush: startFlushing(.ioThread))
    }

    /// Nobody owes pages any more.
    mutating func pagesAreMade() {
        owesPages = false
        isAskedForPages = false
    }

    /// The flusher begins with all records that wait.
    mutating func takeRecords() { recordedCount = 0 }

    /// So many of these are to be sealed and published instead, with so many that stand on them and whose records wait; or have been sealed.
    mutating func handBack(joined: Int, recorded: Int = 0, prepared: Int = 0) {
        precondition(recorded <= recordedCount, "The write queue lost count of its commits.")
        preparedCount += prepared
        joinedCount += joined + recorded
        recordedCount -= recorded
    }
}
