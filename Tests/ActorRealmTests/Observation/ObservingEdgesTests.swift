import ActorRealm
import Dispatch
import Foundation
import RealmTestSupport
import Testing

class Dock: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = ""
    @Persisted var place: DockPlace?
    @Persisted var places: List<DockPlace>
    @Persisted var boats: List<Boat>
    @Persisted var berths: Map<String, Boat?>
    @Persisted var marks: MutableSet<String>
    @Persisted var anything: AnyRealmValue
}

class Boat: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = ""
    @Persisted var tons = 0
    @Persisted var home: Dock?
    @Persisted(originProperty: "boats") var docks: LinkingObjects<Dock>
}

class DockPlace: EmbeddedObject {
    @Persisted var street = ""
    @Persisted var number = 0
}

/// What the other suites of observing leave out: what ends before it begins, types that only the block names, and the
/// less usual realms.
@Suite("Observing at its edges", .timeLimit(.minutes(30)))
struct ObservingEdgesTests {
    private let directory = TemporaryDirectory()

    private var configuration: Realm.Configuration {
        Realm.Configuration(
            fileURL: URL(fileURLWithPath: directory.path("docks.realm")),
            objectTypes: [Dock.self, Boat.self, DockPlace.self]
        )
    }

    private func worker() async throws -> Worker {
        let worker = try await Worker(configuration)
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                let dock = realm.create(Dock.self, value: ["id": 1, "name": "east"])
                dock.place = DockPlace()
                for id in 1...3 {
                    let boat = realm.create(Boat.self, value: ["id": id, "name": "b\(id)", "tons": id * 10])
                    boat.home = dock
                    dock.boats.append(boat)
                }
                dock.berths["a"] = dock.boats[0]
            }
        }
        return worker
    }

    private static func dock(_ realm: Realm) -> Dock { realm.object(ofType: Dock.self, forPrimaryKey: 1)! }

    /// What an object's observer was told.
    private static func text<T: ObjectBase>(_ change: ObjectChange<T>) -> String {
        switch change {
        case .error: "error"
        case .deleted: "deleted"
        case .change(_, let properties):
            properties.map {
                "\($0.name): \($0.oldValue.map { "\($0)" } ?? "-") -> \($0.newValue.map { "\($0)" } ?? "-")"
            }
            .joined(separator: ", ")
        }
    }

    // MARK: What is gone

    @Test("the changes of an object that is gone when the iteration begins end at once")
    func objectGoneBefore() async throws {
        let worker = try await worker()
        let told = try await worker.with { _, realm in
            let boat = realm.object(ofType: Boat.self, forPrimaryKey: 1)!
            let changes = boat.changes()
            let named = boat.changes(keyPaths: ["home.name"])
            let place = Self.dock(realm).place!.changes()
            try await realm.asyncWrite {
                realm.delete(boat)
                Self.dock(realm).place = nil
            }
            var told: [String] = []
            for await change in changes { told.append(Self.text(change)) }
            for await change in named { told.append(Self.text(change)) }
            for await change in place { told.append(Self.text(change)) }
            return told
        }
        #expect(told == [])
    }

    @Test("the changes of a list or a map whose owner is gone when the iteration begins end at once")
    func listGoneBefore() async throws {
        let worker = try await worker()
        let count = try await worker.with { _, realm in
            let dock = Self.dock(realm)
            let boats = dock.boats.changes()
            let filtered = dock.boats.where { $0.tons > 10 }.changes()
            let berths = dock.berths.changes()
            let marks = dock.marks.changes()
            let links = realm.object(ofType: Boat.self, forPrimaryKey: 1)!.docks.changes()
            try await realm.asyncWrite {
                realm.delete(dock)
                realm.delete(realm.objects(Boat.self))
            }
            var count = 0
            for await change in boats { count += change.collection?.count ?? 100 }
            for await change in filtered { count += change.collection?.count ?? 100 }
            for await change in berths { count += change.collection?.count ?? 100 }
            for await change in marks { count += change.collection?.count ?? 100 }
            for await change in links { count += change.collection?.count ?? 100 }
            return count
        }
        #expect(count == 0)
    }

    @Test("deleteAll ends what belongs to an object, and empties what belongs to a class")
    func deleteAll() async throws {
        let worker = try await worker()
        let journal = Journal<String>()
        let begun = Journal<Void>()
        let tokens = await worker.with { _, realm in
            let dock = Self.dock(realm)
            return [
                dock.observe { journal.add("dock \(Self.text($0))") },
                dock.place!.observe { journal.add("place \(Self.text($0))") },
                dock.boats.observe {
                    if case .update(let boats, let deletions, _, _) = $0 {
                        journal.add("boats \(boats.count) \(deletions) \(boats.isInvalidated)")
                    } else {
                        begun.add(())
                    }
                },
                dock.berths.observe {
                    if case .update(let berths, let deletions, _, _) = $0 {
                        journal.add("berths \(berths.count) \(deletions)")
                    } else {
                        begun.add(())
                    }
                },
                dock.marks.observe {
                    if case .update(let marks, let deletions, _, _) = $0 {
                        journal.add("marks \(marks.count) \(deletions)")
                    } else {
                        begun.add(())
                    }
                },
                realm.objects(Boat.self).sorted(byKeyPath: "tons", ascending: false).limit(2)
                    .observe {
                        if case .update(_, let deletions, _, _) = $0 {
                            journal.add("limit \(deletions)")
                        } else {
                            begun.add(())
                        }
                    },
            ]
        }
        _ = await begun.wait(for: 4)
        try await worker.deleteAll()
        let told = await journal.wait(for: 6)
        #expect(
            told.sorted() == [
                "berths 0 [\"a\"]", "boats 0 [0, 1, 2] true", "dock deleted", "limit [0, 1]", "marks 0 []",
                "place deleted",
            ]
        )
        try await worker.with { _, realm in
            try await realm.asyncWrite { _ = realm.create(Dock.self, value: ["id": 1]) }
        }
        #expect(await journal.settled().count == 6)
        for token in tokens { token.invalidate() }
    }

    // MARK: Types and key paths

    @Test("the block may name the type of an object that the variable does not")
    func blockNamesType() async throws {
        let worker = try await worker()
        let journal = Journal<String>()
        let tokens = await worker.with { _, realm in
            let object: Object = realm.object(ofType: Boat.self, forPrimaryKey: 1)!
            let embedded: EmbeddedObject = Self.dock(realm).place!
            return [
                object.observe { (change: ObjectChange<Boat>) in
                    if case .change(let boat, _) = change { journal.add("1 \(boat.name)") }
                },
                object.observe(keyPaths: ["name"]) { (change: ObjectChange<Boat>) in
                    if case .change(let boat, _) = change { journal.add("2 \(boat.name)") }
                },
                object.observe(keyPaths: [\Boat.name]) { (change: ObjectChange<Boat>) in
                    if case .change(let boat, _) = change { journal.add("3 \(boat.name)") }
                },
                await object.observe(on: worker) { (_, change: ObjectChange<Boat>) in
                    if case .change(let boat, _) = change { journal.add("4 \(boat.name)") }
                },
                await object.observe(keyPaths: [\Boat.name], on: worker) { (_, change: ObjectChange<Boat>) in
                    if case .change(let boat, _) = change { journal.add("5 \(boat.name)") }
                },
                object.observe { (change: ObjectChange<Object>) in
                    if case .change(let boat, _) = change { journal.add("6 \(boat["name"] ?? "")") }
                },
                embedded.observe { (change: ObjectChange<DockPlace>) in
                    if case .change(let place, _) = change { journal.add("7 \(place.street)") }
                },
            ]
        }
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                realm.object(ofType: Boat.self, forPrimaryKey: 1)!.name = "Ada"
                Self.dock(realm).place!.street = "Quay"
            }
        }
        let told = await journal.wait(for: 7)
        #expect(told.sorted() == ["1 Ada", "2 Ada", "3 Ada", "4 Ada", "5 Ada", "6 Ada", "7 Quay"])
        for token in tokens { token.invalidate() }
    }

    @Test("key paths lead through links, lists, maps, embedded objects and linking objects")
    func keyPaths() async throws {
        let worker = try await worker()
        let journal = Journal<String>()
        let begun = Journal<Void>()
        let tokens = await worker.with { _, realm in
            let boat = realm.object(ofType: Boat.self, forPrimaryKey: 1)!
            let dock = Self.dock(realm)
            func note<C>(_ name: String) -> (RealmCollectionChange<C>) -> Void {
                {
                    if case .update(_, let deletions, let insertions, let modifications) = $0 {
                        journal.add("\(name) \(deletions) \(insertions) \(modifications)")
                    } else {
                        begun.add(())
                    }
                }
            }
            return [
                boat.observe(keyPaths: ["home.place.street"]) { journal.add("boat \(Self.names($0))") },
                boat.observe(keyPaths: [\.home?.place?.street]) { journal.add("typed \(Self.names($0))") },
                boat.observe(keyPaths: ["docks.name"]) { journal.add("back \(Self.names($0))") },
                dock.observe(keyPaths: ["boats"]) { journal.add("list \(Self.names($0))") },
                dock.observe(keyPaths: ["boats.tons", "name"]) { journal.add("through \(Self.names($0))") },
                realm.objects(Boat.self).observe(keyPaths: ["home.place.street"], note("boats")),
                realm.objects(Boat.self).observe(keyPaths: [\.home?.place?.street], note("typed boats")),
                realm.objects(Boat.self).observe(keyPaths: [], note("none")),
                realm.objects(Dock.self).observe(keyPaths: ["boats"], note("membership")),
                realm.objects(Dock.self).observe(keyPaths: ["boats.tons"], note("tons")),
                dock.berths.observe(keyPaths: ["tons"]) {
                    if case .update(_, _, _, let modifications) = $0 {
                        journal.add("berths \(modifications)")
                    } else {
                        begun.add(())
                    }
                },
                dock.boats.observe(keyPaths: ["tons"], note("own list")),
            ]
        }
        _ = await begun.wait(for: 7)
        try await worker.with { _, realm in
            try await realm.asyncWrite { Self.dock(realm).place!.street = "Quay" }
        }
        #expect(
            await journal.wait(for: 4).sorted() == [
                "boat [\"home\"]", "boats [] [] [0, 1, 2]", "typed [\"home\"]", "typed boats [] [] [0, 1, 2]",
            ]
        )
        #expect(await journal.settled().count == 4)
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.object(ofType: Boat.self, forPrimaryKey: 1)!.tons = 11 }
        }
        _ = await journal.wait(for: 8)
        #expect(
            await journal.settled().dropFirst(4).sorted() == [
                "berths [\"a\"]", "own list [] [] [0]", "through [\"boats\"]", "tons [] [] [0]",
            ]
        )
        try await worker.with { _, realm in
            try await realm.asyncWrite { Self.dock(realm).boats.removeLast() }
        }
        _ = await journal.wait(for: 13)
        #expect(
            await journal.settled().dropFirst(8).sorted() == [
                "list [\"boats\"]", "membership [] [] [0]", "own list [2] [] []", "through [\"boats\"]",
                "tons [] [] [0]",
            ]
        )
        for token in tokens { token.invalidate() }
    }

    private static func names<T>(_ change: ObjectChange<T>) -> [String] {
        if case .change(_, let properties) = change { properties.map(\.name) } else { [] }
    }

    @Test("an object's change has old and new values of every kind, and the end of an embedded one is told")
    func values() async throws {
        let worker = try await worker()
        let journal = Journal<String>()
        let tokens = await worker.with { _, realm in
            let boat = realm.object(ofType: Boat.self, forPrimaryKey: 1)!
            return [
                boat.observe { change in
                    guard case .change(let boat, let properties) = change else { return }
                    for property in properties {
                        let old = (property.oldValue as? Dock)?.name ?? "\(property.oldValue ?? "-")"
                        let new = (property.newValue as? Dock)?.name ?? "\(property.newValue ?? "-")"
                        journal.add("\(property.name) \(old) \(new) \(boat.id)")
                    }
                },
                Self.dock(realm).place!.observe { journal.add("place \(Self.text($0))") },
                Self.dock(realm)
                    .observe { journal.add("dock \(Self.names($0))") },
            ]
        }
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                let boat = realm.object(ofType: Boat.self, forPrimaryKey: 1)!
                boat.tons += 1
                boat.home = nil
                Self.dock(realm).place!.number = 5
            }
            try await realm.asyncWrite {
                Self.dock(realm).place = DockPlace(value: ["street": "New"])
                Self.dock(realm).anything = .string("x")
            }
        }
        // Both commits may come as one.
        let expected: Set = [
            "tons 10 11 1", "home east - 1", "place deleted", "dock [\"place\", \"anything\"]",
        ]
        #expect(await eventually { expected.isSubset(of: journal.entries) })
        let told = await journal.settled()
        #expect(Set(told).subtracting(expected).isSubset(of: ["place number: 0 -> 5"]))
        #expect(told.last { $0.hasPrefix("place") } == "place deleted")
        for token in tokens { token.invalidate() }
    }

    // MARK: Limited, distinct and sorted results

    @Test("limited, distinct and sorted results across links tell exactly what they show")
    func refined() async throws {
        let worker = try await worker()
        let told = try await worker.with { _, realm in
            var limited = realm.objects(Boat.self).sorted(byKeyPath: "tons").limit(2).changes().makeAsyncIterator()
            var offset = realm.objects(Boat.self).sorted(byKeyPath: "tons").limit(1, offset: 1).changes()
                .makeAsyncIterator()
            var linked = realm.objects(Boat.self).sorted(byKeyPath: "home.name").changes().makeAsyncIterator()
            var distinct = realm.objects(Boat.self).distinct(by: ["home.name"]).changes().makeAsyncIterator()
            _ = await (limited.next(), offset.next(), linked.next(), distinct.next())
            try await realm.asyncWrite {
                realm.object(ofType: Boat.self, forPrimaryKey: 3)!.tons = 5
                let west = realm.create(Dock.self, value: ["id": 2, "name": "west"])
                realm.object(ofType: Boat.self, forPrimaryKey: 1)!.home = west
            }
            func text(_ change: RealmCollectionChange<Results<Boat>>?) -> String {
                guard case .update(let boats, let deletions, let insertions, let modifications)? = change else {
                    return "none"
                }
                let moves = change!.moves.map { "\($0.from)>\($0.to)" }
                return "\(Array(boats.map(\.id))) \(deletions) \(insertions) \(modifications) \(moves)"
            }
            let first = await limited.next()
            let second = await offset.next()
            let third = await linked.next()
            let fourth = await distinct.next()
            return [text(first), text(second), text(third), text(fourth)]
        }
        #expect(
            told == [
                "[3, 1] [1] [0] [0] []", "[1] [0] [0] [] []", "[2, 3, 1] [0] [2] [1, 2] [\"0>2\"]",
                "[1, 2] [] [1] [0] []",
            ]
        )
    }

    @Test("what is delivered outside actors may be searched, sorted, added up and read by several threads at once")
    func frozenDelivery() async throws {
        let worker = try await worker()
        let changes = await worker.with { _, realm in
            realm.objects(Boat.self).where { $0.tons > 10 && $0.home.name == "east" }
                .sorted(byKeyPath: "tons", ascending: false)
                .limit(2)
                .changes()
        }
        var iterator = changes.makeAsyncIterator()
        _ = await iterator.next()
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.object(ofType: Boat.self, forPrimaryKey: 1)!.tons = 40 }
        }
        let boats = try #require(await iterator.next()?.collection?.frozen)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let boats = boats.value
                    #expect(boats.map { $0.id } == [1, 3])
                    #expect(boats.count == 2 && boats.first?.id == 1 && boats.last?.id == 3)
                    #expect(boats.sum(of: \.tons) == 70)
                    #expect(boats.max(of: \.tons) == 40)
                    #expect(boats.where { $0.tons < 40 }.map { $0.id } == [3])
                    #expect(boats.filter("tons < 40").count == 1)
                    #expect(boats.sorted(byKeyPath: "tons").map { $0.id } == [3, 1])
                    #expect(boats.index(matching: { $0.tons == 30 }) == 1)
                    #expect(boats.freeze() == boats)
                }
            }
        }
    }

    // MARK: The less usual realms

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
        let configuration = configuration
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
        let realm = try await Realm(configuration: configuration, actor: MainActor.shared)
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
        let worker = try await worker()
        let journal = Journal<String>()
        let begun = Journal<Void>()
        let tokens = await worker.with { worker, realm in
            let dock = Self.dock(realm)
            return [
                dock.observe { journal.add("object \(Self.names($0))") },
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
            let dock = Self.dock(realm)
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
        #expect(await journal.settled() == [])
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                realm.object(ofType: Boat.self, forPrimaryKey: 1)!.name = "four"
                Self.dock(realm).name = "four"
            }
        }
        _ = await journal.wait(for: 6)
        #expect(await journal.settled().sorted() == ["actor", "list", "map", "object [\"name\"]", "realm", "sections"])
        for token in tokens { token.invalidate() }
    }

    @Test("closing the realm ends a loop whose body waits")
    func closing() async throws {
        let worker = try await worker()
        let gate = Journal<Int>()
        let changes = await worker.with { _, realm in realm.objects(Boat.self).changes() }
        let journal = Journal<Int>()
        let loop = Task {
            await worker.with { _, _ in
                for await change in changes {
                    journal.add(change.collection?.count ?? -1)
                    _ = await gate.wait(for: 1)
                }
            }
        }
        _ = await journal.wait(for: 1)
        await worker.close()
        gate.add(1)
        await loop.value
        #expect(journal.entries == [3])
    }
}
