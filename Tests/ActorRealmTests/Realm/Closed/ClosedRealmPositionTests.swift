import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// What collections of a closed realm, and slices of them, are asked for by positions and ranges.
@Suite("Positions and ranges of a closed realm read as nothing", .timeLimit(.minutes(60)))
struct ClosedRealmPositionTests {
    typealias Chest = ClosedRealm.Chest
    typealias Lid = ClosedRealm.Lid
    typealias Kind = ClosedRealm.Kind
    typealias Store = ClosedRealm.Store

    @Test("Positions of all collections, whatever their elements are, and loops underway", arguments: Kind.allCases)
    func positions(_ kind: Kind) async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport, kind = kind as Kind] in
            report.begin()
            let store = try await Store(kind)
            try await store.prepare()
            await store.close()
            await store.readPositions()
            let writing = try await Store(kind)
            try await writing.prepare()
            await writing.closeInBlock()
            let looping = try await Store(kind)
            try await looping.prepare()
            await looping.closeInLoops()
        }
        ClosedRealm.check(result, report)
    }

    private func check(_ result: ExitTest.Result?, outOfBounds index: Int, line: SourceLocation = #_sourceLocation) {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Index \(index) is out of bounds"), "\(text.suffix(400))", sourceLocation: line)
    }

    @Test("A position that an open realm does not have, and a frozen copy from before, ends the process as ever")
    func outOfBounds() async {
        let open = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Realm(
                configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: [Chest.self, Lid.self])
            )
            _ = realm.objects(Chest.self)[4]
        }
        check(open, outOfBounds: 4)
        let range = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Realm(
                configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: [Chest.self, Lid.self])
            )
            _ = realm.objects(Chest.self)[0..<5]
        }
        check(range, outOfBounds: 5)
        let sections = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Realm(
                configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: [Chest.self, Lid.self])
            )
            _ = realm.objects(Chest.self).sectioned(by: \.name)[0..<3]
        }
        check(sections, outOfBounds: 3)
        let unmanaged = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let tags = MutableSet<String>()
            _ = tags[0..<2]
        }
        check(unmanaged, outOfBounds: 2)
        let section = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Realm(
                configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: [Chest.self, Lid.self])
            )
            _ = realm.objects(Chest.self).sectioned(by: \.name)[6]
        }
        check(section, outOfBounds: 6)
        let frozen = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Realm(
                configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: [Chest.self, Lid.self])
            )
            let frozen = realm.objects(Chest.self).freeze()
            realm.close()
            _ = frozen[7]
        }
        check(frozen, outOfBounds: 7)
        await #expect(processExitsWith: .failure) {
            let realm = try Realm(
                configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: [Chest.self, Lid.self])
            )
            try realm.write { for id in 0..<3 { realm.create(Chest.self, value: ["id": id]) } }
            // The collection has it, and the slice has not.
            _ = realm.objects(Chest.self)[0..<2][2]
        }
        let projected = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Realm(
                configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: [Chest.self, Lid.self])
            )
            let names = realm.objects(Chest.self).projectTo.name
            _ = names[0..<1]
        }
        check(projected, outOfBounds: 1)
        await #expect(processExitsWith: .failure) {
            let realm = try Realm(
                configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: [Chest.self, Lid.self])
            )
            _ = realm.objects(Chest.self).projectTo.name.distance(from: 0, to: 2)
        }
    }
}

extension ClosedRealm.Store {
    private func expectLost(_ name: String, _ object: Chest) {
        if !object.isInvalidated || object == held.chest || object == held.other {
            Issue.record("\(name) has an object")
        }
        expectEmpty(name, object.id == 0 && object.name == "" && object.next == nil && object.names.isEmpty)
        expectEmpty(name, object.before.isEmpty && object.realm === realm && !object.isFrozen)
    }

