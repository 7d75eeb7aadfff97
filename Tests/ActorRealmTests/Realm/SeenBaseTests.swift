import Dispatch
import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

/// A write that ends without a commit of its own because of what it saw.
@Suite("What a block saw is there when its error is caught", .timeLimit(.minutes(60)))
struct SeenBaseTests {
    let file = TestFile()

    struct Exists: Error {}

    enum Form: String, CaseIterable {
        case write, asyncWrite, cancelled, suspendedCancel, twoSteps, callback
    }

    actor Maker {
        var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        private func find(_ name: String) -> Tally? { realm.object(ofType: Tally.self, forPrimaryKey: name) }
        private func make(_ name: String) { realm.create(Tally.self, value: ["name": name, "count": 1]) }

        func write(_ name: String) async throws { try await realm.asyncWrite { make(name) } }

        /// Gets or creates; false when it was there in the block and is not behind it.
        func getOrCreate(_ name: String, _ form: Form) async throws -> Bool {
            var saw = false
            do {
                switch form {
                case .write:
                    try realm.write {
                        if find(name) != nil { throw Exists() }
                        make(name)
                    }
                case .asyncWrite:
                    try await realm.asyncWrite {
                        if find(name) != nil { throw Exists() }
                        make(name)
                    }
                case .cancelled:
                    realm.beginWrite()
                    saw = find(name) != nil
                    if saw {
                        realm.cancelWrite()
                    } else {
                        make(name)
                        try realm.commitWrite()
                    }
                case .suspendedCancel:
                    try await realm.asyncWrite {
                        saw = find(name) != nil
                        if saw { realm.cancelWrite() } else { make(name) }
                    }
                case .twoSteps:
                    let transaction = try await realm.beginAsyncWrite()
                    saw = find(name) != nil
                    if saw {
                        transaction.cancel()
                    } else {
                        make(name)
                        try await transaction.commit()
                    }
                case .callback:
                    saw = await withCheckedContinuation { continuation in
                        nonisolated(unsafe) var saw = false
                        realm.writeAsync {
                            saw = self.find(name) != nil
                            if saw { self.realm.cancelWrite() } else { self.make(name) }
                        } onComplete: { _ in
                            continuation.resume(returning: saw)
                        }
                    }
                }
            } catch is Exists {
                saw = true
            }
            return find(name) != nil
        }
    }

