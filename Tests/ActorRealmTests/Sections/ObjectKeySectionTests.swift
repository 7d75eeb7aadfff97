import Foundation
import RealmStorage
import Testing

@testable import ActorRealm

/// The key is another object in each realm that reads it, and one key all the same.
@Suite("Sections by an object in a value of any kind", .timeLimit(.minutes(60)))
struct ObjectKeySectionTests {
    class Letter: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var name = ""
        @Persisted var about: AnyRealmValue
    }

    class Topic: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var title = ""
    }

    class Stamp: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var price = 0
    }

    private static let types: [ObjectBase.Type] = [Letter.self, Topic.self, Stamp.self]

    private let file = TestFile()

    /// Two letters about the first topic, and one about the second.
    private static func fill(_ realm: Realm) {
        let topics = ["one", "two"].map { realm.create(Topic.self, value: ["title": $0]) }
        for (index, name) in ["a", "b", "c"].enumerated() {
            let letter = realm.create(Letter.self, value: ["name": name])
            letter.about = .object(topics[index / 2])
        }
    }

    private func filled() throws -> Realm {
        let realm = try memoryRealm(Self.types)
        try realm.write { Self.fill(realm) }
        return realm
    }

    private func filledWorker() async throws -> Worker {
        let worker = try await Worker(configuration)
        try await worker.with { _, realm in try await realm.asyncWrite { Self.fill(realm) } }
        return worker
    }

    private var configuration: Realm.Configuration {
        var configuration = file.fast
        configuration.objectTypes = Self.types
        return configuration
    }

    @Test("are frozen and thawed with their rows, and their key with them")
    func frozen() throws {
        let realm = try filled()
        let sections = realm.objects(Letter.self).sectioned(by: \.about)
        #expect(sections.map(\.count) == [2, 1])
        let section = sections[0].freeze()
        #expect(section.map(\.name) == ["a", "b"])
        let key = try #require(section.key.object(Topic.self))
        #expect(key.isFrozen && key.title == "one")
        #expect(section.thaw()?.map(\.name) == ["a", "b"])
        #expect(section.thaw()?.key.object(Topic.self)?.isFrozen == false)
        #expect(sections.freeze()[0].thaw()?.map(\.name) == ["a", "b"])
        #expect(sections[1].frozen.value.map(\.name) == ["c"])
        #expect(sections[0] == section.thaw() && sections[0] != sections[1])
    }

    @Test("have a frozen key as well where that is a list with an object in it")
    func lists() throws {
        let realm = try filled()
        try realm.write {
            for letter in realm.objects(Letter.self) { letter.about = .fromArray([letter.about, .int(1)]) }
        }
        let sections = realm.objects(Letter.self).sectioned(by: \.about)
        #expect(sections.map(\.count) == [2, 1])
        let section = sections[0].freeze()
        #expect(section.map(\.name) == ["a", "b"])
        #expect(section.key.listValue?.first?.object(Topic.self)?.isFrozen == true)
        #expect(section.thaw()?.key.listValue?.first?.object(Topic.self)?.isFrozen == false)
    }

    @Test("are empty when the object is gone, and have it as an invalidated one")
    func deleted() throws {
        let realm = try filled()
        let section = realm.objects(Letter.self).sectioned(by: \.about)[0].freeze()
        try realm.write { realm.delete(realm.objects(Topic.self).where { $0.title == "one" }) }
        let live = try #require(section.thaw())
        #expect(live.isEmpty && live.key.object(Topic.self)?.isInvalidated == true)
        #expect(section.count == 2 && section.key.object(Topic.self)?.title == "one")
    }

    @Test("are told apart from those by an object of another file that has the same row there")
    func otherFile() throws {
        let realm = try filled()
        let other = try filled()
        let stranger = AnyRealmValue.object(other.objects(Topic.self)[0])
        let sections = realm.objects(Letter.self)
            .sectioned(
                by: { (letter: Letter) -> AnyRealmValue in letter.name == "b" ? stranger : letter.about },
                sortDescriptors: [SortDescriptor(keyPath: "name")]
            )
        #expect(sections.map { $0.map(\.name) } == [["a"], ["b"], ["c"]])
        #expect(sections[1].freeze().map(\.name) == ["b"])
    }

    @Test("are told apart from those by a list or dictionary with such an object of another file")
    func listsOfOtherFile() throws {
        let realm = try filled()
        let other = try filled()
        let stranger = AnyRealmValue.object(other.objects(Topic.self)[0])
        let own = AnyRealmValue.object(realm.objects(Topic.self)[0])
        let forms: [(AnyRealmValue) -> AnyRealmValue] = [
            { .fromArray([$0]) }, { .fromDictionary(["a": $0]) }, { .fromArray([own, .fromArray([$0])]) },
        ]
        for form in forms {
            let sections = realm.objects(Letter.self)
                .sectioned(
                    by: { (letter: Letter) -> AnyRealmValue in form(letter.name == "b" ? stranger : letter.about) },
                    sortDescriptors: [SortDescriptor(keyPath: "name")]
                )
            #expect(sections.map { $0.map(\.name) } == [["a"], ["b"], ["c"]])
            #expect(sections[0].freeze().map(\.name) == ["a"] && sections[1].freeze().map(\.name) == ["b"])
        }
    }

    @Test("are sent to another actor with their rows, and with the key of its realm")
    func sent() async throws {
        let worker = try await filledWorker()
        let other = try await Worker(configuration)
        let reference = await worker.with { _, realm in
            ThreadSafeReference(to: realm.objects(Letter.self).sectioned(by: \.about)[0])
        }
        let found = try await other.with { _, realm in
            let section = try #require(realm.resolve(reference))
            let key = section.key.object(Topic.self)
            // Of another actor's realm it must not be read here.
            let title = key?.realm === realm ? key?.title : nil
            return section.map(\.name) + [title ?? "no key of this realm"]
        }
        #expect(found == ["a", "b", "one"])
    }

    @Test("keep their rows together in a loop outside actors, with the key of each delivery's version")
    func changes() async throws {
        let worker = try await filledWorker()
        let changes = await worker.with { _, realm in realm.objects(Letter.self).sectioned(by: \.about).changes() }
        var iterator = changes.makeAsyncIterator()
        guard case .initial(let first)? = await iterator.next() else {
            Issue.record("no initial sections")
            return
        }
        #expect(first.map(\.count) == [2, 1])
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.objects(Letter.self).where { $0.name == "a" }.first?.name = "z" }
        }
        let change = await iterator.next()
        guard case .update(let now, let deletions, let insertions, let written, let inserted, let deleted)? = change
        else {
            Issue.record("no update")
            return
        }
        #expect(now.map { $0.map(\.name) } == [["z", "b"], ["c"]])
        #expect(deletions.isEmpty && insertions.isEmpty && inserted.isEmpty && deleted.isEmpty)
        #expect(written == [IndexPath(item: 0, section: 0)])
        let key = try #require(now[0].key.object(Topic.self))
        let (version, newest) = (key.realm?.version, now.realm?.version)
        #expect(version != nil && version == newest)
    }

    @Test("are told one by one outside actors, and when their object is deleted")
    func oneSection() async throws {
        let worker = try await filledWorker()
        let changes = await worker.with { _, realm in
            realm.objects(Letter.self).sectioned(by: \.about)[0].changes()
        }
        var iterator = changes.makeAsyncIterator()
        guard case .initial(let first)? = await iterator.next() else {
            Issue.record("no initial section")
            return
        }
        // Otherwise nothing would ever be told.
        try #require(first.map(\.name) == ["a", "b"])
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.objects(Letter.self).where { $0.name == "a" }.first?.name = "z" }
        }
        guard case .update(let now, _, _, let modifications, _, _)? = await iterator.next() else {
            Issue.record("no update")
            return
        }
        #expect(now.map(\.name) == ["z", "b"] && modifications == [IndexPath(item: 0, section: 0)])
        try await worker.with { _, realm in
            try await realm.asyncWrite { realm.delete(realm.objects(Topic.self).where { $0.title == "one" }) }
        }
        guard case .update(let last, _, _, _, _, let deleted)? = await iterator.next() else {
            Issue.record("no end of the section")
            return
        }
        #expect(last.isEmpty && deleted == IndexSet(integer: 0))
        #expect(last.key.object(Topic.self)?.isInvalidated == true)
    }

    @Test("hold no version in a loop that waits, for their keys either")
    func pins() async throws {
        let worker = try await filledWorker()
        let changes = await worker.with { _, realm in realm.objects(Letter.self).sectioned(by: \.about).changes() }
        var iterator = changes.makeAsyncIterator()
        _ = await iterator.next()
        let pinned = try await worker.with { _, realm in
            for _ in 0..<20 { try await realm.asyncWrite { realm.add(Stamp()) } }
            let file = realm.core.coordinator.file
            // A pass over the observers may be under way on another thread.
            for _ in 0..<100 where file.pinnedVersionCount > 1 { await realm.passTurns() }
            return file.pinnedVersionCount
        }
        #expect(pinned == 1)
        withExtendedLifetime(iterator) {}
    }
}
