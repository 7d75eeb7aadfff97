import Foundation
import RealmModel
import RealmQuery
import RealmStorage
import Synchronization
import Testing

@testable import ActorRealm

/// One observer between its hub and its realm, where each is stopped at the place in question.
@Suite("Where one observer stands", .timeLimit(.minutes(60)))
@MainActor
struct ChangeCursorTests {
    let file = TestFile()

    /// Holds the thread of a hub behind a pass, until it is let go.
    private final class HeldHub: Sendable {
        private let isHeld = Mutex(false)
        private let arrivals = DispatchSemaphore(value: 0)
        private let goOn = DispatchSemaphore(value: 0)

        init(_ hub: ObservationHub) {
            hub.attach { [self] in
                guard isHeld.withLock({ $0 }) else { return }
                arrivals.signal()
                goOn.wait()
            }
        }

        func hold(_ hub: ObservationHub) {
            isHeld.withLock { $0 = true }
            hub.schedule()
            arrivals.wait()
        }

        func letGo() {
            isHeld.withLock { $0 = false }
            goOn.signal()
        }
    }

    /// A whole realm, where whoever goes to one version waits on the way.
    private final class GatedSubject: ChangeSubject {
        let version = Atomic(UInt64.max)
        let arrivals = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        let subject = RealmSubject()

        var tellsInitialState: Bool { false }
        func state(at view: FixedView) -> RealmSubject.State { RealmSubject.State() }

        func advance(_ state: inout RealmSubject.State, by step: ChangeStep, from old: FixedView) -> RealmChange? {
            if step.new.snapshot.version == version.load(ordering: .sequentiallyConsistent) {
                version.store(.max, ordering: .sequentiallyConsistent)
                arrivals.signal()
                goOn.wait()
            }
            return subject.advance(&state, by: step, from: old)
        }

        func merged(_ first: RealmChange, _ second: RealmChange) -> RealmChange? { subject.merged(first, second) }

        func leavingOut(_ left: RealmChange, from untold: RealmChange, upTo view: FixedView) -> RealmChange? {
            subject.leavingOut(left, from: untold, upTo: view)
        }

        func tables(_ state: RealmSubject.State, in model: ModelView) -> Set<UInt32>? { nil }
        func isFinal(_ state: RealmSubject.State) -> Bool { false }
    }

    private func cursor<Subject: ChangeSubject>(_ subject: Subject, _ realm: Realm) throws -> ChangeCursor<Subject> {
        try ChangeCursor(
            subject,
            coordinator: realm.core.coordinator,
            at: realm.core.model.snapshot,
            lagLimit: nil,
            objectTypes: [Todo.self, Tally.self],
            origin: nil
        )
    }

    private func write(_ realm: Realm) throws {
        try realm.write { _ = realm.create(Tally.self, value: ["name": UUID().uuidString]) }
    }

    private func insertions(_ pending: ChangeCursor<RealmSubject>.Pending?) -> Int? {
        pending?.delta?.classes["Tally"]?.inserted.count
    }

    /// Asks as a loop does; nil when there is nothing to tell up to a version.
    private func asked<Subject: ChangeSubject>(
        _ cursor: ChangeCursor<Subject>,
        upTo version: UInt64
    ) async -> ChangeCursor<Subject>.Pending? {
        while true {
            switch cursor.ask() {
            case .compute: await cursor.compute()
            case .wait where !cursor.knows(version): await cursor.wait()
            case .wait, .end: return nil
            case .fetch:
                guard let pending = cursor.fetch() else { continue }
                cursor.accept(pending)
                return pending
            }
        }
    }

