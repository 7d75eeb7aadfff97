import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// A list in a value of any kind is not the dictionary that comes to the same place, nor the other way round.
@Suite("Lists and dictionaries in values that are replaced by each other", .timeLimit(.minutes(60)))
struct ReplacedNestedTests {
    private let directory = TemporaryDirectory()

    private var configuration: Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: directory.url.appendingPathComponent("replaced.realm"))
        configuration.objectTypes = crateTypes
        return configuration
    }

    private static func crate(_ realm: Realm) -> Crate {
        realm.object(ofType: Crate.self, forPrimaryKey: 1) ?? realm.create(Crate.self, value: ["id": 1])
    }

    /// Whether a change says that everything is gone.
    private static func isEnd<Collection: RealmCollection>(
        _ change: RealmCollectionChange<Collection>?,
        deleting deletions: [Int]
    ) -> Bool {
        guard case .update(let collection, deletions, [], [])? = change else { return false }
        return collection.isEmpty && Array(collection).isEmpty
    }

    @Test("a list is told as empty when a dictionary takes its place, and its changes end")
    func lists() async throws {
        let worker = try await Worker(configuration)
        let (plain, sorted) = try await worker.with { _, realm in
            try await realm.asyncWrite { Self.crate(realm).value = .fromArray([.int(1)]) }
            let list = try #require(Self.crate(realm).value.listValue)
            return (list.changes(), list.sorted(ascending: false).changes())
        }
        var outside = plain.makeAsyncIterator()
        var outsideSorted = sorted.makeAsyncIterator()
        _ = await outside.next()
        _ = await outsideSorted.next()
        try await worker.with { _, realm in
            var inside = plain.makeAsyncIterator()
            var insideSorted = sorted.makeAsyncIterator()
            _ = await inside.next()
            _ = await insideSorted.next()
            try await realm.asyncWrite { Self.crate(realm).value = .fromDictionary(["a": .int(5), "b": .int(6)]) }
            let last = await inside.next()
            try #require(Self.isEnd(last, deleting: [0]), "\(String(describing: last))")
            let end = await inside.next()
            #expect(end == nil)
            let lastSorted = await insideSorted.next()
            try #require(Self.isEnd(lastSorted, deleting: [0]), "\(String(describing: lastSorted))")
            let endSorted = await insideSorted.next()
            #expect(endSorted == nil)
        }
        let last = await outside.next()
        try #require(Self.isEnd(last, deleting: [0]), "\(String(describing: last))")
        #expect(last?.collection?.isFrozen == true)
        let end = await outside.next()
        #expect(end == nil)
        let lastSorted = await outsideSorted.next()
        try #require(Self.isEnd(lastSorted, deleting: [0]), "\(String(describing: lastSorted))")
        let endSorted = await outsideSorted.next()
        #expect(endSorted == nil)
    }

    @Test("sorted values of a dictionary are told as empty when a list takes its place, and their changes end")
    func dictionaries() async throws {
        let worker = try await Worker(configuration)
        let sorted = try await worker.with { _, realm in
            try await realm.asyncWrite { Self.crate(realm).value = .fromDictionary(["a": .int(5)]) }
            return try #require(Self.crate(realm).value.dictionaryValue).sorted(ascending: true).changes()
        }
        var outside = sorted.makeAsyncIterator()
        _ = await outside.next()
        try await worker.with { _, realm in
            try await realm.asyncWrite { Self.crate(realm).value = .fromArray([.int(7), .int(8)]) }
        }
        let last = await outside.next()
        try #require(Self.isEnd(last, deleting: [0]), "\(String(describing: last))")
        let end = await outside.next()
        #expect(end == nil)
    }

    @Test("what is left of one reads as empty, and reading it with errors says that it is gone")
    func reading() async throws {
        let worker = try await Worker(configuration)
        try await worker.with { _, realm in
            try await realm.asyncWrite { Self.crate(realm).value = .fromArray([.int(1)]) }
            let list = try #require(Self.crate(realm).value.listValue)
            let sorted = list.sorted(ascending: true)
            try await realm.asyncWrite { Self.crate(realm).value = .fromDictionary(["a": .int(5), "b": .int(6)]) }
            #expect(list.isInvalidated)
            #expect(list.isEmpty && Array(list).isEmpty)
            #expect(sorted.isEmpty && Array(sorted).isEmpty)
            let error = #expect(throws: Realm.Error.self) { try sorted.requireReadable() }
            #expect(error?.code == .invalidatedObject)
            let map = try #require(Self.crate(realm).value.dictionaryValue)
            let values = map.sorted(ascending: true)
            #expect(Array(values) == [.int(5), .int(6)])
            try await realm.asyncWrite { Self.crate(realm).value = .fromArray([.int(7)]) }
            #expect(map.isInvalidated && map.isEmpty)
            #expect(values.isEmpty && Array(values).isEmpty)
        }
    }
}
