import ActorRealm
import Dispatch
import Foundation
import Testing

/// The less usual realms and tokens.
@Suite("Observing in realms of every kind", .timeLimit(.minutes(60)))
struct ObservedRealmsTests {
    private let file = DockFile()

    @Test("a realm in memory is observed like a file")
    func inMemory() async throws {
        var configuration = Realm.Configuration(inMemoryIdentifier: "observed-\(UUID())")
        configuration.objectTypes = [Dock.self, Boat.self, DockPlace.self]
        let writer = try await Worker(configuration)
        let reader = try await Worker(configuration)
        let journal = Journal<Int>()
        let changes = await reader.with { _, realm in realm.objects(Dock.self).changes() }
        let loop = Task { for await change in changes { journal.add(change.collection?.count ?? -1) } }
        _ = await journal.wait(for: 1)
        try await writer.with { _, realm in
            try await realm.asyncWrite { _ = realm.create(Dock.self, value: ["id": 1]) }
        }
        #expect(await journal.wait(for: 2) == [0, 1])
        loop.cancel()
        await loop.value
    }

    @Test("a realm of a queue delivers to its queue, its own writes too, and to sequences")
    func queueBound() async throws {
        let queue = DispatchQueue(label: "docks")
        let configuration = file.configuration
        let journal = Journal<String>()
        // Unchecked because it is used on the queue only.
        final class Holder: @unchecked Sendable {
            var realm: Realm!
            var tokens: [NotificationToken] = []
        }
        let holder = Holder()
        try queue.sync {
            holder.realm = try Realm(configuration: configuration, queue: queue)
            holder.tokens = [
                holder.realm.objects(Dock.self)
                    .observe { change in
                        dispatchPrecondition(condition: .onQueue(queue))
                        journal.add("docks \(change.collection!.count)")
                    },
                holder.realm.observe { notification, realm in
                    dispatchPrecondition(condition: .onQueue(queue))
                    journal.add("\(notification) \(realm.objects(Dock.self).count)")
                },
            ]
        }
        _ = await journal.wait(for: 1)
        let changes = queue.sync { holder.realm.objects(Dock.self).changes() }
        var iterator = changes.makeAsyncIterator()
        _ = await iterator.next()
        try queue.sync {
            try holder.realm.write { _ = holder.realm.create(Dock.self, value: ["id": 1]) }
        }
        #expect(await journal.wait(for: 3).sorted() == ["didChange 1", "docks 0", "docks 1"])
        #expect(await iterator.next()?.collection?.isFrozen == true)
        queue.sync {
            for token in holder.tokens { #expect(token.invalidate()) }
            holder.realm = nil
        }
    }

    @Test("the main actor is an actor to observe on")
    @MainActor
    func mainActor() async throws {
        let realm = try await Realm(configuration: file.configuration, actor: MainActor.shared)
        let journal = Journal<Int>()
        let token = await realm.objects(Dock.self)
            .observe(on: MainActor.shared) { actor, change in
                actor.assertIsolated()
                journal.add(change.collection?.count ?? -1)
            }
        _ = await journal.wait(for: 1)
        try realm.write { _ = realm.create(Dock.self, value: ["id": 1]) }
        #expect(await journal.wait(for: 2) == [0, 1])
        token.invalidate()
    }

    @Test("every kind of token can be left out of a write, in every form of writing")
    func leavingOut() async throws {
        let worker = try await file.worker()
        let journal = Journal<String>()
        let begun = Journal<Void>()
        let tokens = await worker.with { worker, realm in
            let dock = DockFile.dock(realm)
            return [
                dock.observe { journal.add("object \(DockFile.names($0))") },
                dock.boats.observe { if case .update = $0 { journal.add("list") } else { begun.add(()) } },
                dock.berths.observe { if case .update = $0 { journal.add("map") } else { begun.add(()) } },
                realm.objects(Boat.self).sectioned(by: \.tons)
                    .observe { if case .update = $0 { journal.add("sections") } else { begun.add(()) } },
                realm.observe { _, _ in journal.add("realm") },
                await realm.objects(Boat.self)
                    .observe(on: worker) { _, change in
                        if case .update = change { journal.add("actor") } else { begun.add(()) }
                    },
            ]
        }
        _ = await begun.wait(for: 4)
        try await worker.with { _, realm in
            let boat = realm.object(ofType: Boat.self, forPrimaryKey: 1)!
            let dock = DockFile.dock(realm)
            try realm.write(withoutNotifying: tokens) {
                boat.name = "one"
                dock.name = "one"
            }
            realm.beginWrite()
            boat.name = "two"
            dock.name = "two"
            try realm.commitWrite(withoutNotifying: tokens)
            try await realm.asyncWrite(withoutNotifying: tokens) {
                boat.name = "three"
                dock.name = "three"
            }
        }
        #expect(await journal.settled(worker) == [])
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                realm.object(ofType: Boat.self, forPrimaryKey: 1)!.name = "four"
                DockFile.dock(realm).name = "four"
            }
        }
        _ = await journal.wait(for: 6)
        let expected = ["actor", "list", "map", "object [\"name\"]", "realm", "sections"]
        #expect(await journal.settled(worker).sorted() == expected)
        for token in tokens { token.invalidate() }
    }

    @Test("letting go of the token of a block of a whole realm is said in the log, with where it began to observe")
    func letGo() async throws {
        let journal = Journal<String>()
        var configuration = file.configuration
        configuration.logger = Logger(level: .warn) { level, message in journal.add("\(level): \(message)") }
        let worker = try await Worker(configuration)
        let line: UInt = #line + 9
        try await worker.with { _, realm in
            let boats = realm.objects(Boat.self)
            // These are no news: invalidated, ended by the realm, of a collection, of no registration.
            let kept = realm.observe { _, _ in }
            #expect(kept.invalidate())
            _ = boats.observe { _ in }
            _ = NotificationToken()
            #expect(journal.entries.isEmpty)
            var token: NotificationToken? = realm.observe { _, _ in Issue.record("It was let go of.") }
            #expect(journal.entries.isEmpty && token != nil)
            token = nil
            try realm.write { realm.delete(boats) }
            token = realm.observe { _, _ in }
            realm.close()
            token = nil
        }
        let path = try #require(configuration.fileURL?.path)
        #expect(
            journal.entries == [
                "warn: A token of a block that observes a realm was let go of: the block is not called any more. Keep the "
                    + "token, and call `token.invalidate()` when no more changes are wanted. "
                    + "[realm.observedAt: \(#fileID):\(line), realm.path: \(path)]"
            ]
        )
    }
}
