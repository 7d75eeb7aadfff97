import ActorRealm
import Foundation
import RealmTestSupport

/// Classes with a property of each kind, for files whose pages are changed.
enum Mutated {
    enum Mood: String, PersistableEnum { case calm, grumpy }

    final class Owner: Object {
        override class func _realmObjectName() -> String? { "MutatedOwner" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        override class func compoundIndexes() -> [CompoundIndex] {
            [CompoundIndex("name", "id", unique: true), CompoundIndex("mood", "born")]
        }
        @Persisted(primaryKey: true) var id: Int
        @Persisted(indexed: true) var name: String
        @Persisted(unique: true) var mail: String?
        @Persisted(indexed: true) var born: Date?
        @Persisted var mood: Mood
        @Persisted var isActive: Bool
        @Persisted var home: Part?
        @Persisted var parts: List<Part>
        @Persisted var drawers: Map<String, Part?>
        @Persisted var friend: Owner?
        @Persisted var friends: List<Owner>
        @Persisted var notes: MutableSet<Note>
        @Persisted var named: Map<String, Owner?>
        @Persisted var required: Map<String, Note>
        @Persisted(onDelete: .cascade) var own: Note?
        @Persisted(originProperty: "friend") var admirers: LinkingObjects<Owner>
        @Persisted(originProperty: "friends") var listed: LinkingObjects<Owner>
    }

    final class Part: EmbeddedObject {
        override class func _realmObjectName() -> String? { "MutatedPart" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var text: String
        @Persisted var size: Double?
        @Persisted var inner: List<Part>
        @Persisted(originProperty: "parts") var owners: LinkingObjects<Owner>
    }

    final class Note: Object {
        override class func _realmObjectName() -> String? { "MutatedNote" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var text: String
        @Persisted var photo: Data?
        @Persisted var cost: Decimal128
        @Persisted(unique: true) var mark: UUID
        @Persisted(indexed: true) var object: ObjectId
        @Persisted var weight: Float
        @Persisted var height: Double?
        @Persisted(indexed: true) var small: Int8?
        @Persisted var words: List<String>
        @Persisted var numbers: List<Int?>
        @Persisted var places: Map<String, Int>
        @Persisted var sizes: MutableSet<Int>
        @Persisted var anything: AnyRealmValue
        @Persisted var everything: List<AnyRealmValue>
        @Persisted(originProperty: "notes") var owners: LinkingObjects<Owner>
    }

    final class Tick: Object {
        override class func _realmObjectName() -> String? { "MutatedTick" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var number: Int
        @Persisted(indexed: true) var label: String
    }

    final class Key: Object {
        override class func _realmObjectName() -> String? { "MutatedKey" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var key: String
        @Persisted var size: Int
    }

    static let types: [ObjectBase.Type] = [Owner.self, Part.self, Note.self, Tick.self, Key.self]

    /// Two of the classes as a next release has them: with other keys, and with unique rules and indexes of what is there.
    enum Next {
        final class Tick: Object {
            override class func _realmObjectName() -> String? { "MutatedTick" }
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
            @Persisted(indexed: true) var number: Int
            @Persisted(unique: true) var label: String
            @Persisted(indexed: true) var added: String?
        }

        final class Key: Object {
            override class func _realmObjectName() -> String? { "MutatedKey" }
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
            @Persisted(unique: true) var key: String
            @Persisted(primaryKey: true) var size: Int
        }

        static let types: [ObjectBase.Type] = [Tick.self, Key.self]
    }

    static func configuration(_ path: String) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: types)
        configuration.durability = .unflushed
        return configuration
    }

