import Foundation
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// Docs/Transactions.md: a write waits for all that its block commits in the background, and throws where one of it is lost, whatever the
/// block does behind it; and what a block throws is thrown when what it saw is durable.
@Suite("A block that throws behind a commit in the background", .timeLimit(.minutes(60)))
struct ThrowingBehindCommitTests {
    struct Exists: Error {}

    private let file = TestFile()

    private actor Writer {
        private var realm: Realm!
        private(set) var steps: [String] = []

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        var writes: WriteScheduler { realm.core.coordinator.writes }

        func write(_ name: String) async throws {
            try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": name, "count": 1]) }
        }

        /// Commits in the background, and throws; `then` is called before.
        func giveUp(isBlocking: Bool, _ then: @Sendable () -> Void) async throws {
            func body() throws {
                realm.create(Tally.self, value: ["name": "own", "count": 1])
                realm.commitAsyncWrite()
                then()
                steps.append("block")
                throw Exists()
            }
            defer { steps.append("ended") }
            if isBlocking { try realm.write(body) } else { try await realm.asyncWrite(body) }
        }
    }

    @Test("throws why that is lost", arguments: [true, false])
    func lost(isBlocking: Bool) async throws {
        let full = FullDevice.Switch()
        var configuration = file.configuration
        configuration.makeDevice = { FullDevice($0, full) }
        let writer = try await Writer(configuration)
        try await writer.write("before")
        let writes = await writer.writes
        full.isOn = true
        await #expect(throws: Realm.Error.self) {
            try await writer.giveUp(isBlocking: isBlocking) {
                while writes.state.withLock({ !$0.prepared.isEmpty || $0.queue.isFlushing }) { usleep(1_000) }
            }
        }
    }

    @Test("does not say so before that is durable")
    func early() async throws {
        let writer = try await Writer(file.configuration)
        try await writer.write("before")
        let writes = await writer.writes
        let disk = ThreadGate<Void>()
        writes.ioThread.perform { disk.wait() }
        let writing = Task { try await writer.giveUp(isBlocking: false) {} }
        while await writer.steps.isEmpty { await Task.yield() }
        try await Task.sleep(for: .milliseconds(200))
        #expect(await writer.steps == ["block"])
        disk.open(with: ())
        await #expect(throws: Exists.self) { try await writing.value }
    }
}