    @Test(
        "a commit that is left out is told to the others alone, though whoever flushed it has not come to say that it is there",
        arguments: [true, false]
    )
    func leftOut(inItsRealm: Bool) async throws {
        let realm = try await Realm(configuration: file.fast)
        realm.autorefresh = false
        let hub = realm.core.coordinator.observations
        let one = try cursor(RealmSubject(), realm)
        let other = try cursor(RealmSubject(), realm)
        func told(_ cursor: ChangeCursor<RealmSubject>) async throws -> Int? {
            if !inItsRealm { return insertions(await asked(cursor, upTo: realm.version)) }
            return insertions(try cursor.tellHere(upTo: realm.core.model.snapshot))
        }
        /// Commits something that is left out; whoever flushed it may not have come to say that it is there.
        func writeLeftOut(isNoted: Bool) throws {
            let commit = LeftOutCommit(version: realm.version + 1)
            one.skip(commit, standingOn: realm.version)
            commit.willPublish(after: try realm.core.coordinator.file.beginRead())
            try write(realm)
            if isNoted { commit.didPublish(try realm.core.coordinator.file.beginRead()) }
        }
        try writeLeftOut(isNoted: false)
        let version = realm.core.model.snapshot.version
        #expect(try await told(one) == nil)
        #expect(try await told(other) == 1)
        #expect(one.knows(version), "it is passed, and not kept for later")
        #expect(hub.newestVersion == version)
        try write(realm)
        #expect(try await told(one) == 1, "the next one is told alone")
        #expect(try await told(other) == 1)
        // With others' commits before it and behind it, those are told alone.
        try write(realm)
        try writeLeftOut(isNoted: true)
        try writeLeftOut(isNoted: true)
        try write(realm)
        try writeLeftOut(isNoted: true)
        #expect(try await told(one) == 2)
        #expect(try await told(other) == 5)
        // A commit that failed is not there, and another one has its version.
        let failed = LeftOutCommit(version: realm.version + 1)
        one.skip(failed, standingOn: realm.version)
        failed.willPublish(after: try realm.core.coordinator.file.beginRead())
        failed.fail()
        try write(realm)
        #expect(try await told(one) == 1)
        #expect(try await told(other) == 1)
        one.cancel()
        other.cancel()
    }

