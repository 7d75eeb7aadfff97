import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// What becomes of a turn whose actor is gone.
@Suite("A turn does not outlive the actor that waits for it or has it", .timeLimit(.minutes(60)))
struct AbandonedTurnTests {
    let file = TestFile()

    /// An actor that asks for turns and goes away.
    actor Asker {
        var realm: Realm!
        var transaction: Realm.AsyncTransaction?

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        /// Observes, and returns when the observer was told what there is: its token holds the realm from then on.
        func observe(holding held: (any Sendable)? = nil) async -> NotificationToken {
            let told = Counter()
            let token = realm.objects(Tally.self)
                .observe { [held] _ in
                    told.increment()
                    withExtendedLifetime(held) {}
                }
            while told.value == 0 { await Task.yield() }
            return token
        }

        func ask(commits: Bool) {
            if commits {
                realm.writeAsync { Issue.record("There is no actor that could run this.") }
            } else {
                realm.beginAsyncWrite { Issue.record("There is no actor that could run this.") }
            }
        }

        /// Writes without blocking a thread, in a realm that was open before: neither an opening nor a thread that presses
        /// sees to the turn.
        func writeSuspending(_ name: String = "next") async throws -> [String] {
            try await realm.asyncWrite(timeout: .seconds(1_800)) {
                _ = realm.create(Tally.self, value: ["name": name, "count": 1])
            }
            return realm.objects(Tally.self).map(\.name)
        }

        func begin() async throws {
            transaction = try await realm.beginAsyncWrite()
            realm.create(Tally.self, value: ["name": "never", "count": 1])
        }
    }

    /// Writes, or gives up: a turn that never ends is what these tests are about.
    private func write() throws -> [String] {
        try withNewRealm(file.configuration) { realm in
            try realm.write(timeout: .seconds(1_800)) {
                _ = realm.create(Tally.self, value: ["name": "later", "count": 1])
            }
            return realm.objects(Tally.self).map(\.name)
        }
    }

    @Test(
        "an actor that goes away while its callback write waits gives the turn to the next",
        arguments: [true, false]
    )
    func waiting(commits: Bool) async throws {
        let blocker = try await Asker(file.configuration)
        try await blocker.begin()
        weak var gone: Asker?
        try await {
            let asker = try await Asker(file.configuration)
            await asker.ask(commits: commits)
            gone = asker
        }()
        #expect(await eventually { gone == nil })
        await blocker.cancel()
        #expect(try await blocker.writeSuspending() == ["next"])
        #expect(try write() == ["next", "later"])
    }

    @Test("a realm in memory that was closed before its callback write had its turn ends when the actor is gone")
    func closedWhileWaiting() async throws {
        weak var gone: Asker?
        let (copy, coordinator, turn) = try await {
            let asker = try await Asker(memory)
            gone = asker
            let (copy, coordinator) = await asker.copied()
            let turn = try coordinator.writes.acquireBlocking(for: .none)
            await asker.ask(commits: true)
            await asker.close()
            return (copy, coordinator, turn)
        }()
        #expect(await eventually { gone == nil })
        #expect(!coordinator.isEnded)
        coordinator.writes.finish(turn)
        await expectEnd(of: coordinator)
        withExtendedLifetime(copy) {}
    }

    @Test(
        "a realm in memory that was closed behind its callback write ends when the actor goes before the commit is there"
    )
    func closedWhileCommitting() async throws {
        weak var gone: Asker?
        let gate = DispatchSemaphore(value: 0)
        let (copy, coordinator) = try await {
            let asker = try await Asker(memory)
            gone = asker
            let (copy, coordinator) = await asker.copied()
            await asker.write(before: gate)
            await asker.close()
            return (copy, coordinator)
        }()
        #expect(await eventually { gone == nil })
        #expect(!coordinator.isEnded)
        gate.signal()
        await expectEnd(of: coordinator)
        withExtendedLifetime(copy) {}
    }

    /// A run loop that may forget what it was given.
    private final class ForgetfulLoop: RealmScheduler {
        private let work = Mutex<[@Sendable () -> Void]>([])
        private let given = DispatchSemaphore(value: 0)
        private let thread = pthread_self()

        func invoke(_ work: @escaping @Sendable () -> Void) {
            self.work.withLock { $0.append(work) }
            given.signal()
        }

        var isOnThread: Bool { pthread_self() == thread }

        /// Waits for work, and does it or forgets it; false where none comes.
        func next(isDone: Bool) -> Bool {
            guard given.wait(timeout: .now() + 1_800) == .success else { return false }
            let next = work.withLock { $0.removeFirst() }
            if isDone { next() }
            return true
        }
    }

