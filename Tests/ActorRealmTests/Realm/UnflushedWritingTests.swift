import Dispatch
import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("Asynchronous writes without a flush", .timeLimit(.minutes(60)))
struct UnflushedWritingTests {
    let file = TestFile()

    var configuration: Realm.Configuration {
        var configuration = file.configuration
        configuration.durability = .unflushed
        return configuration
    }

    actor Writer {
        private var realm: Realm!
        private(set) var hasRunBetween = false

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func write(_ count: Int) async throws {
            for number in 0..<count {
                try await realm.asyncWrite { realm in realm.add(Tally(name: "\(number)"), update: .all) }
            }
        }

        /// Whether another job of the actor ran before the last of many writes was done.
        func writesBesideAnother() async throws -> Bool {
            let other = Task { hasRunBetween = true }
            try await write(40)
            let result = hasRunBetween
            await other.value
            return result
        }

        func withIOThreadBlocked(by gate: ThreadGate<Void>) { realm.core.coordinator.io.thread.perform { gate.wait() } }

        var count: Int { realm.objects(Tally.self).count }
    }

    @Test("A small commit does not wait for another thread")
    func ownThread() async throws {
        let writer = try await Writer(configuration)
        let gate = ThreadGate<Void>()
        let isLate = Counter()
        await writer.withIOThreadBlocked(by: gate)
        let rescue = DispatchWorkItem {
            isLate.increment()
            gate.open(with: ())
        }
        DispatchQueue(label: "rescue").asyncAfter(deadline: .now() + 1_800, execute: rescue)
        try await writer.write(15)
        rescue.cancel()
        #expect(isLate.value == 0)
        gate.open(with: ())
        #expect(await writer.count == 15)
    }

    @Test("Between the writes of a loop, other jobs of the actor run")
    func otherJobs() async throws {
        let writer = try await Writer(configuration)
        #expect(try await writer.writesBesideAnother())
    }

    @Test("What others write meanwhile is committed in turn, and each finds its own")
    func manyWriters() async throws {
        let configuration = configuration
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let writer = try await Writer(configuration)
                    for count in [1, 20, number] { try await writer.write(count) }
                    #expect(await writer.count >= 20)
                }
            }
            try await group.waitForAll()
        }
    }
}
