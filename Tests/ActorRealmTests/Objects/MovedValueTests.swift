import ActorRealm
import Foundation
import Testing

/// What is written first takes away what is given behind it.
@Suite("An embedded object moves from one property to another", .timeLimit(.minutes(60)))
struct MovedValueTests {
    @Test("as setValues is told")
    func setValues() throws {
        let (realm, saw) = try makeSeesaw()
        try realm.write { try saw.setValues(["left": nil, "right": saw.left]) }
        #expect(saw.left == nil && saw.right?.grams == 1 && saw.right?.label?.text == "one")
        try realm.write { try saw.setValues(["right": nil, "spare": [saw.right!, saw.spare[1]]]) }
        #expect(saw.right == nil && saw.spare.map(\.grams) == [1, 4])
        try realm.write { try saw.setValues(["left": saw.spare[0], "right": saw.spare[1]]) }
        try realm.write { try saw.setValues(["left": saw.right, "right": saw.left]) }
        #expect(saw.left?.grams == 4 && saw.right?.grams == 1)
        // A copy that the program made may lead to what is taken away, too.
        try realm.write {
            let weight = SeesawWeight(value: ["grams": 5])
            weight.label = saw.right?.label
            try saw.setValues(["right": nil, "spare": [weight]])
        }
        #expect(saw.spare.map(\.grams) == [5] && saw.spare[0].label?.text == "one")
        #expect(realm.dynamicObjects("SeesawWeight").count == 2)
    }

    @Test("as an update is told")
    func created() throws {
        let (realm, saw) = try makeSeesaw()
        try realm.write {
            realm.create(
                Seesaw.self,
                value: ["id": 1, "left": NSNull(), "right": saw.left!] as [String: Any],
                update: .modified
            )
        }
        #expect(saw.left == nil && saw.right?.grams == 1 && saw.right?.label?.text == "one")
    }
}
