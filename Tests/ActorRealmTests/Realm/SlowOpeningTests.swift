import Dispatch
import Foundation
import Testing

@testable import ActorRealm

/// While one opening of a file takes long, others of it come on actors.
@Suite("Openings beside one that takes long", .timeLimit(.minutes(60)))
struct SlowOpeningTests {
    let file = TestFile()

    private actor Opener {
        private var realm: Realm?

        func open(_ configuration: Realm.Configuration, _ begun: DispatchSemaphore) async throws {
            begun.signal()
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func open(_ configuration: Realm.Configuration, within timeout: Duration?) async throws {
            if let timeout {
                realm = try await Realm.open(configuration: configuration, timeout: timeout)
            } else {
                realm = try await Realm(configuration: configuration, actor: self)
            }
        }
    }

    private typealias Openings = [Task<Void, any Error>]

    private static func opening(
        _ configuration: Realm.Configuration,
        _ begun: DispatchSemaphore
    ) -> Task<Void, any Error> {
        let opener = Opener()
        return Task.detached { try await opener.open(configuration, begun) }
    }

    /// What is found on a thread that is none of the pool's, while the first opening of a file does not come to its end; nil
    /// where that has not begun.
    private static func found<Value: Sendable>(
        besideOpeningOf path: String,
        _ look: @escaping @Sendable (Realm.Configuration) -> Value
    ) async throws -> Value? {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Tally.self])
        configuration.durability = .unflushed
        try withNewRealm(configuration) { realm in
            try realm.write { realm.add(Tally(name: "there")) }
            realm.close()
        }
        let inside = DispatchSemaphore(value: 0)
        let goesOn = DispatchSemaphore(value: 0)
        var slow = configuration
        slow.shouldCompactOnLaunch = { _, _ in
            inside.signal()
            goesOn.wait()
            return false
        }
        return await withCheckedContinuation { (continuation: CheckedContinuation<Value?, Never>) in
            Thread.detachNewThread { [configuration, slow] in
                Thread.detachNewThread { _ = try? withNewRealm(slow) { _ in } }
                guard inside.wait(timeout: .now() + 1_800) == .success else {
                    return continuation.resume(returning: nil)
                }
                let value = look(configuration)
                goesOn.signal()
                continuation.resume(returning: value)
            }
        }
    }

    /// Whether a task runs while actors open a file whose first opening does not come to its end.
    static func runsTasks(besideOpeningOf path: String) async throws -> Bool {
        let found = try await found(besideOpeningOf: path) { configuration -> (Bool, Openings) in
            let processors = ProcessInfo.processInfo.activeProcessorCount
            let begun = DispatchSemaphore(value: 0)
            let openings: Openings = (0..<2 * processors).map { _ in opening(configuration, begun) }
            // As many as there are threads in the pool.
            for _ in 0..<processors { _ = begun.wait(timeout: .now() + 1_800) }
            let ran = DispatchSemaphore(value: 0)
            Task.detached { ran.signal() }
            return (ran.wait(timeout: .now() + 30) == .success, openings)
        }
        guard let (runs, openings) = found else { return false }
        for opening in openings { try await opening.value }
        return runs && !openings.isEmpty
    }

    /// In a process of its own, whose pool nothing else uses.
    @Test("The others block no thread of the pool, so that tasks go on", .secondProcess)
    func pool() async {
        await #expect(processExitsWith: .success) { [path = file.directory.path("slow.realm") as String] in
            let runs = try await SlowOpeningTests.runsTasks(besideOpeningOf: path)
            #expect(runs)
        }
    }

    private static func threadCount() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.count ?? 0
    }

    /// By how much the number of threads grows while some hundred actors open a file, and by how much it may.
    static func threads(besideOpeningOf path: String) async throws -> (added: Int, limit: Int)? {
        let found = try await found(besideOpeningOf: path) { configuration -> (Int, Int, Openings) in
            let processors = ProcessInfo.processInfo.activeProcessorCount
            let limit = processors + 32
            let before = threadCount()
            let begun = DispatchSemaphore(value: 0)
            let openings: Openings = (0..<2 * limit + 100).map { _ in opening(configuration, begun) }
            for _ in openings { _ = begun.wait(timeout: .now() + 1_800) }
            // Where each of them has a thread, they come soon.
            var added = 0
            for _ in 0..<100 where added < limit {
                usleep(20_000)
                added = max(added, threadCount() - before)
            }
            return (added, limit, openings)
        }
        guard let (added, limit, openings) = found else { return nil }
        for opening in openings { try await opening.value }
        return (added, limit)
    }

    @Test("The others have no thread each, so that the system's limit is far", .secondProcess)
    func threads() async {
        await #expect(processExitsWith: .success) { [path = file.directory.path("threads.realm") as String] in
            let found = try await SlowOpeningTests.threads(besideOpeningOf: path)
            let (added, limit) = try #require(found)
            #expect(added < limit)
        }
    }

    /// Whether a task that is cancelled while it waits for another opening ends before that.
    static func endsWhenCancelled(besideOpeningOf path: String) async throws -> Bool {
        let found = try await found(besideOpeningOf: path) { configuration -> (Bool, Openings) in
            let begun = DispatchSemaphore(value: 0)
            // This one has a thread, and waits there.
            let first = opening(configuration, begun)
            begun.wait()
            usleep(500_000)
            let second = opening(configuration, begun)
            begun.wait()
            while OpeningScheduler.shared.waitingCount(at: path) == 0 { usleep(10_000) }
            let ended = DispatchSemaphore(value: 0)
            Task.detached {
                _ = await second.result
                ended.signal()
            }
            second.cancel()
            return (ended.wait(timeout: .now() + 300) == .success, [first, second])
        }
        guard let (ends, openings) = found else { return false }
        try await openings[0].value
        await #expect(throws: CancellationError.self) { try await openings[1].value }
        return ends
    }

    @Test("One that is cancelled ends before the one that it waits for", .secondProcess)
    func cancellation() async {
        await #expect(processExitsWith: .success) { [path = file.directory.path("cancelled.realm") as String] in
            let ends = try await SlowOpeningTests.endsWhenCancelled(besideOpeningOf: path)
            #expect(ends)
        }
    }

    @Test("One with a time limit ends in time beside a migration, whoever says the limit", arguments: [false, true])
    func deadline(isOfConfiguration: Bool) async throws {
        var configuration = file.fast
        try withNewRealm(configuration) { $0.close() }
        let begun = Counter()
        let goesOn = DispatchSemaphore(value: 0)
        configuration.schemaVersion += 1
        configuration.migrationBlock = { _, _ in
            begun.increment()
            goesOn.wait()
        }
        let first = Task { [configuration] in try await Opener().open(configuration, within: nil) }
        while begun.value == 0 { await Task.yield() }
        var hasty = configuration
        if isOfConfiguration { hasty.writeTimeout = .milliseconds(50) }
        let error = await #expect(throws: Realm.Error.self) {
            try await Opener().open(hasty, within: isOfConfiguration ? nil : .milliseconds(50))
        }
        #expect(error?.code == .timedOut)
        goesOn.signal()
        try await first.value
        #expect(begun.value == 1)
    }
}
