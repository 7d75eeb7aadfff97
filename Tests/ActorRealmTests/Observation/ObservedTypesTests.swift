import ActorRealm
import Testing

/// Types that only the block names, key paths of every kind, and values of every kind.
@Suite("Observing types and key paths", .timeLimit(.minutes(60)))
struct ObservedTypesTests {
    private let file = DockFile()

    @Test("the block may name the type of an object that the variable does not")
    func blockNamesType() async throws {
        let worker = try await file.worker()
        let journal = Journal<String>()
        let tokens = await worker.with { _, realm in
            let object: Object = realm.object(ofType: Boat.self, forPrimaryKey: 1)!
            let embedded: EmbeddedObject = DockFile.dock(realm).place!
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
                DockFile.dock(realm).place!.street = "Quay"
            }
        }
        let told = await journal.wait(for: 7)
        #expect(told.sorted() == ["1 Ada", "2 Ada", "3 Ada", "4 Ada", "5 Ada", "6 Ada", "7 Quay"])
        for token in tokens { token.invalidate() }
    }

    @Test("key paths lead through links, lists, maps, embedded objects and linking objects")
    func keyPaths() async throws {
        let worker = try await file.worker()
        let journal = Journal<String>()
        let begun = Journal<Void>()
        let tokens = await worker.with { _, realm in
            let boat = realm.object(ofType: Boat.self, forPrimaryKey: 1)!
            let dock = DockFile.dock(realm)
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
                boat.observe(keyPaths: ["home.place.street"]) { journal.add("boat \(DockFile.names($0))") },
                boat.observe(keyPaths: [\.home?.place?.street]) { journal.add("typed \(DockFile.names($0))") },
                boat.observe(keyPaths: ["docks.name"]) { journal.add("back \(DockFile.names($0))") },
                dock.observe(keyPaths: ["boats"]) { journal.add("list \(DockFile.names($0))") },
                dock.observe(keyPaths: ["boats.tons", "name"]) { journal.add("through \(DockFile.names($0))") },
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
            try await realm.asyncWrite { DockFile.dock(realm).place!.street = "Quay" }
        }
        #expect(
            await journal.wait(for: 4).sorted() == [
                "boat [\"home\"]", "boats [] [] [0, 1, 2]", "typed [\"home\"]", "typed boats [] [] [0, 1, 2]",
            ]
        )
        #expect(await journal.settled(worker).count == 4)
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.object(ofType: Boat.self, forPrimaryKey: 1)!.tons = 11 }
        }
        _ = await journal.wait(for: 8)
        #expect(
            await journal.settled(worker).dropFirst(4).sorted() == [
                "berths [\"a\"]", "own list [] [] [0]", "through [\"boats\"]", "tons [] [] [0]",
            ]
        )
        try await worker.with { _, realm in
            try await realm.asyncWrite { DockFile.dock(realm).boats.removeLast() }
        }
        _ = await journal.wait(for: 13)
        #expect(
            await journal.settled(worker).dropFirst(8).sorted() == [
                "list [\"boats\"]", "membership [] [] [0]", "own list [2] [] []", "through [\"boats\"]",
                "tons [] [] [0]",
            ]
        )
        for token in tokens { token.invalidate() }
    }

    @Test("an object's change has old and new values of every kind, and the end of an embedded one is told")
    func values() async throws {
        let worker = try await file.worker()
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
                DockFile.dock(realm).place!.observe { journal.add("place \(DockFile.text($0))") },
                DockFile.dock(realm)
                    .observe { journal.add("dock \(DockFile.names($0))") },
            ]
        }
        try await worker.with { _, realm in
            try await realm.asyncWrite {
                let boat = realm.object(ofType: Boat.self, forPrimaryKey: 1)!
                boat.tons += 1
                boat.home = nil
                DockFile.dock(realm).place!.number = 5
            }
            try await realm.asyncWrite {
                DockFile.dock(realm).place = DockPlace(value: ["street": "New"])
                DockFile.dock(realm).anything = .string("x")
            }
        }
        // Both commits may come as one.
        let expected: Set = [
            "tons 10 11 1", "home east - 1", "place deleted", "dock [\"place\", \"anything\"]",
        ]
        #expect(await eventually { expected.isSubset(of: journal.entries) })
        let told = await journal.settled(worker)
        #expect(Set(told).subtracting(expected).isSubset(of: ["place number: 0 -> 5"]))
        #expect(told.last { $0.hasPrefix("place") } == "place deleted")
        for token in tokens { token.invalidate() }
    }
}
