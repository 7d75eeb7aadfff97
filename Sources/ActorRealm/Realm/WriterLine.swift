import DequeModule
import RealmStorage

/// The writers of one process that wait for their turn: a part of the state of ``WriteQueue``.
///
/// Those of one priority are served first come, first served. One of a higher priority goes before those of lower ones, with
/// a bound: as the first of its priority a writer is passed ``passLimit`` times at most by those that came later. With the same priority everywhere the line is first in, first out.
///
/// - Complexity: O(the number of priorities) for each function where nobody is cancelled or blocked, of which there are
///   four or five; changing a priority and cancelling a synchronous writer, O(the number of writers).
struct WriterLine<Isolation: Hashable> {
    typealias Ticket = WriteQueue<Isolation>.Ticket
    typealias Kind = WriteQueue<Isolation>.Kind

    struct Writer {
        let ticket: Ticket
        let kind: Kind
        let isolation: Isolation
        /// Where the program asked for the turn.
        let origin: ReaderOrigin?
        /// The raw value of a task's priority.
        var priority: UInt8
        /// How often it was passed as the first of its priority.
        var passes = 0
    }

    /// The writers of one priority, in the order in which they came.
    private struct Lane {
        let priority: UInt8
        var writers: Deque<Writer> = []
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
    /// Tickets that stand in the lanes and have not been cancelled, with their priority.
    private var standing: [Ticket: UInt8] = [:]
    /// The number of synchronous writers that wait, per isolation.
    private var blocked: [Isolation: Int] = [:]

    var count: Int { standing.count }

    var isEmpty: Bool { standing.isEmpty }

    func contains(_ ticket: Ticket) -> Bool { standing[ticket] != nil }

    /// Puts a writer that comes behind the others of its priority.
    mutating func append(_ writer: Writer) {
        standing[writer.ticket] = writer.priority
        if writer.kind == .synchronous { blocked[writer.isolation, default: 0] += 1 }
        lanes[lane(of: writer.priority)].writers.append(writer)
    }

    /// Puts a writer back that was taken, before the others of its priority.
    mutating func putBack(_ writer: Writer) {
        standing[writer.ticket] = writer.priority
        if writer.kind == .synchronous { blocked[writer.isolation, default: 0] += 1 }
        lanes[lane(of: writer.priority)].writers.prepend(writer)
    }

    /// Takes the writer whose turn comes next.
    ///
    /// Asynchronous writers whose isolation a synchronous one blocks that waits as well let the others pass.
    mutating func popNext() -> Writer? {
        dropCancelled()
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

    /// Takes a writer out of its turn; nil when it does not wait.
    mutating func take(_ ticket: Ticket) -> Writer? {
        guard let (lane, index) = place(of: ticket) else { return nil }
        return take(lane, index)
    }

    /// A writer goes away; false when it does not wait.
    mutating func cancel(_ ticket: Ticket) -> Bool {
        guard let priority = standing[ticket] else { return false }
        let lane = lane(of: priority)
        // Most are asynchronous, and dropped when they come to the front.
        if !blocked.isEmpty, let (lane, index) = place(of: ticket), lanes[lane].writers[index].kind == .synchronous {
            _ = take(lane, index)
        } else {
            standing[ticket] = nil
        }
        dropCancelled(in: lane)
        return true
    }

    /// Moves a writer to its place among those of a higher priority; nothing when it does not wait, or has a higher one.
    mutating func raise(_ ticket: Ticket, to priority: UInt8) {
        guard let (old, index) = place(of: ticket), priority > lanes[old].priority else { return }
        var writer = lanes[old].writers.remove(at: index)
        writer.priority = priority
        standing[ticket] = priority
        let new = lane(of: priority)
        let next = lanes[new].writers.firstIndex { $0.ticket.number > ticket.number } ?? lanes[new].writers.count
        lanes[new].writers.insert(writer, at: next)
    }

    private mutating func take(_ lane: Int, _ index: Int) -> Writer {
        let writer = lanes[lane].writers.remove(at: index)
        standing[writer.ticket] = nil
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

    private func place(of ticket: Ticket) -> (lane: Int, index: Int)? {
        guard let priority = standing[ticket], let lane = lanes.firstIndex(where: { $0.priority == priority }),
            let index = lanes[lane].writers.firstIndex(where: { $0.ticket == ticket })
        else { return nil }
        return (lane, index)
    }

    /// The first writer of a lane that can have a turn.
    private func head(of lane: Int) -> Place? {
        let index = lanes[lane].writers
            .firstIndex {
                contains($0.ticket) && ($0.kind == .synchronous || blocked.isEmpty || blocked[$0.isolation] == nil)
            }
        return index.map { Place(lane: lane, index: $0, number: lanes[lane].writers[$0].ticket.number) }
    }

    private mutating func dropCancelled() {
        for lane in lanes.indices { dropCancelled(in: lane) }
    }

    private mutating func dropCancelled(in lane: Int) {
        while let first = lanes[lane].writers.first, !contains(first.ticket) { lanes[lane].writers.removeFirst() }
    }

    private mutating func unblock(_ isolation: Isolation) {
        guard let count = blocked[isolation] else { return }
        blocked[isolation] = count > 1 ? count - 1 : nil
    }
}
