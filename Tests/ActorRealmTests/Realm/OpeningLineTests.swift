import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("The line of openings of one path: one has a thread, and nobody waits for nobody")
struct OpeningLineTests {
    /// The line by reference, so that expectations can call its mutating functions; openings are numbers, and needs letters.
    final class Openings {
        private typealias Line = OpeningLine<Character, UInt64>

        private var line = Line()
        private var last: UInt64 = 0

        var isEmpty: Bool { line.isEmpty }
        var waitingCount: Int { line.waitingCount }

        /// The number of an opening that comes, and what it does: "begins", or what it waits for.
        func arrive(_ need: Character) -> (number: UInt64, does: String) {
            last += 1
            defer { check() }
            switch line.arrive(Line.Member(ticket: Line.Ticket(number: last), need: need, waiter: last)) {
            case .begins: return (last, "begins")
            case .waitsForFile: return (last, "waits for the file")
            case .waitsForFit: return (last, "waits for the fit")
            }
        }

        func found(_ number: UInt64) -> [UInt64] {
            defer { check() }
            return line.found(Line.Ticket(number: number))
        }

        /// Those who look again, and who opens the file next.
        func end(_ number: UInt64, succeeded: Bool) -> (looking: [UInt64], next: UInt64?) {
            defer { check() }
            let ending = line.end(Line.Ticket(number: number), succeeded: succeeded)
            return (ending.lookingAgain, ending.next?.waiter)
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

    /// Openings of needs that come one after the other, and what each does.
    private func arrive(_ needs: String) -> [String] { needs.map { openings.arrive($0).does } }

    @Test("Whoever comes while the file is opened waits, and looks again when it is open")
    func file() {
        #expect(arrive("aab") == ["begins", "waits for the file", "waits for the file"])
        #expect(openings.waitingCount == 2)
        #expect(openings.found(1) == [2, 3])
        #expect(openings.waitingCount == 0)
        let end = openings.end(1, succeeded: true)
        #expect(end.looking.isEmpty && end.next == nil)
        #expect(openings.isEmpty)
    }

    @Test("Whoever needs what the file is made to fit waits for that, and nobody else does")
    func fit() {
        #expect(arrive("a") == ["begins"])
        #expect(openings.found(1).isEmpty)
        #expect(arrive("aba") == ["waits for the fit", "begins", "waits for the fit"])
        #expect(arrive("bc") == ["waits for the file", "waits for the file"])
        #expect(openings.found(3) == [5, 6], "those who wait for the fit wait on")
        #expect(arrive("b") == ["waits for the fit"])
        #expect(openings.end(1, succeeded: true).looking == [2, 4])
        #expect(openings.end(3, succeeded: true).looking == [7])
        #expect(openings.isEmpty)
    }

    @Test("Behind an opening that fails in either step the next one opens the file", arguments: [false, true])
    func failure(isFitting: Bool) {
        #expect(arrive("a") == ["begins"])
        if isFitting { #expect(openings.found(1).isEmpty) }
        _ = arrive("aaa")
        var failed: UInt64 = 1
        for next in UInt64(2)...4 {
            let end = openings.end(failed, succeeded: false)
            #expect(end.looking.isEmpty && end.next == next)
            #expect(openings.waitingCount == 4 - Int(next))
            failed = next
        }
        let end = openings.end(failed, succeeded: false)
        #expect(end.looking.isEmpty && end.next == nil)
        #expect(openings.isEmpty)
    }

    @Test("Whoever waited for a fit that failed looks again behind the one that opens the file then")
    func failureBesideAnother() {
        _ = arrive("a")
        _ = openings.found(1)
        #expect(arrive("ba") == ["begins", "waits for the fit"])
        let end = openings.end(1, succeeded: false)
        #expect(end.looking.isEmpty && end.next == nil)
        #expect(openings.found(2) == [3])
        #expect(arrive("a") == ["begins"])
    }

    @Test("Where the file cannot be opened, whoever waits for a fit that is under way waits on")
    func failureBesideFit() {
        _ = arrive("a")
        _ = openings.found(1)
        #expect(arrive("bac") == ["begins", "waits for the fit", "waits for the file"])
        #expect(openings.end(2, succeeded: false).next == 4)
        #expect(openings.end(4, succeeded: false).next == nil)
        #expect(openings.end(1, succeeded: true).looking == [3])
        #expect(openings.isEmpty)
    }

    @Test("Whoever gives up is taken out, unless it opens the file")
    func leaving() {
        _ = arrive("aaa")
        #expect(openings.leave(2))
        #expect(!openings.leave(2) && !openings.leave(1))
        #expect(openings.end(1, succeeded: false).next == 3)
        #expect(!openings.leave(3))
        #expect(openings.end(3, succeeded: true).looking.isEmpty)
        #expect(openings.isEmpty)
    }

    @Test("One that opens the file once more while it makes it fit wakes nobody, and neither does one beside the line")
    func foundAgain() {
        _ = arrive("a")
        _ = openings.found(1)
        _ = arrive("ba")
        #expect(openings.found(1).isEmpty && openings.found(9).isEmpty)
        let end = openings.end(9, succeeded: false)
        #expect(end.looking.isEmpty && end.next == nil)
        #expect(openings.waitingCount == 1)
    }

    @Test("Whatever comes, fails and gives up, everybody who waits is told in the end", arguments: UInt64(0)..<50)
    func random(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        /// Those that have a thread, and whether they have the file.
        var running: [UInt64: Bool] = [:]
        var waiting: Set<UInt64> = []
        func end(_ number: UInt64, succeeded: Bool) {
            running[number] = nil
            let end = openings.end(number, succeeded: succeeded)
            for told in end.looking { #expect(waiting.remove(told) != nil, "seed \(seed)") }
            guard let next = end.next else { return }
            #expect(waiting.remove(next) != nil, "seed \(seed)")
            running[next] = false
        }
        for _ in 0..<400 {
            let one = running.keys.sorted().randomElement(using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4:
                let (number, does) = openings.arrive("abc".randomElement(using: &random) ?? "a")
                if does == "begins" { running[number] = false } else { waiting.insert(number) }
            case 4:
                guard let one, running[one] == false else { continue }
                running[one] = true
                for told in openings.found(one) { #expect(waiting.remove(told) != nil, "seed \(seed)") }
            case 5:
                guard let one = waiting.sorted().randomElement(using: &random) else { continue }
                #expect(openings.leave(one), "seed \(seed)")
                waiting.remove(one)
            default: if let one { end(one, succeeded: Bool.random(using: &random)) }
            }
            #expect(openings.waitingCount == waiting.count, "seed \(seed)")
            let openingCount = running.values.count { !$0 }
            #expect(openingCount <= 1, "seed \(seed): more than one opens the file")
            #expect(running.count <= 4, "seed \(seed): two make the file fit for one need")
        }
        while let one = running.keys.min() { end(one, succeeded: false) }
        #expect(waiting.isEmpty && openings.isEmpty, "seed \(seed)")
    }
}
