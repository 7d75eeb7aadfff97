import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("The write queue decides who writes next")
struct WriteQueueTests {
    /// The queue by reference, so that expectations can call its mutating functions.
    final class Queue {
        typealias Actions = WriteQueue<Int>.Actions
        typealias Ticket = WriteQueue<Int>.Ticket
        typealias Kind = WriteQueue<Int>.Kind

        private var queue: WriteQueue<Int>

        init(holdLimit: UInt64 = 1_000, lingerStep: UInt64 = 10, keepStep: UInt64 = 100) {
            queue = WriteQueue(holdLimit: holdLimit, lingerStep: lingerStep, keepStep: keepStep)
        }
        var isAlone: Bool {
            get { queue.isAlone }
            set { queue.isAlone = newValue }
        }
        func keepEnded(at now: UInt64) -> Actions { queue.keepEnded(at: now) }
        func keepRefused() -> Actions { queue.keepRefused() }
        func endKeeping() -> Actions { queue.endKeeping() }
        func letGoOfKept() -> Actions { queue.letGoOfKept() }
        var isContended: Bool {
            get { queue.isContended }
            set { queue.isContended = newValue }
        }
        func lingerEnded(at now: UInt64) -> Actions { queue.lingerEnded(at: now) }
        var isIdle: Bool { queue.isIdle }
        var holdsLock: Bool { queue.holdsLock }
        var chosen: Ticket? { queue.chosen?.ticket }
        var isPoolExhausted: Bool {
            get { queue.isPoolExhausted }
            set { queue.isPoolExhausted = newValue }
        }
        func enqueue(
            _ kind: Kind,
            isolation: Int,
            isOnPool: Bool = false,
            at now: UInt64
        ) -> (ticket: Ticket, actions: Actions) {
            queue.enqueue(kind, isolation: isolation, isOnPool: isOnPool, at: now)
        }
        func start(_ ticket: Ticket) -> Bool { queue.start(ticket) }
        func cancel(_ ticket: Ticket) -> Bool { queue.cancel(ticket) }
        var isSealing: Bool { queue.isSealing }
        func mayJoin(_ ticket: Ticket) -> Bool { queue.mayJoin(ticket) }
        func finish(_ ticket: Ticket, _ ending: WriteQueue<Int>.Ending, at now: UInt64) -> Actions {
            queue.finish(ticket, ending, at: now)
        }
        func joinedSealed(at now: UInt64) -> Actions { queue.joinedSealed(at: now) }
        func sealFinished(at now: UInt64) -> Actions { queue.sealFinished(at: now) }
        func takeForFlush() -> Int { queue.takeAllForFlush() }
        func drop(prepared: Int, joined: Int) { queue.drop(prepared: prepared, joined: joined) }
        func flushFinished(at now: UInt64) -> Actions { queue.flushFinished(at: now) }
        func lockAcquired(at now: UInt64) -> Actions { queue.lockAcquired(at: now) }
        func lockBusy() -> Actions { queue.lockBusy() }
        func lockFailed(at now: UInt64) -> Actions { queue.lockFailed(at: now) }
        func pressForTurn(_ ticket: Ticket, insteadOf chosen: Ticket) -> Actions {
            queue.pressForTurn(ticket, insteadOf: chosen)
        }
    }

    /// A queue whose lock is free, and a writer that has its turn.
    private func queueWithRunningWriter() -> (Queue, Queue.Ticket) {
        let queue = Queue(holdLimit: 100)
        let (ticket, actions) = queue.enqueue(.asynchronous, isolation: 1, at: 0)
        #expect(actions == Queue.Actions(lock: .acquire))
        #expect(queue.lockAcquired(at: 0) == Queue.Actions(grant: ticket))
        #expect(queue.start(ticket))
        return (queue, ticket)
    }

    @Test("A lone writer takes the lock, writes, flushes, and gives the lock back")
    func loneWriter() {
        let (queue, ticket) = queueWithRunningWriter()
        #expect(queue.finish(ticket, .prepared, at: 1) == Queue.Actions(flush: .ioThread))
        #expect(queue.takeForFlush() == 1)
        #expect(queue.flushFinished(at: 2) == Queue.Actions(lock: .release))
        #expect(queue.isIdle)
    }

