import ActorRealm
import Foundation
import Testing

/// Observers of what ends, or has ended before they begin.
@Suite("Observing what is gone", .timeLimit(.minutes(60)))
struct ObservedEndsTests {
    private let file = DockFile()

    @Test("the changes of an object that is gone when the iteration begins end at once")
    func objectGoneBefore() async throws {
        let worker = try await file.worker()
        let told = try await worker.with { _, realm in
            let boat = realm.object(ofType: Boat.self, forPrimaryKey: 1)!
            let changes = boat.changes()
            let named = boat.changes(keyPaths: ["home.name"])
            let place = DockFile.dock(realm).place!.changes()
            try await realm.asyncWrite {
                realm.delete(boat)
                DockFile.dock(realm).place = nil
            }
            var told: [String] = []
            for await change in changes { told.append(DockFile.text(change)) }
            for await change in named { told.append(DockFile.text(change)) }
            for await change in place { told.append(DockFile.text(change)) }
            return told
        }
        #expect(told == [])
    }

    @Test("the changes of a list or a map whose owner is gone when the iteration begins end at once")
    func listGoneBefore() async throws {
        let worker = try await file.worker()
        let count = try await worker.with { _, realm in
            let dock = DockFile.dock(realm)
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
        let worker = try await file.worker()
        let journal = Journal<String>()
        let begun = Journal<Void>()
        let tokens = await worker.with { _, realm in
            let dock = DockFile.dock(realm)
            return [
                dock.observe { journal.add("dock \(DockFile.text($0))") },
                dock.place!.observe { journal.add("place \(DockFile.text($0))") },
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
        #expect(await journal.settled(worker).count == 6)
        for token in tokens { token.invalidate() }
    }

    @Test("The last collection that an observer gets is copied as empty, also where an earlier one was delivered")
    func copiedBeyondTheOwner() async {
        await #expect(processExitsWith: .success) {
            let worker = try await Worker(
                Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: crateTypes)
            )
            try await worker.with { _, realm in
                try await realm.asyncWrite {
                    for id in 1...5 {
                        let values: [String: Any] = ["id": id, "values": [id], "scores": ["a": id]]
                        realm.create(Crate.self, value: values)
                    }
                }
                let crates = Array(realm.objects(Crate.self).sorted(byKeyPath: "id"))
                let (first, second, third) = (crates[0], crates[1], crates[2])
                let (mirror, friend) = (crates[3], crates[4])
                try await realm.asyncWrite { friend.friends.insert(third) }
                for await change in first.values.changes() {
                    guard let values = change.collection else { break }
                    try await realm.asyncWrite { mirror.values = values }
                    try values.requireReadable()
                    try await realm.asyncWrite { try mirror.setValues(["values": values]) }
                    if !values.isEmpty { try await realm.asyncWrite { realm.delete(first) } }
                }
                for await change in second.scores.changes() {
                    guard let scores = change.collection else { break }
                    try await realm.asyncWrite { mirror.scores = scores }
                    if !scores.isEmpty { try await realm.asyncWrite { realm.delete(second) } }
                }
                for await change in third.friendOf.changes() {
                    guard let links = change.collection else { break }
                    try await realm.asyncWrite { mirror.setValue(links, forKey: "friends") }
                    if !links.isEmpty { try await realm.asyncWrite { realm.delete(third) } }
                }
                #expect(mirror.values.isEmpty && mirror.scores.isEmpty && mirror.friends.isEmpty)
                #expect(realm.objects(Crate.self).count == 2)
            }
            await worker.close()
        }
    }

    @Test("The last results of a list are read as empty ones, and so is what is asked of the last list")
    func resultsBeyondTheOwner() async {
        await #expect(processExitsWith: .success) {
            let worker = try await Worker(
                Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: crateTypes)
            )
            try await worker.with { _, realm in
                let crates = try await realm.asyncWrite {
                    (1...3)
                        .map { id in
                            realm.create(Crate.self, value: ["id": id, "values": [id]] as [String: Any])
                        }
                }
                for await change in crates[0].values.sorted(ascending: true).changes() {
                    guard let values = change.collection else { break }
                    try values.requireReadable()
                    try await realm.asyncWrite { try crates[2].setValues(["values": values]) }
                    if !values.isEmpty { try await realm.asyncWrite { realm.delete(crates[0]) } }
                }
                #expect(crates[2].values.isEmpty)
                for await change in crates[1].values.changes() {
                    guard let values = change.collection else { break }
                    try values.sorted(ascending: true).requireReadable()
                    if !values.isEmpty { try await realm.asyncWrite { realm.delete(crates[1]) } }
                }
                #expect(realm.objects(Crate.self).count == 1)
            }
            await worker.close()
        }
    }

    @Test("The last results of a list are frozen as empty ones, and so are those whose list has gone")
    func frozenBeyondTheOwner() async {
        await #expect(processExitsWith: .success) {
            let worker = try await Worker(
                Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: crateTypes)
            )
            let frozen = try await worker.with { _, realm in
                let crates = try await realm.asyncWrite {
                    (1...2).map { realm.create(Crate.self, value: ["id": $0, "values": [$0]] as [String: Any]) }
                }
                var counts: [Int] = []
                for await change in crates[0].values.sorted(ascending: true).changes() {
                    guard let values = change.collection, !values.isInvalidated else { break }
                    counts += [values.freeze().count, values.frozen.value.count]
                    counts.append(AnyRealmCollection(values).freeze().count)
                    if !values.isEmpty { try await realm.asyncWrite { realm.delete(crates[0]) } }
                }
                #expect(counts == [1, 1, 1, 0, 0, 0])
                let found = crates[1].values.sorted(ascending: true)
                try await realm.asyncWrite { realm.delete(crates[1]) }
                #expect(!found.isInvalidated && found.freeze().freeze().isEmpty)
                let inside = try await realm.asyncWrite { found.freeze().count }
                #expect(inside == 0)
                return found.freeze().frozen
            }
            let isEmpty = frozen.value.isEmpty
            let thawed = await worker.with { _, realm in realm.thaw(frozen)?.count }
            #expect(isEmpty && thawed == nil)
            await worker.close()
        }
    }

    @Test("Results of a list that was made in the open transaction are still not frozen")
    func frozenBeforeTheCommit() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm(crateTypes)
            try realm.write {
                let crate = realm.create(Crate.self, value: ["id": 1, "values": [1]] as [String: Any])
                _ = crate.values.sorted(ascending: true).freeze()
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Cannot freeze an object in the same write transaction"), "\(text.suffix(400))")
    }

    @Test("The last set that an observer gets holds nothing, and can be asked")
    func askedBeyondTheOwner() async {
        await #expect(processExitsWith: .success) {
            let worker = try await Worker(
                Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: crateTypes)
            )
            let frozen = try await worker.with { _, realm in
                let crates = try await realm.asyncWrite {
                    (1...3).map { realm.create(Crate.self, value: ["id": $0, "tags": ["a"]] as [String: Any]) }
                }
                var held: [Bool] = []
                for await change in crates[0].tags.changes() {
                    guard let tags = change.collection else { break }
                    held.append(tags.contains("a"))
                    try await realm.asyncWrite { crates[1].tags.formIntersection(tags) }
                    if !tags.isEmpty { try await realm.asyncWrite { realm.delete(crates[0]) } }
                }
                #expect(held == [true, false] && crates[1].tags.isEmpty)
                return crates[2].tags.changes()
            }
            var outside = frozen.makeAsyncIterator()
            _ = await outside.next()
            try await worker.with { _, realm in try await realm.asyncWrite { realm.deleteAll() } }
            let last = await outside.next()?.collection
            #expect(last?.contains("a") == false)
            await worker.close()
        }
    }

    @Test("closing the realm ends a loop whose body waits")
    func closing() async throws {
        let worker = try await file.worker()
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
