import Dispatch
import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Another process commits behind a writer's own commit, and what it has written cannot be read.
///
/// One test at a time: each keeps a thread of the pool.
@Suite("A commit behind which the newest version cannot be read", .serialized, .timeLimit(.minutes(60)))
struct UnreadableNewestTests {
    let file = TestFile()

    private struct Exists: Error {}

    private actor Writer {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        var isFlushing: Bool { realm.core.coordinator.writes.state.withLock { $0.publishing != nil } }
        var coordinator: RealmCoordinator { realm.core.coordinator }

        func write(_ name: String) async throws { try await realm.asyncWrite { realm.add(Tally(name: name)) } }

        /// As ``write(_:)``, unless one has that name already.
        func writeNew(_ name: String, _ hasSeen: Counter) async throws {
            try await realm.asyncWrite {
                guard realm.objects(Tally.self).filter({ $0.name == name }).isEmpty else {
                    hasSeen.increment()
                    throw Exists()
                }
                realm.add(Tally(name: name))
            }
        }

        /// Lets nothing else run here until it is told to go on.
        func hold(_ isHeld: Counter, _ goesOn: DispatchSemaphore) {
            isHeld.increment()
            goesOn.wait()
        }

        func close() { realm.close() }

        func names() -> [String] {
            realm.refresh()
            return realm.objects(Tally.self).map(\.name).sorted()
        }
    }

    /// Has another process write.
    private func writeElsewhere() async {
        await #expect(processExitsWith: .success) { [path = file.configuration.fileURL!.path as String] in
            var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path))
            configuration.objectTypes = [Todo.self, Tally.self]
            try withNewRealm(configuration) { realm in try realm.write { realm.add(Tally(name: "other")) } }
        }
    }

    @Test("The write returns: what it has written is durable, and who tried again would write it twice", .secondProcess)
    func returns() async throws {
        let gate = GatedDevice.Control()
        let failures = StepFailures()
        var configuration = file.configuration
        configuration.makeDevice = { GatedDevice($0, gate) }
        configuration.failures = failures
        let writer = try await Writer(configuration)
        let durable = await writer.coordinator.file
        let before = durable.newestVersion
        gate.close()
        let writing = Task { try await writer.write("own") }
        while await !writer.isFlushing { await Task.yield() }
        let isHeld = Counter()
        let goesOn = DispatchSemaphore(value: 0)
        let holding = Task { await writer.hold(isHeld, goesOn) }
        while isHeld.value == 0 { await Task.yield() }
        // The commit becomes durable, and its writer, who is not let on its actor, has not moved there yet.
        gate.open()
        while durable.newestVersion == before { await Task.yield() }
        await writeElsewhere()
        failures.arm(after: 0)
        goesOn.signal()
        await #expect(throws: Never.self) { try await writing.value }
        #expect(failures.outcome.failed != nil, "it could not move to what the other one has written")
        await holding.value
        #expect(await writer.names() == ["other", "own"])
    }

    @Test("A write whose block threw for what is durable then throws that error", .secondProcess)
    func throwing() async throws {
        let gate = GatedDevice.Control()
        let failures = StepFailures()
        var configuration = file.configuration
        configuration.makeDevice = { GatedDevice($0, gate) }
        configuration.failures = failures
        let first = try await Writer(configuration)
        let second = try await Writer(configuration)
        gate.close()
        let writing = Task { try await first.write("one") }
        while await !first.isFlushing { await Task.yield() }
        let hasSeen = Counter()
        let refused = Task { try await second.writeNew("one", hasSeen) }
        while hasSeen.value == 0 { await Task.yield() }
        // It waits for what it saw, and is not let on its actor behind that.
        let isHeld = Counter()
        let goesOn = DispatchSemaphore(value: 0)
        let holding = Task { await second.hold(isHeld, goesOn) }
        while isHeld.value == 0 { await Task.yield() }
        gate.open()
        try await writing.value
        // It would move, too.
        await first.close()
        await writeElsewhere()
        failures.arm(after: 0)
        goesOn.signal()
        await #expect(throws: Exists.self) { try await refused.value }
        #expect(failures.outcome.failed != nil, "the newest version could not be read")
        await holding.value
        #expect(await second.names() == ["one", "other"])
    }
}