    @Test("What joins during a flush is sealed when it ends, and a chosen writer waits for that")
    func joining() {
        let (queue, first) = queueWithRunningWriter()
        let (second, _) = queue.enqueue(.asynchronous, isolation: 2, at: 0)
        let (third, _) = queue.enqueue(.asynchronous, isolation: 3, at: 0)
        #expect(!queue.mayJoin(first), "nothing is on its way to the device")
        #expect(queue.finish(first, .prepared, at: 1) == Queue.Actions(grant: second, flush: .ioThread))
        #expect(queue.takeForFlush() == 1)
        #expect(queue.start(second))
        #expect(queue.mayJoin(second))
        #expect(queue.finish(second, .joined, at: 2) == Queue.Actions(grant: third))
        #expect(queue.flushFinished(at: 3) == Queue.Actions(flush: .ioThread))
        #expect(queue.isSealing)
        #expect(!queue.start(third), "it is being sealed")
        #expect(queue.sealFinished(at: 4) == Queue.Actions(grant: third))
        #expect(queue.takeForFlush() == 1)
        #expect(queue.start(third))
        #expect(queue.flushFinished(at: 5) == Queue.Actions())
        #expect(queue.finish(third, .nothing, at: 6) == Queue.Actions(lock: .release))
        #expect(queue.isIdle)
    }

    @Test("While a writer is at work nothing is sealed: that comes when it ends")
    func joinedWaitForTheRunningWriter() {
        let (queue, first) = queueWithRunningWriter()
        let (second, _) = queue.enqueue(.asynchronous, isolation: 2, at: 0)
        let (third, _) = queue.enqueue(.asynchronous, isolation: 3, at: 0)
        #expect(queue.finish(first, .prepared, at: 1).flush == .ioThread)
        #expect(queue.takeForFlush() == 1)
        #expect(queue.start(second))
        #expect(queue.finish(second, .joined, at: 2).grant == third)
        #expect(queue.start(third))
        #expect(queue.flushFinished(at: 3) == Queue.Actions())
        #expect(queue.finish(third, .nothing, at: 4) == Queue.Actions(flush: .ioThread))
        #expect(queue.isSealing)
        #expect(queue.sealFinished(at: 5) == Queue.Actions())
        #expect(queue.takeForFlush() == 1)
        #expect(queue.flushFinished(at: 6) == Queue.Actions(lock: .release))
    }

    @Test("A writer that does not join seals what did")
    func sealingBeforeOneOfItsOwn() {
        let (queue, first) = queueWithRunningWriter()
        let (second, _) = queue.enqueue(.asynchronous, isolation: 2, at: 0)
        let (third, _) = queue.enqueue(.synchronous, isolation: 3, at: 0)
        #expect(queue.finish(first, .prepared, at: 1).flush == .ioThread)
        #expect(queue.takeForFlush() == 1)
        #expect(queue.start(second))
        #expect(queue.finish(second, .joined, at: 2).grant == third)
        #expect(queue.flushFinished(at: 3) == Queue.Actions())
        #expect(queue.joinedSealed(at: 4) == Queue.Actions(flush: .ioThread))
        #expect(queue.takeForFlush() == 1)
        #expect(queue.finish(third, .prepared, at: 5).flush == nil, "a flush is on the way")
        #expect(queue.flushFinished(at: 6) == Queue.Actions(flush: .ioThread))
        #expect(queue.takeForFlush() == 1)
        #expect(queue.flushFinished(at: 7) == Queue.Actions(lock: .release))
    }

    @Test("A lone writer that rolls back gives the lock back at once")
    func rollback() {
        let (queue, ticket) = queueWithRunningWriter()
        #expect(queue.finish(ticket, .nothing, at: 1) == Queue.Actions(lock: .release))
        #expect(queue.isIdle)
    }

    @Test(
        "A synchronous writer that waits for its commit flushes it when nobody is flushing, and one that goes on does not"
    )
    func synchronousFlush() {
        let endings: [(WriteQueue<Int>.Ending, WriteQueue<Int>.FlushPlace)] = [
            (.preparedBlocking, .caller), (.prepared, .ioThread),
        ]
        for (ending, place) in endings {
            let queue = Queue()
            let (ticket, _) = queue.enqueue(.synchronous, isolation: 1, at: 0)
            #expect(queue.lockAcquired(at: 0).grant == ticket)
            #expect(queue.finish(ticket, ending, at: 1) == Queue.Actions(flush: place))
        }
    }

