import ActorRealm

/// A level that is stored as an integer, of which only 1 to 5 are levels.
struct SeaState: FailableCustomPersistable, Equatable {
    let number: Int

    init?(persistedValue: Int) {
        guard (1...5).contains(persistedValue) else { return nil }
        number = persistedValue
    }

    init(_ number: Int) { self.number = number }

    var persistableValue: Int { number }
}

/// A temperature that every number is.
struct Warmth: CustomPersistable, Equatable {
    var degrees: Double
    init(persistedValue: Double) { degrees = persistedValue }
    var persistableValue: Double { degrees }
}

/// A point that is stored as an embedded object.
struct Spot: CustomPersistable, Equatable {
    var latitude: Double
    init(latitude: Double) { self.latitude = latitude }
    init(persistedValue: Position) { latitude = persistedValue.latitude }
    var persistableValue: Position { Position(latitude, 0) }
}

class Measured: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var level = SeaState(1)
    @Persisted var maybe: SeaState?
    @Persisted var levels: List<SeaState?>
    @Persisted var named: Map<String, SeaState?>
    @Persisted var warmth: Warmth
    @Persisted var spot: Spot
    @Persisted var maybeSpot: Spot?
    @Persisted var anything: AnyRealmValue
}
