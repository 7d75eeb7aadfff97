import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// What a closed realm is asked for, each with its name: what traps ends the process that runs it, behind the name.
@Suite("Use after close() throws or finds nothing, and never ends the process", .timeLimit(.minutes(60)))
struct ClosedRealmTests {
    final class Chest: Object {
        override class func _realmObjectName() -> String? { "Chest" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var id: Int
        @Persisted(indexed: true) var name = "chest"
        @Persisted var mood = Mood.cheerful
        @Persisted var level: Level?
        @Persisted var size: Double
        @Persisted var weight: Float
        @Persisted var isOpen: Bool
        @Persisted var packed: Date
        @Persisted var code: UUID
        @Persisted var key: ObjectId
        @Persisted var blob: Data
        @Persisted var price: Decimal128
        @Persisted var note: String?
        @Persisted var amount: Int?
        @Persisted var any: AnyRealmValue
        @Persisted var names: List<String>
        @Persisted var tags: MutableSet<String>
        @Persisted var sizes: Map<String, Int>
        @Persisted var lid: Lid?
        @Persisted var lids: List<Lid>
        @Persisted var next: Chest?
        @Persisted var inner: List<Chest>
        @Persisted(originProperty: "next") var before: LinkingObjects<Chest>
        @Persisted var notes: List<String?>
        @Persisted var days: List<Date>
        @Persisted var codes: List<UUID>
        @Persisted var keys: List<ObjectId>
        @Persisted var moods: List<Mood>
        @Persisted var prices: List<Price>
        @Persisted var places: List<Place>
        @Persisted var anys: List<AnyRealmValue>
        @Persisted var friends: MutableSet<Chest>
        @Persisted var mates: Map<String, Chest?>
        @Persisted var dates: Map<String, Date>
    }

    final class Lid: EmbeddedObject {
        @Persisted var color = "red"
    }

    struct Price: CustomPersistable {
        var cents: Int
        init(persistedValue: Int) { cents = persistedValue }
        var persistableValue: Int { cents }
    }

    struct Place: CustomPersistable {
        var color: String
        init(persistedValue: Lid) { color = persistedValue.color }
        var persistableValue: Lid { Lid(value: ["color": color]) }
    }

    final class Label: Projection<Chest> {
        @Projected(\Chest.name) var name: String
        @Projected(\Chest.inner.projectTo.name) var innerNames: ProjectedCollection<String>
    }

    /// Where the realm is.
    enum Kind: String, CaseIterable, Codable, Sendable {
        case memory, file
    }

    /// Everything that may be held of a realm when another job closes it.
    private struct Held {
        let realm: Realm
        let chest: Chest
        let other: Chest
        let lid: Lid
        let dynamic: DynamicObject
        let all: Results<Chest>
        let some: Results<Chest>
        let sorted: Results<Chest>
        let sections: SectionedResults<String, Chest>
        let names: List<String>
        let inner: List<Chest>
        let tags: MutableSet<String>
        let sizes: Map<String, Int>
        let before: LinkingObjects<Chest>
        let nested: List<AnyRealmValue>
        var loop: RealmIterator<Chest>
        var values: RealmIterator<String>
        let frozen: Chest
        let frozenAll: Results<Chest>
        let section: ResultsSection<String, Chest>
        let friends: MutableSet<Chest>
        let labels: Results<Label>
        let label: Label
        let projected: ProjectedCollection<String>
        let innerNames: ProjectedCollection<String>
        let slice: Slice<Results<Chest>>
        let sectionSlice: Slice<SectionedResults<String, Chest>>
        let rowSlice: Slice<ResultsSection<String, Chest>>
        let projectedSlice: Slice<ProjectedCollection<String>>
        let dynamicAll: Results<DynamicObject>
        var sectionLoop: SectionedResults<String, Chest>.Iterator
        var rowLoop: SectionIterator<Chest>
        var projectedLoop: ProjectedCollection<String>.Iterator
    }

