import ActorRealm
import Foundation
import RealmTestSupport
import Testing

@Suite("value(of:) throws where a getter would end the process", .timeLimit(.minutes(60)))
struct ThrowingReadsTests {
    final class Parcel: Object {
        override class func _realmObjectName() -> String? { "Parcel" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var name: String
        @Persisted var weight: Double?
        @Persisted var mood: Mood
        @Persisted var half: Half
        @Persisted var next: Parcel?
        @Persisted var tags: List<String>
        var label: String { "parcel" }
    }

    /// Only even numbers are values of it.
    struct Half: FailableCustomPersistable, Equatable {
        typealias PersistedType = Int
        let value: Int
        init(_ value: Int) { self.value = value }
        init?(persistedValue: Int) {
            guard persistedValue.isMultiple(of: 2) else { return nil }
            value = persistedValue / 2
        }
        var persistableValue: Int { value * 2 }
    }

    private struct Unchecked<Value>: @unchecked Sendable {
        let value: Value
    }

    private func realm() throws -> Realm { try memoryRealm([Parcel.self]) }

    private func code(_ body: () throws -> Void) -> Realm.Error.Code? {
        do {
            try body()
            return nil
        } catch { return (error as? Realm.Error)?.code }
    }

    @Test("It gives what the getter gives, of managed, frozen and unmanaged objects, and through links")
    func values() throws {
        let realm = try realm()
        let parcel = try realm.write {
            realm.create(
                Parcel.self,
                value: ["name": "a", "weight": 2.5, "tags": ["t"], "next": ["name": "b"], "half": 4]
            )
        }
        let unmanaged = Parcel()
        unmanaged.name = "u"
        unmanaged.next = parcel
        for object in [parcel, parcel.freeze()] {
            #expect(try object.value(of: \.name) == "a" && object.value(of: \.weight) == 2.5)
            #expect(try object.value(of: \.mood) == .calm && object.value(of: \.half) == Half(2))
            #expect(try object.value(of: \.next?.name) == "b" && object.value(of: \.next?.next?.name) == nil)
            #expect(try Array(object.value(of: \.tags)) == ["t"] && object.value(of: \.next)?.name == "b")
        }
        #expect(try unmanaged.value(of: \.name) == "u" && unmanaged.value(of: \.next?.name) == "a")
    }

    @Test("An object that was deleted, or is reached through a link of one that is not, and a key path to no property")
    func missing() throws {
        let realm = try realm()
        let parcel = try realm.write { realm.create(Parcel.self, value: ["name": "a", "next": ["name": "b"]]) }
        let next = parcel.next!
        #expect(code { _ = try parcel.value(of: \.label) } == .invalidInput)
        try realm.write { realm.delete(next) }
        #expect(code { _ = try next.value(of: \.name) } == .invalidatedObject)
        #expect(code { _ = try next.value(of: \.tags) } == .invalidatedObject)
        #expect(code { _ = try next.value(of: \.next?.name) } == .invalidatedObject)
        #expect(try parcel.value(of: \.next?.name) == nil)
        let unmanaged = Parcel()
        unmanaged.next = parcel
        realm.invalidate()
        #expect(code { _ = try parcel.value(of: \.name) } == .invalidatedObject)
        #expect(code { _ = try unmanaged.value(of: \.next?.name) } == .invalidatedObject)
        realm.close()
        #expect(code { _ = try parcel.value(of: \.name) } == .closed)
    }

    @Test("A key path to a property that reads several others is none, and leaves the others what they are")
    func computed() throws {
        let realm = try realm()
        let parcel = try realm.write { realm.create(Parcel.self, value: ["name": "a"]) }
        #expect(code { _ = try parcel.value(of: \.description) } == .invalidInput)
        #expect(try parcel.value(of: \.name) == "a" && parcel.value(of: \.next?.name) == nil)
        #expect(realm.objects(Parcel.self).where { $0.name == "a" }.sorted(by: \.name).count == 1)
    }

    @Test("A stored value that is no case of an enum, and one that a type of the program's own does not take")
    func unknownValues() throws {
        let realm = try realm()
        let parcel = try realm.write { realm.create(Parcel.self, value: ["name": "a"]) }
        try realm.write {
            let dynamic = realm.dynamicObjects("Parcel").first!
            dynamic["mood"] = "jubilant"
            dynamic["half"] = 7
        }
        for (word, body) in [
            ("'jubilant'", { _ = try parcel.value(of: \.mood) }), ("7", { _ = try parcel.value(of: \.half) }),
        ] as [(String, () throws -> Void)] {
            let error = #expect(throws: Realm.Error.self) { try body() }
            #expect(
                error?.code == .invalidInput && error?.message.contains(word) == true,
                "\(error.map { "\($0)" } ?? "")"
            )
        }
        // Copying it reads it, too.
        #expect(code { try realm.write { _ = try realm.insert(Parcel.self, value: parcel) } } == .invalidInput)
        #expect(realm.objects(Parcel.self).count == 1)
    }

    @Test("An object of another isolation")
    func otherIsolation() throws {
        let configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Parcel.self])
        let leak = try withNewRealm(configuration) { realm in
            Unchecked(value: try realm.write { realm.create(Parcel.self, value: ["name": "a"]) })
        }
        #expect(code { _ = try leak.value.value(of: \.name) } == .wrongIsolation)
    }

    final class Letter: Object, Encodable {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var name: String
    }

    @Test("Encoding an object that was deleted throws")
    func encoding() throws {
        let realm = try memoryRealm([Letter.self])
        let letter = try realm.write { realm.create(Letter.self, value: ["name": "a"]) }
        #expect(try String(decoding: JSONEncoder().encode(letter), as: UTF8.self) == #"{"name":"a"}"#)
        try realm.write { realm.delete(letter) }
        #expect(code { _ = try JSONEncoder().encode(letter) } == .invalidatedObject)
    }

    @Test("A message names the path once, and the value of a key that exists")
    func messages() throws {
        let file = TestFile()
        let path = file.directory.path("test.realm")
        try withNewRealm(file.fast) { realm in
            let error = #expect(throws: Realm.Error.self) {
                try realm.write {
                    try realm.insert(Tally.self, value: ["name": "ann"])
                    try realm.insert(Tally.self, value: ["name": "ann"])
                }
            }
            let text = error.map { "\($0)" } ?? ""
            #expect(
                text.contains("primary key value 'ann'") && text.components(separatedBy: path).count == 2,
                "\(text)"
            )
        }
        let missing = Realm.Configuration(fileURL: URL(fileURLWithPath: path + ".no"), readOnly: true)
        let error = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: missing) }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.components(separatedBy: path + ".no").count == 2, "\(text)")
    }
}
