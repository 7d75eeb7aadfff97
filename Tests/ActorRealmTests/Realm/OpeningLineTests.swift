import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("The line of openings of one path: one opens the file, and nobody waits for nobody")
struct OpeningLineTests {
    /// The line by reference, so that expectations can call its mutating functions; openings are numbers.
    final class Openings {
        private typealias Line = OpeningLine<UInt64>

        private var line = Line()
        private var last: UInt64 = 0

        var isEmpty: Bool { line.isEmpty }
        var waitingCount: Int { line.waitingCount }

        /// An opening comes: whether it opens the file.
        func arrive() -> Bool {
            last += 1
            defer { check() }
            return line.arrive(Line.Ticket(number: last), last)
        }

        func found(_ number: UInt64) -> [UInt64] {
            defer { check() }
            return line.found(Line.Ticket(number: number))
        }

        /// Those who look at the file, and who opens it next.
        func end(_ number: UInt64, succeeded: Bool) -> (looking: [UInt64], next: UInt64?) {
            defer { check() }
            let ending = line.end(Line.Ticket(number: number), succeeded: succeeded)
            return (ending.looking, ending.next?.waiter)
        }

        func leave(_ number: UInt64) -> Bool {
            defer { check() }
            return line.leave(Line.Ticket(number: number)) == number
        }

        /// That the line is in order after each step.
        private func check() {
            #if DEBUG
            #expect(throws: Never.self) { try line.checkInvariants() }
            #endif
        }
    }

    private let openings = Openings()

    /// Openings that come one after the other, and whether each opens the file.
    private func arrive(_ count: Int) -> [Bool] { (0..<count).map { _ in openings.arrive() } }

    @Test("Whoever comes while the file is opened waits, and looks at it when it is open")
    func file() {
        #expect(arrive(3) == [true, false, false])
        #expect(openings.waitingCount == 2)
        #expect(openings.found(1) == [2, 3])
        #expect(openings.isEmpty)
        // It makes the file fit, for which nobody waits.
        #expect(arrive(2) == [true, false])
        let end = openings.end(1, succeeded: true)
        #expect(end.looking.isEmpty && end.next == nil)
        #expect(openings.end(4, succeeded: true).looking == [5])
        #expect(openings.isEmpty)
    }

    @Test("Behind an opening that fails the next one opens the file")
    func failure() {
        #expect(arrive(4) == [true, false, false, false])
        for failed in UInt64(1)...3 {
            let end = openings.end(failed, succeeded: false)
            #expect(end.looking.isEmpty && end.next == failed + 1)
            #expect(openings.waitingCount == 3 - Int(failed))
        }
        let end = openings.end(4, succeeded: false)
        #expect(end.looking.isEmpty && end.next == nil)
        #expect(openings.isEmpty)
    }

    @Test("An opening that fails when the file was open already is nobody's concern")
    func failureBehindFinding() {
        #expect(arrive(1) == [true])
        #expect(openings.found(1).isEmpty)
        #expect(arrive(2) == [true, false])
        let end = openings.end(1, succeeded: false)
        #expect(end.looking.isEmpty && end.next == nil)
        #expect(openings.waitingCount == 1)
        #expect(openings.end(2, succeeded: false).next == 3)
    }

    @Test("Whoever gives up is taken out, unless it opens the file")
    func leaving() {
        #expect(arrive(3) == [true, false, false])
        #expect(openings.leave(2))
        #expect(!openings.leave(2) && !openings.leave(1))
        #expect(openings.end(1, succeeded: false).next == 3)
        #expect(!openings.leave(3))
        #expect(openings.end(3, succeeded: true).looking.isEmpty)
        #expect(openings.isEmpty)
    }

    @Test("One that opens the file once more while it makes it fit wakes nobody, and neither does one beside the line")
    func foundAgain() {
        #expect(arrive(1) == [true])
        #expect(openings.found(1).isEmpty)
        #expect(arrive(2) == [true, false])
        #expect(openings.found(1).isEmpty && openings.found(9).isEmpty)
        let end = openings.end(9, succeeded: false)
        #expect(end.looking.isEmpty && end.next == nil)
        #expect(openings.waitingCount == 1)
    }

    @Test("Whatever comes, fails and gives up, everybody who waits is told in the end", arguments: UInt64(0)..<50)
    func random(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        /// The one that opens the file.
        var opening: UInt64?
        /// Those that have found it.
        var fitting: Set<UInt64> = []
        var waiting: Set<UInt64> = []
        var last: UInt64 = 0
        func tell(_ numbers: [UInt64]) {
            for told in numbers { #expect(waiting.remove(told) != nil, "seed \(seed)") }
        }
        func end(_ number: UInt64, succeeded: Bool) {
            if opening == number { opening = nil }
            fitting.remove(number)
            let end = openings.end(number, succeeded: succeeded)
            tell(end.looking)
            guard let next = end.next else { return }
            #expect(waiting.remove(next) != nil, "seed \(seed)")
            opening = next
        }
        for _ in 0..<400 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4:
                last += 1
                #expect(openings.arrive() == (opening == nil), "seed \(seed)")
                if opening == nil { opening = last } else { waiting.insert(last) }
            case 4:
                guard let one = opening else { continue }
                opening = nil
                fitting.insert(one)
                tell(openings.found(one))
                #expect(waiting.isEmpty, "seed \(seed)")
            case 5:
                guard let one = waiting.sorted().randomElement(using: &random) else { continue }
                #expect(openings.leave(one), "seed \(seed)")
                waiting.remove(one)
            case 6: if let one = fitting.min() { end(one, succeeded: Bool.random(using: &random)) }
            default: if let one = opening { end(one, succeeded: Bool.random(using: &random)) }
            }
            #expect(openings.waitingCount == waiting.count, "seed \(seed)")
        }
        while let one = opening { end(one, succeeded: false) }
        #expect(waiting.isEmpty && openings.isEmpty, "seed \(seed)")
    }
}
