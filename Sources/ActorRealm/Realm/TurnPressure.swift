import Dispatch
import Synchronization

/// When a writer that blocks its thread passes one that was chosen and does not start.
///
/// A chosen writer's task needs a thread. When as many threads of Swift's pool as there are processors block in writes
/// (``BlockedPool``), none is left for it, and nothing would go on: then one of those that block the pool presses at once.
/// Otherwise the pool is only busy, and the order is kept; but since a program may block threads of the pool in other ways, too,
/// everybody presses in the end.
struct TurnPressure<Ticket: Equatable> {
    /// The pause between two looks.
    static var interval: DispatchTimeInterval { .milliseconds(20) }
    /// The looks at the same chosen writer after which it is passed in any case.
    static var looksAtMost: Int { 50 }
    /// The looks at the same writer, whose transaction is open, after which a thread counts as stuck behind it.
    static var looksUntilStuck: Int { 50 }

    private let isOnPool: Bool
    private let pool: BlockedPool
    private let place: UInt64
    private var chosen: Ticket?
    private var looks = 0
    private var holder: Ticket?
    private var holderLooks = 0
    private var isStuck = false

    /// Notes that a thread waits for a turn of a file; on the pool, ``end()`` notes that it does no more, and `look` is called when
    /// looking is worth while.
    init(
        isOnPool: Bool,
        of file: ObjectIdentifier,
        pool: BlockedPool = .swift,
        look: @escaping @Sendable () -> Void = {}
    ) {
        self.isOnPool = isOnPool
        self.pool = pool
        place = isOnPool ? pool.enter(waitingFor: file, look) : 0
    }

    func end() {
        if isOnPool { pool.leave(place) }
        if isStuck { pool.stuck.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Looks at who is chosen and has not started.
    ///
    /// - Parameters:
    ///   - chosen: Who that is.
    ///   - needsPool: Whether it starts on a thread of the pool.
    ///   - wasPause: Whether the pause between two looks has passed, and no less.
    /// - Returns: Whether it should be passed.
    mutating func isDue(against chosen: Ticket, needsPool: Bool, wasPause: Bool) -> Bool {
        isDue(against: chosen, isExhausted: isOnPool && needsPool && pool.isExhausted, wasPause: wasPause)
    }

    mutating func isDue(against chosen: Ticket, isExhausted: Bool, wasPause: Bool) -> Bool {
        if chosen != self.chosen { looks = 0 }
        self.chosen = chosen
        if wasPause { looks += 1 }
        return isExhausted || looks >= Self.looksAtMost
    }
}

extension TurnPressure {
    /// Looks at the writer that has the turn, where that is one whose task needs a thread of the pool to go on; whether the
    /// caller has to give up.
    ///
    /// A transaction that is open while its task is suspended cannot be passed. Once every thread of the pool is stuck behind
    /// such a one, on whatever files, none of them ever goes on: one of the threads has to give up, and only one.
    mutating func isHopeless(behind holder: Ticket?) -> Bool {
        guard isOnPool else { return false }
        holderLooks = holder != nil && holder == self.holder ? holderLooks + 1 : 1
        self.holder = holder
        let wasStuck = isStuck
        isStuck = holder != nil && holderLooks >= Self.looksUntilStuck
        if isStuck != wasStuck { pool.stuck.wrappingAdd(isStuck ? 1 : -1, ordering: .relaxed) }
        guard isStuck else { return false }
        var count = pool.stuck.load(ordering: .relaxed)
        while count >= pool.threadCount {
            let (isExchanged, original) = pool.stuck.compareExchange(
                expected: count,
                desired: count - 1,
                ordering: .relaxed
            )
            if isExchanged {
                isStuck = false
                return true
            }
            count = original
        }
        return false
    }
}
