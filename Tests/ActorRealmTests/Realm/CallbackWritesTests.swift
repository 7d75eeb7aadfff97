import Foundation
import Testing

@testable import ActorRealm

/// The count of a realm's asynchronous writes.
@Suite("The asynchronous writes of a realm", .timeLimit(.minutes(60)))
struct CallbackWritesTests {
    /// As while the isolated `deinit` of an actor closes its realm, whose writes wait for turns that come just then.
    @Test("A realm is closed once behind its last write, wherever that is counted out")
    func countedOutElsewhere() {
        for round in 0..<20_000 {
            nonisolated(unsafe) let writes = CallbackWrites()
            let ids = (0..<6).map { _ in writes.begin() }
            let closed = Counter()
            DispatchQueue.concurrentPerform(iterations: 2) { side in
                if side == 0 {
                    for id in ids { writes.end(id) }
                } else {
                    writes.cancel(ids[3])
                    if !writes.whenDone({ closed.increment() }) { closed.increment() }
                }
            }
            guard closed.value == 1, writes.count == 0 else {
                Issue.record("round \(round): closed \(closed.value) times, \(writes.count) writes left")
                return
            }
        }
    }
}