    @Test("An asynchronous writer that waits for its commit, blocking, does not flush it itself")
    func blockingFlush() {
        let (queue, ticket) = queueWithRunningWriter()
        #expect(queue.finish(ticket, .preparedBlocking, at: 1) == Queue.Actions(flush: .ioThread))
    }

    @Test("A writer whose commit is brief brings it to the file itself, unless another one is on the way")
    func briefCommit() {
        let (queue, first) = queueWithRunningWriter()
        let second = queue.enqueue(.asynchronous, isolation: 2, at: 0).ticket
        #expect(queue.finish(first, .preparedBrief, at: 1) == Queue.Actions(grant: second, flush: .caller))
        #expect(queue.start(second))
        #expect(queue.takeForFlush() == 1)
        #expect(queue.finish(second, .preparedBrief, at: 2).flush == nil, "the first is on the way")
        #expect(queue.flushFinished(at: 3).flush == .ioThread)
    }

    @Test("Writers get their turns in the order in which they came, whatever their kind")
    func order() {
        let (queue, first) = queueWithRunningWriter()
        let second = queue.enqueue(.asynchronous, isolation: 2, at: 0).ticket
        let third = queue.enqueue(.synchronous, isolation: 3, at: 0).ticket
        let fourth = queue.enqueue(.asynchronous, isolation: 4, at: 0).ticket
        #expect(queue.finish(first, .nothing, at: 1).grant == second)
        #expect(queue.start(second))
        #expect(queue.finish(second, .nothing, at: 1).grant == third)
        #expect(queue.finish(third, .nothing, at: 1).grant == fourth)
    }

    @Test("The next writer starts as soon as a commit is prepared, while it is being flushed")
    func pipelining() {
        let (queue, first) = queueWithRunningWriter()
        let second = queue.enqueue(.asynchronous, isolation: 2, at: 0).ticket
        let third = queue.enqueue(.asynchronous, isolation: 2, at: 0).ticket
        #expect(queue.finish(first, .prepared, at: 1) == Queue.Actions(grant: second, flush: .ioThread))
        #expect(queue.takeForFlush() == 1)
        #expect(queue.start(second))
        #expect(queue.finish(second, .prepared, at: 2) == Queue.Actions(grant: third))
        #expect(queue.start(third))
        #expect(queue.finish(third, .prepared, at: 3) == Queue.Actions())
        #expect(queue.flushFinished(at: 4) == Queue.Actions(flush: .ioThread))
        #expect(queue.takeForFlush() == 2)
        #expect(queue.flushFinished(at: 5) == Queue.Actions(lock: .release))
    }

    @Test("Commits that are lost are flushed by nobody, and those beside them are")
    func lostCommits() {
        let (queue, first) = queueWithRunningWriter()
        let second = queue.enqueue(.asynchronous, isolation: 2, at: 0).ticket
        let third = queue.enqueue(.asynchronous, isolation: 3, at: 0).ticket
        #expect(queue.finish(first, .prepared, at: 1) == Queue.Actions(grant: second, flush: .ioThread))
        #expect(queue.takeForFlush() == 1)
        #expect(queue.start(second))
        #expect(queue.finish(second, .prepared, at: 2) == Queue.Actions(grant: third))
        #expect(queue.start(third))
        #expect(queue.finish(third, .joined, at: 3) == Queue.Actions())
        queue.drop(prepared: 1, joined: 0)
        #expect(queue.flushFinished(at: 4) == Queue.Actions(flush: .ioThread), "what joined is left")
        #expect(queue.isSealing)
        queue.drop(prepared: 0, joined: 1)
        #expect(queue.sealFinished(at: 5) == Queue.Actions())
        #expect(queue.takeForFlush() == 0)
        #expect(queue.flushFinished(at: 6) == Queue.Actions(lock: .release))
        #expect(queue.isIdle)
    }

