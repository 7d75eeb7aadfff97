import DequeModule
import RealmStorage

/// The openings of one path that come on actors while one of them opens the file: they wait for that without a thread.
///
/// When the file is open, all of them look at it: mostly it is what they need. Behind an opening that fails, the first of them opens the file in
/// its place, on the same thread.
///
/// - Complexity: O(1) for each step, and O(n) for n that look at the file.
struct OpeningLine<Waiter: Sendable> {
    /// Names an opening.
    struct Ticket: Hashable, Sendable {
        let number: UInt64
    }

    /// What follows from the end of an opening.
    struct Ending: Sendable {
        /// Those who look at the file.
        var looking: [Waiter] = []
        /// Who opens the file in its place.
        var next: (ticket: Ticket, waiter: Waiter)?
    }

    /// The one that opens the file.
    private var opening: Ticket?
    /// In the order in which they came; some may have gone.
    private var order: Deque<Ticket> = []
    private var waiting: [Ticket: Waiter] = [:]

    /// Whether nobody opens the file, and nobody waits.
    var isEmpty: Bool { opening == nil && waiting.isEmpty }

    /// The number of those that wait.
    var waitingCount: Int { waiting.count }

    /// An opening comes.
    ///
    /// - Returns: Whether it opens the file; else it waits.
    mutating func arrive(_ ticket: Ticket, _ waiter: Waiter) -> Bool {
        if opening == nil {
            opening = ticket
            return true
        }
        order.append(ticket)
        waiting[ticket] = waiter
        return false
    }

    /// The file is open; the opening makes it fit its classes from here on, which others do not wait for.
    ///
    /// Nothing when it has said so before: it may open the file more than once.
    ///
    /// - Returns: Those who look at the file.
    mutating func found(_ ticket: Ticket) -> [Waiter] {
        guard opening == ticket else { return [] }
        opening = nil
        return takeAll()
    }

    /// An opening ends.
    mutating func end(_ ticket: Ticket, succeeded: Bool) -> Ending {
        guard opening == ticket else { return Ending() }
        opening = nil
        if succeeded { return Ending(looking: takeAll()) }
        while let next = order.popFirst() {
            guard let waiter = waiting.removeValue(forKey: next) else { continue }
            opening = next
            return Ending(next: (next, waiter))
        }
        return Ending()
    }

    /// Takes an opening out that gives up; nil when it does not wait.
    mutating func leave(_ ticket: Ticket) -> Waiter? { waiting.removeValue(forKey: ticket) }

    private mutating func takeAll() -> [Waiter] {
        let all = order.compactMap { waiting.removeValue(forKey: $0) }
        order.removeAll()
        return all
    }
}

#if DEBUG
extension OpeningLine {
    /// Whoever waits stands in the order, once, and waits for somebody else.
    func checkInvariants() throws(BrokenInvariant) {
        try Invariant.require(opening != nil || waiting.isEmpty, "An opening waits for nobody")
        try Invariant.require(opening.map { waiting[$0] == nil } ?? true, "An opening waits for itself")
        try Invariant.require(order.count { waiting[$0] != nil } == waiting.count, "An opening waits in no order")
        try Invariant.require(Set(order).count == order.count, "An opening waits twice")
    }
}
#endif
