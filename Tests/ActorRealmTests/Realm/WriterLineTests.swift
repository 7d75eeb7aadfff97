import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("The line of waiting writers: first come, first served, higher priorities first within bounds")
struct WriterLineTests {
    /// The line by reference, so that expectations can call its mutating functions; writers are numbers.
    final class Line {
        private var line = WriterLine<Int>()
        private var last: UInt64 = 0

        var count: Int { line.count }
        var storedCount: Int { line.storedCount }

        func append(
            _ priority: UInt8,
            _ kind: WriteQueue<Int>.Kind = .asynchronous,
            isolation: Int = 0
        ) -> UInt64 {
            last += 1
            line.insert(
                WriterLine.Writer(
                    ticket: .init(number: last),
                    kind: kind,
                    isolation: isolation,
                    origin: nil,
                    priority: priority
                )
            )
            check()
            return last
        }

        func next() -> UInt64? {
            defer { check() }
            return line.popNext()?.ticket.number
        }

        /// That the line is in order after each step.
        private func check() {
            #if DEBUG
            #expect(throws: Never.self) { try line.checkInvariants() }
            #endif
        }

        func all() -> [UInt64] { Array(sequence(state: ()) { _ in self.next() }) }
        func cancel(_ number: UInt64) -> Bool {
            defer { check() }
            return line.cancel(.init(number: number))
        }
        func raise(_ number: UInt64, to priority: UInt8) {
            line.raise(.init(number: number), to: priority)
            check()
        }

        func takeAndPutBack(_ number: UInt64) -> Bool {
            guard let writer = line.take(.init(number: number)) else { return false }
            line.insert(writer)
            check()
            return true
        }
    }

    #if DEBUG
    @Test("A writer that stands in the line twice is told by its check")
    func brokenLine() {
        var line = WriterLine<Int>()
        let writer = WriterLine<Int>
            .Writer(ticket: .init(number: 3), kind: .synchronous, isolation: 1, origin: nil, priority: 9)
        line.insert(writer)
        #expect(throws: Never.self) { try line.checkInvariants() }
        line.insert(writer)
        #expect(throws: BrokenInvariant.self) { try line.checkInvariants() }
    }
    #endif

    @Test("Within a priority the order is kept, and a higher one goes first")
    func order() {
        let line = Line()
        for priority: UInt8 in [21, 9, 21, 25, 9, 25] { _ = line.append(priority) }
        #expect(line.all() == [4, 6, 1, 3, 2, 5])
        #expect(line.count == 0)
    }

    @Test("The first of a priority is passed eight times, then it goes, and the next of it is passed anew")
    func bound() {
        let line = Line()
        _ = line.append(9)
        _ = line.append(9)
        for _ in 0..<30 { _ = line.append(21) }
        let order = line.all()
        #expect(order.firstIndex(of: 1) == 8)
        #expect(order.firstIndex(of: 2) == 17)
        #expect(order.filter { $0 > 2 } == Array(3...32))
    }

    @Test("Who came before those of a higher priority is not passed by being served")
    func olderOnesDoNotPass() {
        let line = Line()
        for _ in 0..<20 { _ = line.append(21) }
        _ = line.append(9)
        for _ in 0..<20 { _ = line.append(21) }
        let order = line.all()
        #expect(order.firstIndex(of: 21) == 28, "twenty came before it, and eight passed it")
    }

    @Test("Of several that were passed often enough the oldest goes first")
    func severalDue() {
        let line = Line()
        _ = line.append(17)
        _ = line.append(9)
        for _ in 0..<20 { _ = line.append(21) }
        #expect(Array(line.all().prefix(11)) == Array(3...10) + [1, 2, 11])
    }

    @Test("Whose task becomes more urgent stands among the others of that priority where it would have been")
    func raising() {
        let line = Line()
        for priority: UInt8 in [25, 9, 25, 9, 25] { _ = line.append(priority) }
        line.raise(2, to: 25)
        line.raise(3, to: 9)
        line.raise(99, to: 25)
        #expect(line.all() == [1, 2, 3, 5, 4])
    }