    func readPositions() {
        at("positions of results")
        for (index, results) in [held.all, held.some, held.sorted].enumerated() {
            for position in [0, 1, 7, -1, Int.max, Int.min] { expectLost("results \(index)", results[position]) }
            expectEmpty("results \(index)", results.randomElement() == nil && results.index(before: 0) == -1)
            expectEmpty(
                "ranges \(index)",
                results[0..<2].isEmpty && results[1...].isEmpty && results[0...5].isEmpty
            )
            expectEmpty("ranges \(index)", results[...].isEmpty && results.prefix(2).isEmpty)
            expectEmpty("objects \(index)", results.objects(at: [0, 4]).allSatisfy(\.isInvalidated))
        }
        at("what a position gave")
        let lost = held.all[0]
        let chest = held.chest
        expectEmpty("getters", lost.code == chest.code && lost.key == chest.key && lost.packed == chest.packed)
        expectEmpty("getters", lost.mood == .calm && lost.level == nil && lost.any == .none && lost.lid == nil)
        expectEmpty(
            "copies",
            lost.freeze().isInvalidated && lost.detached().name == "" && lost["name"] as? String == ""
        )
        _ = ("\(lost)", lost.hashValue, lost.thaw(), lost == held.all[1])
        expectEmpty("references", held.realm.resolve(ThreadSafeReference(to: lost)) == nil)
        lost.name = "new"
        lost.names.append("new")
        expectClosed("value(of:)") { _ = try lost.value(of: \.name) }
        at("positions of lists")
        expectEmpty("strings", held.names[0] == "" && held.names[-1] == "" && chest.notes[3] == nil)
        expectEmpty("dates", chest.days[0] == Date(timeIntervalSinceReferenceDate: 0))
        expectEmpty("identifiers", chest.codes[0] == chest.code && chest.keys[0] == chest.key)
        expectEmpty("enums", chest.moods[0] == .calm)
        expectEmpty("custom values", chest.prices[0].cents == 0 && chest.places[0].color == "")
        expectEmpty(
            "values of any kind",
            chest.anys[1] == .none && held.nested[0] == .none && held.nested[9] == .none
        )
        expectLost("objects", held.inner[0])
        expectEmpty("embedded objects", chest.lids[0].isInvalidated && chest.lids[0].color == "")
        expectEmpty(
            "values in order",
            held.names.sorted(ascending: false)[0] == "" && held.names.distinct()[1] == ""
        )
        expectLost("any collection", AnyRealmCollection(held.inner)[0])
        at("ranges of lists")
        expectEmpty("ranges", held.names[1...].isEmpty && [String](held.names[0..<2]).isEmpty)
        held.names[1...] = ["z"]
        held.names.move(fromOffsets: [0], toOffset: 2)
        held.names.remove(atOffsets: [1])
        at("positions of sets, maps and linking objects")
        expectEmpty("sets", held.tags[0] == "")
        expectLost("sets", held.friends[0])
        expectEmpty("maps", chest.mates.sorted(byKeyPath: "name")[0] == nil)
        expectEmpty("maps", chest.dates.sorted(ascending: true)[0] == Date(timeIntervalSinceReferenceDate: 0))
        expectEmpty("maps", chest.mates["o"] == nil && chest.dates["d"] == nil)
        expectLost("linking objects", held.before[0])
        at("positions of dynamic objects")
        expectEmpty("dynamic", held.dynamicAll[0].isInvalidated && held.dynamicAll[0]["name"] as? String == "")
        expectEmpty("dynamic", held.dynamic.dynamicList("inner")[0].isInvalidated)
        at("positions of sections")
        expectEmpty("sections", held.sections[0].isEmpty && held.sections[7].key == "")
        expectLost("sections", held.sections[0][3])
        expectLost("sections", held.sections[IndexPath(item: 2, section: 1)])
        expectLost("a section", held.section[0])
        at("positions of projections")
        expectEmpty("projections", held.labels[0].isInvalidated && held.labels[0].name == "")
        expectEmpty("projections", held.projected[0] == "" && held.label.innerNames[0] == "")
        held.projected[0] = "new"
        at("what was underway")
        var count = 0
        for chest in held.slice {
            expectLost("slices", chest)
            count += 1
        }
        expectEmpty("slices", count == 2 && held.slice[1].isInvalidated)
        while let section = held.sectionLoop.next() { expectEmpty("sections", section.isEmpty) }
        while let chest = held.rowLoop.next() { expectEmpty("rows", chest.isInvalidated) }
        expectEmpty("projections", held.projectedLoop.next() == nil)
        readSlices()
        at("positions of frozen copies")
        #expect(held.frozenAll[0].name == "other" && held.frozenAll[1].name == "chest")
        expectEmpty("frozen", held.all.freeze()[0].isInvalidated && held.all.freeze()[0].name == "")
        expectEmpty("frozen", held.names.freeze()[0] == "" && held.tags.freeze()[0] == "")
        expectEmpty("frozen", held.before.freeze()[0].isInvalidated && held.sections.freeze()[0].isEmpty)
        expectEmpty("frozen", held.nested.freeze()[0] == .none)
    }

