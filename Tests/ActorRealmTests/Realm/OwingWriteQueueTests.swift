import Testing

@testable import ActorRealm

/// Writers that leave their commits without pages.
@Suite("The write queue and pages that are owed")
struct OwingWriteQueueTests {
    typealias Queue = WriteQueue<Int>
    typealias Actions = Queue.Actions

    /// A queue that is alone with its file, in which a writer has its turn that came right behind another one.
    private func running() -> (Queue, Queue.Ticket) {
        var queue = Queue(holdLimit: 1_000, lingerStep: 10, keepStep: 100)
        queue.isAlone = true
        let (first, _) = queue.enqueue(.synchronous, isolation: 1, at: 0)
        _ = queue.lockAcquired(at: 0)
        _ = queue.finish(first, .preparedBlocking, at: 1)
        _ = queue.takeAllPrepared()
        _ = queue.flushFinished(at: 2)
        let (second, actions) = queue.enqueue(.synchronous, isolation: 1, at: 3)
        #expect(actions == Actions(lock: .acquire))
        #expect(queue.lockAcquired(at: 3) == Actions(grant: second))
        return (queue, second)
    }

    /// The same behind a commit that owes its pages; the lock is kept.
    private func owing() -> Queue {
        var (queue, ticket) = running()
        #expect(queue.mayOwePages(ticket))
        #expect(queue.finish(ticket, .acknowledged, at: 4) == Actions(lock: .keep))
        #expect(queue.owesPages)
        #expect(queue.joinedCount == 1)
        return queue
    }

    @Test("They are owed only behind a synchronous writer that came soon, alone with the file, with nobody in line")
    func conditions() {
        var (queue, ticket) = running()
        #expect(queue.mayOwePages(ticket))
        queue.isAlone = false
        #expect(!queue.mayOwePages(ticket))
        (queue, ticket) = running()
        queue.isContended = true
        #expect(!queue.mayOwePages(ticket))
        (queue, ticket) = running()
        _ = queue.enqueue(.asynchronous, isolation: 2, at: 3)
        #expect(!queue.mayOwePages(ticket))
        queue = Queue(holdLimit: 1_000, lingerStep: 10, keepStep: 100)
        queue.isAlone = true
        (ticket, _) = queue.enqueue(.synchronous, isolation: 1, at: 0)
        _ = queue.lockAcquired(at: 0)
        #expect(!queue.mayOwePages(ticket))
    }

    @Test("Several count as one, and are sealed with the commit that has its pages")
    func several() {
        var queue = owing()
        let (second, granted) = queue.enqueue(.synchronous, isolation: 1, at: 5)
        #expect(granted == Actions(grant: second))
        #expect(queue.mayOwePages(second))
        #expect(queue.finish(second, .acknowledged, at: 6) == Actions())
        #expect(queue.joinedCount == 1)
        let (third, _) = queue.enqueue(.synchronous, isolation: 1, at: 7)
        #expect(queue.finish(third, .preparedBlocking, at: 8) == Actions(flush: .caller))
        #expect(queue.takeAllPrepared() == 2)
        #expect(!queue.owesPages)
        _ = queue.flushFinished(at: 9)
    }

    @Test("Before the lock that is kept is given back, they are made")
    func kept() {
        var queue = owing()
        #expect(queue.keepEnded(at: 50) == Actions(lock: .keep))
        #expect(queue.keepEnded(at: 110) == Actions(flush: .ioThread))
        #expect(queue.isSealing)
        #expect(queue.holdsLock)
        #expect(queue.sealFinished(at: 111) == Actions())
        #expect(queue.takeAllPrepared() == 1)
        #expect(queue.flushFinished(at: 112) == Actions(lock: .keep))
        #expect(queue.keepEnded(at: 220) == Actions(lock: .release))
        #expect(queue.isIdle)
    }

    @Test("Where nobody says that the time has passed, they are made at once")
    func refused() {
        var queue = owing()
        #expect(queue.keepRefused() == Actions(flush: .ioThread))
        #expect(queue.holdsLock)
    }

    @Test("Another process that comes while a writer has its turn has them made before the lock is given back")
    func contended() {
        var queue = owing()
        let (second, _) = queue.enqueue(.synchronous, isolation: 1, at: 5)
        queue.isAlone = false
        #expect(queue.finish(second, .nothing, at: 6) == Actions(flush: .ioThread))
        _ = queue.sealFinished(at: 7)
        #expect(queue.takeAllPrepared() == 1)
        #expect(queue.flushFinished(at: 8) == Actions(lock: .release))
    }

    @Test("Whoever asks makes them, and the lock stays until they are published")
    func asked() {
        var queue = owing()
        #expect(queue.askForPages(at: 5) == Actions(flush: .caller))
        // The alarm of the lock that was kept.
        #expect(queue.keepEnded(at: 500) == Actions())
        #expect(queue.letGoOfKept() == Actions())
        #expect(queue.holdsLock)
        // Once.
        #expect(queue.askForPages(at: 501) == Actions())
        _ = queue.sealFinished(at: 502)
        #expect(queue.askForPages(at: 503) == Actions())
        #expect(queue.takeAllPrepared() == 1)
        #expect(queue.flushFinished(at: 504) == Actions(lock: .keep))
    }

