import Foundation
import RealmModel
import RealmStorage
import Testing

@testable import ActorRealm

/// Several openings of one file in one process whose schema has to be written first.
@Suite("Openings at the same time", .timeLimit(.minutes(60)))
struct OpeningAtOnceTests {
    let file = TestFile()

    /// Two openings, of which the second comes while the first one's schema is on its way to the disk.
    private func second(_ first: Realm.Configuration, _ gate: GatedDevice.Control) async throws -> Program {
        // The file is open, and nobody has a realm of it.
        let coordinator = try RealmRegistry.shared.coordinator(for: first)
        let flushes = coordinator.writes.statistics.flushes
        gate.close()
        let opening = Task { try await Program(first) }
        while coordinator.writes.statistics.flushes == flushes { await Task.yield() }
        let ended = Counter()
        // On a thread of its own: on an actor it would wait until the first one has ended.
        let other = Task.detached {
            await withCheckedContinuation { (continuation: CheckedContinuation<RealmCoordinator?, Never>) in
                Thread.detachNewThread {
                    let found = try? Realm.prepare(first)
                    ended.increment()
                    continuation.resume(returning: found)
                }
            }
        }
        // Either of them: the one that waits for the flush, or the one that does not.
        while ended.value == 0, !coordinator.isWaitingForFlush { await Task.yield() }
        #expect(ended.value == 0)
        gate.open()
        _ = try await opening.value
        #expect(await other.value === coordinator)
        return try await Program(first)
    }

    @Test("An opening beside one that writes the first schema finds the classes", arguments: 0..<5)
    func newFile(_ round: Int) async throws {
        let gate = GatedDevice.Control()
        var configuration = file.configuration
        configuration.makeDevice = { GatedDevice($0, gate) }
        let program = try await second(configuration, gate)
        #expect(await program.perform { $0.core.model.schema["Todo"] != nil })
        #expect(await program.perform { $0.objects(Todo.self).count } == 0)
    }

    @Test("An opening beside one that migrates finds the file migrated", arguments: 0..<5)
    func migration(_ round: Int) async throws {
        let path = try #require(file.configuration.fileURL?.path)
        try withNewRealm(OutdatedRealmTests.first(path)) { realm in
            try realm.write {
                realm.create(Release1.Item.self, value: ["id": 1, "n": 7, "a": "a of 1", "b": "b of 1"])
            }
        }
        // Its file is no gated one, and would be used on.
        while RealmRegistry.shared.existing(at: path) != nil { await Task.yield() }
        let gate = GatedDevice.Control()
        var configuration = OutdatedRealmTests.second(path)
        configuration.durability = .flushed
        configuration.makeDevice = { GatedDevice($0, gate) }
        let program = try await second(configuration, gate)
        #expect(await program.perform { $0.objects(Release2.Item.self).map(\.c) } == ["c of the second release"])
    }

    /// Opens one realm in overlapping blocks.
    private actor Overlapping {
        let configuration: Realm.Configuration
        private(set) var outcome: [String] = []
        private var waiting: [CheckedContinuation<Void, Never>] = []

        init(_ configuration: Realm.Configuration) { self.configuration = configuration }

        private func pause() async { await withCheckedContinuation { waiting.append($0) } }
        var waitingCount: Int { waiting.count }
        func goOn() { waiting.removeFirst().resume() }

        func use(_ name: String) async throws {
            try await Realm.withRealm(configuration: configuration) { realm in
                await pause()
                outcome.append("\(name): \(realm.isInvalidated ? "closed" : "open")")
            }
        }

        func isOpen() -> Bool { RealmRegistry.shared.existing(at: configuration.fileURL!.path)?.hasOpenRealms == true }

        private var kept: Realm?
        func openForGood() throws { kept = try Realm(configuration: configuration) }
        func keptNames() -> [String]? { kept?.objects(Tally.self).map(\.name) }
    }

    @Test("Overlapping withRealm blocks of one actor keep its realm open until the last of them ends")
    func overlappingBlocks() async throws {
        let actor = Overlapping(file.fast)
        let tasks = ["first", "second", "third"].map { name in Task { try await actor.use(name) } }
        while await actor.waitingCount < 3 { await Task.yield() }
        // One ends after the other: each finds the realm as the one before has left it.
        for ended in 1...3 {
            await actor.goOn()
            while await actor.outcome.count < ended { await Task.yield() }
        }
        for task in tasks { try await task.value }
        #expect(await Set(actor.outcome) == ["first: open", "second: open", "third: open"])
        #expect(await actor.isOpen() == false)
    }

    @Test("A realm that is opened to stay while a withRealm block uses it stays open behind the block")
    func openedWithinBlock() async throws {
        let actor = Overlapping(file.fast)
        let tasks = ["first", "second"].map { name in Task { try await actor.use(name) } }
        while await actor.waitingCount < 2 { await Task.yield() }
        try await actor.openForGood()
        for _ in tasks { await actor.goOn() }
        for task in tasks { try await task.value }
        #expect(await Set(actor.outcome) == ["first: open", "second: open"])
        #expect(await actor.isOpen())
        #expect(await actor.keptNames() == [])
    }
}

extension RealmCoordinator {
    /// Whether somebody waits until what is on its way to the disk is there.
    fileprivate var isWaitingForFlush: Bool { writes.state.withLock { !$0.quietWaiters.isEmpty } }
}
