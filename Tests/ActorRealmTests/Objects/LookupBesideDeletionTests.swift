import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// Objects that are found by their keys while others are deleted in the same transaction.
@Suite struct LookupBesideDeletionTests {
    /// A key of each type that has an index of its own kind, made of a number.
    private enum Keyed: CaseIterable {
        case int, string, longString, uuid
    }

    private func realm() throws -> Realm {
        try Realm(
            configuration: Realm.Configuration(
                inMemoryIdentifier: UUID().uuidString,
                objectTypes: [NumberKeyed.self, StringKeyed.self, UUIDKeyed.self]
            )
        )
    }

    private func text(_ number: Int, _ keyed: Keyed) -> String {
        // More than stands whole in an entry of an index, and the same but for its end.
        keyed == .longString ? String(repeating: "k", count: 250) + String(number) : String(number)
    }

    private func uuid(_ number: Int) -> UUID {
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number >> 8), UInt8(number & 255)))
    }

    private func find(_ number: Int, _ keyed: Keyed, _ realm: Realm) -> Object? {
        switch keyed {
        case .int: realm.object(ofType: NumberKeyed.self, forPrimaryKey: number)
        case .string, .longString: realm.object(ofType: StringKeyed.self, forPrimaryKey: text(number, keyed))
        case .uuid: realm.object(ofType: UUIDKeyed.self, forPrimaryKey: uuid(number))
        }
    }

    private func add(_ number: Int, _ value: Int, _ keyed: Keyed, _ realm: Realm) {
        switch keyed {
        case .int: realm.create(NumberKeyed.self, value: ["id": number, "value": value, "group": value % 7])
        case .string, .longString: realm.create(StringKeyed.self, value: ["key": text(number, keyed), "value": value])
        case .uuid: realm.create(UUIDKeyed.self, value: ["id": uuid(number), "name": String(value)])
        }
    }

    private func value(of object: Object) -> Int? {
        switch object {
        case let object as NumberKeyed: object.value
        case let object as StringKeyed: object.value
        case let object as UUIDKeyed: Int(object.name)
        default: nil
        }
    }

    @Test(arguments: 0..<3 as Range<UInt64>)
    func `random look-ups, deletions and additions agree with a dictionary`(seed: UInt64) throws {
        for keyed in Keyed.allCases {
            var random = SplitMix64(seed: seed)
            let realm = try realm()
            var model: [Int: Int] = [:]
            var next = 0
            for _ in 0..<6 {
                let isKept = Int.random(in: 0..<4, using: &random) > 0
                let before = model
                // Stretches of deletions alone, and others.
                let additionShare = [0, 0, 3, 10].randomElement(using: &random) ?? 0
                realm.beginWrite()
                for _ in 0..<120 {
                    let number = Int.random(in: 0..<150, using: &random)
                    let found = find(number, keyed, realm)
                    #expect(found.flatMap(value) == model[number], "seed \(seed), \(keyed), key \(number)")
                    if let found {
                        if Bool.random(using: &random) {
                            realm.delete(found)
                            model[number] = nil
                            #expect(find(number, keyed, realm) == nil, "seed \(seed), \(keyed), deleted \(number)")
                        }
                    } else if model.isEmpty || Int.random(in: 0..<10, using: &random) < additionShare {
                        next += 1
                        add(number, next, keyed, realm)
                        model[number] = next
                    }
                    if keyed == .int, Int.random(in: 0..<12, using: &random) == 0 {
                        let group = Int.random(in: 0..<7, using: &random)
                        let first = realm.objects(NumberKeyed.self).where { $0.group == group }.first
                        #expect((first == nil) == !model.values.contains { $0 % 7 == group }, "seed \(seed)")
                    }
                }
                if isKept {
                    try realm.commitWrite()
                } else {
                    realm.cancelWrite()
                    model = before
                }
                for number in 0..<150 {
                    #expect(find(number, keyed, realm).flatMap(value) == model[number], "seed \(seed), \(keyed)")
                }
            }
            try realm.verify()
        }
    }
}

class NumberKeyed: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var value: Int
    @Persisted(indexed: true) var group: Int
}
