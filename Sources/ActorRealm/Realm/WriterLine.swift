import DequeModule
import RealmStorage

/// The writers of one process that wait for their turn: a part of the state of ``WriteQueue``.
///
/// Those of one priority are served first come, first served. One of a higher priority goes before those of lower ones, with
/// a bound: as the first of its priority a writer is passed ``passLimit`` times at most by those that came later. With the same priority everywhere the line is first in, first out.
///
/// - Complexity: with n writers and p priorities in use, of which there are four or five: O(p) to append and to pop where nobody is cancelled
///   or blocked, O(p log n) to cancel, on average; O(n) to take out of turn and to change a priority, and to pop where synchronous writers
///   block the isolations of all the others.
struct WriterLine<Isolation: Hashable> {
    typealias Ticket = WriteQueue<Isolation>.Ticket
    typealias Kind = WriteQueue<Isolation>.Kind

    struct Writer {
        let ticket: Ticket
        let kind: Kind
        let isolation: Isolation
        /// Whether it needs a thread of Swift's pool to start, or blocks one until it does.
        var isOnPool = false
        /// Where the program asked for the turn.
        let origin: ReaderOrigin?
        /// When it did.
        var since: UInt64 = 0
        /// The raw value of a task's priority.
        var priority: UInt8
        /// How often it was passed as the first of its priority.
        var passes = 0
        /// Whether it went away; it is dropped when it comes to the front, or with many others.
        fileprivate(set) var isCancelled = false
    }

    /// The writers of one priority, in the order of their tickets, which is that in which they came.
    private struct Lane {
        let priority: UInt8
        var writers: Deque<Writer> = []
        /// How many of them went away.
        private(set) var cancelledCount = 0

        /// The index of the first writer that came no earlier than that of the ticket.
        func index(from ticket: Ticket) -> Int {
            if let last = writers.last, last.ticket.number < ticket.number { return writers.count }
            var lower = 0
            var upper = writers.count
            while lower < upper {
                let middle = (lower + upper) / 2
                if writers[middle].ticket.number < ticket.number { lower = middle + 1 } else { upper = middle }
            }
            return lower
        }

        mutating func insert(_ writer: Writer) { writers.insert(writer, at: index(from: writer.ticket)) }

        mutating func cancel(at index: Int) {
            writers[index].isCancelled = true
            cancelledCount += 1
            dropCancelled()
            // Behind one that waits long any number may come and go.
            if cancelledCount > 64, cancelledCount > writers.count / 2 { dropAllCancelled() }
        }

        mutating func dropCancelled() {
            while let first = writers.first, first.isCancelled {
                writers.removeFirst()
                cancelledCount -= 1
            }
        }

        private mutating func dropAllCancelled() {
            writers.removeAll { $0.isCancelled }
            cancelledCount = 0
        }
    }

    /// Where a writer stands.
    private struct Place {
        let lane: Int
        let index: Int
        /// That of its ticket.
        let number: UInt64
    }

    /// So often a writer that is the first of its priority lets later ones of higher priorities go first.
    static var passLimit: Int { 8 }

    /// From the highest priority down.
    ///
    /// A lane stays when it is empty: there are as many as priorities in use.
    private var lanes: [Lane] = []
    /// The number of synchronous writers that wait, per isolation.
    private var blocked: [Isolation: Int] = [:]
    /// The number of writers that wait, cancelled ones not counted.
    private(set) var count = 0
    /// The writer that waits, where it is the only one: it stands in no lane then, and blocks nobody.
    private var only: Writer?

    var isEmpty: Bool { count == 0 }

    /// The number of writers that are stored, cancelled ones counted.
    var storedCount: Int { lanes.reduce(only == nil ? 0 : 1) { $0 + $1.writers.count } }

    /// The writers that wait, in any order.
    var writers: [Writer] {
        if let only { return [only] }
        return lanes.flatMap { $0.writers.filter { !$0.isCancelled } }
    }

    func contains(_ ticket: Ticket) -> Bool { only?.ticket == ticket || place(of: ticket) != nil }

    /// Puts a writer where its ticket belongs among those of its priority: one that comes, or one that was taken and gives its
    /// turn up.
    mutating func insert(_ writer: Writer) {
        if count == 0 {
            only = writer
            count = 1
            return
        }
        lineUp()
        enter(writer)
    }

    /// Puts the only writer into its lane.
    private mutating func lineUp() {
        guard let writer = only else { return }
        only = nil
        count = 0
        enter(writer)
    }

    private mutating func enter(_ writer: Writer) {
        count += 1
        if writer.kind == .synchronous { blocked[writer.isolation, default: 0] += 1 }
        lanes[lane(of: writer.priority)].insert(writer)
    }