    @Test("a callback write that a scheduler lets go of gives its turn to the next, and is counted out there")
    func forgotten() throws {
        let loop = ForgetfulLoop()
        let realm = try Realm(configuration: memory, scheduler: loop)
        let coordinator = realm.core.coordinator
        realm.writeAsync { Issue.record("The loop has forgotten it.") }
        #expect(loop.next(isDone: false))
        #expect(realm.isPerformingAsynchronousWriteOperations)
        realm.close()
        let turn = try coordinator.writes.acquireBlocking(for: .none)
        coordinator.writes.finish(turn)
        #expect(!coordinator.isEnded)
        #expect(loop.next(isDone: true))
        #expect(coordinator.isEnded)
    }

    private let memory = Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Tally.self])

    /// A frozen copy holds the file: only the closing of the realm ends its life.
    private func expectEnd(of coordinator: RealmCoordinator) async {
        #expect(await eventually { coordinator.isEnded })
    }

    @Test("an actor that goes away with an open transaction, while one of its tokens lives, rolls it back")
    func open() async throws {
        let other = try await Asker(file.configuration)
        weak var gone: Asker?
        let token = try await {
            let asker = try await Asker(file.configuration)
            let token = await asker.observe()
            try await asker.begin()
            gone = asker
            return token
        }()
        #expect(await eventually { gone == nil })
        #expect(try await other.writeSuspending() == ["next"])
        #expect(try write() == ["next", "later"])
        token.invalidate()
    }

    @Test("the realm of an actor that is gone holds no version, though a token of it lives")
    func versionOfOrphan() async throws {
        let other = try await Asker(file.configuration)
        weak var gone: Asker?
        let token = try await {
            let asker = try await Asker(file.configuration)
            gone = asker
            return await asker.observe()
        }()
        #expect(await eventually { gone == nil })
        // Whoever tells it of the next version finds that there is nobody.
        #expect(try await other.writeSuspending() == ["next"])
        #expect(try await other.writeSuspending("last") == ["next", "last"])
        #expect(await eventually { await other.pinnedVersionCount == 1 })
        token.invalidate()
    }

    /// Writes when it ends.
    private final class Writing: Sendable {
        let configuration: Realm.Configuration
        let didWrite: Counter

        init(_ configuration: Realm.Configuration, _ didWrite: Counter) {
            self.configuration = configuration
            self.didWrite = didWrite
        }

        deinit {
            try? withNewRealm(configuration) { realm in
                try realm.write { _ = realm.create(Tally.self, value: ["name": "end"]) }
                didWrite.increment()
            }
        }
    }

    @Test("what only the block of such a realm held ends where it may write")
    func lastOfBlock() async throws {
        let other = try await Asker(file.configuration)
        let didWrite = Counter()
        weak var gone: Asker?
        let token = try await {
            let asker = try await Asker(file.configuration)
            gone = asker
            return await asker.observe(holding: Writing(file.configuration, didWrite))
        }()
        #expect(await eventually { gone == nil })
        #expect(try await other.writeSuspending() == ["next"])
        #expect(await eventually { didWrite.value == 1 })
        #expect(try write() == ["next", "end", "later"])
        token.invalidate()
    }

    @Test("a commit that is lost when its actor is gone is one line of the log")
    func lostWithActor() async throws {
        let (control, log) = (FailingDevice.Switch(), Journal<String>())
        var configuration = file.configuration
        configuration.makeDevice = { FailingDevice($0, control) }
        configuration.logger = Logger(level: .error) { _, message in
            if message.contains("An asynchronous write failed, and no block") { log.add(message) }
        }
        weak var gone: Asker?
        let gate = DispatchSemaphore(value: 0)
        try await {
            let asker = try await Asker(configuration)
            gone = asker
            await asker.write(before: gate)
        }()
        #expect(await eventually { gone == nil })
        control.isOn.withLock { $0 = true }
        gate.signal()
        #expect(await eventually { !log.entries.isEmpty })
        try await Task.sleep(for: .milliseconds(20))
        #expect(log.entries.count == 1, "\(log.entries)")
    }
}

extension AbandonedTurnTests.Asker {
    func copied() -> (Frozen<Realm>, RealmCoordinator) { (realm.frozen, realm.core.coordinator) }

    func close() { realm.close() }

    var pinnedVersionCount: Int { realm.core.coordinator.file.pinnedVersionCount }

    /// Writes, and has what brings commits to the file wait.
    func write(before gate: DispatchSemaphore) async {
        let realm = realm!
        await withCheckedContinuation { begun in
            realm.writeAsync {
                realm.core.coordinator.io.thread.perform { gate.wait() }
                realm.create(Tally.self, value: ["name": "late", "count": 1])
                begun.resume()
            }
        }
    }

    func cancel() {
        transaction?.cancel()
        transaction = nil
    }
}