    @Test("The lock is given up for other processes when it has been held long enough")
    func fairness() {
        let (queue, first) = queueWithRunningWriter()
        let second = queue.enqueue(.asynchronous, isolation: 2, at: 0).ticket
        let third = queue.enqueue(.asynchronous, isolation: 3, at: 0).ticket
        queue.isContended = true
        let actions = queue.finish(first, .prepared, at: 150)
        #expect(actions == Queue.Actions(grant: second, flush: .ioThread), "the first write was paid for all")
        #expect(queue.start(second))
        #expect(queue.takeForFlush() == 1)
        #expect(queue.flushFinished(at: 160) == Queue.Actions())
        #expect(queue.finish(second, .prepared, at: 250) == Queue.Actions(flush: .ioThread), "the slice is over")
        #expect(queue.takeForFlush() == 1)
        #expect(queue.flushFinished(at: 260) == Queue.Actions(lock: .yield))
        #expect(!queue.holdsLock)
        #expect(queue.lockAcquired(at: 270).grant == third)
    }

    /// A queue whose writer came shortly after another one, while other processes wait.
    private func queueInBurst() -> (Queue, Queue.Ticket) {
        let (queue, first) = queueWithRunningWriter()
        queue.isContended = true
        #expect(queue.finish(first, .nothing, at: 0) == Queue.Actions(lock: .release), "one writer is no loop")
        let (second, _) = queue.enqueue(.synchronous, isolation: 1, at: 0)
        #expect(queue.lockAcquired(at: 0).grant == second)
        return (queue, second)
    }

    @Test("A program that writes now and then does not keep the lock from others")
    func noLingeringWithoutBurst() {
        let (queue, first) = queueInBurst()
        #expect(queue.finish(first, .nothing, at: 1).lock == .linger)
        #expect(queue.lingerEnded(at: 11).lock == .release)
        let (second, _) = queue.enqueue(.synchronous, isolation: 1, at: 12)
        #expect(queue.lockAcquired(at: 12).grant == second)
        #expect(queue.finish(second, .nothing, at: 13) == Queue.Actions(lock: .release), "the pause was too long")
    }

    @Test("While other processes wait, the lock is kept for a pause between two writers")
    func lingering() {
        let (queue, first) = queueInBurst()
        #expect(queue.finish(first, .nothing, at: 1) == Queue.Actions(lock: .linger))
        #expect(queue.isIdle && queue.holdsLock)
        let (second, actions) = queue.enqueue(.synchronous, isolation: 2, at: 5)
        #expect(actions == Queue.Actions(grant: second), "nothing has to be asked of the kernel")
        #expect(queue.lingerEnded(at: 11) == Queue.Actions(lock: .linger), "what follows the writer is not known yet")
        #expect(queue.finish(second, .nothing, at: 12) == Queue.Actions(), "its end is on the way")
        #expect(queue.lingerEnded(at: 21) == Queue.Actions(lock: .linger), "a short pause so far")
        #expect(queue.lingerEnded(at: 22) == Queue.Actions(lock: .release))
        #expect(!queue.holdsLock)
    }

    @Test("Pauses do not keep the lock from other processes for longer than a slice")
    func slices() {
        let (queue, first) = queueInBurst()
        #expect(queue.finish(first, .nothing, at: 1).lock == .linger)
        let second = queue.enqueue(.synchronous, isolation: 2, at: 2).ticket
        #expect(queue.lingerEnded(at: 101) == Queue.Actions(), "the writer's end gives the lock back")
        #expect(queue.finish(second, .nothing, at: 102) == Queue.Actions(lock: .release))
        let third = queue.enqueue(.synchronous, isolation: 2, at: 110)
        #expect(third.actions == Queue.Actions(lock: .acquire))
        #expect(queue.lockAcquired(at: 111).grant == third.ticket)
        #expect(queue.finish(third.ticket, .nothing, at: 120).lock == .linger)
        let fourth = queue.enqueue(.synchronous, isolation: 2, at: 220)
        #expect(fourth.actions == Queue.Actions(lock: .yield), "the slice is over")
        #expect(queue.lingerEnded(at: 221) == Queue.Actions(), "and the lock somebody else's")
        #expect(queue.lockAcquired(at: 230).grant == fourth.ticket)
        queue.isContended = false
        #expect(queue.finish(fourth.ticket, .nothing, at: 231).lock == .release, "nobody waits for it")
    }

    /// A queue of a process that has the file alone, whose second writer came shortly after the first, and is done.
    private func queueThatKeeps() -> Queue {
        let (queue, first) = queueWithRunningWriter()
        queue.isAlone = true
        #expect(queue.finish(first, .nothing, at: 0) == Queue.Actions(lock: .release), "one writer is no loop")
        let (second, _) = queue.enqueue(.synchronous, isolation: 1, at: 1)
        #expect(queue.lockAcquired(at: 1).grant == second)
        #expect(queue.finish(second, .nothing, at: 2) == Queue.Actions(lock: .keep))
        #expect(queue.isIdle && queue.holdsLock)
        return queue
    }

