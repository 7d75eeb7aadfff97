import ActorRealm
import Foundation
import Glibc
import RealmTestSupport
import Testing

/// Commits of another process, as observers of this one see them.
@Suite("Observing other processes", .timeLimit(.minutes(5)), .serialized)
struct CrossProcessObservingTests {
    private static func shared(by process: pid_t) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: FileManager.default.temporaryDirectory.appendingPathComponent("ticks-\(process).realm")
        )
        configuration.objectTypes = [Chore.self, ChoreOwner.self]
        return configuration
    }

    @Test("two processes answer each other's commits, each woken by nothing but the other's")
    func answers() async throws {
        let configuration = Self.shared(by: getpid())
        _ = try? Realm.deleteFiles(for: configuration)
        try withNewRealm(configuration) { realm in
            try realm.write { _ = realm.create(Chore.self, value: ["id": 0, "name": "ping", "priority": 0]) }
        }
        // Nobody commits without having seen the other's commit: a single one that did not arrive ends the exchange, and the
        // suite's time limit the test. How long an answer takes is measured by the benchmarks, on a machine at rest.
        let here = try await Worker(configuration)
        let changes = await here.changes()
        let answering = Task {
            var answered = 0
            for await change in changes {
                guard let chore = change.collection?.first, chore.name == "pong" else { continue }
                answered += 1
                #expect(chore.priority == 2 * answered - 1)
                try await here.set(0, "ping", priority: 2 * answered)
                if answered == CrossProcessObservingTests.exchanges { return answered }
            }
            return answered
        }
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
        #expect(try await answering.value == Self.exchanges)
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
            // What the write left to do may take a while on a busy machine; after that, nobody wakes for a whole second.
            var before: [String: Int] = [:]
            var after: [String: Int] = [:]
            for _ in 0..<30 {
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

extension Worker {
    fileprivate func set(_ id: Int, _ name: String, priority: Int) async throws {
        try await realm.asyncWrite {
            let chore = realm.object(ofType: Chore.self, forPrimaryKey: id)
            chore?.name = name
            chore?.priority = priority
        }
    }
}
