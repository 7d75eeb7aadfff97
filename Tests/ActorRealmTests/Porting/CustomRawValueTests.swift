import ActorRealm
import Foundation
import Testing

@Suite("Custom types are created from what is stored for them", .timeLimit(.minutes(60)))
struct CustomRawValueTests {
    let file = PortingFile()

    private func inRealm(_ body: @escaping @Sendable (Realm) throws -> Void) throws {
        let configuration = file.configuration
        try onNewThread {
            let realm = try Realm(configuration: configuration)
            try realm.write { try body(realm) }
        }
    }

    @Test("raw values, values of the type, and raw values that are none, which read as nil where that is possible")
    func rawValues() throws {
        try inRealm { realm in
            let good = realm.create(
                Measured.self,
                value: [
                    "id": 1, "level": 3, "maybe": SeaState(4), "levels": [1, SeaState(2), nil] as [Any?],
                    "warmth": 20.5,
                    "named": ["a": 5, "b": SeaState(1)] as [String: Any],
                ] as [String: Any]
            )
            #expect(good.level == SeaState(3) && good.maybe == SeaState(4) && good.warmth.degrees == 20.5)
            #expect(Array(good.levels) == [SeaState(1), SeaState(2), nil])
            #expect(good.named["a"] == SeaState(5) && good.named["b"] == SeaState(1))
            let odd = realm.create(
                Measured.self,
                value: ["id": 2, "maybe": 9, "levels": [8, 1], "named": ["a": 7]] as [String: Any]
            )
            #expect(odd.maybe == nil)
            #expect(Array(odd.levels) == [nil, SeaState(1)])
            #expect(odd.named["a"] == .some(nil))
            let stored = try #require(realm.dynamicObject(ofType: "Measured", forPrimaryKey: 2))
            #expect(stored["maybe"] as? Int == 9, "what was given is stored")
        }
    }

    @Test("an object that is made without a realm takes them, too")
    func unmanaged() {
        let measured = Measured(value: ["level": 3, "maybe": 9, "levels": [8, 1], "warmth": 1.5] as [String: Any])
        #expect(measured.level == SeaState(3) && measured.maybe == nil && measured.warmth.degrees == 1.5)
        #expect(Array(measured.levels) == [nil, SeaState(1)])
        measured["maybe"] = 2
        #expect(measured.maybe == SeaState(2))
    }

    @Test("null for a property that is not optional but is stored as one: its default")
    func nullForEmbedded() throws {
        try inRealm { realm in
            let made = realm.create(
                Measured.self,
                value: ["id": 1, "spot": NSNull(), "maybeSpot": NSNull(), "anything": NSNull()] as [String: Any]
            )
            #expect(made.spot.latitude == 0)
            #expect(made.maybeSpot == nil)
            #expect(made.anything == .none)
            made.spot = Spot(latitude: 4)
            realm.create(Measured.self, value: ["id": 1, "spot": nil] as [String: Any?], update: .modified)
            #expect(made.spot.latitude == 0)
            #expect(realm.dynamicObjects("Position").isEmpty)
            let given = realm.create(Measured.self, value: ["id": 2, "spot": ["latitude": 3.0]] as [String: Any])
            #expect(given.spot.latitude == 3)
        }
        let unmanaged = Measured(value: ["spot": NSNull(), "anything": NSNull()] as [String: Any])
        #expect(unmanaged.spot.latitude == 0)
    }

    @Test("dynamic objects give Bool, numbers and texts as such")
    func dynamicValues() throws {
        try inRealm { realm in
            realm.create(
                Harbour.self,
                value: ["id": 1, "name": "Rotterdam", "isOpen": true, "depth": 2.5] as [String: Any]
            )
            realm.create(Measured.self, value: ["id": 1, "level": 2, "warmth": 3.0, "anything": true] as [String: Any])
            let harbour = try #require(realm.dynamicObjects("Harbour").first)
            #expect(harbour["isOpen"] as? Bool == true)
            #expect(type(of: harbour["isOpen"]!) == Bool.self)
            #expect(type(of: harbour["id"]!) == Int.self)
            #expect(type(of: harbour["depth"]!) == Float.self)
            #expect(harbour["name"] as? String == "Rotterdam")
            #expect(harbour.isOpen as? Bool == true)
            let measured = try #require(realm.dynamicObjects("Measured").first)
            #expect(measured["level"] as? Int == 2)
            #expect(measured["warmth"] as? Double == 3)
            #expect(measured["anything"] as? Bool == true)
            measured["anything"] = 5
            #expect(measured["anything"] as? Int == 5)
            measured["anything"] = "text"
            #expect(measured["anything"] as? String == "text")
            measured["anything"] = nil
            #expect(measured["anything"] == nil)
            harbour["isOpen"] = false
            #expect(realm.objects(Harbour.self)[0].isOpen == false)
            let typed = realm.objects(Harbour.self)[0]
            #expect(type(of: typed["isOpen"]!) == Bool.self)
            #expect(typed.value(forKey: "depth") as? Float == 2.5)
        }
    }
}