    /// A small closed file with every kind of property and of page, some of which are free.
    static func makeFile(at path: String, seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        try withNewRealm(configuration(path)) { realm in
            try realm.write {
                for number in 0..<1_100 {
                    realm.create(Tick.self, value: ["number": number, "label": "tick \(number * 7_919 % 1_100)"])
                }
                for number in 0..<30 {
                    let key = String(repeating: "k", count: number % 10 == 3 ? 300 : 3) + "\(number)"
                    realm.create(Key.self, value: ["key": key, "size": number * 3])
                }
            }
            for part in 0..<4 {
                try realm.write { for id in part * 10..<part * 10 + 10 { add(id, to: realm, &random) } }
            }
            try realm.write {
                for note in realm.objects(Note.self).where({ $0.photo != nil }) where !note.text.hasPrefix("text 1") {
                    note.photo = nil
                }
                realm.delete(realm.objects(Owner.self).where { $0.id.in([7, 20, 33]) })
            }
            realm.close()
        }
        // Only some commits leave a record in pages of its own.
        for number in 0..<200 where try !HostileFile.hasRecord(path) {
            try withNewRealm(configuration(path)) { realm in
                try realm.write {
                    let owners = realm.objects(Owner.self)
                    owners[number % owners.count].name = "name \(Int.random(in: 0..<30, using: &random))"
                }
                realm.close()
            }
        }
    }

    /// Adds an owner and a note that it has.
    private static func add(_ id: Int, to realm: Realm, _ random: inout SplitMix64) {
        let note = realm.create(
            Note.self,
            value: [
                "text": String(repeating: "text \(id) ", count: 12), "cost": Decimal128(value: id),
                "mark": UUID(uuidString: String(format: "00000000-0000-4000-8000-%012x", random.next() >> 20))
                    ?? UUID(),
                "weight": Float(id), "height": id % 3 == 0 ? nil : Double(id) * 0.5, "small": id % 5 == 0 ? nil : id,
            ]
        )
        if id == 15 { note.photo = Data(repeating: 8, count: 5_000) }
        if id % 20 == 2 { note.photo = Data(repeating: 7, count: 60_000) }
        if id % 20 == 3 { note.words.append(objectsIn: (0..<400).map { "a word \($0)" }) }
        note.numbers.append(objectsIn: (0..<id % 7).map { $0 % 3 == 1 ? nil : $0 })
        note.sizes.insert(objectsIn: (0..<id % 5).map { $0 * 11 })
        for number in 0..<id % 4 { note.places["place \(number)"] = number }
        let owner = realm.create(
            Owner.self,
            value: [
                "id": id, "name": "name \(Int.random(in: 0..<30, using: &random))", "mood": Mood.grumpy,
                "mail": id % 6 == 5 ? nil : "mail \(id)", "isActive": id % 2 == 0,
            ]
        )
        if id % 3 > 0 { owner.born = Date(timeIntervalSinceReferenceDate: Double(id) * 86_400) }
        if id % 4 == 1 { owner.home = Part(value: ["text": "home", "inner": [["text": "room"]]]) }
        owner.parts.append(objectsIn: (0..<id % 3).map { Part(value: ["text": "part \($0)", "size": 1.5]) })
        if id % 5 == 2 { owner.drawers["left"] = Part(value: ["text": "drawer"]) }
        if id % 5 == 3 { owner.drawers["right"] = .some(nil) }
        let others = Array(realm.objects(Owner.self))
        for _ in 0..<3 {
            guard let other = others.randomElement(using: &random) else { break }
            owner.friend = other
            owner.friends.append(other)
            owner.named["friend \(other.id)"] = other
            if let its = realm.objects(Note.self).randomElement(using: &random) {
                owner.notes.insert(its)
                owner.required["note \(other.id)"] = its
            }
        }
        owner.own = id % 4 == 0 ? note : nil
        let values: [AnyRealmValue] = [
            .int(id), .string("any"), .none, .double(1.5), .object(owner), .fromArray([.int(1), .object(note)]),
            .fromDictionary(["a": .string("b"), "c": .object(owner)]),
        ]
        note.anything = values[id % values.count]
        note.everything.append(objectsIn: values.prefix(id % 8))
    }
}
