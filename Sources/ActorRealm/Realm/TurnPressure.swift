import Dispatch
import Foundation
import Synchronization

/// When a writer that blocks its thread passes one that was chosen and does not start.
///
/// A chosen writer's task needs a thread. When as many threads of Swift's pool as there are processors wait for their turns,
/// none is left for it, and nothing would go on: then those that block the pool press soon. Otherwise the pool is only busy, and
/// the order is kept; but since a program may block threads of the pool in other ways, too, everybody presses in the end.
struct TurnPressure<Ticket: Equatable> {
    /// The pause between two looks.
    static var interval: DispatchTimeInterval { .milliseconds(20) }
    /// The looks at the same chosen writer after which it is passed when no other thread may be left.
    static var looksWhenExhausted: Int { 2 }
    /// The looks at the same chosen writer after which it is passed in any case.
    static var looksAtMost: Int { 50 }
    /// The looks at the same writer, whose transaction is open, after which a thread counts as stuck behind it.
    static var looksUntilStuck: Int { 50 }

    private let isOnPool: Bool
    private let processorCount: Int
    private let pool: BlockedPool
    private var chosen: Ticket?
    private var looks = 0
    private var holder: Ticket?
    private var holderLooks = 0
    private var isStuck = false

    /// Notes that a thread waits; on the pool, ``end()`` notes that it does no more.
    init(
        isOnPool: Bool,
        processorCount: Int = ProcessInfo.processInfo.activeProcessorCount,
        pool: BlockedPool = .swift
    ) {
        self.isOnPool = isOnPool
        self.processorCount = processorCount
        self.pool = pool
        if isOnPool { pool.blocked.wrappingAdd(1, ordering: .relaxed) }
    }

    func end() {
        if isOnPool { pool.blocked.wrappingSubtract(1, ordering: .relaxed) }
        if isStuck { pool.stuck.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Looks at who is chosen and has not started; whether it should be passed.
    mutating func isDue(against chosen: Ticket) -> Bool {
        let isExhausted = isOnPool && pool.blocked.load(ordering: .relaxed) >= processorCount
        return isDue(against: chosen, isExhausted: isExhausted)
    }

    mutating func isDue(against chosen: Ticket, isExhausted: Bool) -> Bool {
        looks = chosen == self.chosen ? looks + 1 : 1
        self.chosen = chosen
        return looks >= (isExhausted ? Self.looksWhenExhausted : Self.looksAtMost)
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
        while count >= processorCount {
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

/// The threads of a pool that block for their turns.
final class BlockedPool: Sendable {
    /// That of Swift's tasks.
    static let swift = BlockedPool()

    /// Those that wait, on all files.
    fileprivate let blocked = Atomic(0)
    /// Those of them that wait for a writer which needs one of them to go on.
    fileprivate let stuck = Atomic(0)
}