    actor Store {
        private var realm: Realm!
        private var held: Held!
        private var told = 0
        private var token: NotificationToken?
        private let file = TestFile()

        init(_ kind: Kind) async throws {
            var configuration = file.fast
            if kind == .memory { configuration.inMemoryIdentifier = UUID().uuidString }
            configuration.objectTypes = [Chest.self, Lid.self]
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func prepare() throws {
            let realm: Realm = realm
            let (chest, other) = try realm.write {
                let other = realm.create(Chest.self, value: ["id": 2, "name": "other"])
                let chest = realm.create(
                    Chest.self,
                    value: [
                        "id": 1, "mood": Mood.grumpy, "size": 2.5, "note": "n", "amount": 3, "any": [1, ["a": 2]],
                        "names": ["a", "b"], "tags": ["t"], "sizes": ["l": 3], "lid": ["color": "blue"],
                        "lids": [[:]], "next": other, "inner": [other], "weight": 1.5, "level": 9,
                        "notes": ["n"], "days": [Date()], "codes": [UUID()], "keys": [ObjectId.generate()],
                        "moods": [Mood.grumpy], "prices": [7], "places": [["color": "blue"]], "anys": [1, "a"],
                        "friends": [other], "mates": ["o": other], "dates": ["d": Date()],
                    ]
                )
                return (chest, other)
            }
            let all = realm.objects(Chest.self)
            let names = chest.names
            var loop = all.makeIterator()
            _ = loop.next()
            var values = names.makeIterator()
            _ = values.next()
            let sections = all.sectioned(by: \.name)
            var sectionLoop = sections.makeIterator()
            _ = sectionLoop.next()
            let section = sections[0]
            var rowLoop = section.makeIterator()
            _ = rowLoop.next()
            let projected = all.projectTo.name
            var projectedLoop = projected.makeIterator()
            _ = projectedLoop.next()
            let labels = realm.objects(Label.self)
            held = Held(
                realm: realm,
                chest: chest,
                other: other,
                lid: chest.lid!,
                dynamic: realm.dynamicObject(ofType: "Chest", forPrimaryKey: 1)!,
                all: all,
                some: all.where { $0.name == "chest" },
                sorted: all.filter("size > 1").sorted(byKeyPath: "name"),
                sections: sections,
                names: names,
                inner: chest.inner,
                tags: chest.tags,
                sizes: chest.sizes,
                before: other.before,
                nested: chest.any.listValue!,
                loop: loop,
                values: values,
                frozen: chest.freeze(),
                frozenAll: all.freeze(),
                section: section,
                friends: chest.friends,
                labels: labels,
                label: labels[0],
                projected: projected,
                innerNames: chest.inner.projectTo.name,
                slice: all[0..<2],
                sectionSlice: sections[0..<2],
                rowSlice: section[0..<1],
                projectedSlice: projected[0..<2],
                dynamicAll: realm.dynamicObjects("Chest"),
                sectionLoop: sectionLoop,
                rowLoop: rowLoop,
                projectedLoop: projectedLoop
            )
            token = all.observe { [weak self] _ in self?.assumeIsolated { $0.told += 1 } }
        }

        func close() { realm.close() }

        private func at(_ name: String) { FileHandle.standardError.write(Data("at \(name)\n".utf8)) }

        private func expectEmpty(_ name: String, _ isEmpty: Bool) {
            if !isEmpty { Issue.record("\(name) finds something") }
        }

        private func expectClosed(_ name: String, _ body: () throws -> Void) {
            at(name)
            let error = #expect(throws: Realm.Error.self, "\(name)") { try body() }
            #expect(error?.code == .closed, "\(name): \(error.map { "\($0)" } ?? "no error")")
        }

        func read() {
            at("scalars")
            let chest = held.chest
            expectEmpty("scalars", chest.id == 0 && chest.name == "" && chest.size == 0 && chest.weight == 0)
            at("more scalars")
            expectEmpty("more scalars", !chest.isOpen && chest.blob.isEmpty && chest.price == 0)
            _ = (chest.packed, chest.code, chest.key)
            at("enums")
            expectEmpty("enums", chest.mood == .calm && chest.level == nil)
            at("optionals")
            expectEmpty("optionals", chest.note == nil && chest.amount == nil)
            at("any")
            expectEmpty("any", chest.any == .none)
            at("links")
            expectEmpty("links", chest.next == nil && chest.lid == nil && held.lid.color == "")
            at("collections of the object")
            expectEmpty("collections", chest.names.isEmpty && chest.inner.isEmpty && chest.lids.isEmpty)
            expectEmpty("collections", chest.tags.isEmpty && chest.sizes.isEmpty && held.other.before.isEmpty)
            at("identity")
            #expect(chest.isInvalidated && chest.realm === realm && !chest.isFrozen)
            _ = (chest == held.other, chest.hashValue, chest.isSameObject(as: held.other), chest.objectSchema.className)
            at("detaching")
            expectEmpty("detaching", chest.detached().name == "" && held.chest.detached(depth: 3).names.isEmpty)
            at("description")
            _ = "\(chest) \(held.lid) \(held.all) \(held.names) \(held.sizes) \(held.sections)"
            at("dynamic")
            _ = (
                held.dynamic["name"], chest["name"], chest.value(forKeyPath: "next.name"),
                held.dynamic.dynamicList("inner").count
            )
            at("writing outside a transaction")
            chest.name = "new"
            chest.mood = .calm
            chest.next = Chest()
            chest.lid = Lid()
            chest.any = .int(1)
            chest["name"] = "new"
            held.dynamic["name"] = "new"
            held.dynamic["inner"] = [["id": 5]]
            expectClosed("value(of:)") { _ = try chest.value(of: \.name) }
            expectClosed("value(of:) through a link") { _ = try chest.value(of: \.next?.name) }
        }

        func readCollections() {
            at("results")
            for (index, results) in [held.all, held.some, held.sorted].enumerated() {
                expectEmpty("results \(index)", results.isEmpty && results.first == nil && results.last == nil)
                expectEmpty("results \(index)", Array(results).isEmpty && results.map(\.name).isEmpty)
                #expect(results.isInvalidated)
                expectEmpty("refined \(index)", results.where { $0.size > 0 }.isEmpty)
                expectEmpty("refined \(index)", results.filter("name CONTAINS 'c'").isEmpty && results.limit(1).isEmpty)
                expectEmpty(
                    "refined \(index)",
                    results.sorted(by: \.name).isEmpty && results.distinct(by: ["name"]).isEmpty
                )
                let sum: Double = results.sum(of: \.size)
                let least: Double? = results.min(of: \.size)
                expectEmpty("aggregates \(index)", sum == 0 && least == nil && results.average(of: \.size) == nil)
                expectEmpty("index \(index)", results.index(of: held.chest) == nil)
                expectEmpty("index \(index)", results.index(matching: { $0.id == 1 }) == nil)
                _ = results.explain()
            }
            at("iterators")
            expectEmpty("iterators", held.loop.next() == nil)
            while held.values.next() != nil {}
            at("lists")
            expectEmpty("lists", held.names.isEmpty && held.inner.isEmpty && held.names.first == nil)
            expectEmpty("lists", held.inner.where { $0.id == 2 }.isEmpty && held.inner.sorted(by: \.name).isEmpty)
            expectEmpty("nested", held.nested.isEmpty && Array(held.nested).isEmpty)
            at("sets")
            expectEmpty("sets", held.tags.isEmpty && !held.tags.contains("t") && held.tags.first == nil)
            at("maps")
            expectEmpty("maps", held.sizes.isEmpty && held.sizes["l"] == nil && held.sizes.keys.isEmpty)
            expectEmpty("maps", held.sizes.values.isEmpty && held.sizes.asKeyValueSequence().isEmpty)
            at("linking objects")
            expectEmpty("linking objects", held.before.isEmpty && Array(held.before).isEmpty)
            at("sections")
            expectEmpty("sections", held.sections.isEmpty && held.sections.allKeys.isEmpty)
            for section in held.sections { Issue.record("\(section.key) is there") }
            at("changing lists")
            held.names.append("x")
            held.names.append(objectsIn: ["x"])
            held.names.insert("x", at: 0)
            held.names.remove(at: 0)
            held.names.removeFirst()
            held.names.removeLast(2)
            held.names.removeSubrange(0..<1)
            held.names.replaceSubrange(0..<1, with: ["y"])
            held.names.move(from: 0, to: 1)
            held.names.swapAt(0, 1)
            held.names.replace(index: 0, object: "z")
            held.names[0] = "z"
            held.names.removeAll()
            held.inner.append(Chest())
            held.nested.append(.int(1))
            at("changing sets and maps")
            held.tags.insert("x")
            held.tags.remove("t")
            held.tags.removeAll()
            held.sizes["x"] = 1
            held.sizes["x"] = nil
            held.sizes.removeAll()
            at("assigning collections")
            held.chest.names = List()
            held.chest.sizes = Map()
        }

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

        func useRealm() {
            let realm = held.realm
            at("the realm")
            #expect(realm.isInvalidated && !realm.isInWriteTransaction && !realm.isFrozen)
            expectEmpty("objects", realm.objects(Chest.self).isEmpty && realm.isEmpty)
            expectEmpty("object", realm.object(ofType: Chest.self, forPrimaryKey: 1) == nil)
            expectEmpty("dynamic", realm.dynamicObjects("Chest").isEmpty)
            expectEmpty("dynamic", realm.dynamicObject(ofType: "Chest", forPrimaryKey: 1) == nil)
            _ = (
                realm.schema.objectSchema.count, realm.configuration, realm.version, realm.autorefresh, realm.isOutdated
            )
            at("refreshing")
            realm.autorefresh = true
            #expect(!realm.refresh())
            expectEmpty("versions", realm.activeVersions.isEmpty)
            at("closing again")
            realm.invalidate()
            realm.close()
            expectClosed("write") { try realm.write { _ = Issue.record("the block runs") } }
            expectClosed("write with a timeout") { try realm.write(timeout: .seconds(1)) {} }
            expectClosed("beginWriteTransaction") { try realm.beginWriteTransaction() }
            at("beginWrite")
            realm.beginWrite()
            #expect(!realm.isInWriteTransaction)
            at("create")
            let made = realm.create(Chest.self, value: ["id": 9])
            #expect(made.realm == nil)
            at("add")
            let added = Chest()
            realm.add(added)
            realm.add([added], update: .modified)
            #expect(added.realm == nil)
            at("dynamicCreate")
            _ = realm.dynamicCreate("Chest", value: ["id": 9])["name"]
            at("delete")
            realm.delete(held.chest)
            realm.delete([held.chest, held.other])
            realm.delete(held.all)
            realm.delete(held.inner)
            realm.deleteAll()
            expectClosed("commitWrite") { try realm.commitWrite() }
            at("cancelWrite")
            realm.cancelWrite()
            expectClosed("insert an object") { try realm.insert(Chest()) }
            expectClosed("insert") { try realm.insert(Chest.self, value: ["id": 9]) }
            expectClosed("insert JSON") { try realm.insert(Chest.self, json: Data("{}".utf8)) }
            expectClosed("verify") { try realm.verify() }
            let copy = FileManager.default.temporaryDirectory.appendingPathComponent("copy-\(UUID().uuidString)")
            expectClosed("writeCopy") { try realm.writeCopy(toFile: copy) }
            expectClosed("cancelAsyncWrite") { try realm.cancelAsyncWrite(1) }
            #expect(!realm.isPerformingAsynchronousWriteOperations)
        }

        func handOver() {
            at("freezing")
            expectEmpty(
                "frozen",
                held.all.freeze().isEmpty && held.names.freeze().isEmpty && held.realm.freeze().isEmpty
            )
            expectEmpty(
                "frozen",
                held.chest.freeze().name == "" && held.sizes.freeze().isEmpty && held.tags.freeze().isEmpty
            )
            expectEmpty(
                "frozen",
                held.before.freeze().isEmpty && held.sections.freeze().isEmpty && held.lid.freeze().color == ""
            )
            expectEmpty("frozen", held.all.frozen.value.isEmpty && held.realm.frozen.value.isEmpty)
            #expect(held.chest.freeze().isInvalidated)
            at("what was frozen before")
            #expect(held.frozen.name == "chest" && held.frozenAll.count == 2)
            at("thawing")
            _ = (held.chest.thaw(), held.all.thaw(), held.names.thaw())
            at("references")
            expectEmpty("references", held.realm.resolve(ThreadSafeReference(to: held.chest)) == nil)
            expectEmpty("references", held.realm.resolve(ThreadSafeReference(to: held.names)) == nil)
            expectEmpty("references", held.realm.resolve(ObjectReference(to: held.chest)) == nil)
            let wrapped = ThreadSafe(wrappedValue: held.chest)
            expectEmpty("references", wrapped.wrappedValue == nil)
            expectEmpty("frozen values", held.realm.thaw(held.all.frozen) == nil)
            at("freezing projected collections")
            for names in [held.projected, held.innerNames, held.label.innerNames] {
                #expect(names.freeze().isFrozen && names.freeze().realm?.isFrozen == true)
                expectEmpty("frozen", names.freeze().isEmpty && names.frozen.value.isEmpty)
                expectEmpty("thawed", held.realm.thaw(names.frozen) == nil)
            }
        }

        func wait() async {
            at("asyncRefresh")
            #expect(await !held.realm.asyncRefresh())
            at("asyncWrite")
            let realm = held.realm
            await expectClosedAsync("asyncWrite") { try await realm.asyncWrite { _ = Issue.record("the block runs") } }
            await expectClosedAsync("beginAsyncWrite") { try await realm.beginAsyncWrite().cancel() }
            at("writeAsync")
            let (results, result) = AsyncStream<(any Error)?>.makeStream()
            realm.writeAsync {
                Issue.record("the block runs")
            } onComplete: {
                result.yield($0)
            }
            realm.beginAsyncWrite { Issue.record("the block runs") }
            realm.commitAsyncWrite { result.yield($0) }
            var iterator = results.makeAsyncIterator()
            for _ in 0..<2 {
                let error = await iterator.next() ?? nil
                #expect((error as? Realm.Error)?.code == .closed)
            }
            at("changes")
            for await _ in held.all.changes() { Issue.record("a change is told") }
            for await _ in held.chest.changes() { Issue.record("a change is told") }
            for await _ in held.sizes.changes() { Issue.record("a change is told") }
            for await _ in held.sections.changes() { Issue.record("a change is told") }
            for await _ in realm.changes { Issue.record("a change is told") }
            // One that begins anew waits without end behind what it is told first.
            for names in [held.projected, held.innerNames, held.label.innerNames] {
                for await _ in names.changes() {
                    Issue.record("a change is told")
                    break
                }
            }
            for await _ in held.label.changes() {
                Issue.record("a change is told")
                break
            }
            for await _ in held.section.changes() {
                Issue.record("a change is told")
                break
            }
            at("observe")
            let before = told
            let tokens = [
                held.all.observe { _ in Issue.record("a change is told") },
                held.chest.observe { (_: ObjectChange<Chest>) in Issue.record("a change is told") },
                held.sizes.observe { _ in Issue.record("a change is told") },
                held.sections.observe { _ in Issue.record("a change is told") },
                held.projected.observe { _ in Issue.record("a change is told") },
                held.innerNames.observe { _ in Issue.record("a change is told") },
                realm.observe { _, _ in Issue.record("a change is told") },
            ]
            for token in tokens { token.invalidate() }
            token?.invalidate()
            #expect(told == before)
        }

        private func expectClosedAsync(_ name: String, _ body: () async throws -> Void) async {
            at(name)
            do {
                try await body()
                Issue.record("\(name) goes on")
            } catch { #expect((error as? Realm.Error)?.code == .closed, "\(name): \(error)") }
        }
    }

    private func check(_ result: ExitTest.Result?, _ report: ChildReport, line: SourceLocation = #_sourceLocation) {
        let text = report.take()
        #expect(result != nil, "\(text)", sourceLocation: line)
    }

    @Test("Objects: their properties, their links, and what is assigned to them", arguments: Kind.allCases)
    func objects(_ kind: Kind) async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport, kind = kind as Kind] in
            report.begin()
            let store = try await Store(kind)
            try await store.prepare()
            await store.close()
            await store.read()
        }
        check(result, report)
    }

