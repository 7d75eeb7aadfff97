import ActorRealm
import Testing

/// Names of properties in the file, in what objects are made of.
@Suite("A key is a property's name where its bytes are, in dictionaries of all kinds")
struct SpeltNameTests {
    class Bar: Object {
        @Persisted var coffee: Int
        @Persisted var bar: Int
        override class func propertiesMapping() -> [String: String] { ["coffee": composed] }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    @Test("Another spelling of the name is no property, as insert says")
    func spellings() throws {
        let realm = try memoryRealm([Bar.self])
        try realm.write {
            for input in [[decomposed: 1, "bar": 2] as [String: Any], [decomposed: 1, "bar": 2] as [String: Any?]]
                as [Any]
            {
                let bar = realm.create(Bar.self, value: input)
                #expect(bar.coffee == 0 && bar.bar == 2)
            }
            let bar = realm.create(Bar.self, value: [composed: 1] as [String: Any])
            #expect(bar.coffee == 1)
            let error = #expect(throws: Realm.Error.self) {
                try realm.insert(Bar.self, value: [decomposed: 1] as [String: Any])
            }
            #expect(error?.code == .invalidInput)
            let ignored = try realm.insert(Bar.self, value: [decomposed: 1] as [String: Any], ignoringUnknownKeys: true)
            #expect(ignored.coffee == 0)
        }
    }
}
