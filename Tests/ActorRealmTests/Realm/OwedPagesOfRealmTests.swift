import Foundation
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// What a realm has acknowledged without pages, while others come and go.
@Suite("Pages on demand, and who comes meanwhile", .timeLimit(.minutes(60)))
struct OwedPagesOfRealmTests {
    private let file = TestFile()
    private let clock = HandClock()
    private var path: String { file.directory.path("test.realm") }

    private func configuration(_ adjust: @escaping @Sendable (inout LogOptions) -> Void = { _ in })
        -> Realm.Configuration
    {
        var configuration = file.configuration
        configuration.keepLog()
        let before = configuration.adjustLog
        configuration.adjustLog = { log in
            before?(&log)
            log.pagesOnDemand = true
            adjust(&log)
        }
        configuration.clock = clock.clock
        return configuration
    }

    private func add(_ names: [String], to realm: Realm) throws {
        for name in names { try realm.write { _ = realm.create(Tally.self, value: ["name": name]) } }
    }

    private func names(_ realm: Realm) -> [String] { realm.objects(Tally.self).map(\.name).sorted() }

    private func owes(_ realm: Realm) -> Bool { realm.core.coordinator.writes.owesPages }

    /// A realm which owes the pages of what two writes have added.
    private func withOwing(_ configuration: Realm.Configuration? = nil, _ body: (Realm) throws -> Void) throws {
        try withNewRealm(configuration ?? self.configuration()) { realm in
            defer { realm.close() }
            try add(["a", "b", "c"], to: realm)
            try #require(owes(realm))
            try body(realm)
        }
    }

    /// Waits for what would never come if a thread waited for itself; then the process ends, since nothing could be closed.
    private func require(_ done: DispatchSemaphore) {
        if done.wait(timeout: .now() + 120) == .timedOut { fatalError("A thread waits for itself") }
    }

    @Test("An asynchronous write that comes back later does not hide what was acknowledged meanwhile")
    func comesBackLater() async throws {
        actor Place {
            var realm: Realm!
            var order: [String] = []
            /// The record is not flushed before the write has left the actor.
            let hasBegun = DispatchSemaphore(value: 0)

            func add(_ name: String) throws { try realm.write { _ = realm.create(Tally.self, value: ["name": name]) } }

            func names() -> [String] { realm.objects(Tally.self).map(\.name).sorted() }

            /// Stands at what it has written, and leaves something without pages behind that.
            func meanwhile() throws -> Bool {
                hasBegun.signal()
                order.append("meanwhile")
                try add("c")
                if names() != ["a", "b", "c", "later"] { return false }
                try add("d")
                return realm.core.coordinator.writes.owesPages
            }

            func go(
                _ configuration: Realm.Configuration,
                _ hook: Hook
            ) async throws -> (order: [String], owes: Bool, names: [String]) {
                realm = try await Realm(configuration: configuration, actor: self)
                defer { realm.close() }
                for name in ["a", "b"] { try add(name) }
                hook.set { [hasBegun] in _ = hasBegun.wait(timeout: .now() + 60) }
                let task = try await realm.asyncWrite {
                    _ = realm.create(Tally.self, value: ["name": "later"])
                    // It stands in line before what follows the write.
                    return Task { try self.meanwhile() }
                }
                order.append("later")
                let found = names()
                return (order, try await task.value, found)
            }
        }
        let hook = Hook()
        let configuration = configuration { log in
            log.makeDirectory = { HookedDirectory(base: LogFile(besides: $0), hook: { hook.call() }) }
        }
        let result = try await Place().go(configuration, hook)
        #expect(result.order == ["meanwhile", "later"])
        #expect(result.owes)
        #expect(result.names == ["a", "b", "c", "d", "later"])
    }

    @Test("A realm that moves on by itself holds nothing of the version in which its pages were made")
    func movesOn() throws {
        try withOwing { realm in
            let core = realm.core
            let file = core.coordinator.file
            // As the alarm of the lock that is kept, and what is posted behind it.
            core.coordinator.writes.makePages()
            let made = file.newestVersion
            core.refreshQuietly()
            #expect(core.ahead.owedPages == nil)
            let queue = DispatchQueue(label: "other")
            try queue.sync {
                let other = try Realm(configuration: configuration(), queue: queue)
                try add(["d"], to: other)
                other.close()
            }
            core.refreshQuietly()
            #expect(file.newestVersion > made)
            #expect(!file.activeVersions().contains { $0.version == made })
            #expect(names(realm) == ["a", "b", "c", "d"])
        }
    }

    @Test("A realm that is gone is looked for behind a publishing, and in no turn of a writer")
    func forgotten() throws {
        try withOwing { realm in
            let coordinator = realm.core.coordinator
            let queue = DispatchQueue(label: "other")
            // It is let go of, and not closed.
            try queue.sync { _ = try names(Realm(configuration: configuration(), queue: queue)) }
            #expect(!owes(realm))
            #expect(!coordinator.isUsedByOneRealm)
            try add(["d"], to: realm)
            let deadline = ContinuousClock.now + .seconds(1_800)
            while !coordinator.isUsedByOneRealm, ContinuousClock.now < deadline { usleep(1_000) }
            #expect(coordinator.isUsedByOneRealm)
            try add(["e", "f"], to: realm)
            #expect(owes(realm))
            #expect(names(realm) == ["a", "b", "c", "d", "e", "f"])
        }
    }

