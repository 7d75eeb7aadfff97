import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("Blocking writers beside suspending ones", .serialized, .timeLimit(.minutes(60)))
struct ExhaustedPoolTests {
    actor Writer {
        var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func run(_ name: String, _ count: Int, blocks: Bool) async throws {
            for index in 0..<count {
                let name = "\(name) \(index)"
                if blocks {
                    try realm.write { _ = realm.create(Tally.self, value: ["name": name, "count": index]) }
                    await Task.yield()
                } else {
                    try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": name, "count": index]) }
                }
            }
        }

        var pauses: Int { realm.core.coordinator.writes.state.withLock { $0.latePressCount } }

        var count: Int {
            realm.refresh()
            return realm.objects(Tally.self).count
        }
    }

    /// In a process of its own: other tests block threads of this one's pool in their own ways.
    @Test("a few blocking writers on actors do not slow the suspending ones down by waits of milliseconds each")
    func mixed() async throws {
        let result = try await #require(
            processExitsWith: .success,
            observing: [\.standardOutputContent, \.standardErrorContent]
        ) {
            let report = try await Self.writeMixed(on: TestFile())
            FileHandle.standardOutput.write(Data(report.utf8))
        }
        print(String(decoding: result.standardOutputContent, as: UTF8.self))
    }

    private static func writeMixed(on file: TestFile) async throws -> String {
        let processors = ProcessInfo.processInfo.activeProcessorCount
        let rounds = Int(ProcessInfo.processInfo.environment["REALM_POOL_ROUNDS"] ?? "") ?? 20
        var writers: [Writer] = []
        for _ in 0..<processors + 6 { writers.append(try await Writer(file.fast)) }
        let clock = ContinuousClock()
        let elapsed = try await clock.measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, writer) in writers.enumerated() {
                    group.addTask { try await writer.run("\(index)", rounds, blocks: index < processors + 1) }
                }
                try await group.waitForAll()
            }
        }
        let count = writers.count * rounds
        #expect(await writers[0].count == count)
        let pauses = await writers[0].pauses
        // What is let go by the clock costs milliseconds each, and an exhausted pool is met at nearly every turn.
        #expect(pauses < count / 10)
        return "ExhaustedPoolTests: \(pauses) let go by the clock, \(count) transactions, \(processors) processors, "
            + "\(elapsed)"
    }
}
