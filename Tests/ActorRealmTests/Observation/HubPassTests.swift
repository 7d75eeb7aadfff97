import Foundation
import RealmStorage
import Synchronization
import Testing

@testable import ActorRealm

@Suite("An observer that asks in the middle of a pass over observers", .timeLimit(.minutes(60)))
struct HubPassTests {
    let file = TestFile()

    /// Stops the hub in the middle of a pass: where it looks at those that follow, and where it looks at those behind.
    private final class Barrier: ObservationMember, @unchecked Sendable {
        let hub: ObservationHub
        /// The version to which the pass leads that is stopped.
        let version = Mutex(UInt64.max)
        let isExamining = DispatchSemaphore(value: 0)
        let mayExamine = DispatchSemaphore(value: 0)
        let isCatchingUp = DispatchSemaphore(value: 0)
        let mayCatchUp = DispatchSemaphore(value: 0)

        init(_ hub: ObservationHub) {
            self.hub = hub
            super.init(origin: nil)
            hub.register(self)
        }

        override func examine(_ commit: ObservedCommit) -> Bool {
            if commit.new.version < version.withLock({ $0 }) { return true }
            isExamining.signal()
            mayExamine.wait()
            return false
        }

        override func catchUp(to view: FixedView, _ process: ObservationHub.Process) -> CatchUp {
            if view.version >= version.withLock({ $0 }) {
                isCatchingUp.signal()
                mayCatchUp.wait()
            }
            return .follows(nil)
        }

        override var isFollowing: Bool { true }
        override var heldVersion: UInt64? { nil }
        override func noteFollowing(_ version: UInt64) {}
        override func isBehind(_ version: UInt64) -> Bool { false }
        override func realmMoved() {}
        override func fail(_ error: any Error) { Issue.record(error) }

        @discardableResult
        override func cancel() -> Bool {
            hub.unregister(self)
            return true
        }
    }

    /// Follows the hub, and cannot read what tells whether a commit concerns it.
    private final class Unreadable: ObservationMember, @unchecked Sendable {
        private final class Check: FollowerCheck {
            override func isConcerned(by commit: ObservedCommit) throws -> Bool {
                throw StorageError(.corrupt, "This page cannot be read.")
            }
        }

        let hub: ObservationHub
        let failureCount = Mutex(0)

        init(_ hub: ObservationHub) {
            self.hub = hub
            super.init(origin: nil)
            check = Check()
            hub.register(self)
        }

        override func examine(_ commit: ObservedCommit) -> Bool { true }
        override func catchUp(to view: FixedView, _ process: ObservationHub.Process) -> CatchUp { .follows(nil) }
        override var isFollowing: Bool { true }
        override var heldVersion: UInt64? { nil }
        override func noteFollowing(_ version: UInt64) {}
        override func isBehind(_ version: UInt64) -> Bool { false }
        override func realmMoved() {}

        override func fail(_ error: any Error) {
            failureCount.withLock { $0 += 1 }
            cancel()
        }

        @discardableResult
        override func cancel() -> Bool {
            hub.unregister(self)
            return true
        }
    }

