import Dispatch
import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

/// How each sequence of changes, and each asynchronous write by a block, ends where another process changes the schema.
@Suite("Sequences of outdated realms", .timeLimit(.minutes(60)))
struct OutdatedSequencesTests {
    let directory = TemporaryDirectory()

    final class Shelf: Object {
        override class func _realmObjectName() -> String? { "SequenceShelf" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var name: String
        @Persisted var books: List<Book>
        @Persisted var tags: MutableSet<String>
        @Persisted var counts: Map<String, Int>
    }

    final class Book: Object {
        override class func _realmObjectName() -> String? { "SequenceBook" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var title: String
        @Persisted var pages: Int
        @Persisted(originProperty: "books") var shelves: LinkingObjects<Shelf>
    }

    final class ShelfProjection: Projection<Shelf> {
        @Projected(\Shelf.name) var title: String
    }

    /// Without the books' number of pages.
    final class LaterShelf: Object {
        override class func _realmObjectName() -> String? { "SequenceShelf" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var name: String
        @Persisted var books: List<LaterBook>
        @Persisted var tags: MutableSet<String>
        @Persisted var counts: Map<String, Int>
    }

    final class LaterBook: Object {
        override class func _realmObjectName() -> String? { "SequenceBook" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var title: String
    }

    /// What was delivered last, before the end.
    enum Last: String { case failure, change, nothing }

    /// Something that a block holds, which says when it is let go of.
    private final class BlockEnd: Sendable {
        private let told: Journal<String>

        init(_ told: Journal<String>) { self.told = told }

        deinit { told.add("end") }
    }

    private actor Reader {
        private var realm: Realm!

        init(_ path: String) async throws {
            let configuration = OutdatedRealmTests.configuration(path, [Shelf.self, Book.self], version: 1)
            realm = try await Realm(configuration: configuration, actor: self)
            let realm = realm!
            try realm.write {
                let shelf = realm.create(Shelf.self, value: ["name": "first", "tags": ["a"], "counts": ["a": 1]])
                shelf.books.append(realm.create(Book.self, value: ["title": "one", "pages": 10]))
            }
        }

        /// Registers an observer, and follows it to its end.
        private func follow<Changes: ChangeSequence>(
            _ changes: Changes,
            _ isFailure: @escaping @Sendable (Changes.Element) -> Bool
        ) -> Task<Last, Never> {
            let iterator = changes.makeAsyncIterator()
            return Task { await last(of: iterator, isFailure) }
        }

        private func last<Iterator: AsyncIteratorProtocol>(
            of iterator: Iterator,
            _ isFailure: (Iterator.Element) -> Bool
        ) async -> Last where Iterator.Failure == Never {
            var iterator = iterator
            var last = Last.nothing
            while let change = await iterator.next(isolation: self) { last = isFailure(change) ? .failure : .change }
            return last
        }

        private func follow<Collection: RealmCollection>(_ changes: CollectionChanges<Collection>) -> Task<Last, Never>
        {
            follow(changes) { if case .error = $0 { true } else { false } }
        }

        /// By its name: a task for each kind of sequence.
        func tasks() throws -> [String: Task<Last, Never>] {
            let shelves = realm.objects(Shelf.self)
            let shelf = try #require(shelves.first)
            let book = try #require(shelf.books.first)
            let projection = try #require(realm.objects(ShelfProjection.self).first)
            return [
                "results": follow(realm.objects(Book.self).where { $0.pages > 5 }.changes()),
                "list": follow(shelf.books.changes()), "set": follow(shelf.tags.changes()),
                "linking": follow(book.shelves.changes()),
                "map": follow(shelf.counts.changes()) { if case .error = $0 { true } else { false } },
                "object": follow(shelf.changes()) { if case .error = $0 { true } else { false } },
                "projection": follow(projection.changes()) { if case .error = $0 { true } else { false } },
                "projected": follow(shelf.books.projectTo.title.changes()) {
                    if case .error = $0 { true } else { false }
                },
                "realm": follow(realm.changes) { $0.isOutdated },
                // They have no element for an error.
                "sections": follow(shelves.sectioned(by: \.name).changes()) { _ in false },
            ]
        }

        /// What blocks of asynchronous writes are told.
        func callbackWrites() async -> [Realm.Error.Code?] {
            let realm = realm!
            return await withCheckedContinuation { continuation in
                realm.writeAsync({ realm.create(Shelf.self, value: ["name": "lost"]) }) { error in
                    let first = (error as? Realm.Error)?.code
                    let second = #expect(throws: Realm.Error.self) { try realm.beginWriteTransaction() }
                    continuation.resume(returning: [first, second?.code])
                }
            }
        }

        /// Observes a book with a block that says when it is let go of, and is not called before the end.
        func observe(on queue: DispatchQueue, _ told: Journal<String>) -> NotificationToken {
            let end = BlockEnd(told)
            return realm.objects(Book.self).first!
                .observe(on: queue) { (change: ObjectChange<Book>) in
                    withExtendedLifetime(end) {
                        if case .error = change { told.add("error") } else { told.add("change") }
                    }
                }
        }

        func changes() -> CollectionChanges<Results<Shelf>> { realm.objects(Shelf.self).changes() }

        func batched() -> some AsyncSequence<RealmChange, Never> & Sendable {
            realm.changes.batched(every: .milliseconds(1))
        }

        func refresh() -> Bool { realm.refresh() || !realm.isOutdated }
    }

