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

        func changes() -> RealmChanges { realm.changes }

        func items() -> CollectionChanges<Results<ComposedItem>> { realm.objects(ComposedItem.self).changes() }

        /// The first element of a sequence that is iterated on the actor.
        func first<Sequence: AsyncSequence<Bool?, Never>>(of sequence: Sequence) async -> Bool? {
            for await element in sequence { return element }
            return nil
        }

        func add(_ id: Int) async throws {
            try await realm.asyncWrite { realm.create(ComposedItem.self, value: ["id": id]) }
        }

        func remove(_ id: Int) async throws {
            try await realm.asyncWrite {
                if let item = realm.object(ofType: ComposedItem.self, forPrimaryKey: id) { realm.delete(item) }
            }
        }
    }

    private func configuration(_ name: String) -> Realm.Configuration {
        Realm.Configuration(fileURL: URL(fileURLWithPath: directory.path(name)), objectTypes: [ComposedItem.self])
    }

    /// Writes until a reader has what it waits for, so that nothing depends on when it began to listen.
    private func write<Value: Sendable>(_ writers: [Writer], until reader: Task<Value, Never>) async throws -> Value {
        let writing = Task {
            var id = 0
            while !Task.isCancelled {
                for writer in writers { try await writer.add(id) }
                id += 1
            }
        }
        let value = await reader.value
        writing.cancel()
        _ = await writing.result
        return value
    }

    @Test func `a batch is one change for many commits, in order and without a gap`() async throws {
        let writer = try await Writer(configuration("batched.realm"))
        let batches = await writer.changes().batched(every: .milliseconds(40))
        let reader = Task {
            var batched: [RealmChange] = []
            for await change in batches {
                batched.append(change)
                if batched.count == 4 { break }
            }
            return batched
        }
        let changes = try await write([writer], until: reader)
        #expect(changes.count == 4)
        let keys = changes.flatMap { $0.classes["ComposedItem"]?.inserted ?? [] }
        #expect(keys == Array((keys.first ?? 0)...(keys.last ?? 0)))
        #expect(changes.map(\.version) == changes.map(\.version).sorted())
    }

    @Test func `a batch in which nothing has changed in the end is none`() async throws {
        let writer = try await Writer(configuration("undone.realm"))
        let batches = await writer.changes().batched(every: .milliseconds(50))
        let isDone = Journal<Bool>()
        let reader = Task {
            var batched: [RealmChange] = []
            for await change in batches {
                batched.append(change)
                if !isDone.entries.isEmpty { break }
            }
            return batched
        }
        var plain = await writer.changes().makeAsyncIterator()
        for id in 1...10 {
            // The two are told one by one, and come into one batch but when that ends in between.
            try await writer.add(-id)
            _ = await plain.next()
            try await Task.sleep(for: .milliseconds(5))
            try await writer.remove(-id)
            _ = await plain.next()
            try await Task.sleep(for: .milliseconds(120))
        }
        isDone.add(true)
        let batched = try await write([writer], until: reader)
        #expect(batched.allSatisfy { !$0.classes.isEmpty })
    }

    @Test(arguments: [Duration.seconds(Int64.max), .zero, .seconds(-1)])
    func `an interval of any length ends no process`(interval: Duration) async throws {
        let writer = try await Writer(configuration("intervals.realm"))
        let batches = await writer.changes().batched(every: interval)
        let reader = Task { for await _ in batches { break } }
        try await Task.sleep(for: .milliseconds(20))
        reader.cancel()
        await reader.value
    }

    @Test func `the changes of two files merge into one sequence`() async throws {
        let first = try await Writer(configuration("first.realm"))
        let second = try await Writer(configuration("second.realm"))
        let both = merge(
            await first.changes().map { _ in "first" },
            await second.changes().map { _ in "second" }
        )
        let reader = Task {
            var seen: Set<String> = []
            for await name in both {
                seen.insert(name)
                if seen.count == 2 { break }
            }
            return seen
        }
        #expect(try await write([first, second], until: reader) == ["first", "second"])
    }

    @Test func `what is read from changes is read where they are iterated, and may be merged and shared`() async throws
    {
        let writer = try await Writer(configuration("mapped.realm"))
        let reader = try await Writer(configuration("mapped.realm"))
        let frozen = await writer.items().map { $0.collection?.isFrozen }
        #expect(await reader.first(of: frozen) == false)
        var outside = frozen.makeAsyncIterator()
        #expect(await outside.next() == true)
        let counts = await writer.items().map { $0.collection?.count ?? -1 }
        let shared = merge(counts, frozen.map { _ in -2 }).share()
        let tasks = (0..<2)
            .map { _ in
                Task {
                    for await count in shared where count >= 2 { return true }
                    return false
                }
            }
        let both = Task {
            for task in tasks { guard await task.value else { return false } }
            return true
        }
        #expect(try await write([writer], until: both))
    }
}
