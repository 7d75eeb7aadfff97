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

    private let isOnPool: Bool
    private let processorCount: Int
    private var chosen: Ticket?
    private var looks = 0

    /// Notes that a thread waits; on the pool, ``end()`` notes that it does no more.
    init(isOnPool: Bool, processorCount: Int = ProcessInfo.processInfo.activeProcessorCount) {
        self.isOnPool = isOnPool
        self.processorCount = processorCount
        if isOnPool { blockedPoolThreads.wrappingAdd(1, ordering: .relaxed) }
    }

    func end() {
        if isOnPool { blockedPoolThreads.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Looks at who is chosen and has not started; whether it should be passed.
    mutating func isDue(against chosen: Ticket) -> Bool {
        let isExhausted = isOnPool && blockedPoolThreads.load(ordering: .relaxed) >= processorCount
        return isDue(against: chosen, isExhausted: isExhausted)
    }

    mutating func isDue(against chosen: Ticket, isExhausted: Bool) -> Bool {
        looks = chosen == self.chosen ? looks + 1 : 1
        self.chosen = chosen
        return looks >= (isExhausted ? Self.looksWhenExhausted : Self.looksAtMost)
    }
}

/// Threads of the pool that wait for their turns, on all files.
private let blockedPoolThreads = Atomic(0)
