import Foundation
import Testing

@testable import ActorRealm

@Suite("What observers of the same are told of a commit", .timeLimit(.minutes(60)))
struct SharedChangeTests {
    let file = TestFile()

    private func wait(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                semaphore.wait()
                continuation.resume()
            }
        }
    }

    @Test("is one change for all of them, and another for who observes something else")
    @MainActor
    func shared() async throws {
        let realm = try await Realm(configuration: file.fast)
        let coordinator = realm.core.coordinator
        let cursors = try ["z", "z", "y"]
            .map { name in
                let results = realm.objects(Tally.self).where { $0.name != name }
                return try ChangeCursor(
                    results.observationSource(keyPaths: nil, origin: nil).subject,
                    coordinator: coordinator,
                    at: nil,
                    lagLimit: nil,
                    objectTypes: [Todo.self, Tally.self],
                    origin: nil
                )
            }
        let told = DispatchSemaphore(value: 0)
        for cursor in cursors {
            try #require(cursor.ask() == .compute)
            await cursor.compute()
            try #require(cursor.ask() == .fetch)
            cursor.accept(try #require(cursor.fetch()))
            try #require(cursor.ask(orCall: { told.signal() }) == .wait)
        }
        coordinator.observations.schedule()
        while !cursors.allSatisfy(\.isFollowing) || coordinator.observations.currentVersion != realm.version {
            await Task.yield()
        }
        try withNewRealm(file.fast) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": "a"]) }
        }
        for _ in cursors { await wait(for: told) }
        var changes: [ChangeCursor<CollectionSubject>.Pending] = []
        for cursor in cursors {
            try #require(cursor.ask() == .fetch)
            changes.append(try #require(cursor.fetch()))
        }
        #expect(changes[0] === changes[1])
        #expect(changes[0] !== changes[2])
        #expect(changes.allSatisfy { $0.delta?.insertions == [0] })
        for cursor in cursors { cursor.cancel() }
    }

    @Test("is found by a description that nobody else has, as long as a commit knows it")
    func descriptions() throws {
        try withNewRealm(file.fast) { realm in
            let coordinator = realm.core.coordinator
            try realm.write { _ = realm.create(Tally.self, value: ["name": "a"]) }
            let snapshot = try coordinator.file.beginRead()
            try realm.write { _ = realm.create(Tally.self, value: ["name": "b"]) }
            let (old, new) = (try FixedView(snapshot), try FixedView(coordinator.file.beginRead()))
            let step = try coordinator.observations.step(from: old, to: new)
            let commit = ObservedCommit(from: old, to: new, step) { new.model }
            let results = realm.objects(Tally.self).sorted(byKeyPath: "name")
            let subject = results.observationSource(keyPaths: nil, origin: nil).subject
            // Each view describes it for itself, and is gone with its description.
            for _ in 0..<20 { _ = try subject.advanced(subject.state(at: FixedView(snapshot)), by: commit) }
            #expect(commit.collections.count == 1)
            #expect(commit.identified.count == 20)
        }
    }
}