    @Test("A process that has the file alone keeps the lock between writes that follow each other")
    func keeping() {
        let queue = queueThatKeeps()
        for round in 0..<5 {
            let now = UInt64(round * 10)
            let (writer, actions) = queue.enqueue(.synchronous, isolation: 1, at: now + 3)
            #expect(actions == Queue.Actions(grant: writer), "nothing has to be asked of the kernel")
            #expect(queue.finish(writer, .nothing, at: now + 4) == Queue.Actions(), "its end is on the way")
        }
        #expect(queue.keepEnded(at: 102) == Queue.Actions(lock: .keep), "somebody has written meanwhile")
        let (last, _) = queue.enqueue(.synchronous, isolation: 1, at: 103)
        #expect(queue.keepEnded(at: 202) == Queue.Actions(), "what follows the writer is not known yet")
        #expect(queue.finish(last, .nothing, at: 203) == Queue.Actions(lock: .release), "the pause was too long")
    }

    @Test("A lock that is kept is given back where the last realm is closed, and kept again behind later writes")
    func keptLockIsLeft() {
        let queue = queueThatKeeps()
        #expect(queue.letGoOfKept() == Queue.Actions(lock: .release) && !queue.holdsLock)
        #expect(queue.letGoOfKept() == Queue.Actions())
        let (writer, actions) = queue.enqueue(.synchronous, isolation: 1, at: 5)
        #expect(actions == Queue.Actions(lock: .acquire))
        #expect(queue.letGoOfKept() == Queue.Actions(), "it is being taken")
        #expect(queue.lockAcquired(at: 5).grant == writer)
        #expect(queue.letGoOfKept() == Queue.Actions(), "somebody writes")
        #expect(queue.finish(writer, .nothing, at: 6) == Queue.Actions(), "its end is on the way")
        #expect(queue.holdsLock)
    }

    @Test("A lock that is kept is given back when nobody writes, when another process comes, and at the close")
    func keptLock() {
        let idle = queueThatKeeps()
        #expect(idle.keepEnded(at: 102) == Queue.Actions(lock: .release))
        #expect(idle.keepEnded(at: 103) == Queue.Actions() && !idle.holdsLock)
        let shared = queueThatKeeps()
        shared.isAlone = false
        #expect(shared.keepEnded(at: 50) == Queue.Actions(lock: .release))
        let contended = queueThatKeeps()
        contended.isContended = true
        #expect(contended.keepEnded(at: 50) == Queue.Actions(lock: .release))
        let closed = queueThatKeeps()
        #expect(closed.endKeeping() == Queue.Actions(lock: .release))
        #expect(closed.endKeeping() == Queue.Actions() && !closed.holdsLock)
        let next = closed.enqueue(.synchronous, isolation: 1, at: 5)
        #expect(next.actions == Queue.Actions(lock: .acquire))
        #expect(closed.endKeeping() == Queue.Actions(), "it is being taken")
        #expect(closed.lockAcquired(at: 6).grant == next.ticket)
        #expect(closed.endKeeping() == Queue.Actions(), "somebody writes")
        #expect(closed.finish(next.ticket, .nothing, at: 7) == Queue.Actions(lock: .release), "none is kept now")
    }

    @Test("Where nobody will look whether the lock is kept too long, it is given back, each time")
    func refusedKeeping() {
        let queue = queueThatKeeps()
        #expect(queue.keepRefused() == Queue.Actions(lock: .release))
        let (writer, _) = queue.enqueue(.synchronous, isolation: 1, at: 3)
        #expect(queue.lockAcquired(at: 3).grant == writer)
        #expect(queue.finish(writer, .nothing, at: 4) == Queue.Actions(lock: .keep), "it is asked for again")
        let (next, _) = queue.enqueue(.synchronous, isolation: 1, at: 5)
        #expect(queue.keepRefused() == Queue.Actions(), "somebody writes")
        #expect(queue.finish(next, .nothing, at: 6) == Queue.Actions(lock: .keep))
    }

