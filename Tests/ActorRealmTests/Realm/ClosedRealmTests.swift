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
    }

    final class Lid: EmbeddedObject {
        @Persisted var color = "red"
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
    }

    actor Store {
        private var realm: Realm!
        private var held: Held!
        private var told = 0
        private var token: NotificationToken?

        init() async throws {
            realm = try await Realm(
                configuration: Realm.Configuration(
                    inMemoryIdentifier: UUID().uuidString,
                    objectTypes: [Chest.self, Lid.self]
                ),
                actor: self
            )
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
            _ = sections.count
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
                frozenAll: all.freeze()
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
            at("observe")
            let before = told
            let tokens = [
                held.all.observe { _ in Issue.record("a change is told") },
                held.chest.observe { (_: ObjectChange<Chest>) in Issue.record("a change is told") },
                held.sizes.observe { _ in Issue.record("a change is told") },
                held.sections.observe { _ in Issue.record("a change is told") },
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

    @Test("Objects: their properties, their links, and what is assigned to them")
    func objects() async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport] in
            report.begin()
            let store = try await Store()
            try await store.prepare()
            await store.close()
            await store.read()
        }
        check(result, report)
    }

    @Test("Results, lists, sets, maps, sections and iterators")
    func collections() async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport] in
            report.begin()
            let store = try await Store()
            try await store.prepare()
            await store.close()
            await store.readCollections()
        }
        check(result, report)
    }

    @Test("The realm itself, and what is written without a task")
    func realm() async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport] in
            report.begin()
            let store = try await Store()
            try await store.prepare()
            await store.close()
            await store.useRealm()
        }
        check(result, report)
    }

    @Test("Frozen copies and references")
    func handover() async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport] in
            report.begin()
            let store = try await Store()
            try await store.prepare()
            await store.close()
            await store.handOver()
        }
        check(result, report)
    }

    @Test("Asynchronous writes, change sequences and blocks")
    func asynchronous() async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport] in
            report.begin()
            let store = try await Store()
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
