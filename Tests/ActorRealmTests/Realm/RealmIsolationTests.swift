import Dispatch
import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("Isolations know where they are")
struct RealmIsolationTests {
    actor Somewhere {
        func isCurrent(_ isolation: RealmIsolation) -> Bool { isolation.isCurrent }
        nonisolated var isolation: RealmIsolation { RealmIsolation(self) }
        func collect(_ log: Log, _ number: Int) { log.append(number) }
    }

    final class Log: Sendable {
        private let numbers = LockedArray<Int>()
        func append(_ number: Int) { numbers.append(number) }
        var all: [Int] { numbers.all }
    }

    @Test("An actor's isolation is current on that actor and nowhere else")
    func actors() async {
        let here = Somewhere()
        let there = Somewhere()
        #expect(await here.isCurrent(here.isolation))
        #expect(await !there.isCurrent(here.isolation))
        #expect(!here.isolation.isCurrent)
    }

    @Test("The main actor's isolation is current in main actor code and on the main queue")
    func mainActor() async throws {
        let isolation = RealmIsolation(MainActor.shared)
        #expect(await MainActor.run { isolation.isCurrent })
        #expect(!isolation.isCurrent)
        let onQueue = await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume(returning: isolation.isCurrent) }
        }
        #expect(onQueue)
        #expect(try RealmIsolation(DispatchQueue.main).isSame(as: isolation))
    }

    @Test("A queue's isolation is current on the queue and on queues that target it")
    func queues() throws {
        let queue = DispatchQueue(label: "one")
        let other = DispatchQueue(label: "two")
        let nested = DispatchQueue(label: "three", target: queue)
        let isolation = try RealmIsolation(queue)
        #expect(queue.sync { isolation.isCurrent })
        #expect(nested.sync { isolation.isCurrent })
        #expect(!other.sync { isolation.isCurrent })
        #expect(try RealmIsolation(queue).isSame(as: isolation))
        #expect(try !RealmIsolation(other).isSame(as: isolation))
    }

    @Test("A thread's isolation ends with the task that it was made in, also on the same thread")
    func threads() async {
        let isolation = RealmIsolation.current
        #expect(isolation.isCurrent)
        #expect(await Task.detached { !isolation.isCurrent }.value)
        #expect(await !Somewhere().isCurrent(isolation))
    }

    @Test("What is posted to an actor runs there, in order")
    func order() async {
        let actor = Somewhere()
        let isolation = actor.isolation
        let log = Log()
        for number in 0..<100 {
            isolation.post {
                actor.assumeIsolated { $0.collect(log, number) }
            }
        }
        while log.all.count < 100 { await Task.yield() }
        #expect(log.all == Array(0..<100))
    }

    @Test("An isolation does not keep its actor alive")
    func lifetime() {
        var actor: Somewhere? = Somewhere()
        let isolation = RealmIsolation(actor!)
        #expect(isolation.isAlive)
        actor = nil
        #expect(!isolation.isAlive)
        isolation.post { Issue.record("nobody is left to run this") }
    }
}

/// An array that any thread may append to.
final class LockedArray<Element: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var elements: [Element] = []

    func append(_ element: Element) { lock.withLock { elements.append(element) } }
    var all: [Element] { lock.withLock { elements } }
}
