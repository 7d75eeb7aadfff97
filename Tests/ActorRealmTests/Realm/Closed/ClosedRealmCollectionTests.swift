import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// What collections of a closed realm are asked for, by no position.
@Suite("Collections of a closed realm are empty", .timeLimit(.minutes(60)))
struct ClosedRealmCollectionTests {
    typealias Kind = ClosedRealm.Kind
    typealias Store = ClosedRealm.Store

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
        ClosedRealm.check(result, report)
    }
}

extension ClosedRealm.Store {
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
}
