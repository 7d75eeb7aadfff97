import ActorRealm
import Dispatch
import Foundation
import Testing

/// Isolations that keep each other from running, and have a realm each.
@Suite("Places on one queue", .timeLimit(.minutes(60)))
struct PlacesOnOneQueueTests {
    let file = TestFile()

    final class QueueExecutor: SerialExecutor {
        let queue = DispatchQueue(label: "places")
        private let mark = DispatchSpecificKey<Bool>()

        init() { queue.setSpecific(key: mark, value: true) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }

        func isIsolatingCurrentContext() -> Bool? { DispatchQueue.getSpecific(key: mark) == true }
    }

    actor Guest {
        private let executor: QueueExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        private var realm: Realm!
        private var transaction: Realm.AsyncTransaction?

        init(_ executor: QueueExecutor, _ configuration: Realm.Configuration) async throws {
            self.executor = executor
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func begin() async throws {
            transaction = try await realm.beginAsyncWrite()
            realm.add(Tally(name: "kept"))
        }

        func commit() async throws {
            try await transaction?.commit()
            transaction = nil
        }

        func write(_ name: String) -> Realm.Error.Code? { writing(name, to: realm) }

        func names() -> [String] {
            realm.refresh()
            return realm.objects(Tally.self).map(\.name).sorted()
        }
    }

    @Test("A blocking write of an actor on a queue is refused while the queue's realm has a transaction open")
    func actorBesideQueue() async throws {
        let executor = QueueExecutor()
        let guest = try await Guest(executor, file.fast)
        let realm = try executor.queue.sync {
            let realm = try Realm(configuration: file.fast, queue: executor.queue)
            realm.beginWrite()
            realm.add(Tally(name: "kept"))
            return realm
        }
        #expect(await guest.write("blocked") == .alreadyInWriteTransaction)
        try executor.queue.sync { try realm.commitWrite() }
        #expect(await guest.write("after") == nil)
        #expect(await guest.names() == ["after", "kept"])
    }

    @Test("So is one of a queue that targets it")
    func queueBesideTarget() throws {
        let queue = DispatchQueue(label: "below")
        let above = DispatchQueue(label: "above", target: queue)
        let (held, other) = try (
            queue.sync { try Realm(configuration: file.fast, queue: queue) },
            above.sync { try Realm(configuration: file.fast, queue: above) }
        )
        queue.sync {
            held.beginWrite()
            held.add(Tally(name: "kept"))
        }
        #expect(above.sync { writing("blocked", to: other) } == .alreadyInWriteTransaction)
        // Elsewhere a writer waits.
        #expect(try withNewRealm(file.fast) { writing("late", to: $0, .milliseconds(50)) } == .timedOut)
        try queue.sync { try held.commitWrite() }
        #expect(above.sync { writing("after", to: other) } == nil)
        above.sync { #expect(other.objects(Tally.self).count == 2) }
    }

    @Test("A blocking write on a queue is refused while an actor, whose executor tells that it is the queue's, writes")
    func queueBesideActor() async throws {
        let executor = QueueExecutor()
        let guest = try await Guest(executor, file.fast)
        let realm = try executor.queue.sync { try Realm(configuration: file.fast, queue: executor.queue) }
        try await guest.begin()
        #expect(executor.queue.sync { writing("blocked", to: realm) } == .alreadyInWriteTransaction)
        try await guest.commit()
        #expect(executor.queue.sync { writing("after", to: realm) } == nil)
        #expect(await guest.names() == ["after", "kept"])
    }

    /// Ends the process where it is asked from elsewhere, as executors do that know no better answer.
    final class StrictExecutor: SerialExecutor {
        let queue = DispatchQueue(label: "strict")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }

        func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
    }

    actor Strict {
        private let executor: StrictExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        private var realm: Realm!
        private var transaction: Realm.AsyncTransaction?

        init(_ configuration: Realm.Configuration) async throws {
            executor = StrictExecutor()
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func begin() async throws { transaction = try await realm.beginAsyncWrite() }

        func commit() async throws {
            try await transaction?.commit()
            transaction = nil
        }
    }

    @Test("A writer elsewhere waits for an actor whose executor ends who asks it from there")
    func strictExecutor() async throws {
        let strict = try await Strict(file.fast)
        try await strict.begin()
        #expect(try withNewRealm(file.fast) { writing("late", to: $0, .milliseconds(50)) } == .timedOut)
        try await strict.commit()
        #expect(try withNewRealm(file.fast) { writing("after", to: $0) } == nil)
    }

    @Test("A blocking write on a run loop's thread, or a plain one, is refused while that has a transaction open")
    func threads() async throws {
        let loop = EventLoop()
        let configuration = file.fast
        let onLoop: Realm.Error.Code? = try await withUnsafeThrowingContinuation { continuation in
            loop.invoke {
                continuation.resume(
                    with: Swift.Result<Realm.Error.Code?, any Error> {
                        let realm = try Realm(configuration: configuration, scheduler: loop)
                        realm.beginWrite()
                        defer { realm.cancelWrite() }
                        return try withNewRealm(configuration) { writing("loop", to: $0) }
                    }
                )
            }
        }
        #expect(onLoop == .alreadyInWriteTransaction)
        loop.stop()
        let onThread: Realm.Error.Code? = try await withUnsafeThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Swift.Result<Realm.Error.Code?, any Error> {
                        let realm = try Realm(configuration: configuration)
                        realm.beginWrite()
                        defer { realm.cancelWrite() }
                        return try withNewRealm(configuration) { writing("thread", to: $0) }
                    }
                )
            }
        }
        #expect(onThread == .alreadyInWriteTransaction)
    }

    @Test("Once the transaction has ended, by whatever, nobody is refused")
    func ended() async throws {
        let executor = QueueExecutor()
        let guest = try await Guest(executor, file.fast)
        let realm = try executor.queue.sync { try Realm(configuration: file.fast, queue: executor.queue) }
        struct Failure: Error {}
        let ends: [(Realm) throws -> Void] = [
            { $0.cancelWrite() }, { $0.invalidate() },
            { realm in
                realm.cancelWrite()
                try? realm.write { throw Failure() }
            },
            {
                $0.create(Tally.self, value: ["name": "kept"])
                $0.create(Tally.self, value: ["name": "kept"], update: .modified)
                try $0.commitWrite()
            },
        ]
        for (number, end) in ends.enumerated() {
            try executor.queue.sync {
                realm.beginWrite()
                try end(realm)
            }
            #expect(await guest.write("after \(number)") == nil)
        }
        executor.queue.sync {
            realm.beginWrite()
            realm.close()
        }
        #expect(await guest.write("closed") == nil)
        #expect(await guest.names().count == 6)
    }

    @Test("An opening that has to change the schema is refused where it would wait for itself")
    func opening() throws {
        let queue = DispatchQueue(label: "below")
        let above = DispatchQueue(label: "above", target: queue)
        let held = try queue.sync { try Realm(configuration: file.fast, queue: queue) }
        var other = file.fast
        other.objectTypes = [Todo.self, Tally.self, Chore.self]
        queue.sync { held.beginWrite() }
        let configuration = other
        let error = #expect(throws: Realm.Error.self) {
            try above.sync { _ = try Realm(configuration: configuration, queue: above) }
        }
        #expect(error?.code == .alreadyInWriteTransaction)
        queue.sync { held.cancelWrite() }
        try above.sync { _ = try Realm(configuration: configuration, queue: above) }
    }

    @Test("On a queue that targets another one with a realm, a helper gets the realm of the queue that it runs on")
    func helperOnTargetingQueue() throws {
        // Which one was found depended on where the queues lie.
        for _ in 0..<16 {
            let file = TestFile()
            let configuration = file.fast
            let below = DispatchQueue(label: "below")
            let above = DispatchQueue(label: "above", target: below)
            let lower = try below.sync { try Realm(configuration: configuration, queue: below) }
            let (isOwn, isWriting) = try above.sync {
                let upper = try Realm(configuration: configuration, queue: above)
                let isOwn = try openedByHelper(configuration) === upper
                let isWriting = try upper.write { try openedByHelper(configuration).isInWriteTransaction }
                return (isOwn, isWriting)
            }
            #expect(isOwn)
            #expect(isWriting)
            let isLower = try below.sync { try openedByHelper(configuration) === lower }
            #expect(isLower)
            withExtendedLifetime(file) {}
        }
    }

    @Test("So it does where that queue targets the main one, whose realm stays the main actor's")
    @MainActor
    func helperOnQueueOverMain() async throws {
        let configuration = file.fast
        let main = try await Realm(configuration: configuration)
        let above = DispatchQueue(label: "above", target: .main)
        let isOwn: Bool = try await withUnsafeThrowingContinuation { continuation in
            above.async { @Sendable in
                continuation.resume(
                    with: Swift.Result<Bool, any Error> {
                        let own = try Realm(configuration: configuration, queue: above)
                        return try openedByHelper(configuration) === own
                    }
                )
            }
        }
        #expect(isOwn)
        #expect(try openedByHelper(configuration) === main)
    }

    /// Used on one queue, or above it.
    private final class Kept: @unchecked Sendable {
        var realm: Realm?
    }

    @Test("So does it on a queue that has no realm any more: it gets that of the next one, and not the main actor's")
    @MainActor
    func helperAboveClosed() async throws {
        let configuration = file.fast
        let middle = DispatchQueue(label: "middle", target: .main)
        let above = DispatchQueue(label: "above", target: middle)
        let kept = Kept()
        let isNext: Bool = try await withUnsafeThrowingContinuation { continuation in
            middle.async { @Sendable in
                kept.realm = try? Realm(configuration: configuration, queue: middle)
                above.async { @Sendable in
                    continuation.resume(
                        with: Swift.Result<Bool, any Error> {
                            try Realm(configuration: configuration, queue: above).close()
                            return try openedByHelper(configuration) === kept.realm
                        }
                    )
                }
            }
        }
        #expect(isNext)
        middle.async { @Sendable in kept.realm = nil }
    }

    @Test("Of two queues with realms below one that has none any more, a helper gets the realm of the nearer one")
    func helperAboveTwo() throws {
        // Which one was found depended on where the queues lie.
        for _ in 0..<16 {
            let file = TestFile()
            let configuration = file.fast
            let below = DispatchQueue(label: "below")
            let middle = DispatchQueue(label: "middle", target: below)
            let above = DispatchQueue(label: "above", target: middle)
            let lower = try below.sync { try Realm(configuration: configuration, queue: below) }
            let next = try middle.sync { try Realm(configuration: configuration, queue: middle) }
            let isNext = try above.sync {
                try Realm(configuration: configuration, queue: above).close()
                return try openedByHelper(configuration) === next
            }
            #expect(isNext)
            withExtendedLifetime((file, lower)) {}
        }
    }

    actor Plain {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        /// Has a helper write that uses a queue of its own.
        func writeInside(_ configuration: Realm.Configuration) throws -> Realm.Error.Code? {
            try realm.write {
                realm.add(Tally(name: "outer"))
                return try withNewRealm(configuration) { writing("inner", to: $0) }
            }
        }

        func names() -> [String] { realm.objects(Tally.self).map(\.name) }
    }

    @Test("A blocking write that an open transaction calls is refused on every queue")
    func queueWithinTransaction() async throws {
        let plain = try await Plain(file.fast)
        #expect(try await plain.writeInside(file.fast) == .alreadyInWriteTransaction)
        #expect(await plain.names() == ["outer"])
    }
}

/// Knows nothing of queues, as a helper in any library does.
private func openedByHelper(_ configuration: Realm.Configuration) throws -> Realm {
    try Realm(configuration: configuration)
}

/// Writes, or gives up; how it went.
private func writing(_ name: String, to realm: Realm, _ timeout: Duration = .seconds(1_800)) -> Realm.Error.Code? {
    do {
        try realm.write(timeout: timeout) { realm.add(Tally(name: name)) }
        return nil
    } catch {
        return (error as? Realm.Error)?.code ?? .fail
    }
}