    @Test("Each tells it as far as it has an element for that, and ends; so does one that begins later", .secondProcess)
    func sequences() async throws {
        let path = directory.path("sequences.realm")
        let reader = try await Reader(path)
        let tasks = try await reader.tasks()
        // Outside every actor.
        var frozen = await reader.changes().makeAsyncIterator()
        #expect(await frozen.next()?.collection?.count == 1)
        var batched = await reader.batched().makeAsyncIterator()
        await #expect(processExitsWith: .success) { [path = path as String] in
            let configuration = OutdatedRealmTests.configuration(path, [LaterShelf.self, LaterBook.self], version: 2)
            try withNewRealm(configuration) { realm in
                try realm.write { realm.create(LaterShelf.self, value: ["name": "second"]) }
            }
        }
        func check(_ tasks: [String: Task<Last, Never>], _ sections: Set<Last>, _ when: String) async {
            for (name, task) in tasks.sorted(by: { $0.key < $1.key }) {
                let last = await task.value
                #expect(name == "sections" ? sections.contains(last) : last == .failure, "\(name), \(when)")
            }
        }
        // They may not have shown anything yet when the other release comes.
        await check(tasks, [.change, .nothing], "begun before")
        guard case .error(let error)? = await frozen.next() else {
            Issue.record("no error outside every actor")
            return
        }
        #expect((error as? Realm.Error)?.code == .schemaOutdated)
        #expect(await frozen.next() == nil)
        var last: RealmChange?
        while let change = await batched.next(isolation: nil) { last = change }
        #expect(last?.isOutdated == true)
        #expect(await reader.refresh() == false)
        await check(try await reader.tasks(), [.nothing], "begun on the outdated realm")
        #expect(await reader.callbackWrites() == [.schemaOutdated, .schemaOutdated])
    }

    @Test("A block on another queue that was never called is told, too", .secondProcess)
    func blockElsewhere() async throws {
        let path = directory.path("blocks.realm")
        let reader = try await Reader(path)
        let told = Journal<String>()
        let token = await reader.observe(on: DispatchQueue(label: "elsewhere"), told)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let configuration = OutdatedRealmTests.configuration(path, [LaterShelf.self, LaterBook.self], version: 2)
            try withNewRealm(configuration) { realm in
                try realm.write { realm.create(LaterShelf.self, value: ["name": "second"]) }
            }
        }
        _ = await eventually { told.entries.last == "end" }
        #expect(told.entries == ["error", "end"])
        token.invalidate()
    }

    @Test("Changes that follow each other are outdated where the last one is")
    func merging() {
        func change(_ version: UInt64, _ isOutdated: Bool) -> RealmChange {
            RealmChange(version: version, classes: [:], isOutdated: isOutdated)
        }
        #expect(change(1, false).merging(change(2, true)).isOutdated)
        #expect(!change(1, false).merging(change(2, false)).isOutdated)
    }
}
