import Foundation
import Testing

@testable import ActorRealm

@Suite("Writers of more urgent tasks go first, within bounds", .timeLimit(.minutes(60)))
struct WritePriorityTests {
    let file = TestFile()
    let escalations = Counter()

    actor Store {
        var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func add(_ name: String) async throws {
            try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": name]) }
        }

        var writes: WriteScheduler { realm.core.coordinator.writes }

        /// Has the lock until it is told to let go.
        func hold(until release: AsyncStream<Void>, then started: AsyncStream<Void>.Continuation) async throws {
            let transaction = try await realm.beginAsyncWrite()
            started.finish()
            for await _ in release {}
            transaction.cancel()
        }

        var names: [String] {
            realm.refresh()
            return realm.objects(Tally.self).map(\.name)
        }
    }

    /// Lets writers queue up one after the other behind a transaction; returns the order in which they wrote.
    private func order(_ body: (_ enqueue: (String, TaskPriority) async -> Task<Void, any Error>) async throws -> Void)
        async throws -> [String]
    {
        let stores = [try await Store(file.fast), try await Store(file.fast)]
        let writes = await stores[0].writes
        let (release, releasing) = AsyncStream.makeStream(of: Void.self)
        let (started, starting) = AsyncStream.makeStream(of: Void.self)
        let holder = try await Store(file.fast)
        async let held: Void = holder.hold(until: release, then: starting)
        for await _ in started {}
        var tasks: [Task<Void, any Error>] = []
        try await body { name, priority in
            let before = writes.state.withLock { $0.waiters.count }
            let store = stores[tasks.count % 2]
            let task = Task.detached(priority: priority) {
                // The handler of the wait, within, is called before this one.
                try await withTaskPriorityEscalationHandler {
                    try await store.add(name)
                } onPriorityEscalated: { _, _ in
                    escalations.increment()
                }
            }
            tasks.append(task)
            // It has its place in the line, and is told when it becomes more urgent.
            while writes.state.withLock({ $0.waiters.count }) == before { await Task.yield() }
            return task
        }
        releasing.finish()
        try await held
        // Waiting for one of the tasks would make it more urgent.
        while await stores[0].names.count < tasks.count { await Task.yield() }
        for task in tasks { try await task.value }
        return await stores[0].names
    }

    @Test("The more urgent of those that wait goes first, and order is kept among equals")
    func urgentFirst() async throws {
        let names = try await order { enqueue in
            _ = await enqueue("background", .background)
            _ = await enqueue("medium", .medium)
            _ = await enqueue("high", .high)
            _ = await enqueue("medium again", .medium)
            _ = await enqueue("high again", .high)
        }
        #expect(names == ["high", "high again", "medium", "medium again", "background"])
    }

    @Test("A writer in the background is passed eight times at most")
    func bound() async throws {
        let names = try await order { enqueue in
            _ = await enqueue("background", .background)
            for index in 0..<20 { _ = await enqueue("\(index)", .high) }
        }
        // One that was chosen and had to wait for the pages of those before it passes once more, and is counted.
        #expect(try (1...8).contains(#require(names.firstIndex(of: "background"))))
        #expect(names.filter { $0 != "background" } == (0..<20).map { "\($0)" })
    }

    @Test("A task that a more urgent one waits for writes with that one's urgency")
    func escalation() async throws {
        let names = try await order { enqueue in
            let low = await enqueue("awaited", .background)
            _ = await enqueue("medium", .medium)
            Task.detached(priority: .high) { try await low.value }
            while escalations.value == 0 { await Task.yield() }
        }
        #expect(names == ["awaited", "medium"])
    }

    @Test("A task that becomes more urgent between its place in the line and its wait waits with that urgency")
    func escalationBeforeWait() async throws {
        let writes = try await Store(file.fast).writes
        let held = try await writes.acquire(for: .none)
        let turns = Journal<String>()
        let (lined, linesUp) = AsyncStream.makeStream(of: Void.self)
        let low = Task.detached(priority: .background) {
            let (ticket, isGranted) = writes.enqueue(.asynchronous, for: .none, priority: .background)
            #expect(!isGranted)
            linesUp.finish()
            while WriteScheduler.currentPriority < .high { await Task.yield() }
            _ = await writes.waitForTurn(ticket, priority: .background)
            turns.add("awaited")
            writes.finish(ticket)
        }
        for await _ in lined {}
        let (ticket, isGranted) = writes.enqueue(.asynchronous, for: .none, priority: .medium)
        #expect(!isGranted)
        let medium = Task.detached(priority: .medium) {
            _ = await writes.waitForTurn(ticket, priority: .medium)
            turns.add("medium")
            writes.finish(ticket)
        }
        let high = Task.detached(priority: .high) { await low.value }
        while writes.state.withLock({ $0.waiters.count }) < 2 { await Task.yield() }
        writes.finish(held)
        await high.value
        await medium.value
        #expect(turns.entries == ["awaited", "medium"])
    }
}