    @Test(
        "what a commit added that left the observer out is told as deleted when others deleted it before the hub came to either",
        arguments: [false, true]
    )
    func addedAndDeleted(isFiltered: Bool) async throws {
        let realm = try await Realm(configuration: file.fast)
        realm.autorefresh = false
        let hub = realm.core.coordinator.observations
        // Of rows that come and go between two passes the conditions are not asked.
        let tallies = realm.objects(Tally.self)
        let cursor = try cursor(
            (isFiltered ? tallies.where { $0.name != "" } : tallies)
                .observationSource(keyPaths: nil, origin: ReaderOrigin(fileID: #fileID, line: #line)).subject,
            realm
        )
        #expect(await asked(cursor, upTo: realm.version)?.delta == nil)
        try #require(cursor.ask(orCall: {}) == .wait)
        let held = HeldHub(hub)
        held.hold(hub)
        try #require(cursor.isFollowing)
        let commit = LeftOutCommit(version: realm.version + 1)
        cursor.skip(commit, standingOn: realm.version)
        commit.willPublish(after: try realm.core.coordinator.file.beginRead())
        try write(realm)
        commit.didPublish(try realm.core.coordinator.file.beginRead())
        try realm.write { realm.delete(realm.objects(Tally.self)) }
        held.letGo()
        held.hold(hub)
        try #require(!cursor.isFollowing, "the hub went past both")
        held.letGo()
        let delta = await asked(cursor, upTo: realm.version)?.delta
        #expect(delta?.deletions == [0], "it shows what the commit added")
        #expect(delta?.insertions == [])
        cursor.cancel()
    }

    @Test(
        "a pass of the hub to the version up to which an observer's changes were gathered leaves them to be asked for"
    )
    func gathered() async throws {
        let realm = try await Realm(configuration: file.fast)
        realm.autorefresh = false
        let hub = realm.core.coordinator.observations
        let cursor = try cursor(
            realm.objects(Tally.self)
                .observationSource(keyPaths: nil, origin: ReaderOrigin(fileID: #fileID, line: #line))
                .subject,
            realm
        )
        #expect(await asked(cursor, upTo: realm.version)?.delta == nil)
        let isCalled = DispatchSemaphore(value: 0)
        try #require(cursor.ask(orCall: { isCalled.signal() }) == .wait)
        try write(realm)
        // It is offered, or to be computed, and nobody fetches it.
        isCalled.wait()
        for _ in 0..<2 {
            let commit = LeftOutCommit(version: realm.version + 1)
            cursor.skip(commit, standingOn: realm.version)
            commit.willPublish(after: try realm.core.coordinator.file.beginRead())
            try write(realm)
            commit.didPublish(try realm.core.coordinator.file.beginRead())
        }
        cursor.gather(upTo: realm.version)
        #expect(cursor.held.withLock { $0.skips.isEmpty && $0.base?.view?.version == realm.version })
        #expect(cursor.heldVersion == realm.version)
        let held = HeldHub(hub)
        held.hold(hub)
        #expect(cursor.ask(orCall: {}) == .compute)
        held.letGo()
        cursor.computeHere()
        let delta = await asked(cursor, upTo: realm.version)?.delta
        #expect(delta?.insertions == [0], "what was not left out is told, and nothing else")
        cursor.cancel()
    }

    @Test("a whole realm that begins anew is told of the version on which it stands, which may have come meanwhile")
    func beginningAnew() async throws {
        let realm = try await Realm(configuration: file.fast)
        realm.autorefresh = false
        let hub = realm.core.coordinator.observations
        let cursor = try ChangeCursor(
            RealmSubject(),
            coordinator: realm.core.coordinator,
            at: realm.core.model.snapshot,
            lagLimit: 0,
            objectTypes: [Todo.self, Tally.self],
            origin: nil
        )
        // It asks for nothing, and lets go of its version.
        while cursor.toldVersion != nil {
            try write(realm)
            hub.schedule()
            await withCheckedContinuation { continuation in hub.thread.perform { continuation.resume() } }
        }
        try #require(cursor.ask() == .compute)
        await cursor.compute()
        try #require(cursor.ask() == .fetch)
        let first = try #require(cursor.fetch())
        #expect(first.delta?.isReset == true)
        #expect(first.delta?.version == realm.version)
        try write(realm)
        await cursor.retarget(to: realm.core.model.snapshot, insteadOf: first)
        try #require(cursor.ask() == .fetch)
        let second = try #require(cursor.fetch())
        #expect(second.target.version == realm.version)
        #expect(second.delta?.isReset == true)
        #expect(second.delta?.version == realm.version)
        cursor.cancel()
    }

    @Test("a pass of the hub that its realm's own telling made void is made up for")
    func tellingDuringPass() async throws {
        let realm = try await Realm(configuration: file.fast)
        realm.autorefresh = false
        let hub = realm.core.coordinator.observations
        let held = HeldHub(hub)
        held.hold(hub)
        let subject = GatedSubject()
        let cursor = try cursor(subject, realm)
        let isCalled = DispatchSemaphore(value: 0)
        try #require(cursor.ask(orCall: { isCalled.signal() }) == .wait)
        // The realm stands on a version, and the hub is on the way to a later one.
        try write(realm)
        let snapshot = realm.core.model.snapshot
        try write(realm)
        subject.version.store(realm.version, ordering: .sequentiallyConsistent)
        held.letGo()
        subject.arrivals.wait()
        let told = try cursor.tellHere(upTo: snapshot)
        #expect(told?.delta?.classes["Tally"]?.inserted.count == 1)
        subject.goOn.signal()
        // Nobody commits any more, and nobody asks: that is the hub's to see.
        #expect(isCalled.wait(timeout: .now() + 1_800) == .success)
        try #require(cursor.ask() == .fetch)
        #expect(cursor.fetch()?.target.version == snapshot.version + 1)
        cursor.cancel()
    }
}
