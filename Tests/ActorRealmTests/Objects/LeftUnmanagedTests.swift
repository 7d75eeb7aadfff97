import ActorRealm
import Foundation
import Testing

/// Objects in values of any kind, which get their rows while the object that has the values is made.
@Suite("A failure leaves the objects that were given unmanaged", .timeLimit(.minutes(60)))
struct LeftUnmanagedTests {
    @Test("an object in a value of any kind can be added after an insertion that failed")
    func insertions() throws {
        let realm = try memoryRealm([Holding.self, HeldNote.self])
        try realm.write {
            realm.create(Holding.self, value: ["id": 1, "code": "a"] as [String: Any])
            let note = HeldNote(value: ["text": "kept"])
            let values: [String: Any] = ["id": 2, "code": "b", "any": AnyRealmValue.object(note), "next": ["id": 1]]
            #expect(throws: Realm.Error.self) { try realm.insert(Holding.self, value: values) }
            try #require(note.realm == nil)
            #expect(throws: Realm.Error.self) { try realm.dynamicInsert("Holding", value: values) }
            try #require(note.realm == nil)
            #expect(note.text == "kept" && realm.objects(HeldNote.self).isEmpty)
            realm.add(note)
        }
        #expect(realm.objects(HeldNote.self).first?.text == "kept" && realm.objects(Holding.self).count == 1)
    }

    @Test(
        "an object in a value of any kind can be added after values that could not be set",
        arguments: ["next", "code"]
    )
    func settings(failing name: String) throws {
        let realm = try memoryRealm([Holding.self, HeldNote.self])
        let holding = try realm.write {
            realm.create(Holding.self, value: ["id": 1, "code": "a"] as [String: Any])
            return realm.create(Holding.self, value: ["id": 2, "code": "b"] as [String: Any])
        }
        let note = HeldNote(value: ["text": "kept"])
        let failing: Any = name == "next" ? ["id": 1] as Any : "a" as Any
        let values: [String: Any?] = ["any": AnyRealmValue.object(note), name: failing]
        #expect(throws: Realm.Error.self) { try realm.write { try holding.setValues(values) } }
        try #require(note.realm == nil)
        try realm.write { realm.add(note) }
        #expect(realm.objects(HeldNote.self).first?.text == "kept")
    }

    @Test("an object in a value of any kind of a nested object is added, whatever it leads to")
    func nestedValue() throws {
        let realm = try memoryRealm([Holding.self, HeldNote.self])
        let holding = try realm.write {
            let any = AnyRealmValue.fromArray([.int(7)])
            return realm.create(Holding.self, value: ["id": 1, "code": "a", "any": any] as [String: Any])
        }
        func held(_ id: Int) -> Holding {
            let held = Holding(value: ["id": id, "code": "\(id)"] as [String: Any])
            // Back to itself, and to a list of the realm.
            held.next = held
            held.any = holding.any
            return held
        }
        for (id, asValue) in [(3, true), (4, false)] {
            let object = held(id)
            let any: Any = asValue ? AnyRealmValue.object(object) : object
            let next = ["id": id + 10, "code": "next \(id)", "any": any] as [String: Any]
            try realm.write { try holding.setValues(["next": next]) }
            #expect(object.realm != nil && holding.next?.any.object(Holding.self)?.id == id)
            #expect(object.any.listValue?.first?.intValue == 7)
        }
    }
}

class Holding: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(unique: true) var code = ""
    @Persisted var any: AnyRealmValue
    @Persisted var next: Holding?
}

class HeldNote: Object {
    @Persisted var text = ""
}