    @Test("an object that made a block give up is there behind it, in every form", arguments: Form.allCases)
    func exists(form: Form) async throws {
        let makers = [try await Maker(file.configuration), try await Maker(file.configuration)]
        for round in 0..<40 {
            let found = try await withThrowingTaskGroup(of: Bool.self) { group in
                for maker in makers {
                    group.addTask { try await maker.getOrCreate("\(round)", form) }
                    group.addTask { try await maker.getOrCreate("\(round)", form) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(found == Array(repeating: true, count: found.count), "round \(round)")
        }
    }

    /// How a block gives up because of what it saw.
    enum GivingUp: String, CaseIterable {
        case throwing, cancelling, invalidating, invalidatingAndThrowing, cancellingAndInvalidating
    }

    @Test(
        "a block that gives up because of a commit that is lost then throws the failure of that",
        arguments: [true, false],
        GivingUp.allCases
    )
    func lost(suspends: Bool, giving: GivingUp) async throws {
        let gate = GatedDevice.Control()
        let failing = FailingDevice.Switch()
        var configuration = file.configuration
        configuration.makeDevice = { GatedDevice(FailingDevice($0, failing), gate) }
        let one = try await Maker(configuration)
        let other = try await Maker(configuration)
        try await one.write("before")
        gate.close()
        failing.isOn.withLock { $0 = true }
        let first = Task { try await one.write("lost") }
        let seen = Counter()
        let second = Task {
            while seen.value == 0 {
                try await other.giveUp(on: "lost", suspends: suspends, giving) {
                    seen.increment()
                    // The block may end on one of the pool's threads, and wait there: what it waits for needs none of them.
                    Thread.detachNewThread { gate.open() }
                }
                await Task.yield()
            }
        }
        await #expect(throws: Realm.Error.self) { try await first.value }
        let failure = await #expect(throws: Realm.Error.self) { try await second.value }
        #expect(failure?.code != .closed, "the end of the realm hides the loss")
        #expect(seen.value == 1)
    }
}

extension SeenBaseTests {
    @Test("A block that ends its realm in a transaction which it has begun anew throws the loss of what that saw")
    func lostAnew() async throws {
        let gate = GatedDevice.Control()
        let failing = FailingDevice.Switch()
        var gated = file.configuration
        gated.makeDevice = { GatedDevice(FailingDevice($0, failing), gate) }
        let configuration = gated
        let maker = try await Maker(configuration)
        try await maker.write("before")
        gate.close()
        failing.isOn.withLock { $0 = true }
        let ended = Counter()
        let seen = Counter()
        let failure = await #expect(throws: Realm.Error.self) {
            try await maker.endAnew(
                seeing: "lost",
                after: {
                    // The block waits on a thread of the pool: what it waits for must need none of them.
                    Thread.detachNewThread {
                        try? withNewRealm(configuration) { realm in
                            try realm.write { _ = realm.create(Tally.self, value: ["name": "lost"]) }
                        }
                        ended.increment()
                    }
                    while !gate.isHolding { usleep(1_000) }
                },
                { seen.increment() },
                before: { gate.open() }
            )
        }
        #expect(failure?.code != .closed, "the end of the realm hides the loss")
        #expect(seen.value == 1)
        while ended.value == 0 { await Task.yield() }
    }

    enum LetGo: String, CaseIterable { case transaction, callback, cancelledCallback }

    @Test("a transaction that is let go of keeps no version of what it was built on", arguments: LetGo.allCases)
    func letGo(form: LetGo) async throws {
        let gate = GatedDevice.Control()
        var configuration = file.configuration
        configuration.makeDevice = { GatedDevice($0, gate) }
        let one = try await Maker(configuration)
        let other = try await Maker(configuration)
        try await one.write("before")
        gate.close()
        let first = Task { try await one.write("base") }
        while await !one.isFlushing { await Task.yield() }
        await other.letGo(form)
        gate.open()
        try await first.value
        for name in ["a", "b", "c"] { try await one.write(name) }
        // Both realms stand on the newest version, and nothing else of the file is in use.
        while await !other.isAtNewest { await Task.yield() }
        #expect(await eventually { await one.pinnedVersionCount == 1 })
    }
}

extension SeenBaseTests.Maker {
    var isFlushing: Bool { realm.core.coordinator.writes.state.withLock { $0.publishing != nil } }
    var pinnedVersionCount: Int { realm.core.coordinator.file.pinnedVersionCount }
    var isAtNewest: Bool { realm.core.version == realm.core.coordinator.file.newestVersion }

    /// Begins a transaction and neither commits nor waits for what it was built on.
    func letGo(_ form: SeenBaseTests.LetGo) async {
        switch form {
        case .transaction: _ = try? await realm.beginAsyncWrite()
        case .callback, .cancelledCallback:
            await withCheckedContinuation { continuation in
                realm.beginAsyncWrite {
                    if form == .cancelledCallback { self.realm.cancelWrite() }
                    continuation.resume()
                }
            }
        }
    }

    /// Writes with a block that cancels its transaction and invalidates the realm, and does so again in a transaction which it begins
    /// after something, and in which it may see an object.
    func endAnew(
        seeing name: String,
        after something: @Sendable () -> Void,
        _ seen: @Sendable () -> Void,
        before returning: @Sendable () -> Void
    ) async throws {
        try await realm.asyncWrite {
            realm.cancelWrite()
            realm.invalidate()
            something()
            try realm.beginWriteTransaction()
            if realm.object(ofType: Tally.self, forPrimaryKey: name) != nil { seen() }
            realm.invalidate()
            returning()
        }
    }

    /// Gives up when an object is there.
    func giveUp(on name: String, suspends: Bool, _ giving: SeenBaseTests.GivingUp, _ seen: () -> Void) async throws {
        func look() throws {
            if realm.object(ofType: Tally.self, forPrimaryKey: name) == nil { return realm.cancelWrite() }
            seen()
            switch giving {
            case .throwing: throw SeenBaseTests.Exists()
            case .cancelling: realm.cancelWrite()
            case .invalidating: realm.invalidate()
            case .invalidatingAndThrowing:
                realm.invalidate()
                throw SeenBaseTests.Exists()
            case .cancellingAndInvalidating:
                realm.cancelWrite()
                realm.invalidate()
            }
        }
        if suspends { try await realm.asyncWrite(look) } else { try realm.write(look) }
    }
}
