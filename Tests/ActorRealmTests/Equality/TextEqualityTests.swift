import ActorRealm
import Foundation
import Testing

/// Strings are the same when their bytes are, whatever Swift's equality says.
@Suite struct TextEqualityTests {
    /// The bytes of strings, to be compared as such.
    private func bytes(_ texts: some Sequence<String>) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    private var both: [[UInt8]] { bytes([composed, decomposed]) }

    private func filled() throws -> Realm {
        let realm = try termRealm()
        try realm.write {
            for spelling in [decomposed, composed] { realm.add(Term(spelling, spelling)) }
        }
        return realm
    }

    @Test func `IN finds both spellings, by an index and by the primary key`() throws {
        let realm = try filled()
        let terms = realm.objects(Term.self)
        for values in [[composed, decomposed], [decomposed, composed]] {
            #expect(terms.where { $0.name.in(values) }.count == 2)
            #expect(terms.where { $0.id.in(values) }.count == 2)
            #expect(terms.filter("name IN %@", values).count == 2)
            #expect(terms.filter("id IN %@ AND name != ''", values).count == 2)
        }
        #expect(bytes(terms.where { $0.name.in([composed]) }.map(\.id)) == bytes([composed]))
        #expect(bytes(terms.where { $0.id.in([decomposed]) }.map(\.id)) == bytes([decomposed]))
    }

    @Test func `sections, distinct values and positions keep both spellings apart`() throws {
        let realm = try filled()
        let sections = realm.objects(Term.self).sectioned(by: \.name)
        #expect(bytes(sections.allKeys) == bytes([decomposed, composed]))
        #expect(sections.map(\.count) == [1, 1])
        #expect(bytes(sections.map { $0[0].name }) == bytes([decomposed, composed]))
        let term = try #require(realm.objects(Term.self).first)
        try realm.write { term.names.append(objectsIn: [composed, decomposed, composed]) }
        #expect(bytes(term.names.distinct(by: ["self"])) == both)
        #expect(term.names.index(of: decomposed) == 1)
        #expect(term.names.sorted().index(of: composed) == 1)
    }

    @Test func `the names in dictionaries inside a value are kept apart`() throws {
        let realm = try termRealm()
        let term = try realm.write {
            let term = realm.create(Term.self, value: ["id": "1"])
            term.free = .fromDictionary([:])
            term.free.dictionaryValue?[composed] = .fromArray([.int(1)])
            term.free.dictionaryValue?[decomposed] = .fromArray([.int(2)])
            term.free.dictionaryValue?[composed]?.listValue?.append(.int(3))
            term.free.dictionaryValue?[decomposed]?.listValue?.append(.int(4))
            return term
        }
        let map = try #require(term.free.dictionaryValue)
        #expect(map.count == 2)
        #expect(map[composed].flatMap { $0.listValue.map(Array.init) } == [.int(1), .int(3)])
        #expect(map[decomposed].flatMap { $0.listValue.map(Array.init) } == [.int(2), .int(4)])
        #expect(realm.objects(Term.self).filter("free[%@][0] == 1", composed).count == 1)
        #expect(realm.objects(Term.self).filter("free[%@][0] == 2", decomposed).count == 1)
        try realm.verify()
    }

    final class Album: Object {
        override class func _realmObjectName() -> String? { "SpelledAlbum" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var id: Int
        @Persisted var covers: Map<String, Cover?>
    }

    final class Cover: EmbeddedObject {
        override class func _realmObjectName() -> String? { "SpelledCover" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var text: String
    }

    @Test func `unmanaged maps and sets keep both spellings apart, and so do copies of managed ones`() throws {
        let term = Term("a")
        for (index, spelling) in [decomposed, composed].enumerated() {
            term.scores[spelling] = Double(index)
            term.anySet.insert(.string(spelling))
        }
        let names = Map<String, AnyRealmValue>()
        for (index, spelling) in [decomposed, composed].enumerated() { names[spelling] = .int(index) }
        term.free = .dictionary(names)
        func check(_ term: Term, _ what: String) {
            #expect(term.scores.count == 2 && term.scores[composed] == 1 && term.scores[decomposed] == 0, "\(what)")
            #expect(term.anySet.count == 2, "\(what)")
            let inner = term.free.dictionaryValue
            #expect(inner?.count == 2 && inner?[composed] == .int(1) && inner?[decomposed] == .int(0), "\(what)")
        }
        check(term, "unmanaged")
        let realm = try termRealm()
        try realm.write { realm.add(term) }
        check(term, "managed")
        check(term.detached(), "detached")
        let other = try termRealm()
        check(try other.write { other.create(Term.self, value: term) }, "created from a managed one")
        let plain = term.detached()
        plain.scores[composed] = nil
        plain.anySet.remove(.string(decomposed))
        #expect(bytes(plain.scores.keys) == bytes([decomposed]) && plain.anySet.first == .string(composed))
        #expect(plain.anySet.first.map { bytes([$0.stringValue ?? ""]) } == bytes([composed]))
    }

    @Test func `an update of a map of embedded objects keeps an object for each spelling`() throws {
        let types: [ObjectBase.Type] = [Album.self, Cover.self]
        func filled(_ text: String) throws -> (Realm, Album) {
            let realm = try memoryRealm(types)
            let album = try realm.write {
                let album = realm.create(Album.self, value: ["id": 1])
                for spelling in [decomposed, composed] {
                    album.covers[spelling] = Cover(value: ["text": "\(text) \(spelling.utf8.count)"])
                }
                return album
            }
            return (realm, album)
        }
        let (_, source) = try filled("source")
        for policy in [Realm.UpdatePolicy.modified, .all] {
            let (realm, album) = try filled("target")
            try realm.write { _ = realm.create(Album.self, value: source, update: policy) }
            #expect(album.covers.count == 2)
            for spelling in [decomposed, composed] {
                #expect(album.covers[spelling]??.text == "source \(spelling.utf8.count)", "\(policy)")
            }
            try realm.verify()
        }
    }

    @Test func `observers of two spellings see what they asked for`() async throws {
        let realm = try termRealm()
        let collections = [composed, decomposed]
            .map { spelling in realm.objects(Term.self).where { $0.name == spelling } }
        var iterators = collections.map { $0.changes().makeAsyncIterator() }
        for index in 0..<2 { _ = await iterators[index].next() }
        try realm.write {
            realm.add(Term("1", composed))
            realm.add(Term("2", decomposed))
        }
        for (index, id) in ["1", "2"].enumerated() {
            guard case .update(let found, _, let insertions, _)? = await iterators[index].next() else {
                Issue.record("there is a change")
                continue
            }
            #expect(insertions == [0])
            #expect(found.map(\.id) == [id])
        }
    }
}
