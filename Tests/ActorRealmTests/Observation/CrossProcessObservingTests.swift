import ActorRealm
import Dispatch
import Foundation
import Glibc
import RealmTestSupport
import Testing

/// Commits of another process, as observers of this one see them.
@Suite("Observing other processes", .timeLimit(.minutes(60)), .serialized)
struct CrossProcessObservingTests {
    private static func shared(by process: pid_t) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: FileManager.default.temporaryDirectory.appendingPathComponent("ticks-\(process).realm")
        )
        configuration.objectTypes = [Chore.self, ChoreOwner.self]
        return configuration
    }

    @Test("two processes answer each other's commits, each woken by nothing but the other's", .secondProcess)
    func answers() async throws {
        let configuration = Self.shared(by: getpid())
        _ = try? Realm.deleteFiles(for: configuration)
        try withNewRealm(configuration) { realm in
            try realm.write { _ = realm.create(Chore.self, value: ["id": 0, "name": "ping", "priority": 0]) }
        }
        // Nobody commits without having seen the other's commit: a single one that did not arrive ends the exchange, and the
        // suite's time limit the test. How long an answer takes is measured by the benchmarks, on a machine at rest.
        let here = Answerer(configuration, exchanges: Self.exchanges)
        here.start()
        await #expect(processExitsWith: .success) {
            let there = try await Worker(CrossProcessObservingTests.shared(by: getppid()))
            let changes = await there.changes()
            var answered = 0
            for await change in changes {
                guard let chore = change.collection?.first, chore.name == "ping" else { continue }
                #expect(chore.priority == 2 * answered)
                if answered == CrossProcessObservingTests.exchanges { break }
                answered += 1
                try await there.set(0, "pong", priority: 2 * answered - 1)
            }
            #expect(answered == CrossProcessObservingTests.exchanges)
        }
        #expect(await here.answers() == Self.exchanges)
    }

    /// How many times each of two processes answers the other.
    private static let exchanges = 50

    @Test("a process that observes sleeps while nobody commits")
    func noPolling() async throws {
        // In a process of its own, where no other test has threads.
        await #expect(processExitsWith: .success) {
            let file = ObservedFile()
            let worker = try await Worker(file.configuration)
            try await worker.add(0, "quiet")
            var iterator = await worker.changes().makeAsyncIterator()
            _ = await iterator.next()
            try await worker.rename(0, "quieter")
            _ = await iterator.next()
            // What the write left to do may take a while on a busy machine, which may be minutes; after that, nobody wakes for a
            // whole second.
            var before: [String: Int] = [:]
            var after: [String: Int] = [:]
            for _ in 0..<1_800 {
                before = try CrossProcessObservingTests.sleeps()
                try await Task.sleep(for: .seconds(1))
                after = try CrossProcessObservingTests.sleeps()
                if before == after { break }
            }
            #expect(before.count >= 2)
            #expect(before == after)
        }
    }

    /// How often each thread of the library has gone to sleep.
    private static func sleeps() throws -> [String: Int] {
        let manager = FileManager.default
        var counts: [String: Int] = [:]
        for thread in try manager.contentsOfDirectory(atPath: "/proc/self/task") {
            let folder = "/proc/self/task/\(thread)"
            guard let name = try? String(contentsOfFile: folder + "/comm", encoding: .utf8), name.hasPrefix("realm-"),
                let status = try? String(contentsOfFile: folder + "/status", encoding: .utf8),
                let line = status.split(separator: "\n").first(where: { $0.hasPrefix("voluntary_ctxt_switches") }),
                let count = line.split(separator: "\t").last.flatMap({ Int($0) })
            else { continue }
            counts[thread + name] = count
        }
        return counts
    }
}

/// Answers on a queue: the wait for the other process takes one of the pool's threads, and other tests may need the rest.
private final class Answerer: @unchecked Sendable {
    private let configuration: Realm.Configuration
    private let exchanges: Int
    private let queue = DispatchQueue(label: "here")
    // What follows belongs to the queue.
    private var realm: Realm?
    private var token: NotificationToken?
    private var answered = 0
    private var ended: CheckedContinuation<Int, Never>?

    init(_ configuration: Realm.Configuration, exchanges: Int) {
        self.configuration = configuration
        self.exchanges = exchanges
    }

    func start() {
        queue.sync {
            do {
                let realm = try Realm(configuration: configuration, queue: queue)
                self.realm = realm
                token = realm.objects(Chore.self).observe { [weak self] in self?.answer($0) }
            } catch {
                Issue.record(error)
            }
        }
    }

    private func answer(_ change: RealmCollectionChange<Results<Chore>>) {
        guard let chore = change.collection?.first, chore.name == "pong", let realm else { return }
        answered += 1
        #expect(chore.priority == 2 * answered - 1)
        do {
            try realm.write {
                chore.name = "ping"
                chore.priority = 2 * answered
            }
        } catch {
            Issue.record(error)
        }
        if answered == exchanges { end() }
    }

    private func end() {
        ended?.resume(returning: answered)
        ended = nil
    }

    /// The number of answers, when all have been given.
    func answers() async -> Int {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                ended = continuation
                if answered == exchanges { end() }
            }
        }
    }
}

extension Worker {
    fileprivate func set(_ id: Int, _ name: String, priority: Int) async throws {
        try await realm.asyncWrite {
            let chore = realm.object(ofType: Chore.self, forPrimaryKey: id)
            chore?.name = name
            chore?.priority = priority
        }
    }
}