    @Test("Where another process comes, the next writer's end gives the lock back, not the end of a time")
    func keptLockOfWriter() {
        let queue = queueThatKeeps()
        let (writer, _) = queue.enqueue(.synchronous, isolation: 1, at: 3)
        queue.isAlone = false
        #expect(queue.finish(writer, .nothing, at: 4) == Queue.Actions(lock: .release))
    }

    @Test("When another process has the lock, the dedicated thread waits for it, once")
    func busyLock() {
        let queue = Queue()
        let first = queue.enqueue(.asynchronous, isolation: 1, at: 0).ticket
        #expect(queue.lockBusy() == Queue.Actions(lock: .wait))
        #expect(queue.enqueue(.synchronous, isolation: 2, at: 1).actions == Queue.Actions())
        #expect(queue.lockAcquired(at: 5).grant == first)
    }

    @Test("A lock that cannot be taken fails the first writer, and the next one tries again")
    func failingLock() {
        let queue = Queue()
        let first = queue.enqueue(.asynchronous, isolation: 1, at: 0).ticket
        let second = queue.enqueue(.asynchronous, isolation: 1, at: 0).ticket
        #expect(queue.lockFailed(at: 1) == Queue.Actions(lock: .acquire, fail: first))
        #expect(queue.lockFailed(at: 1) == Queue.Actions(fail: second))
        #expect(queue.isIdle)
    }

    @Test("A writer that is cancelled while it waits never gets a turn")
    func cancellation() {
        let (queue, first) = queueWithRunningWriter()
        let second = queue.enqueue(.asynchronous, isolation: 2, at: 0).ticket
        let third = queue.enqueue(.asynchronous, isolation: 2, at: 0).ticket
        #expect(queue.cancel(second))
        #expect(!queue.cancel(second))
        #expect(queue.finish(first, .nothing, at: 1).grant == third)
        #expect(!queue.cancel(third), "its turn has come")
    }

    @Test("When all writers are cancelled while the lock is awaited, it is given back at once")
    func cancellationOfAll() {
        let queue = Queue()
        let first = queue.enqueue(.asynchronous, isolation: 1, at: 0).ticket
        _ = queue.lockBusy()
        #expect(queue.cancel(first))
        #expect(queue.lockAcquired(at: 9) == Queue.Actions(lock: .release))
        #expect(queue.isIdle)
    }

    @Test("A synchronous writer passes a chosen one of its own isolation, which could not start before")
    func passingOwnIsolation() {
        let queue = Queue()
        let first = queue.enqueue(.asynchronous, isolation: 1, at: 0).ticket
        #expect(queue.lockAcquired(at: 0).grant == first)
        let (second, actions) = queue.enqueue(.synchronous, isolation: 1, at: 1)
        #expect(actions.grant == second)
        #expect(!queue.start(first), "it has been passed")
        #expect(queue.finish(second, .nothing, at: 2).grant == first, "its place was kept")
        #expect(queue.start(first))
    }

    @Test("A synchronous writer whose isolation was chosen waits for its own place, and those before it go first")
    func ownIsolationWaits() {
        let queue = Queue()
        let first = queue.enqueue(.asynchronous, isolation: 1, at: 0).ticket
        #expect(queue.lockAcquired(at: 0).grant == first)
        let other = queue.enqueue(.asynchronous, isolation: 2, at: 1).ticket
        let (second, actions) = queue.enqueue(.synchronous, isolation: 1, at: 1)
        #expect(actions.grant == other)
        #expect(!queue.start(first), "its thread is blocked")
        #expect(queue.start(other))
        #expect(queue.finish(other, .nothing, at: 2).grant == second)
        #expect(queue.finish(second, .nothing, at: 3).grant == first, "its place was kept")
        #expect(queue.start(first))
    }

    @Test("Waiting asynchronous writers of a blocked isolation let others go first")
    func blockedIsolation() {
        let (queue, first) = queueWithRunningWriter()
        let blocked = queue.enqueue(.asynchronous, isolation: 2, at: 0).ticket
        let other = queue.enqueue(.asynchronous, isolation: 3, at: 0).ticket
        let blocker = queue.enqueue(.synchronous, isolation: 2, at: 0).ticket
        #expect(queue.finish(first, .nothing, at: 1).grant == other)
        #expect(queue.start(other))
        #expect(queue.finish(other, .nothing, at: 1).grant == blocker)
        #expect(queue.finish(blocker, .nothing, at: 1).grant == blocked)
    }

