import DequeModule
import RealmStorage

/// The openings of one path that come on actors: one at a time has a thread, and the others wait without one.
///
/// An opening has two steps. First it opens the file, or finds it open: whoever comes meanwhile waits for that. Then it makes
/// the file fit its classes, which takes as long as other writers and a migration do: whoever needs the same waits for that, and
/// whoever needs something else opens the file beside it. Behind each step that ended well, those who waited for it look again:
/// mostly they find what they need. Behind one that failed, the first of them opens the file in its place, on the same thread.
///
/// - Complexity: O(n) for n that wait, for each step; n that fail one after the other take O(1) each.
struct OpeningLine<Need: Equatable & Sendable, Waiter: Sendable> {
    /// Names an opening.
    struct Ticket: Hashable, Sendable {
        let number: UInt64
    }

    /// An opening: what it needs the file to be, and who is told.
    struct Member: Sendable {
        let ticket: Ticket
        let need: Need
        let waiter: Waiter
    }

    /// What an opening does when it comes.
    enum Arrival: Sendable {
        /// It opens the file.
        case begins
        /// It waits while another one opens the file.
        case waitsForFile
        /// It waits while another one that needs the same makes the file fit.
        case waitsForFit
    }

    /// What follows from the end of an opening.
    struct Ending: Sendable {
        /// Those who look again.
        var lookingAgain: [Waiter] = []
        /// Who opens the file in its place.
        var next: Member?
    }

    /// An opening that has a thread.
    private struct Turn {
        let ticket: Ticket
        let need: Need
    }

    /// The one that opens the file, or looks whether it is open.
    private var opening: Turn?
    /// Those that make the file fit, each with a need of its own.
    private var fitting: [Turn] = []
    /// In the order in which they came.
    private var waiting: Deque<Member> = []

    /// Whether nobody opens the file, and nobody waits.
    var isEmpty: Bool { opening == nil && fitting.isEmpty && waiting.isEmpty }

    /// The number of those that wait.
    var waitingCount: Int { waiting.count }

    /// An opening comes.
    mutating func arrive(_ member: Member) -> Arrival {
        if isFitted(member.need) {
            waiting.append(member)
            return .waitsForFit
        }
        if opening != nil {
            waiting.append(member)
            return .waitsForFile
        }
        opening = Turn(ticket: member.ticket, need: member.need)
        return .begins
    }

    /// The file is open; an opening makes it fit from here on.
    ///
    /// Nothing when it has said so before: it may open the file more than once.
    ///
    /// - Returns: Those who look again.
    mutating func found(_ ticket: Ticket) -> [Waiter] {
        guard let turn = opening, turn.ticket == ticket else { return [] }
        opening = nil
        let looking = takeAllBehindFile()
        fitting.append(turn)
        return looking
    }

    /// An opening ends.
    mutating func end(_ ticket: Ticket, succeeded: Bool) -> Ending {
        if let turn = opening, turn.ticket == ticket {
            opening = nil
            return succeeded ? Ending(lookingAgain: takeAllBehindFile()) : Ending(next: beginNext())
        }
        guard let index = fitting.firstIndex(where: { $0.ticket == ticket }) else { return Ending() }
        let need = fitting.remove(at: index).need
        if succeeded {
            let looking = waiting.filter { $0.need == need }
            waiting.removeAll { $0.need == need }
            return Ending(lookingAgain: looking.map(\.waiter))
        }
        // Where another one opens the file, those who waited for the fit look again behind that.
        return Ending(next: opening == nil ? beginNext() : nil)
    }

    /// Takes an opening out that gives up; nil when it does not wait.
    mutating func leave(_ ticket: Ticket) -> Waiter? {
        guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        return waiting.remove(at: index).waiter
    }

    private func isFitted(_ need: Need) -> Bool { fitting.contains { $0.need == need } }

    /// Takes those who wait for the file, and not for a fit.
    private mutating func takeAllBehindFile() -> [Waiter] {
        let all = waiting
        waiting.removeAll()
        var taken: [Waiter] = []
        for member in all {
            if isFitted(member.need) { waiting.append(member) } else { taken.append(member.waiter) }
        }
        return taken
    }

    /// Takes the first one that waits for the file, and has it open that.
    private mutating func beginNext() -> Member? {
        guard let index = waiting.firstIndex(where: { !isFitted($0.need) }) else { return nil }
        let next = waiting.remove(at: index)
        opening = Turn(ticket: next.ticket, need: next.need)
        return next
    }
}

#if DEBUG
extension OpeningLine {
    /// Nobody waits for nobody, and no two make the file fit for one need.
    func checkInvariants() throws(BrokenInvariant) {
        for member in waiting {
            try Invariant.require(opening != nil || isFitted(member.need), "An opening waits for nobody")
            try Invariant.require(member.ticket != opening?.ticket, "An opening waits for itself")
        }
        for (index, turn) in fitting.enumerated() {
            let others = fitting[(index + 1)...]
            try Invariant.require(!others.contains { $0.need == turn.need }, "Two make the file fit for one need")
            try Invariant.require(turn.ticket != opening?.ticket, "An opening is in both of its steps")
        }
    }
}
#endif