    @Test("Who is cancelled, or taken out of turn, leaves the order as it was")
    func leaving() {
        let line = Line()
        for priority: UInt8 in [21, 9, 21, 25, 9, 25] { _ = line.append(priority) }
        #expect(line.cancel(4))
        #expect(!line.cancel(4))
        #expect(line.cancel(5))
        #expect(line.takeAndPutBack(3))
        #expect(!line.takeAndPutBack(4))
        #expect(line.count == 4)
        #expect(line.all() == [6, 1, 3, 2])
        #expect(!line.cancel(1))
    }

    @Test("Of those that give up behind one that waits for long few are kept")
    func manyLeaving() {
        let line = Line()
        _ = line.append(21)
        _ = line.append(21)
        var most = 0
        for _ in 0..<10_000 {
            let number = line.append(21)
            #expect(line.cancel(number))
            most = max(most, line.storedCount)
        }
        #expect(most <= 130)
        #expect(line.count == 2)
        #expect(line.all() == [1, 2])
    }

    @Test("Those that stay among many that give up keep their order")
    func stayingAmongLeaving() {
        let line = Line()
        let numbers = (0..<1_000).map { _ in line.append(21) }
        for number in numbers.dropFirst() where number % 3 != 0 { #expect(line.cancel(number)) }
        #expect(line.all() == [1] + numbers.filter { $0 % 3 == 0 })
    }

    @Test("Asynchronous writers of an isolation that a synchronous one blocks let all others pass")
    func blocking() {
        let line = Line()
        _ = line.append(25, isolation: 1)
        _ = line.append(21, isolation: 2)
        _ = line.append(9, .synchronous, isolation: 1)
        #expect(line.next() == 2)
        #expect(line.next() == 3)
        #expect(line.next() == 1)
        _ = line.append(25, isolation: 1)
        let synchronous = line.append(9, .synchronous, isolation: 1)
        #expect(line.cancel(synchronous))
        #expect(line.next() == 4)
    }

    @Test("Whatever happens: nobody is lost, order is kept within a priority, passing has its bound", arguments: 0..<20)
    func anything(seed: UInt64) {
        struct Model {
            let number: UInt64
            var priority: UInt8
            /// How often it was passed by younger ones since it is the first of its priority.
            var passes = 0
        }
        var random = SplitMix64(seed: seed)
        let line = Line()
        var waiting: [Model] = []
        var passed = 0
        for _ in 0..<5_000 {
            switch random.next() % 8 {
            case 0, 1, 2:
                let priority: UInt8 = [9, 17, 21, 25, 33][Int(random.next() % 5)]
                waiting.append(Model(number: line.append(priority), priority: priority))
            case 3 where !waiting.isEmpty:
                let index = Int(random.next() % UInt64(waiting.count))
                let isCancelled = line.cancel(waiting.remove(at: index).number)
                #expect(isCancelled)
            case 4 where !waiting.isEmpty:
                let index = Int(random.next() % UInt64(waiting.count))
                let priority: UInt8 = [17, 21, 25, 33][Int(random.next() % 4)]
                line.raise(waiting[index].number, to: priority)
                waiting[index].priority = max(waiting[index].priority, priority)
            case 5, 6:
                let next = line.next()
                guard let index = waiting.firstIndex(where: { $0.number == next }) else {
                    #expect(next == nil && waiting.isEmpty)
                    break
                }
                let served = waiting.remove(at: index)
                #expect(!waiting[..<index].contains { $0.priority == served.priority }, "seed \(seed)")
                var seen: Set<UInt8> = []
                for index in waiting.indices where seen.insert(waiting[index].priority).inserted {
                    if waiting[index].number < served.number {
                        #expect(waiting[index].priority < served.priority || waiting[index].passes < 8, "seed \(seed)")
                        waiting[index].passes += 1
                        passed += 1
                    }
                    #expect(waiting[index].passes <= 8, "seed \(seed)")
                }
            default: break
            }
            #expect(line.count == waiting.count)
        }
        #expect(passed > 100)
    }
}