    private func readSlices() {
        at("positions of slices")
        expectLost("slices", held.slice[7])
        expectLost("slices", held.slice[-1])
        let none: Slice<Results<Chest>> = held.all[0..<2]
        expectEmpty("slices", none.isEmpty)
        expectLost("slices", none[1])
        var names: Slice<List<String>> = held.names[0..<2]
        expectEmpty("slices", names.isEmpty && names[1] == "")
        names[1] = "z"
        at("ranges of slices")
        for chest in held.slice[5..<7] { expectLost("slices", chest) }
        for chest in none[1...3] { expectLost("slices", chest) }
        expectEmpty("slices", held.slice[1...].count == 1 && none[...].isEmpty)
        at("ranges of sections")
        let sections: Slice<SectionedResults<String, Chest>> = held.sections[0..<2]
        expectEmpty("sections", sections.isEmpty && sections[1].isEmpty)
        expectEmpty("sections", held.sections[1...].isEmpty && held.sections[0...5].isEmpty)
        let rows: Slice<ResultsSection<String, Chest>> = held.section[0..<1]
        expectEmpty("a section", rows.isEmpty && held.section[1...].isEmpty)
        expectLost("a section", rows[0])
        at("ranges of projected collections")
        let projected: Slice<ProjectedCollection<String>> = held.projected[0..<2]
        expectEmpty("projections", projected.isEmpty && projected[1] == "")
        expectEmpty("projections", held.projected[1...].isEmpty && held.innerNames[0...5].isEmpty)
        at("slices of sections")
        #expect(held.sectionSlice.count == 2 && Array(held.sectionSlice).count == 2)
        expectEmpty("sections", held.sectionSlice[1].isEmpty && held.sectionSlice[-1].isEmpty)
        for section in held.sectionSlice[5..<7] { expectEmpty("sections", section.isEmpty) }
        #expect(held.sectionSlice[1...].count == 1)
        at("slices of a section")
        #expect(held.rowSlice.count == 1 && Array(held.rowSlice).count == 1)
        expectLost("a section", held.rowSlice[6])
        for chest in held.rowSlice[2...3] { expectLost("a section", chest) }
        at("slices of projected collections")
        #expect(held.projectedSlice.count == 2 && Array(held.projectedSlice) == ["", ""])
        expectEmpty("projections", held.projectedSlice[1] == "" && held.projectedSlice[-1] == "")
        for name in held.projectedSlice[5..<7] { expectEmpty("projections", name == "") }
        at("counting positions of projected collections")
        #expect(held.projected.distance(from: 0, to: 2) == 2 && held.projected.index(0, offsetBy: 3) == 3)
    }

    /// Closes the realm in a block that writes, and in loops.
    func closeInBlock() {
        at("a block that closes the realm")
        try? realm.write {
            held.chest.names.append("c")
            realm.close()
            expectEmpty("names", held.names[0] == "")
            expectLost("results", held.all[0])
        }
    }

    func closeInLoops() {
        at("loops that close the realm")
        var count = 0
        for section in held.sections {
            realm.close()
            expectEmpty("sections", section.isEmpty)
            count += 1
        }
        #expect(count == 2)
        for _ in held.projected { Issue.record("a value is there") }
    }
}
