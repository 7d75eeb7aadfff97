import ActorRealm
import Dispatch
import Foundation
import Testing

@Suite("Observing with blocks", .timeLimit(.minutes(60)))
struct ObservingTests {
    let file = ObservedFile()

    @Test("a block gets the initial collection later, then the changes, on the realm's own actor")
    func ownActor() async throws {
        let worker = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let journal = Journal<Told>()
        let token = await worker.with { worker, realm in
            let token = realm.objects(Chore.self)
                .observe { change in
                    worker.assertIsolated()
                    journal.add(change.told)
                }
            #expect(journal.entries.isEmpty)
            return token
        }
        #expect(await journal.wait(for: 1) == [.initial(["one"])])
        try await worker.add(2, "two")
        #expect(
            await journal.wait(for: 2).last
                == .update(["one", "two"], deletions: [], insertions: [1], modifications: [])
        )
        #expect(token.invalidate())
        #expect(!token.invalidate())
        try await worker.add(3, "three")
        #expect(await journal.settled(worker).count == 2)
    }

    @Test("a block on another actor gets that actor and its own realm's collection")
    func otherActor() async throws {
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        let journal = Journal<Told>()
        let token = await worker.with { _, realm in
            await realm.objects(Chore.self)
                .observe(on: other) { actor, change in
                    #expect(change.collection?.realm === actor.realm)
                    journal.add(change.told)
                }
        }
        _ = await journal.wait(for: 1)
        try await worker.add(1, "one")
        #expect(
            await journal.wait(for: 2)
                == [.initial([]), .update(["one"], deletions: [], insertions: [0], modifications: [])]
        )
        token.invalidate()
    }

    @Test("a block on an actor hears of every property written to an object after the registration")
    func objectOnActor() async throws {
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        try await worker.add(1, "one")
        let journal = Journal<String>()
        let token = try await worker.with { _, realm in
            let chore = try #require(realm.object(ofType: Chore.self, forPrimaryKey: 1))
            return await chore.observe(on: other) { actor, change in
                actor.assertIsolated()
                switch change {
                case .change(let chore, let properties):
                    for property in properties {
                        journal.add("\(chore.id).\(property.name): \(property.oldValue!) -> \(property.newValue!)")
                    }
                case .deleted: journal.add("deleted")
                case .error(let error): journal.add("\(error)")
                }
            }
        }
        try await worker.rename(1, "uno")
        #expect(await journal.wait(for: 1) == ["1.name: one -> uno"])
        try await worker.delete(1)
        #expect(await journal.wait(for: 2).last == "deleted")
        token.invalidate()
    }

    @Test("a block on a queue gets the collection of the queue's realm, there")
    func queue() async throws {
        let worker = try await Worker(file.configuration)
        let queue = DispatchQueue(label: "observing")
        let journal = Journal<Told>()
        let token = await worker.with { _, realm in
            realm.objects(Chore.self)
                .observe(on: queue) { change in
                    dispatchPrecondition(condition: .onQueue(queue))
                    journal.add(change.told)
                }
        }
        _ = await journal.wait(for: 1)
        try await worker.add(1, "one")
        #expect(await journal.wait(for: 2).count == 2)
        token.invalidate()
    }

    @Test("letting go of the token ends observing, also before the first delivery")
    func deallocation() async throws {
        let worker = try await Worker(file.configuration)
        let journal = Journal<Told>()
        await worker.with { _, realm in
            let token = realm.objects(Chore.self).observe { journal.add($0.told) }
            _ = token
        }
        try await worker.add(1, "one")
        #expect(await journal.settled(worker).isEmpty)
    }

    @Test("a cancelled task gets an inert token")
    func cancelledRegistration() async throws {
        let worker = try await Worker(file.configuration)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await worker.with { worker, realm in
                await realm.objects(Chore.self).observe(on: worker) { _, _ in Issue.record("called") }
            }
        }
        let token = await task.value
        try await worker.add(1, "one")
        #expect(!token.invalidate())
        #expect(!NotificationToken().invalidate())
    }

    @Test("a token that is kept by the actor it delivers to does not keep the actor alive")
    func noCycle() async throws {
        final class Probe: Sendable {}
        actor Keeper {
            var realm: Realm!
            var token: NotificationToken?
            let probe: Probe

            init(_ configuration: Realm.Configuration, _ probe: Probe) async throws {
                self.probe = probe
                realm = try await Realm(configuration: configuration, actor: self)
            }

            func start(_ journal: Journal<Told>) {
                token = realm.objects(Chore.self).observe { journal.add($0.told) }
            }
        }
        weak var weakProbe: Probe?
        let journal = Journal<Told>()
        do {
            let probe = Probe()
            weakProbe = probe
            let keeper = try await Keeper(file.configuration, probe)
            await keeper.start(journal)
            _ = await journal.wait(for: 1)
        }
        #expect(await eventually { weakProbe == nil })
    }

    @Test("a write can leave out an observer, which hears of the next one alone")
    func withoutNotifying() async throws {
        let worker = try await Worker(file.configuration)
        let journal = Journal<Told>()
        let others = Journal<Told>()
        let (token, other) = await worker.with { _, realm in
            (
                realm.objects(Chore.self).observe { journal.add($0.told) },
                realm.objects(Chore.self).observe { others.add($0.told) }
            )
        }
        _ = await journal.wait(for: 1)
        _ = await others.wait(for: 1)
        try await worker.with { _, realm in
            try await realm.asyncWrite(withoutNotifying: [token]) {
                _ = realm.create(Chore.self, value: ["id": 1, "name": "own"])
            }
        }
        _ = await others.wait(for: 2)
        #expect(await journal.settled(worker).count == 1)
        try await worker.add(2, "two")
        #expect(
            await journal.wait(for: 2).last
                == .update(["own", "two"], deletions: [], insertions: [1], modifications: [])
        )
        #expect(await others.wait(for: 3).count == 3)
        token.invalidate()
        other.invalidate()
    }

    @Test("with autorefresh off, changes wait for the refresh, and the realm is told that one is due")
    func manualRefresh() async throws {
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        let journal = Journal<Told>()
        let notifications = Journal<Realm.Notification>()
        let tokens = await worker.with { _, realm in
            realm.autorefresh = false
            return [
                realm.objects(Chore.self).observe { journal.add($0.told) },
                realm.observe { notification, _ in notifications.add(notification) },
            ]
        }
        #expect(await journal.wait(for: 1) == [.initial([])])
        try await other.add(1, "one")
        #expect(await notifications.wait(for: 1) == [.refreshRequired])
        await worker.with { _, realm in
            // The block that was told of the refresh is the last one of the actor.
            #expect(journal.entries.count == 1)
            #expect(realm.objects(Chore.self).isEmpty)
            #expect(await realm.asyncRefresh())
        }
        #expect(
            await journal.wait(for: 2).last
                == .update(["one"], deletions: [], insertions: [0], modifications: [])
        )
        #expect(await notifications.wait(for: 2) == [.refreshRequired, .didChange])
        for token in tokens { token.invalidate() }
    }

    @Test("a block may write, and hears of its own write")
    func writingInBlock() async throws {
        let worker = try await Worker(file.configuration)
        let journal = Journal<Told>()
        let token = await worker.with { _, realm in
            realm.objects(Chore.self)
                .observe { change in
                    journal.add(change.told)
                    guard let chores = change.collection, chores.count < 3 else { return }
                    let id = chores.count
                    try? realm.write { _ = realm.create(Chore.self, value: ["id": id, "name": "\(id)"]) }
                }
        }
        #expect(
            await journal.wait(for: 4) == [
                .initial([]),
                .update(["0"], deletions: [], insertions: [0], modifications: []),
                .update(["0", "1"], deletions: [], insertions: [1], modifications: []),
                .update(["0", "1", "2"], deletions: [], insertions: [2], modifications: []),
            ]
        )
        token.invalidate()
    }

    @Test("tokens of another realm's observers cannot be left out")
    func foreignToken() async throws {
        let file = ObservedFile()
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        let token = await other.with { _, realm in realm.objects(Chore.self).observe { _ in } }
        let error = await worker.with { _, realm in
            #expect(throws: Realm.Error.self) { try realm.write(withoutNotifying: [token]) {} }
        }
        #expect(error?.code == .invalidInput)
        try await worker.with { _, realm in
            #expect(!realm.isInWriteTransaction)
            try realm.write {}
        }
        token.invalidate()
    }

    @Test("observing traps inside a write transaction, on frozen and on unmanaged collections, and with a bad key path")
    func traps() async throws {
        func check(_ result: ExitTest.Result?, _ message: String) {
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains(message))
        }
        check(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let file = ObservedFile()
                let worker = try await Worker(file.configuration)
                try await worker.with { _, realm in try realm.write { _ = realm.objects(Chore.self).observe { _ in } } }
                withExtendedLifetime(file) {}
            },
            "Observing cannot begin inside a write transaction"
        )
        check(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let file = ObservedFile()
                let worker = try await Worker(file.configuration)
                await worker.with { _, realm in _ = realm.objects(Chore.self).freeze().observe { _ in } }
                withExtendedLifetime(file) {}
            },
            "Frozen Realms do not change"
        )
        check(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Chore().tags.observe { _ in }
            },
            "only supported on managed collections"
        )
        check(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Chore().observe { (_: ObjectChange<Chore>) in }
            },
            "Only objects which are managed by a Realm support change notifications"
        )
        check(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let file = ObservedFile()
                let configuration = file.configuration
                let thread = Thread {
                    // A realm of a thread, to which nothing can be handed.
                    guard let realm = try? Realm(configuration: configuration) else { exit(0) }
                    _ = realm.objects(Chore.self).observe { _ in }
                    exit(0)
                }
                thread.start()
                while true { sleep(1) }
            },
            "Can only add notification blocks from within runloops, queues or actors"
        )
        check(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let file = ObservedFile()
                let worker = try await Worker(file.configuration)
                await worker.with { _, realm in _ = realm.objects(Chore.self).observe(keyPaths: ["none"]) { _ in } }
                withExtendedLifetime(file) {}
            },
            "none"
        )
    }

    /// Keeps the token of its own observer, which therefore ends with it.
    private actor Keeper {
        private var token: NotificationToken?

        init(_ configuration: Realm.Configuration) async throws {
            let realm = try await Realm(configuration: configuration, actor: self)
            token = realm.objects(Chore.self).observe { _ in }
        }
    }

    @Test("observers may end with their actor while other realms of the file are opened")
    func endingBesideOpening() async throws {
        let configuration = file.configuration
        let worker = try await Worker(configuration)
        try await withThrowingTaskGroup { group in
            group.addTask {
                for _ in 0..<400 { _ = try await Keeper(configuration) }
            }
            group.addTask {
                for _ in 0..<400 {
                    let queue = DispatchQueue(label: "opening")
                    try queue.sync { _ = try Realm(configuration: configuration, queue: queue) }
                }
            }
            try await group.waitForAll()
        }
        try await worker.add(1, "one")
        #expect(await worker.with { _, realm in realm.objects(Chore.self).map(\.name) } == ["one"])
    }
}
