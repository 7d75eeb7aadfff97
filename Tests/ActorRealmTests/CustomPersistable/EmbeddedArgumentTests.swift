import ActorRealm
import Testing

/// Values that are stored as embedded objects have no constant that a predicate could compare with.
@Suite struct EmbeddedArgumentTests {
    @Test func `a parsed predicate refuses them`() async {
        await #expect(processExitsWith: .success) {
            let place = Place(1, 2)
            func refusal(_ format: String, _ argument: Any) -> String {
                do {
                    _ = try RealmPredicate(parsing: format, argument)
                    return "none"
                } catch { return (error as? Realm.Error)?.message ?? "\(error)" }
            }
            let argument = refusal("place == %@", place)
            #expect(argument.contains("stored as an embedded object") && argument.contains("argument 1"), "\(argument)")
            for list in [[place], Set([place]), [Place?.none, place], ["a": place].values] as [Any] {
                let message = refusal("place IN %@", list)
                #expect(message.contains("stored as an embedded object"), "\(message)")
            }
            let other = refusal("temperature == %@", Celsius(20))
            #expect(other == "none", "\(other)")
        }
    }

    @Test func `a predicate in the program ends the process with a sentence`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm([Station.self, PlaceRow.self])
            _ = realm.objects(Station.self).filter("place == %@", Place(1, 2))
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("which has no identity to search for"), "\(text.suffix(400))")
    }
}