    @Test("While no thread of the pool is left, one that blocks one is chosen before those that need one to start")
    func exhausted() {
        let queue = Queue()
        let suspended = queue.enqueue(.asynchronous, isolation: 1, isOnPool: true, at: 0).ticket
        let elsewhere = queue.enqueue(.asynchronous, isolation: 2, at: 0).ticket
        let outside = queue.enqueue(.synchronous, isolation: 3, at: 0).ticket
        let first = queue.enqueue(.synchronous, isolation: 4, isOnPool: true, at: 0).ticket
        let second = queue.enqueue(.synchronous, isolation: 5, isOnPool: true, at: 0).ticket
        queue.isPoolExhausted = true
        #expect(queue.lockAcquired(at: 0).grant == first)
        // Its thread is free again.
        queue.isPoolExhausted = false
        #expect(queue.finish(first, .nothing, at: 1).grant == suspended)
        #expect(queue.start(suspended))
        queue.isPoolExhausted = true
        // One that starts elsewhere needs none of them.
        #expect(queue.finish(suspended, .nothing, at: 2).grant == elsewhere)
        #expect(queue.start(elsewhere))
        #expect(queue.finish(elsewhere, .nothing, at: 3).grant == outside)
        #expect(queue.finish(outside, .nothing, at: 4).grant == second)
        // Where nobody blocks the pool, the order is kept.
        let last = queue.enqueue(.asynchronous, isolation: 1, isOnPool: true, at: 5).ticket
        #expect(queue.finish(second, .nothing, at: 6).grant == last)
    }

    @Test("A synchronous writer that has waited long passes a chosen one that does not start")
    func pressing() {
        let queue = Queue()
        let first = queue.enqueue(.asynchronous, isolation: 1, at: 0).ticket
        #expect(queue.lockAcquired(at: 0).grant == first)
        let second = queue.enqueue(.synchronous, isolation: 2, at: 1).ticket
        #expect(queue.chosen == first)
        #expect(queue.pressForTurn(second, insteadOf: first).grant == second)
        #expect(!queue.start(first))
        #expect(queue.finish(second, .nothing, at: 2).grant == first)
        #expect(queue.start(first))
        #expect(queue.chosen == nil)
        let third = queue.enqueue(.synchronous, isolation: 2, at: 1).ticket
        #expect(queue.pressForTurn(third, insteadOf: first) == Queue.Actions(), "a writer that runs is not passed")
    }

