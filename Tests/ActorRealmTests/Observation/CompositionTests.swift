import ActorRealm
import AsyncAlgorithms
import Foundation
import RealmTestSupport
import Testing

private class ComposedItem: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var count: Int
}

/// Change sequences as parts of larger ones.
@Suite struct CompositionTests {
    let directory = TemporaryDirectory()

    private actor Writer {
        var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        var version: UInt64 { realm.version }

        func changes() -> RealmChanges { realm.changes }

        func add(_ id: Int) async throws {
            try await realm.asyncWrite { realm.create(ComposedItem.self, value: ["id": id]) }
        }

        func remove(_ id: Int) async throws {
            try await realm.asyncWrite { realm.delete(realm.object(ofType: ComposedItem.self, forPrimaryKey: id)!) }
        }
    }

    private func configuration(_ name: String) -> Realm.Configuration {
        Realm.Configuration(fileURL: URL(fileURLWithPath: directory.path(name)), objectTypes: [ComposedItem.self])
    }

    @Test func `batched changes add up to what happened, with nothing that came and went`() async throws {
        let writer = try await Writer(configuration("batched.realm"))
        let batches = await writer.changes().batched(every: .milliseconds(40))
        let reader = Task {
            var inserted: Set<Int64> = []
            var elements = 0
            for await change in batches {
                elements += 1
                let items = change.classes["ComposedItem"]
                inserted.subtract(items?.deleted ?? [])
                inserted.formUnion(items?.inserted ?? [])
                if items?.inserted.contains(60) == true { break }
            }
            return (inserted, elements)
        }
        try await Task.sleep(for: .milliseconds(100))
        for id in 0..<60 { try await writer.add(id) }
        for id in 0..<30 { try await writer.remove(id) }
        try await writer.add(60)
        let (inserted, elements) = await reader.value
        #expect(inserted == Set((30...60).map(Int64.init)))
        #expect(elements < 91, "batches must merge commits: \(elements)")
    }

    @Test func `the changes of two files merge into one sequence`() async throws {
        let first = try await Writer(configuration("first.realm"))
        let second = try await Writer(configuration("second.realm"))
        let both = merge(
            await first.changes().map { ("first", $0.version) }, await second.changes().map { ("second", $0.version) })
        let reader = Task {
            var seen: Set<String> = []
            for await (name, _) in both {
                seen.insert(name)
                if seen.count == 2 { break }
            }
            return seen
        }
        try await Task.sleep(for: .milliseconds(100))
        try await first.add(1)
        try await second.add(1)
        #expect(await reader.value == ["first", "second"])
    }

    @Test func `debounced changes deliver the last of a burst`() async throws {
        let writer = try await Writer(configuration("debounced.realm"))
        let debounced = await writer.changes().map(\.version).debounce(for: .milliseconds(150))
        let reader = Task { () -> UInt64? in
            for await version in debounced { return version }
            return nil
        }
        try await Task.sleep(for: .milliseconds(100))
        for id in 0..<10 { try await writer.add(id) }
        let last = await writer.version
        #expect(await reader.value == last)
    }
}
