import Dispatch
import Foundation
import Testing

@testable import ActorRealm

@Suite("Realms follow the file between the jobs of their isolation, and never inside one", .timeLimit(.minutes(60)))
struct RealmRefreshingTests {
    let file = TestFile()

    actor Reader {
        var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        var count: Int { realm.objects(Tally.self).count }
        func refresh() -> Bool { realm.refresh() }
        func drop() { realm = nil }
        func asyncRefresh() async -> Bool { await realm.asyncRefresh() }
        func setAutorefresh(_ value: Bool) { realm.autorefresh = value }

        /// Reads before and after another isolation commits, within one job.
        func countsWithinOneJob(while write: @Sendable () throws -> Void) throws -> (Int, Int) {
            let results = realm.objects(Tally.self)
            let before = results.count
            try write()
            return (before, results.count)
        }

        func frozenCount() -> (Realm, Int) {
            let frozen = realm.freeze()
            return (frozen, frozen.objects(Tally.self).count)
        }

        func invalidate() -> (wasInvalidated: Bool, counts: [Int]) {
            let object = realm.objects(Tally.self).first!
            let before = realm.objects(Tally.self).count
            realm.invalidate()
            return (object.isInvalidated, [before, realm.objects(Tally.self).count])
        }

        func thawsToItself() throws -> Bool {
            let frozen = realm.freeze()
            return frozen.isFrozen && !realm.isFrozen && frozen.thaw() === realm && realm.thaw() === realm
                && realm.freeze() === frozen && frozen.freeze() === frozen
        }
    }

    private func write(_ name: String) throws {
        try withNewRealm(file.fast) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": name]) }
        }
    }

    @Test("A commit elsewhere arrives by itself")
    func autorefresh() async throws {
        let reader = try await Reader(file.fast)
        #expect(await reader.count == 0)
        try write("a")
        while await reader.count == 0 { await Task.yield() }
    }

    @Test("Inside one synchronous stretch the version never moves")
    func stability() async throws {
        let file = file
        let reader = try await Reader(file.fast)
        // Another place hears of it meanwhile: by then this one has been told, too, and would move if it did. Where the threads of the
        // pool are busy that may take long, and nothing is said of it.
        let heard = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "another place")
        let token = try queue.sync {
            try Realm(configuration: file.fast, queue: queue).observe { _, _ in heard.signal() }
        }
        let counts = try await reader.countsWithinOneJob {
            try withNewRealm(file.fast) { realm in
                try realm.write { _ = realm.create(Tally.self, value: ["name": "b"]) }
            }
            _ = heard.wait(timeout: .now() + 5)
        }
        #expect(counts == (0, 0))
        while await reader.count == 0 { await Task.yield() }
        token.invalidate()
    }

    @Test("Without autorefresh only refresh() and asyncRefresh() move the realm")
    func manualRefresh() async throws {
        let reader = try await Reader(file.fast)
        await reader.setAutorefresh(false)
        let follower = try await Reader(file.fast)
        try write("a")
        // One that follows by itself has heard of it: this one will not any more.
        while await follower.count == 0 { await Task.yield() }
        #expect(await reader.count == 0)
        #expect(await reader.refresh())
        #expect(await reader.count == 1)
        #expect(await !reader.refresh())
        try write("b")
        #expect(await reader.asyncRefresh())
        #expect(await !reader.asyncRefresh())
        #expect(await reader.count == 2)
    }

    @Test("A queue's realm follows too")
    func queues() async throws {
        let queue = DispatchQueue(label: "refreshing")
        let configuration = file.fast
        final class Box: @unchecked Sendable { var realm: Realm? }
        let box = Box()
        queue.sync {
            box.realm = try? Realm(configuration: configuration, queue: queue)
            #expect(box.realm?.objects(Tally.self).count == 0)
        }
        try write("a")
        while queue.sync(execute: { box.realm?.objects(Tally.self).count }) != 1 { await Task.yield() }
        queue.sync { box.realm = nil }
    }

    @Test("A frozen realm stands still, thaws to the actor's own realm, and costs one instance a version")
    func freezing() async throws {
        let reader = try await Reader(file.fast)
        try write("a")
        _ = await reader.refresh()
        #expect(try await reader.thawsToItself())
    }

    @Test("A frozen realm reads the same everywhere, while the file moves on")
    @MainActor
    func frozenEverywhere() async throws {
        let realm = try await Realm(configuration: file.fast)
        try realm.write { realm.create(Tally.self, value: ["name": "a"]) }
        nonisolated(unsafe) let frozen = realm.freeze()
        try realm.write { realm.create(Tally.self, value: ["name": "b"]) }
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { frozen.objects(Tally.self).count } }
            for await count in group { #expect(count == 1) }
        }
        #expect(!frozen.refresh())
        #expect(realm.objects(Tally.self).count == 2)
    }

    @Test("invalidate() ends the objects, not the realm")
    func invalidation() async throws {
        try write("a")
        let reader = try await Reader(file.fast)
        let outcome = await reader.invalidate()
        #expect(outcome.wasInvalidated)
        #expect(outcome.counts == [1, 1])
    }

    @Test("Listeners hear of each version once, in order")
    @MainActor
    func listeners() async throws {
        let realm = try await Realm(configuration: file.fast)
        let coordinator = realm.core.coordinator
        let versions = LockedArray<UInt64>()
        let id = coordinator.addVersionListener { versions.append($0) }
        for index in 0..<20 { try realm.write { realm.create(Tally.self, value: ["name": "n\(index)"]) } }
        while versions.all.last != coordinator.file.newestVersion { await Task.yield() }
        #expect(versions.all == versions.all.sorted())
        #expect(Set(versions.all).count == versions.all.count)
        coordinator.removeVersionListener(id)
        let heard = versions.all.count
        try realm.write { realm.create(Tally.self, value: ["name": "unheard"]) }
        #expect(versions.all.count == heard)
    }

    /// A configuration that a test and the process that it spawns agree on.
    private static func shared(by process: pid_t) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: FileManager.default.temporaryDirectory.appendingPathComponent("shared-\(process).realm")
        )
        configuration.objectTypes = [Tally.self]
        configuration.durability = .unflushed
        return configuration
    }

    @Test("A commit of another process arrives by itself")
    func otherProcess() async throws {
        let configuration = Self.shared(by: getpid())
        let reader = try await Reader(configuration)
        #expect(await reader.count == 0)
        await #expect(processExitsWith: .success) {
            try withNewRealm(RealmRefreshingTests.shared(by: getppid())) { realm in
                for index in 0..<5 {
                    try realm.write { _ = realm.create(Tally.self, value: ["name": "n\(index)"]) }
                }
            }
        }
        while await reader.count != 5 { await Task.yield() }
        await reader.drop()
        try Realm.deleteFiles(for: configuration)
    }
}