    private func wait(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                semaphore.wait()
                continuation.resume()
            }
        }
    }

    private func write(_ name: String) throws {
        try withNewRealm(file.fast) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": name]) }
        }
    }

    /// An observer of a whole realm, from its version on.
    @MainActor
    private func cursor(of realm: Realm) throws -> ChangeCursor<RealmSubject> {
        try ChangeCursor(
            RealmSubject(),
            coordinator: realm.core.coordinator,
            at: nil,
            lagLimit: nil,
            objectTypes: [Todo.self, Tally.self],
            origin: nil
        )
    }

    @Test("that was taken back by a pass stays with it, though somebody is late to say that it left")
    @MainActor
    func takenBack() async throws {
        let realm = try await Realm(configuration: file.fast)
        let hub = realm.core.coordinator.observations
        let cursor = try cursor(of: realm)
        #expect(cursor.ask() == .wait)
        hub.schedule()
        while !cursor.isFollowing || hub.currentVersion != realm.version { await Task.yield() }
        // Who told it at once says so after the next pass, which has found that it knows everything.
        hub.moveBehind(cursor)
        let isLookedAfter = hub.state.withLock { _ in if case .group = cursor.place { true } else { false } }
        try #require(isLookedAfter)
        try write("a")
        var answer = cursor.ask()
        while answer != .fetch {
            if answer == .compute { await cursor.compute() }
            await Task.yield()
            answer = cursor.ask()
        }
        #expect(cursor.fetch()?.delta?.classes["Tally"]?.inserted.count == 1)
        cursor.cancel()
    }

    @Test("is not told again what it knows, though the hub stands before it still")
    @MainActor
    func askingDuringPass() async throws {
        let realm = try await Realm(configuration: file.fast)
        realm.autorefresh = false
        let coordinator = realm.core.coordinator
        let hub = coordinator.observations
        let cursor = try ChangeCursor(
            RealmSubject(),
            coordinator: coordinator,
            at: nil,
            lagLimit: nil,
            objectTypes: [Todo.self, Tally.self],
            origin: nil
        )
        let barrier = Barrier(hub)
        hub.schedule()
        while !cursor.isFollowing || hub.currentVersion != realm.version { await Task.yield() }

        // The observer is told of a commit by its own asking, while the hub has not come over it.
        barrier.version.withLock { $0 = realm.version + 1 }
        try write("a")
        await wait(for: barrier.isExamining)
        #expect(cursor.ask() == .compute)
        await cursor.compute()
        #expect(cursor.ask() == .fetch)
        let first = try #require(cursor.fetch())
        #expect(first.delta?.classes["Tally"]?.inserted.count == 1)
        cursor.accept(first)
        defer { barrier.mayCatchUp.signal() }
        // The hub leaves the observers that follow, and takes the observer in.
        barrier.mayExamine.signal()
        await wait(for: barrier.isCatchingUp)
        #expect(cursor.isFollowing)
        #expect(hub.currentVersion == realm.version)
        #expect(cursor.toldVersion == realm.version + 1)
        #expect(!cursor.isBehind(realm.version + 1))
        try #require(cursor.ask() == .wait)
        // With a commit more it hears of that one alone.
        barrier.version.withLock { $0 = .max }
        try write("b")
        barrier.mayCatchUp.signal()
        var answer = cursor.ask()
        while answer != .fetch {
            if answer == .compute { await cursor.compute() }
            await Task.yield()
            answer = cursor.ask()
        }
        let second = try #require(cursor.fetch())
        #expect(second.delta?.classes["Tally"]?.inserted.count == 1)
        #expect(second.target.version == first.target.version + 1)
        cursor.accept(second)
        cursor.cancel()
        barrier.cancel()
    }

    @Test("hears of a commit though another one cannot read whether that concerns it")
    @MainActor
    func unreadable() async throws {
        let realm = try await Realm(configuration: file.fast)
        realm.autorefresh = false
        let hub = realm.core.coordinator.observations
        let unreadable = Unreadable(hub)
        let cursor = try cursor(of: realm)
        #expect(cursor.ask() == .wait)
        hub.schedule()
        func isLookedAfter(_ member: ObservationMember) -> Bool {
            hub.state.withLock { _ in if case .group = member.place { true } else { false } }
        }
        while !isLookedAfter(cursor) || !isLookedAfter(unreadable) || hub.currentVersion != realm.version {
            await Task.yield()
        }
        try write("a")
        // Until the pass is over that met the failure.
        while unreadable.failureCount.withLock({ $0 }) == 0 || hub.state.withLock({ $0.isProcessing }) {
            await Task.yield()
        }
        let failureCount = unreadable.failureCount.withLock { $0 }
        #expect(failureCount == 1)
        #expect(cursor.failure == nil)
        var answer = cursor.ask()
        while answer != .fetch, answer != .end {
            if answer == .compute { await cursor.compute() }
            await Task.yield()
            answer = cursor.ask()
        }
        #expect(cursor.fetch()?.delta?.classes["Tally"]?.inserted.count == 1)
        cursor.cancel()
    }

    @Test("of values stays with the hub when neither their owner nor an object that they link to is written to")
    @MainActor
    func otherObjects() async throws {
        var configuration = file.fast
        configuration.objectTypes = crateTypes
        let realm = try await Realm(configuration: configuration)
        let crate = try realm.write {
            let crate = realm.create(Crate.self, value: ["id": 1])
            crate.values.append(.object(realm.create(Crate.self, value: ["id": 2])))
            realm.create(Crate.self, value: ["id": 3])
            return crate
        }
        let coordinator = realm.core.coordinator
        let hub = coordinator.observations
        // So that the hub stands on each version, also without the other one.
        let barrier = Barrier(hub)
        let cursor = try ChangeCursor(
            crate.values.observationSource(keyPaths: nil, origin: nil).subject,
            coordinator: coordinator,
            at: nil,
            lagLimit: nil,
            objectTypes: crateTypes,
            origin: nil
        )
        try #require(cursor.ask() == .compute)
        await cursor.compute()
        try #require(cursor.ask() == .fetch)
        cursor.accept(try #require(cursor.fetch()))
        try #require(cursor.ask(orCall: {}) == .wait)
        hub.schedule()
        @MainActor func waitForHub() async {
            while hub.currentVersion != realm.version || hub.state.withLock({ $0.isProcessing }) { await Task.yield() }
        }
        while !cursor.isFollowing { await Task.yield() }
        await waitForHub()
        try realm.write { realm.object(ofType: Crate.self, forPrimaryKey: 3)?.name = "other" }
        await waitForHub()
        #expect(cursor.isFollowing)
        try realm.write { realm.object(ofType: Crate.self, forPrimaryKey: 2)?.name = "linked" }
        await waitForHub()
        #expect(!cursor.isFollowing)
        var answer = cursor.ask()
        while answer != .fetch, answer != .end {
            if answer == .compute { await cursor.compute() }
            await Task.yield()
            answer = cursor.ask()
        }
        #expect(cursor.fetch()?.delta?.modifications == [0])
        cursor.cancel()
        barrier.cancel()
    }
}