    @Test("Whatever happens: one turn at a time, nobody is forgotten, and order is kept", arguments: 0..<40)
    func randomHistories(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let queue = Queue(holdLimit: 50)
        var now: UInt64 = 0
        var pending: [(Queue.Ticket, Queue.Kind, Int)] = []
        var granted: Queue.Ticket?
        var running: Queue.Ticket?
        var kinds: [Queue.Ticket: Queue.Kind] = [:]
        var wantsLock = false
        var isTimed = false
        var isKept = false
        var flushing = false
        var sealing = false
        var joined = 0
        var isolations: [Queue.Ticket: Int] = [:]
        var unflushed = 0
        var done = 0
        var came = 0

        func perform(_ actions: Queue.Actions) {
            if let lock = actions.lock {
                #expect((lock == .release || lock == .yield) ? unflushed == 0 && !flushing : true, "seed \(seed)")
                if lock == .linger {
                    #expect(!isTimed && queue.holdsLock, "seed \(seed)")
                    isTimed = true
                } else if lock == .keep {
                    #expect(!isKept && queue.holdsLock && queue.isIdle, "seed \(seed)")
                    if random.next(upTo: 3) == 0 { return perform(queue.keepRefused()) }
                    isKept = true
                } else {
                    wantsLock = lock != .release
                }
            }
            if let ticket = actions.grant {
                #expect(granted == nil && running == nil, "seed \(seed)")
                #expect(pending.contains { $0.0 == ticket }, "seed \(seed)")
                let index = pending.firstIndex { $0.0 == ticket } ?? 0
                for earlier in pending[..<index] {
                    let isBlocked =
                        earlier.1 == .asynchronous
                        && pending.contains { $0.1 == .synchronous && $0.2 == earlier.2 }
                    #expect(isBlocked, "a writer was passed without a reason, seed \(seed)")
                }
                pending.remove(at: index)
                if kinds[ticket] == .synchronous { running = ticket } else { granted = ticket }
            }
            if actions.flush != nil {
                #expect(!flushing, "seed \(seed)")
                flushing = true
                if queue.isSealing {
                    // It takes the turn back from a writer that was chosen and has not started.
                    #expect(running == nil, "seed \(seed)")
                    if let chosen = granted {
                        granted = nil
                        pending.insert((chosen, .asynchronous, isolations[chosen] ?? 0), at: 0)
                    }
                    sealing = true
                } else {
                    unflushed -= queue.takeForFlush()
                }
            }
        }

        func step(arrivals: Bool) {
            now += random.next(upTo: 8)
            queue.isContended = random.next(upTo: 3) > 0
            if isTimed, random.next(upTo: 4) == 0 {
                isTimed = false
                perform(queue.lingerEnded(at: now))
            }
            if random.next(upTo: 16) == 0 { queue.isAlone.toggle() }
            if isKept, random.next(upTo: 4) == 0 {
                isKept = false
                perform(queue.keepEnded(at: now))
            }
            switch random.next(upTo: 8) {
            case 0 where arrivals, 1 where arrivals:
                let kind: Queue.Kind = random.next(upTo: 3) == 0 ? .synchronous : .asynchronous
                let isolation = Int(random.next(upTo: 4))
                let (ticket, actions) = queue.enqueue(kind, isolation: isolation, at: now)
                came += 1
                kinds[ticket] = kind
                isolations[ticket] = isolation
                if kind == .synchronous, let chosen = granted, isolations[chosen] == isolation {
                    // It cannot start any more, and goes back to the front.
                    granted = nil
                    pending.insert((chosen, .asynchronous, isolation), at: 0)
                }
                pending.append((ticket, kind, isolation))
                perform(actions)
            case 2 where wantsLock:
                wantsLock = false
                perform(queue.lockAcquired(at: now))
            case 3:
                if let ticket = granted {
                    #expect(queue.start(ticket), "seed \(seed)")
                    granted = nil
                    running = ticket
                }
            case 4, 5:
                if let ticket = running {
                    var ending = random.next(upTo: 3) > 0 ? WriteQueue<Int>.Ending.prepared : .nothing
                    if ending == .prepared, queue.mayJoin(ticket), random.next(upTo: 4) > 0 { ending = .joined }
                    if ending == .prepared, random.next(upTo: 2) == 0 {
                        ending = random.next(upTo: 2) == 0 ? .preparedBlocking : .preparedBrief
                    }
                    running = nil
                    done += 1
                    if ending != .nothing { unflushed += 1 }
                    joined += ending == .joined ? 1 : 0
                    let actions = queue.finish(ticket, ending, at: now)
                    // Nobody but a synchronous writer that blocks, or one whose commit is brief, would make the flush that its
                    // place asks for.
                    let blocks = ending == .preparedBlocking && kinds[ticket] == .synchronous
                    let mayFlush = blocks || ending == .preparedBrief
                    #expect(actions.flush != .caller || mayFlush, "seed \(seed)")
                    perform(actions)
                }
            case 6 where sealing:
                sealing = false
                perform(queue.sealFinished(at: now))
                unflushed -= queue.takeForFlush()
            case 6 where flushing:
                flushing = false
                perform(queue.flushFinished(at: now))
            case 7:
                let index = Int(random.next(upTo: 10))
                if index < pending.count, pending[index].1 == .asynchronous {
                    #expect(queue.cancel(pending[index].0), "seed \(seed)")
                    pending.remove(at: index)
                    done += 1
                }
            default: break
            }
        }

        for _ in 0..<2_000 { step(arrivals: true) }
        var rest = 0
        while !(queue.isIdle && !queue.holdsLock && !wantsLock) && rest < 100_000 {
            step(arrivals: false)
            rest += 1
        }
        #expect(joined > 0, "seed \(seed)")
        #expect(unflushed == 0, "seed \(seed)")
        #expect(queue.isIdle && done == came, "seed \(seed): \(done) of \(came) writers were served")
    }
}

extension SplitMix64 {
    fileprivate mutating func next(upTo bound: UInt64) -> UInt64 { next() % bound }
}

extension WriteQueue {
    /// The flusher begins with everything that is prepared by now; returns how many commits that are.
    fileprivate mutating func takeAllForFlush() -> Int {
        let count = preparedCount
        takeForFlush(count)
        return count
    }
}