    /// Takes the writer whose turn comes next.
    ///
    /// Asynchronous writers whose isolation a synchronous one blocks that waits as well let the others pass.
    mutating func popNext() -> Writer? {
        if let writer = only {
            only = nil
            count = 0
            return writer
        }
        for lane in lanes.indices { lanes[lane].dropCancelled() }
        var best: Place?
        var due: Int?
        for lane in lanes.indices {
            guard let head = head(of: lane) else { continue }
            guard let best else {
                best = head
                continue
            }
            if head.number < best.number, lanes[lane].writers[head.index].passes >= Self.passLimit { due = lane }
        }
        guard var chosen = best else { return nil }
        if let due {
            // It is its turn, or that of one that is as urgent as it is at least and has waited longer.
            for lane in chosen.lane + 1...due {
                if let head = head(of: lane), head.number < chosen.number { chosen = head }
            }
        }
        for lane in lanes.indices.dropFirst(chosen.lane + 1) {
            if let head = head(of: lane), head.number < chosen.number { lanes[lane].writers[head.index].passes += 1 }
        }
        return take(chosen.lane, chosen.index)
    }

    /// Takes the first writer that blocks a thread of the pool out of its turn; nil when none does.
    mutating func takeBlockingPool() -> Writer? {
        lineUp()
        let tickets = lanes.flatMap(\.writers).filter { !$0.isCancelled && $0.isOnPool && $0.kind == .synchronous }
            .map(\.ticket)
        return tickets.min { $0.number < $1.number }.flatMap { take($0) }
    }

    /// Takes a writer out of its turn; nil when it does not wait.
    mutating func take(_ ticket: Ticket) -> Writer? {
        lineUp()
        guard let (lane, index) = place(of: ticket) else { return nil }
        return take(lane, index)
    }

    /// A writer goes away; false when it does not wait.
    mutating func cancel(_ ticket: Ticket) -> Bool {
        lineUp()
        guard let (lane, index) = place(of: ticket) else { return false }
        count -= 1
        let writer = lanes[lane].writers[index]
        if writer.kind == .synchronous { unblock(writer.isolation) }
        lanes[lane].cancel(at: index)
        return true
    }

    /// Moves a writer to its place among those of a higher priority; nothing when it does not wait, or has a higher one.
    mutating func raise(_ ticket: Ticket, to priority: UInt8) {
        lineUp()
        guard let (old, index) = place(of: ticket), priority > lanes[old].priority else { return }
        var writer = lanes[old].writers.remove(at: index)
        writer.priority = priority
        lanes[lane(of: priority)].insert(writer)
    }

    private mutating func take(_ lane: Int, _ index: Int) -> Writer {
        let writer = lanes[lane].writers.remove(at: index)
        count -= 1
        if writer.kind == .synchronous { unblock(writer.isolation) }
        return writer
    }

    /// The index of the lane of a priority, which is made where there is none.
    private mutating func lane(of priority: UInt8) -> Int {
        let index = lanes.firstIndex { $0.priority <= priority } ?? lanes.count
        if index == lanes.count || lanes[index].priority != priority {
            lanes.insert(Lane(priority: priority), at: index)
        }
        return index
    }

    /// Where a writer waits.
    private func place(of ticket: Ticket) -> (lane: Int, index: Int)? {
        for lane in lanes.indices {
            let index = lanes[lane].index(from: ticket)
            guard index < lanes[lane].writers.count else { continue }
            let writer = lanes[lane].writers[index]
            if writer.ticket == ticket { return writer.isCancelled ? nil : (lane, index) }
        }
        return nil
    }

    /// The first writer of a lane that can have a turn.
    private func head(of lane: Int) -> Place? {
        let index = lanes[lane].writers
            .firstIndex { writer in
                !writer.isCancelled
                    && (writer.kind == .synchronous || blocked.isEmpty || blocked[writer.isolation] == nil)
            }
        return index.map { Place(lane: lane, index: $0, number: lanes[lane].writers[$0].ticket.number) }
    }

    private mutating func unblock(_ isolation: Isolation) {
        guard let count = blocked[isolation] else { return }
        blocked[isolation] = count > 1 ? count - 1 : nil
    }
}

#if DEBUG
extension WriterLine {
    /// Each writer stands in one place, in the order of the tickets, and is counted.
    func checkInvariants() throws(BrokenInvariant) {
        var waiting = 0
        var blocking: [Isolation: Int] = [:]
        for (lane, next) in zip(lanes, lanes.dropFirst()) {
            try Invariant.require(lane.priority > next.priority, "The priorities of the lanes do not descend")
        }
        for lane in lanes {
            for (writer, next) in zip(lane.writers, lane.writers.dropFirst()) {
                try Invariant.require(writer.ticket.number < next.ticket.number, "Tickets of a lane do not ascend")
            }
            let cancelled = lane.writers.filter(\.isCancelled).count
            try Invariant.require(
                cancelled == lane.cancelledCount,
                "\(cancelled) cancelled writers are counted as \(lane.cancelledCount)"
            )
            for writer in lane.writers where !writer.isCancelled {
                waiting += 1
                try Invariant.require(writer.priority == lane.priority, "A writer stands in another priority's lane")
                if writer.kind == .synchronous { blocking[writer.isolation, default: 0] += 1 }
            }
        }
        try Invariant.require(only == nil || waiting == 0, "The only writer is not alone")
        try Invariant.require(waiting + (only == nil ? 0 : 1) == count, "\(waiting) writers are counted as \(count)")
        try Invariant.require(blocking == blocked, "The blocked isolations are not those of the writers that wait")
    }
}
#endif