    @Test("The lock is not let go of while they are owed, nor for who ends the file")
    func letGoOf() {
        var queue = owing()
        #expect(queue.letGoOfKept() == Actions())
        #expect(queue.endKeeping() == Actions())
        #expect(queue.holdsLock)
        // Nobody else makes them.
        #expect(queue.keepEnded(at: 10) == Actions(flush: .ioThread))
        #expect(queue.letGoOfKept() == Actions())
        _ = queue.sealFinished(at: 11)
        #expect(queue.takeAllPrepared() == 1)
        #expect(queue.flushFinished(at: 12) == Actions(lock: .release))
    }

    @Test("Beside a writer that has its turn they are made when that ends")
    func askedBesideWriter() {
        var queue = owing()
        let (second, _) = queue.enqueue(.synchronous, isolation: 1, at: 5)
        #expect(queue.askForPages(at: 6) == Actions())
        #expect(!queue.mayOwePages(second))
        #expect(queue.finish(second, .nothing, at: 7) == Actions(flush: .ioThread))
        #expect(queue.isSealing)
    }

    @Test("Those that are lost owe nothing")
    func lost() {
        var queue = owing()
        queue.drop(prepared: 0, joined: 1)
        #expect(!queue.owesPages)
        #expect(queue.askForPages(at: 5) == Actions())
        #expect(queue.keepEnded(at: 200) == Actions(lock: .release))
        #expect(queue.isIdle)
    }

    /// A queue in which an asynchronous writer has its turn, behind a record that is being flushed.
    private func recording() -> (Queue, Queue.Ticket) {
        var queue = owing()
        let (first, granted) = queue.enqueue(.asynchronous, isolation: 1, at: 5)
        #expect(granted == Actions(grant: first))
        _ = queue.start(first)
        #expect(queue.mayLeaveRecord(first))
        #expect(!queue.mayOwePages(first))
        let (second, _) = queue.enqueue(.asynchronous, isolation: 1, at: 6)
        #expect(queue.finish(first, .recorded, at: 7) == Actions(grant: second, flush: .ioThread))
        #expect(queue.isFlushingRecords)
        #expect(!queue.isSealing)
        queue.takeRecords()
        _ = queue.start(second)
        return (queue, second)
    }

    @Test("Records are flushed beside a writer at work, and those that come meanwhile with the next flush")
    func recordsBesideWriter() {
        var (queue, second) = recording()
        #expect(queue.mayLeaveRecord(second))
        #expect(queue.finish(second, .recorded, at: 8) == Actions())
        #expect(queue.recordedCount == 1)
        #expect(!queue.areRecordsDurable)
        #expect(queue.flushFinished(at: 9) == Actions(flush: .ioThread))
        #expect(queue.isFlushingRecords)
        queue.takeRecords()
        #expect(queue.flushFinished(at: 10) == Actions())
        #expect(queue.areRecordsDurable)
        #expect(queue.owesPages)
        #expect(queue.joinedCount == 1)
    }

    @Test("A synchronous writer beside a flush of records owes nothing")
    func blockingBesideRecords() {
        var (queue, second) = recording()
        _ = queue.finish(second, .nothing, at: 8)
        let (third, _) = queue.enqueue(.synchronous, isolation: 1, at: 9)
        #expect(!queue.mayOwePages(third))
        #expect(!queue.mayLeaveRecord(third))
        #expect(queue.finish(third, .preparedBlocking, at: 10) == Actions())
        #expect(queue.preparedCount == 2)
        #expect(queue.flushFinished(at: 11) == Actions(flush: .ioThread))
        #expect(!queue.isFlushingRecords)
    }

    @Test("Records that are refused are sealed with all that stand on them, and nothing is recorded behind them")
    func refusedRecords() {
        var (queue, second) = recording()
        #expect(queue.finish(second, .recorded, at: 8) == Actions())
        queue.handBack(joined: 1, recorded: 1)
        #expect(queue.joinedCount == 3)
        let (third, _) = queue.enqueue(.asynchronous, isolation: 1, at: 9)
        _ = queue.start(third)
        #expect(!queue.mayLeaveRecord(third))
        #expect(queue.flushFinished(at: 10) == Actions())
        // Whoever is rolled back now has seen what is not durable.
        #expect(!queue.areRecordsDurable)
        #expect(queue.finish(third, .nothing, at: 11) == Actions(flush: .ioThread))
        #expect(queue.isSealing)
        _ = queue.sealFinished(at: 12)
        #expect(queue.takeAllPrepared() == 3)
    }

    @Test("Whoever asks while records are being flushed has the pages made behind that")
    func askedBesideRecords() {
        var (queue, second) = recording()
        #expect(queue.askForPages(at: 8) == Actions())
        #expect(!queue.mayLeaveRecord(second))
        _ = queue.finish(second, .joined, at: 9)
        #expect(queue.flushFinished(at: 10) == Actions(flush: .ioThread))
        #expect(queue.isSealing)
    }
}

extension WriteQueue {
    /// Takes everything that is prepared for a flush.
    fileprivate mutating func takeAllPrepared() -> Int {
        let count = preparedCount
        takeForFlush(count)
        return count
    }
}
