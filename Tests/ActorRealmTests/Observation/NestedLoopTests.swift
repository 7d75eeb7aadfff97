import Foundation
import Synchronization
import Testing

@testable import ActorRealm

@Suite("A block that runs its scheduler's loop", .timeLimit(.minutes(60)))
struct NestedLoopTests {
    let file = ObservedFile()

    /// A run loop that its thread runs step by step.
    private final class ManualLoop: RealmScheduler {
        private let work = Mutex<[@Sendable () -> Void]>([])
        private let arrivals = DispatchSemaphore(value: 0)
        private let thread = pthread_self()

        func invoke(_ block: @escaping @Sendable () -> Void) {
            work.withLock { $0.append(block) }
            arrivals.signal()
        }

        var isOnThread: Bool { pthread_equal(thread, pthread_self()) != 0 }

        /// Does what there is until a condition holds; false when nothing comes any more, as far as a busy machine lets one tell.
        func run(until condition: () -> Bool) -> Bool {
            while !condition() {
                guard arrivals.wait(timeout: .now() + 1_800) == .success else { return false }
                work.withLock { $0.removeFirst() }()
            }
            return true
        }
    }

    @Test("is told afterwards of what came in there, which could not be told to it meanwhile")
    func nested() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread { [self] in continuation.resume(with: Result { try nestedHere() }) }
        }
    }

    private func nestedHere() throws {
        let loop = ManualLoop()
        let realm = try Realm(configuration: file.configuration, scheduler: loop)
        // Only deliveries move the realm.
        realm.core.coordinator.observations.attach {}
        let queue = DispatchQueue(label: "other writer")
        let configuration = file.configuration
        let log = BlockLog()
        log.observe(realm, "a") { realm in
            if !log.isTime() { return }
            let version = queue.sync {
                let other = try! Realm(configuration: configuration, queue: queue)
                try! other.write { BlockLog.add(other, 2) }
                return other.version
            }
            #expect(loop.run { realm.version >= version })
            #expect(log.entries == ["a didChange 1"], "no block is called in itself")
        }
        log.observe(realm, "b")
        try realm.write { BlockLog.add(realm, 1) }
        #expect(log.take() == ["a didChange 1", "b didChange 2"])
        #expect(loop.run { !log.entries.isEmpty })
        #expect(log.entries == ["a didChange 2"])
    }
}
