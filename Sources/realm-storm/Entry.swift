import ActorRealm

/// One write of the storm.
final class Entry: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var writer: Int
}

/// What every write counts up: in the end it must be the number of entries.
final class Total: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var count: Int
}