    @Test(
        "A realm that ends in a block that stands on what has no pages holds nothing of it",
        arguments: [true, false]
    )
    func endsInBlock(isClosed: Bool) throws {
        try withNewRealm(configuration()) { realm in
            defer { realm.close() }
            try add(["a", "b", "c"], to: realm)
            try #require(owes(realm))
            let core = realm.core
            #expect(throws: Realm.Error.self) {
                try realm.write { if isClosed { realm.close() } else { realm.invalidate() } }
            }
            #expect(core.ahead.owedPages == nil)
            if !isClosed { #expect(names(realm) == ["a", "b", "c"]) }
        }
        #expect(try withNewRealm(file.configuration) { names($0) } == ["a", "b", "c"])
    }

    @Test("The thread that makes pages does not wait for itself where it lets go of the lock that is kept")
    func ownThread() throws {
        try withOwing { realm in
            let writes = realm.core.coordinator.writes
            let (isThere, mayGo, isDone) = (
                DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
            )
            writes.ioThread.perform {
                isThere.signal()
                mayGo.wait()
                writes.letGoOfKept()
                isDone.signal()
            }
            isThere.wait()
            // The alarm has them made behind that.
            clock.advance(seconds: 0.011)
            mayGo.signal()
            require(isDone)
            let deadline = ContinuousClock.now + .seconds(1_800)
            while owes(realm) {
                try #require(ContinuousClock.now < deadline)
                Thread.sleep(forTimeInterval: 0.001)
            }
            #expect(names(realm) == ["a", "b", "c"])
        }
    }

    /// An observer that knows everything it wants to.
    final class Bystander: ObservationMember, @unchecked Sendable {
        override func examine(_ commit: ObservedCommit) -> Bool { true }
        override func catchUp(to view: FixedView, _ process: ObservationHub.Process) -> CatchUp { .stays }
        override var isFollowing: Bool { false }
        override func fail(_ error: any Error) {}
        override func noteFollowing(_ version: UInt64) {}
        override var heldVersion: UInt64? { nil }
        override func realmMoved() {}
        override func cancel() -> Bool { false }
        override func isBehind(_ version: UInt64) -> Bool { false }
    }

    @Test("Telling observers of a version does not have pages made of what has come behind it")
    func announcing() throws {
        try withOwing { realm in
            let coordinator = realm.core.coordinator
            let member = Bystander(origin: nil)
            // It comes while a record is being flushed.
            coordinator.observations.register(member)
            let isDone = DispatchSemaphore(value: 0)
            coordinator.io.thread.perform {
                coordinator.relay.announce(coordinator.file.newestVersion + 1)
                isDone.signal()
            }
            require(isDone)
            #expect(owes(realm))
            coordinator.observations.unregister(member)
            #expect(names(realm) == ["a", "b", "c"])
        }
    }

    /// A log during the flush of which something happens.
    struct HookedDirectory: ForwardingDirectory {
        final class Device: ForwardingDevice {
            let base: any StorageDevice
            let hook: @Sendable () -> Void

            init(_ base: any StorageDevice, _ hook: @escaping @Sendable () -> Void) {
                self.base = base
                self.hook = hook
            }

            func synchronize() throws(StorageError) {
                hook()
                try base.synchronize()
            }
        }

        let base: LogFile
        let hook: @Sendable () -> Void

        func makeDevice(_ log: any StorageDevice) -> any StorageDevice { Device(log, hook) }
    }

    @Test("A write that is durable does not throw because its pages cannot be made for somebody who has come meanwhile")
    func durableWithoutPages() throws {
        let isBroken = FullDevice.Switch(.io)
        let hook = Hook()
        var configuration = configuration { log in
            log.makeDirectory = { HookedDirectory(base: LogFile(besides: $0), hook: { hook.call() }) }
        }
        configuration.makeDevice = { FullDevice($0, isBroken) }
        try withOwing(configuration) { realm in
            let coordinator = realm.core.coordinator
            let member = Bystander(origin: nil)
            hook.set {
                coordinator.observations.register(member)
                isBroken.isOn = true
            }
            try add(["d"], to: realm)
            #expect(isBroken.refused > 0)
            isBroken.isOn = false
            coordinator.observations.unregister(member)
            let refusal = #expect(throws: Realm.Error.self) { try add(["e"], to: realm) }
            #expect(refusal?.description.contains("acknowledged") == true)
        }
        try withNewRealm(self.configuration()) { realm in
            defer { realm.close() }
            #expect(names(realm) == ["a", "b", "c", "d"])
        }
    }

    /// What is called once.
    final class Hook: Sendable {
        private let hook = Mutex<(@Sendable () -> Void)?>(nil)

        func set(_ body: @escaping @Sendable () -> Void) { hook.withLock { $0 = body } }

        func call() {
            let body = hook.withLock { hook in
                defer { hook = nil }
                return hook
            }
            body?()
        }
    }

    @Test("Another coordinator of the file finds what the one before it owes")
    func secondCoordinator() throws {
        try withOwing { realm in
            let first = realm.core.coordinator
            let second = RealmCoordinator(
                file: first.file,
                path: first.path,
                settings: try OpenSettings(realm.configuration)
            )
            let version = first.file.newestVersion
            let view = try second.makeView(nil)
            #expect(!owes(realm))
            #expect(first.file.newestVersion > version)
            #expect(view.version == first.file.newestVersion)
            #expect(names(realm) == ["a", "b", "c"])
        }
    }
}
