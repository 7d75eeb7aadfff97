import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Who is told of what was acknowledged, where writing has stopped before it had pages, or there is no space for them.
extension MissingPagesTests {
    private typealias Place = OwingAsyncWritesTests.Place
    private typealias Hook = OwedPagesOfRealmTests.Hook

    /// A configuration with something that happens while the log is being flushed.
    private func hooked(_ hook: Hook) -> Realm.Configuration {
        var hooked = configuration()
        let adjust = hooked.adjustLog
        hooked.adjustLog = { log in
            adjust?(&log)
            log.makeDirectory = { path in
                OwedPagesOfRealmTests.HookedDirectory(base: LogFile(besides: path), hook: { hook.call() })
            }
        }
        return hooked
    }

    /// A realm of an actor with "a", "b" and "c", where somebody comes while its write of "d" is on the way to the log.
    ///
    /// Behind that the disk is broken or full, so that "d" is acknowledged, and has no pages.
    ///
    /// - Parameters:
    ///   - isFull: Whether it is full, and nothing stops.
    ///   - meanwhile: Who comes while the record is being flushed.
    ///   - behind: What is looked at when the write has returned.
    /// - Throws: What they throw.
    private func withStop<Visitor>(
        isFull: Bool,
        meanwhile: (Place, Realm.Configuration) async throws -> Visitor,
        behind: (Place, Visitor) async throws -> Void
    ) async throws {
        let hook = Hook()
        if isFull { isBroken.code = .full }
        let configuration = hooked(hook)
        let place = Place()
        let coordinator = try await place.open(configuration)
        for name in ["a", "b", "c"] { try await place.add(name) }
        // Behind this nothing is owed: who comes finds the version that the realm stands at.
        #expect(await place.names() == ["a", "b", "c"])
        let mayGo = DispatchSemaphore(value: 0)
        let (isThere, arrives) = AsyncStream<Void>.makeStream()
        let isBroken = isBroken
        hook.set {
            arrives.finish()
            mayGo.wait()
            isBroken.isOn = true
        }
        let task = await place.begin(["d"])[0]
        for await _ in isThere {}
        let visitor: Visitor
        do {
            visitor = try await meanwhile(place, configuration)
        } catch {
            mayGo.signal()
            throw error
        }
        mayGo.signal()
        try await task.value
        // Since somebody has come, the write has waited for its pages.
        #expect(coordinator.file.hasStopped == !isFull)
        #expect(coordinator.file.newestVersion < coordinator.file.versionWithoutPages)
        try await behind(place, visitor)
        isBroken.isOn = false
        await place.close()
        try withNewRealm(self.configuration()) { realm in
            defer { realm.close() }
            #expect(names(realm) == ["a", "b", "c", "d"])
        }
    }

    /// Waits until something is so, for half an hour at most.
    private func soon(_ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(1_800)
        while try await !condition(), ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test(
        "Behind a stop, and on a full disk, observers and version listeners are told of what the realm reads, and asyncRefresh() returns",
        arguments: [false, true]
    )
    func observing(isFull: Bool) async throws {
        let (told, counts, versions) = (Journal<[String]>(), Journal<Int>(), Journal<UInt64>())
        try await withStop(isFull: isFull) { place, _ in
            let tokens = await place.perform { realm in
                _ = realm.core.coordinator.addVersionListener { versions.add($0) }
                let ofRealm = realm.observe { _, realm in told.add(realm.objects(Tally.self).map(\.name).sorted()) }
                let ofResults = realm.objects(Tally.self)
                    .observe { change in
                        switch change {
                        case .initial(let tallies): counts.add(tallies.count)
                        case .update(let tallies, _, _, _): counts.add(tallies.count)
                        case .error: counts.add(-1)
                        }
                    }
                return [ofRealm, ofResults]
            }
            try await soon { !counts.entries.isEmpty }
            #expect(counts.entries == [3])
            #expect(told.entries.isEmpty)
            return tokens
        } behind: { place, tokens in
            #expect(await place.names() == ["a", "b", "c", "d"])
            let refreshing = Task { await place.isTold() }
            let limit = Task {
                try await Task.sleep(for: .seconds(60))
                refreshing.cancel()
            }
            await refreshing.value
            #expect(!refreshing.isCancelled)
            limit.cancel()
            #expect(told.entries.last == ["a", "b", "c", "d"])
            #expect(counts.entries.last == 4)
            try await soon { !versions.entries.isEmpty }
            let version = await place.perform { $0.core.version }
            #expect(versions.entries == [version])
            for token in tokens { _ = token.invalidate() }
        }
    }

    @Test(
        "Behind a stop, and on a full disk, another realm that follows by itself goes to what was acknowledged",
        arguments: [false, true]
    )
    func following(isFull: Bool) async throws {
        try await withStop(isFull: isFull) { _, configuration in
            let other = Place()
            _ = try await other.open(configuration)
            #expect(await other.names() == ["a", "b", "c"])
            return other
        } behind: { _, other in
            try await soon { await other.names().count == 4 }
            #expect(await other.names() == ["a", "b", "c", "d"])
            await other.close()
        }
    }

    @Test(
        "Behind a stop what is handed to another realm is found there as it was acknowledged",
        arguments: [true, false]
    )
    func handingOver(asReference isReference: Bool) async throws {
        try await withStop(isFull: false) { place, configuration in
            let other = Place()
            _ = try await other.open(configuration)
            // It goes nowhere by itself.
            await other.perform { $0.autorefresh = false }
            let first = await place.perform { realm in
                ThreadSafe(wrappedValue: realm.object(ofType: Tally.self, forPrimaryKey: "a"))
            }
            return (other, first)
        } behind: { place, visitor in
            let (other, first) = visitor
            #expect(await place.names() == ["a", "b", "c", "d"])
            if isReference {
                let known = await place.perform { realm in
                    realm.object(ofType: Tally.self, forPrimaryKey: "d").map { ObjectReference(to: $0) }
                }
                let reference = try #require(known)
                let name = await other.perform { $0.resolve(reference)?.name }
                #expect(name == "d")
            } else {
                let count = await other.perform { _ in first.wrappedValue?.realm?.objects(Tally.self).count }
                #expect(count == 4)
            }
            await other.close()
        }
    }
}

extension OwingAsyncWritesTests.Place {
    /// Waits until every block that observes on this actor knows what the realm reads.
    func isTold() async { await realm.asyncRefresh() }
}
