import Foundation
import Glibc
import Testing

@testable import ActorRealm

@Suite("Processes that wait for a migration", .timeLimit(.minutes(60)))
struct MigrationWaitingTests {
    private static func configuration(by process: pid_t, version: UInt64) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: FileManager.default.temporaryDirectory.appendingPathComponent("migrating-\(process).realm"),
            schemaVersion: version
        )
        configuration.objectTypes = [Losing.Before.self]
        return configuration
    }

    @Test(.secondProcess) func `a migration says that another process waits for it, and how it gets on`() async throws {
        let journal = MigrationJournal()
        var configuration = Self.configuration(by: getpid(), version: 1)
        _ = try? Realm.deleteFiles(for: configuration)
        try withNewRealm(configuration) { realm in
            try realm.write { _ = realm.create(Losing.Before.self, value: ["id": 1, "age": 20]) }
        }
        configuration.schemaVersion = 2
        configuration.logger = journal.logger
        let begun = Begun()
        configuration.migrationBlock = { migration, _ in
            begun.signal()
            // Until it has been said, or long enough not to hang when it never is: this test may go on minutes behind the signal, when
            // all others take their turns before it.
            let end = ContinuousClock.now + .seconds(1_800)
            repeat {
                usleep(20_000)
                migration.enumerateObjects(ofType: "Person") { old, new in new?["age"] = 21 }
            } while !journal.lines.contains { $0.contains("wait for a migration") } && ContinuousClock.now < end
        }
        let opening = Task { [configuration] in
            try await Task.detached { try withNewRealm(configuration) { _ in } }.value
        }
        await begun.wait()
        await #expect(processExitsWith: .success) {
            let configuration = MigrationWaitingTests.configuration(by: getppid(), version: 2)
            try withNewRealm(configuration) { realm in
                #expect(realm.objects(Losing.Before.self).map(\.age) == [21])
            }
        }
        try await opening.value
        let waiting = journal.lines(.detail).filter { $0.contains("Other processes wait for a migration.") }
        #expect(waiting.count == 1)
        #expect(waiting.first?.contains("migration.waitingProcesses: 1") == true)
        #expect(journal.lines(.detail).first?.contains("A migration begins.") == true)
        #expect(journal.lines(.detail).contains { $0.contains("A migration has gone through a class.") })
        #expect(journal.lines(.detail).contains { $0.contains("brings properties and indexes up to date.") })
        #expect(journal.lines(.detail).last?.contains("A migration is done.") == true)
        _ = try? Realm.deleteFiles(for: configuration)
    }

    @Test func `it is looked for who waits while the migration calls nothing that looks`() async throws {
        let journal = MigrationJournal()
        let log = MigrationLog(journal.logger, path: "waited-for.realm", from: 1, to: 2) { 1 }
        func waiting() -> [String] {
            journal.lines(.detail).filter { $0.contains("Other processes wait for a migration.") }
        }
        // As long as a busy machine may need for what takes a second.
        for _ in 0..<6_000 where waiting().isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        log.ends([])
        #expect(waiting().count == 1)
        #expect(waiting().first?.contains("migration.waitingProcesses: 1") == true)
        #expect(journal.lines(.detail).last?.contains("A migration is done.") == true)
    }

    @Test func `it is looked for who waits by the way where the system starts no thread`() {
        struct NoThread: Error {}
        let journal = MigrationJournal()
        let alarms = AlarmThread { _ in throw NoThread() }
        let log = MigrationLog(journal.logger, path: "waited-for.realm", from: 1, to: 2, alarms: alarms) { 1 }
        log.goesOn(MigrationProgress(className: "Person", visitedCount: 1_024, totalCount: 2_048))
        let waiting = journal.lines(.detail).filter { $0.contains("Other processes wait for a migration.") }
        #expect(waiting.count == 1)
        log.ends([])
    }

    /// Lets a task wait for what a thread says once.
    private final class Begun: Sendable {
        private let stream = AsyncStream<Void>.makeStream()
        func signal() { stream.continuation.finish() }
        func wait() async { for await _ in stream.stream {} }
    }
}