    @Test("Results, lists, sets, maps, sections and iterators", arguments: Kind.allCases)
    func collections(_ kind: Kind) async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport, kind = kind as Kind] in
            report.begin()
            let store = try await Store(kind)
            try await store.prepare()
            await store.close()
            await store.readCollections()
        }
        check(result, report)
    }

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
        check(result, report)
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

    @Test("The realm itself, and what is written without a task", arguments: Kind.allCases)
    func realm(_ kind: Kind) async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport, kind = kind as Kind] in
            report.begin()
            let store = try await Store(kind)
            try await store.prepare()
            await store.close()
            await store.useRealm()
        }
        check(result, report)
    }

    @Test("Frozen copies and references", arguments: Kind.allCases)
    func handover(_ kind: Kind) async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport, kind = kind as Kind] in
            report.begin()
            let store = try await Store(kind)
            try await store.prepare()
            await store.close()
            await store.handOver()
        }
        check(result, report)
    }

    @Test("Asynchronous writes, change sequences and blocks", arguments: Kind.allCases)
    func asynchronous(_ kind: Kind) async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport, kind = kind as Kind] in
            report.begin()
            let store = try await Store(kind)
            try await store.prepare()
            await store.close()
            await store.wait()
        }
        check(result, report)
    }

    actor Writer {
        private var realm: Realm!
        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        /// Goes on writing after another job of the actor has closed the realm in the midst.
        func write() async throws -> Realm.Error? {
            let transaction = try await realm.beginAsyncWrite()
            let tally = realm.create(Tally.self, value: ["name": "a"])
            await Task.detached { await self.close() }.value
            tally.count = 5
            realm.create(Tally.self, value: ["name": "b"])
            do {
                try await transaction.commit()
                return nil
            } catch { return error as? Realm.Error }
        }

        func close() { realm.close() }
    }

    @Test(
        "A transaction that another job closes the realm of goes nowhere, and its commit says so; the log says it once"
    )
    func inTransaction() async throws {
        let file = TestFile()
        let log = Journal<String>()
        var configuration = file.fast
        configuration.logger = Logger(level: .warn) { _, message in log.add(message) }
        let writer = try await Writer(configuration)
        #expect(try await writer.write()?.code == .closed)
        #expect(log.entries.count { $0.contains("used after it was closed") } == 1, "\(log.entries)")
        try withNewRealm(configuration) { #expect($0.objects(Tally.self).isEmpty) }
    }
}
